// What a device did, by whatever name a tool writes it, and what its events say of modules and collectives.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "capture/sources/tracks/gpu_tables.h"
#include "tests/capture/sources/chrome/imported_trace.h"

namespace accelscope::capture {
namespace {

struct Row {
  std::string kind;
  std::string device;
  bool operator==(const Row&) const = default;
};

std::map<std::string, Row> rows_of(const Imported& session) {
  std::map<std::string, Row> rows;
  for (const TrackSnapshot& track : session.snapshot().tracks)
    rows[track.track->name] = {track.track->kind, track.track->device};
  return rows;
}

std::string named(int pid, const std::string& name) {
  return fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"{}"}}}},)", pid, name);
}
std::string thread(int pid, int tid, const std::string& name) {
  return fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"{}"}}}},)", pid, tid, name);
}

}  // namespace

TEST_CASE("processes and threads are devices by their names, whoever spells them") {
  using sources::tracks::device_of_process;
  using sources::tracks::device_row;
  CHECK(device_of_process("/device:GPU:0") == "GPU 0");
  CHECK(device_of_process("/job:worker/replica:0/task:0/device:TPU:3") == "TPU 3");
  CHECK(device_of_process("gpu/1") == "GPU 1");
  CHECK(device_of_process("GPU 2 - NVIDIA H100") == "GPU 2");
  CHECK(device_of_process("CUDA functions") == "GPU");
  for (const char* host : {"/device:CPU:0", "/host:CPU", "python", "CPU functions", "hippopotamus", "gpu_server.py"})
    CHECK_MESSAGE(!device_of_process(host), host);
  CHECK(device_row("python", "stream 7")->kind == "stream");
  CHECK(device_row("/device:GPU:0", "Stream #13(MemcpyH2D)")->kind == "dma_queue");
  CHECK(device_row("/device:GPU:0", "XLA Ops")->kind == "layer");
  CHECK(device_row("/device:TPU:0", "XLA Ops")->kind == "engine");
  CHECK_FALSE(device_row("python", "upstream 7"));
  CHECK_FALSE(device_row("server", "Stream reader"));
}

TEST_CASE("JAX: streams of a GPU hold kernels with their launch, the rows made from them are commentary") {
  const Imported session = imported_trace(trace_of(
      named(1, "/device:GPU:0") + thread(1, 13, "Stream #13(Compute)") + thread(1, 1, "XLA Modules") +
      named(701, "/host:CPU") + thread(701, 5, "python") +
      R"json({"ph":"X","pid":1,"tid":13,"ts":100,"dur":60,"name":"gemm","args":{"hlo_op":"dot.3","kernel_details":"regs:200 static_shared:0 dynamic_shared:1 grid:8,1,1 block:128,1,1 occ_pct:25","memcpy_details":"","tf_op":"jit(matmul)/dot_general"}},
         {"ph":"X","pid":1,"tid":13,"ts":200,"dur":5,"name":"MemcpyD2H","args":{"kernel_details":"","memcpy_details":"kind_src:device kind_dst:pinned size:4096 dest:0 async:1"}},
         {"ph":"X","pid":1,"tid":1,"ts":100,"dur":60,"name":"jit_matmul"},
         {"ph":"X","pid":701,"tid":5,"ts":50,"dur":20,"name":"PjitFunction(matmul)"})json"));
  const auto kernels = session.events("kernel");
  REQUIRE(kernels.size() == 1);
  CHECK(kernels[0].kind == "stream");
  CHECK(kernels[0].device == "GPU 0");
  CHECK(kernels[0].string("grid") == "[8, 1, 1]");
  CHECK(kernels[0].integer("registers per thread") == 200);
  CHECK(kernels[0].string("layer") == "jit(matmul)/dot_general");
  const auto copies = session.events("memcpy");
  REQUIRE(copies.size() == 1);
  CHECK(copies[0].integer("bytes") == 4096);
  CHECK(copies[0].device == "GPU 0");
  CHECK(rows_of(session)["XLA Modules"] == Row{"layer", "GPU 0"});
  CHECK(rows_of(session)["python"] == Row{"host_thread", ""});
}

TEST_CASE("PyTorch's list of 2020: work of its CUDA functions, joined with the calls whatever both are called") {
  const Imported session = imported_trace(
      R"([{"name":"aten::mul","ph":"X","ts":633,"dur":5,"tid":1,"pid":"CPU functions","args":{}},
          {"name":"aten::mul","ph":"s","ts":633,"tid":1,"pid":"CPU functions","id":0,"cat":"cpu_to_cuda","args":{}},
          {"name":"sgemm","ph":"X","ts":640,"dur":4,"tid":"stream 7","pid":"CUDA functions","args":{}},
          {"name":"sgemm","ph":"f","ts":640,"tid":"stream 7","pid":"CUDA functions","id":0,"cat":"cpu_to_cuda","args":{}}])");
  CHECK(rows_of(session)["stream 7"] == Row{"stream", "GPU"});
  CHECK(rows_of(session)["thread 1"] == Row{"host_thread", ""});
  CHECK(session.count("dependency") == 1);
  CHECK(quality_count(session, "flow_without_partner") == 0);
}

TEST_CASE(
    "Proton within a kernel: warps are engines of the device, and a file of one object for each stream is whole") {
  const Imported warps = imported_trace(trace_of(
      R"json({"cat":"matmul","name":"load","ph":"X","pid":"matmul Core0 CTA0","tid":"warp 0 (line 0)","ts":0,"dur":0.4,"args":{}},
         {"cat":"matmul","name":"mma","ph":"X","pid":"matmul Core1 CTA1","tid":"warp 0 (line 0)","ts":0,"dur":0.7,"args":{}})json"));
  CHECK(rows_of(warps)["matmul Core0 CTA0, warp 0 (line 0)"] == Row{"engine", "GPU"});
  CHECK(rows_of(warps)["matmul Core1 CTA1, warp 0 (line 0)"] == Row{"engine", "GPU"});
  std::string text;
  for (const int stream : {7, 9}) {
    text += fmt::format(
        R"({{"displayTimeUnit":"us","traceEvents":[{{"name":"gemm","cat":"kernel","ph":"X","ts":0,"dur":12.5,"tid":{},"args":{{"call_stack":["ROOT"]}}}}]}})",
        stream);
    text += "\n";
  }
  const Imported streams = imported_trace(text);
  CHECK(streams.count("kernel") == 2);
  CHECK(rows_of(streams)["stream 7"] == Row{"stream", "GPU"});
  CHECK(rows_of(streams)["stream 9"] == Row{"stream", "GPU"});
  CHECK(quality_count(streams, "trailing_bytes") == 0);
}

TEST_CASE("ONNX Runtime: kernels of thread -1 lie on their streams, of a device without a number") {
  std::string rows;
  for (const int stream : {7, 8}) {
    rows += fmt::format(
        R"({}{{"cat":"Kernel","pid":-1,"tid":-1,"dur":300,"ts":16900,"ph":"X","name":"conv","args":{{"stream":"{}","grid_x":"56","grid_y":"2","grid_z":"1","block_x":"256","block_y":"1","block_z":"1"}}}})",
        rows.empty() ? "" : ",", stream);
  }
  const Imported session = imported_trace("[" + rows + "]");
  CHECK(rows_of(session) ==
        std::map<std::string, Row>{{"stream 7", {"stream", "GPU"}}, {"stream 8", {"stream", "GPU"}}});
  CHECK(session.events("kernel")[0].string("grid") == "[56, 2, 1]");
  CHECK(session.events("kernel")[0].string("block") == "[256, 1, 1]");
}

TEST_CASE("modules of a model are layers: dotted names, the profiler's hierarchy") {
  const Imported session = imported_trace(
      R"({"schemaVersion":1,"traceEvents":[
          {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":1,"dur":2,"args":{"device":0,"stream":7,"name":"block 0","module_fqn":"layers.0.attention.wq"}},
          {"ph":"X","cat":"cpu_op","name":"aten::conv2d","pid":9,"tid":9,"ts":1,"dur":2,"args":{"Module Hierarchy":"TOP(ResNet)::forward.layer1(Sequential)::forward.0(BasicBlock)::forward.conv1(Conv2d)::forward"}}]})");
  const EventValues kernel = session.events("kernel").at(0);
  CHECK(kernel.string("layer") == "layers.0/attention/wq");
  CHECK(kernel.string("name") == "block 0");
  CHECK(session.events("cpu_op").at(0).string("layer") == "layer1.0/conv1");
  const auto layers = std::find_if(session.snapshot().schemas.begin(), session.snapshot().schemas.end(),
                                   [](const auto& schema) { return schema->name == "kernel"; });
  CHECK((*layers)->find(Role::layer).has_value());
}

TEST_CASE("what only the operator of a collective says of its size, its kernel has too") {
  std::string rows;
  for (int i = 0; i < 5000; ++i) {  // more than the first rows of a table, by which its columns are chosen
    rows += fmt::format(
        R"({{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":{},"dur":1,"args":{{"device":0,"stream":7}}}},)",
        i * 2);
  }
  const Imported session = imported_trace(
      R"({"schemaVersion":1,"traceEvents":[)" + rows +
      R"json({"ph":"X","cat":"cpu_op","name":"record_param_comms","pid":9,"tid":9,"ts":20000,"dur":50,"args":{"External id":10,"Collective name":"allreduce","In msg nelems":1048576,"Out msg nelems":1048576,"dtype":"BFloat16","Group size":2}},
         {"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(args)","pid":0,"tid":20,"ts":20100,"dur":200,"args":{"External id":10,"device":0,"stream":20}},
         {"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_Sum_f32_RING_LL(args)","pid":0,"tid":20,"ts":20400,"dur":200,"args":{"External id":11,"device":0,"stream":20,"In msg nelems":77,"dtype":"Float"}}]})json");
  std::map<std::string, std::int64_t> elements;
  for (const EventValues& kernel : session.events("kernel")) {
    if (kernel.kind == "collective") elements[kernel.string("dtype")] = kernel.integer("In msg nelems").value_or(0);
  }
  CHECK(elements == std::map<std::string, std::int64_t>{{"BFloat16", 1048576}, {"Float", 77}});
}

TEST_CASE("a kernel with a stamp of 0 is kept aside and does not make a session of years") {
  std::string rows;
  for (int i = 0; i < 6; ++i) {
    const std::int64_t at = 1700000000000000 + i * 1000;
    rows += fmt::format(
        R"({}{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":77,"tid":77,"ts":{},"dur":10,"args":{{"correlation":{}}}}},)"
        R"({{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":{},"dur":{},"args":{{"correlation":{},"device":0,"stream":7}}}})",
        i == 0 ? "" : ",", at, 100 + i, i == 3 ? 0 : at + 200, i == 3 ? 0 : 300, 100 + i);
  }
  const Imported session = imported_trace(R"({"schemaVersion":1,"traceEvents":[)" + rows + "]}");
  CHECK(session.snapshot().begin_ns == 0);
  CHECK(session.snapshot().end_ns == 5'500'000);
  CHECK(session.count("kernel") == 6);
  CHECK(quality_count(session, "impossible_times") == 1);
  CHECK(rows_of(session)["stream 7 (impossible times)"] == Row{"doubtful", "GPU 0"});
  CHECK(session.count("dependency") == 5);
}

}  // namespace accelscope::capture
