// The kind `cuda` on a program whose driver and CUPTI are stand-ins: every record arrives as it was, to the ns and the
// byte, whatever the version of CUPTI, and whatever becomes of the program.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "capture/probe/host/files.h"
#include "capture/request/kind.h"
#include "capture/request/options.h"
#include "tests/capture/kinds/cuda/cuda_run.h"
#include "tests/capture/kinds/kind_run_support.h"
#include "tests/support/files.h"

namespace accelscope::capture {
namespace {

using Counts = std::map<std::string, std::size_t>;

[[nodiscard]] std::int64_t length(const RecordedEvent& event) { return event.end - event.start; }

[[nodiscard]] const CudaRun& all_kinds() {
  static const CudaRun run =
      run_cuda({"all"}, {.options = {{"unified-memory", "on"}, {"gpu-counters", "cupti"}, {"queue-times", "on"}}});
  return run;
}

}  // namespace

TEST_CASE("a CUDA kernel arrives with all that CUPTI tells of it, on the row of its stream, GPU and context") {
  const CudaRun& run = all_kinds();
  CHECK(run.end.exit_code == 0);
  const RecordedEvent kernel = run.only("kernel", "void gemm<float>(float*)");
  run.check_times(kernel, 10'000, 20'001);
  CHECK(run.track(kernel).name == "stream 7");
  CHECK(run.track(kernel).kind == "stream");
  CHECK(run.track(kernel).device == "GPU 0");
  CHECK(run.number(kernel, "External id") == 4242);
  CHECK(run.number(kernel, "correlation") == 101);
  CHECK(run.number(kernel, "queued") == run.base() + 9'000);
  CHECK(run.number(kernel, "stream") == 7);
  CHECK(run.number(kernel, "context") == 1);
  CHECK(run.text(kernel, "grid") == "[128, 2, 1]");
  CHECK(run.text(kernel, "block") == "[256, 1, 1]");
  CHECK(run.number(kernel, "registers per thread") == 168);
  CHECK(run.number(kernel, "shared memory") == 66'560);
  CHECK(run.number(kernel, "staticSharedMemory") == 1024);
  CHECK(run.number(kernel, "dynamicSharedMemory") == 65'536);
  CHECK(run.number(kernel, "sharedMemoryExecuted") == 102'400);
  CHECK(run.number(kernel, "localMemoryPerThread") == 48);
  CHECK(run.number(kernel, "localMemoryTotal") == 5'000'000'000);
  CHECK(run.number(kernel, "gridId") == 77);
  CHECK(run.number(kernel, "graphId") == 5);
  CHECK(run.number(kernel, "graphNodeId") == 0x500000003);
  CHECK(run.number(kernel, "cacheConfig") == 2);
  CHECK(run.number(kernel, "sharedMemoryRequestedPercentage") == 75);
  CHECK(run.number(kernel, "sharedMemoryLimitConfig") == 1);
  CHECK(run.text(kernel, "launchType") == "Coop Single Device");
  CHECK(run.text(kernel, "cluster") == "[2, 1, 1]");
  CHECK(run.number(kernel, "maxPotentialClusterSize") == 16);
  CHECK(run.number(kernel, "maxActiveClusters") == 66);
  CHECK(run.text(kernel, "shortName") == "gemm");
  CHECK(run.real(kernel, "blocks per SM") == doctest::Approx(256.0 / 132));
  CHECK(run.real(kernel, "warps per SM") == doctest::Approx(256.0 / 132 * 8));

  SUBCASE("kernels of collectives, of green contexts and of parts of a GPU are told apart by their rows") {
    const RecordedEvent reduce =
        run.only("kernel", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
    CHECK(run.track(reduce).name == "NCCL, stream 9");
    CHECK(run.track(reduce).kind == "collective");
    const RecordedEvent green = run.only("kernel", "triton_poi_fused_add_0");
    CHECK(run.track(green).name == "stream 13, green context 2 of 16 SMs");
    CHECK(run.number(green, "greenContextId") == 2);
    const RecordedEvent other = run.only("kernel", "on_second_gpu");
    CHECK(run.track(other).device == "GPU 1");
    CHECK(run.meta("device.1.name") == "NVIDIA H100 80GB HBM3 MIG 2/1");
    CHECK(run.meta("device.0.numSms") == "132");
    CHECK(run.meta("capacity.GPU 0 memory") == std::to_string(std::uint64_t{80} << 30U));
  }
  SUBCASE("a kernel without times is left out and said") {
    CHECK(run.count_by_name("kernel").count("never_timed") == 0);
    REQUIRE(run.quality("times_out_of_capture") != nullptr);
    CHECK(run.quality("times_out_of_capture")->count == 1);
  }
}

TEST_CASE("copies and sets arrive to the byte, from where to where and over what") {
  const CudaRun& run = all_kinds();
  const RecordedEvent copy = run.only("memcpy", "Memcpy HtoD (Pinned -> Device)");
  run.check_times(copy, 31'000, 41'000);
  CHECK(run.track(copy).name == "memcpy stream 7");
  CHECK(run.track(copy).kind == "dma_queue");
  CHECK(run.number(copy, "bytes") == 6'000'000'007);
  CHECK(run.real(copy, "memory bandwidth (GB/s)") == doctest::Approx(600'000.0007));
  CHECK(run.number(copy, "graphNodeId") == 9);
  CHECK(run.number(copy, "copyCount") == 3);
  const RecordedEvent peer = run.only("memcpy", "Memcpy PtoP (Device -> Device)");
  run.check_times(peer, 42'000, 43'000);
  CHECK(run.number(peer, "bytes") == 4096);
  CHECK(run.number(peer, "srcDeviceId") == 0);
  CHECK(run.number(peer, "dstDeviceId") == 1);
  CHECK(run.number(peer, "dstContextId") == 3);
  CHECK(run.number(peer, "correlation") == 111);
  const RecordedEvent set = run.only("memset", "Memset (Device)");
  run.check_times(set, 44'000, 45'000);
  CHECK(run.number(set, "bytes") == 1 << 20);
  CHECK(run.number(set, "value") == 0xAB);
}

TEST_CASE("calls of runtime and driver stand on their thread, with what they returned and what they launched") {
  const CudaRun& run = all_kinds();
  const RecordedEvent launch = run.only("runtime_call", "cudaLaunchKernel");
  run.check_times(launch, 1'000, 2'000);
  CHECK(run.track(launch).name == "main runtime");
  CHECK(run.track(launch).kind == "host_thread");
  CHECK(run.sink.tracks.at(run.track(launch).parent).name == "main");
  CHECK(run.text(launch, "kind") == "CUDA runtime");
  CHECK(run.number(launch, "correlation") == 101);
  CHECK(run.number(launch, "External id") == 4242);
  const RecordedEvent failed = run.only("runtime_call", "cudaGetLastError");
  CHECK(run.number(failed, "returnValue") == 700);
  CHECK(length(failed) == 1);
  CHECK(run.count_by_name("runtime_call").at("cuLaunchKernel") == 2);
  const Counts flows = run.flows();
  CHECK(flows.at("cudaLaunchKernel -> void gemm<float>(float*)") == 1);
  CHECK(flows.at("cuLaunchKernel -> triton_poi_fused_add_0") == 1);
  CHECK(flows.at("cudaMemcpyAsync -> Memcpy HtoD (Pinned -> Device)") == 1);
  CHECK(flows.size() == 3);
}

TEST_CASE("waits say for what, and a stream that waits for an event names the stream and the call that recorded it") {
  const CudaRun& run = all_kinds();
  const RecordedEvent wait = run.only("cuda_sync", "Stream Wait Event");
  run.check_times(wait, 5'210, 5'211);
  CHECK(run.track(wait).name == "sync stream 9");
  CHECK(run.track(wait).kind == "barrier");
  CHECK(run.number(wait, "wait_on_stream") == 7);
  CHECK(run.number(wait, "wait_on_cuda_event_record_corr_id") == 140);
  CHECK(run.number(wait, "eventId") == 55);
  CHECK(run.number(wait, "eventSyncId") == 9001);
  run.check_times(run.only("cuda_sync", "Stream Sync"), 6'010, 45'990);
  run.check_times(run.only("cuda_sync", "Event Sync"), 46'000, 46'010);
  CHECK(run.track(run.only("cuda_sync", "Context Sync")).name == "sync context 1");
  const RecordedEvent event = run.only("cuda_event", "event 55");
  run.check_times(event, 20'500, 20'500);
  CHECK(run.track(event).name == "events stream 7");
}

TEST_CASE("allocations arrive by pool and to the byte, and a release is of what was allocated there") {
  const CudaRun& run = all_kinds();
  const std::vector<RecordedEvent> events = run.table("memory");
  REQUIRE(events.size() == 6);
  const auto check = [&](std::size_t at, std::int64_t time, std::int64_t bytes, const std::string& pool,
                         const std::string& kind) {
    CAPTURE(at);
    run.check_times(events[at], time, time);
    CHECK(run.number(events[at], "Bytes") == bytes);
    CHECK(run.text(events[at], "pool").starts_with(pool));
    CHECK(run.text(events[at], "kind") == kind);
  };
  check(0, 4'300, 6'442'450'945, "memory", "Device");
  check(1, 4'400, 4096, "Pinned host memory, ", "Pinned");
  check(2, 4'500, 8192, "Managed memory", "Managed");
  check(3, 4'600, 512, "memory", "Device");
  check(4, 4'700, 64, "Managed memory", "Managed");  // on no device yet
  check(5, 50'000, -6'442'450'945, "memory", "Device");
  CHECK(run.text(events[0], "variable") == "weights");
  CHECK(run.number(events[0], "Addr") == 0x7F00'0000'0000);
  CHECK(run.number(events[0], "pc") == 0xC0DE);
  CHECK(run.track(events[1]).device.empty());
  CHECK(run.track(events[3]).device == "GPU 0");
  CHECK(run.track(events[4]).device.empty());
  CHECK(run.number(events[3], "localMemoryPoolAddress") == 0xABCD);
  CHECK(run.number(events[3], "localMemoryPoolSize") == 33'554'432);
  CHECK(run.number(events[3], "localMemoryPoolUtilizedSize") == 512);
  CHECK(run.number(events[3], "localMemoryPoolReleaseThreshold") == 1024);
  CHECK(run.count_by_name("memory_pool") == Counts{{"Created", 1}, {"Destroyed", 1}, {"Trimmed", 1}});
  const RecordedEvent trimmed = run.only("memory_pool", "Trimmed");
  run.check_times(trimmed, 4'553, 4'553);
  CHECK(run.number(trimmed, "minBytesToKeep") == 2048);
  CHECK(run.number(trimmed, "processId") == 17);
}

TEST_CASE("graphs, compilation, overhead, unified memory and clocks of the GPU arrive") {
  const CudaRun& run = all_kinds();
  CHECK(run.count_by_name("cuda_graph").empty());  // nodes were asked for
  const RecordedEvent build = run.only("build", "compile: PTX to cubin");
  run.check_times(build, 500, 900);
  CHECK(run.text(build, "device") == "GPU 0");
  CHECK(run.number(build, "cache bytes") == 70'000);
  CHECK(run.text(build, "cache") == "/home/user/.nv/ComputeCache/7/5/ab12");
  const RecordedEvent overhead = run.only("overhead", "Lazy function loading (CUDA)");
  run.check_times(overhead, 1'300, 1'700);
  CHECK(run.number(overhead, "correlationId") == 101);
  CHECK(run.track(overhead).host == "profiler");
  const RecordedEvent moved = run.only("memcpy", "Memcpy Unified HtoD");
  run.check_times(moved, 50'100, 50'150);
  CHECK(run.number(moved, "bytes") == 65'536);
  CHECK(run.text(moved, "migrationCause") == "Page fault");
  CHECK(run.number(moved, "virtualAddress") == 0x7E00'0000'0000);
  CHECK(run.only("memcpy", "Memcpy Unified DtoD").name != "");
  const RecordedEvent fault = run.only("page_fault", "GPU 0 page fault");
  run.check_times(fault, 50'400, 50'400);
  CHECK(run.number(fault, "numberOfPageFaults") == 4 * 65'536);
  CHECK(run.text(fault, "access") == "Write");
  CHECK(run.count_by_name("page_fault") ==
        Counts{{"CPU page fault", 1}, {"GPU 0 page fault", 1}, {"Thrashing", 1}, {"Throttling", 1}, {"Remote map", 1}});
  std::map<std::string, double> samples;
  for (const RecordedEvent& event : run.table("counter")) {
    samples[run.track(event).name] = run.real(event, "value");
    CHECK(event.start == run.base() + 100);
  }
  CHECK(samples == std::map<std::string, double>{
                       {"SM clock", 1980}, {"memory clock", 2619}, {"temperature", 61}, {"power", 412.5}});
}

TEST_CASE("a graph that is captured whole has one event, which its launch leads to") {
  const CudaRun run = run_cuda({"all"}, {.options = {{"graphs", "whole"}}});
  const RecordedEvent graph = run.only("cuda_graph", "CUDA graph 6");
  run.check_times(graph, 48'000, 49'000);
  CHECK(run.number(graph, "graphId") == 6);
  CHECK(run.flows().at("cudaGraphLaunch -> CUDA graph 6") == 1);
}

TEST_CASE("every version of CUPTI since CUDA 11.8 gives the same events, but for what it does not tell") {
  for (const char* version : {"18", "19", "20", "21", "22", "24", "26", "28", "130000", "130001", "130200"}) {
    CAPTURE(version);
    const CudaRun run = run_cuda(
        {"all"}, {.options = {{"unified-memory", "on"}}, .environment = {std::string("STAND_IN_CUPTI=") + version}});
    const RecordedEvent kernel = run.only("kernel", "void gemm<float>(float*)");
    run.check_times(kernel, 10'000, 20'001);
    CHECK(run.number(kernel, "localMemoryTotal") == 5'000'000'000);
    CHECK(run.text(kernel, "cluster") == "[2, 1, 1]");
    CHECK(run.number(kernel, "maxActiveClusters") == (std::stoi(version) >= 19 ? 66 : 0));
    CHECK(run.count_by_name("kernel").size() == 4);
    CHECK(run.number(run.only("memcpy", "Memcpy HtoD (Pinned -> Device)"), "bytes") == 6'000'000'007);
    CHECK(run.number(run.only("memcpy", "Memcpy HtoD (Pinned -> Device)"), "copyCount").value_or(0) ==
          (std::stoi(version) >= 26 ? 3 : 0));
    CHECK(run.table("memory").size() == 6);
    CHECK(run.count_by_name("runtime_call").size() == 9);
    // The stream that recorded the event is found by the order of the calls where nothing else tells it.
    CHECK(run.number(run.only("cuda_sync", "Stream Wait Event"), "wait_on_stream") == 7);
    CHECK(run.table("cuda_event").size() == (std::stoi(version) >= 26 ? 1U : 0U));
    CHECK(run.table("page_fault").size() == 5);
    CHECK(run.quality("rows_lost") == nullptr);
    CHECK(run.quality("bad_records") == nullptr);
  }
}

TEST_CASE("NVTX ranges arrive as programs make them: nested, crossing, free, with domains, categories and payloads") {
  const CudaRun run = run_cuda({"nvtx"});
  CHECK(run.end.exit_code == 0);  // the program checks what it is answered
  const RecordedEvent step = run.only("nvtx", "step");
  const RecordedEvent forward = run.only("nvtx", "forward");
  CHECK(run.track(step).name == "trainer annotations");  // the program named its thread so
  CHECK(step.start <= forward.start);
  CHECK(forward.end <= step.end);
  CHECK(run.sink.lanes.at(step.lane).depth == 0);
  CHECK(run.sink.lanes.at(forward.lane).depth == 1);
  CHECK(run.text(forward, "kind") == "push/pop");
  const RecordedEvent mark = run.only("nvtx", "here");
  CHECK(run.text(mark, "kind") == "mark");
  CHECK(length(mark) == 0);
  CHECK(run.only("nvtx", "b\u00e9\u4e16\U0001F600").name != "");
  const RecordedEvent batch = run.only("nvtx", "registered batch");
  CHECK(run.text(batch, "domain") == "data loader");
  CHECK(run.text(batch, "category") == "reading");
  CHECK(run.text(batch, "payload") == "-7");
  CHECK(run.text(batch, "color") == "#112233");
  CHECK(batch.start < step.end);
  CHECK(batch.end > step.end);
  const RecordedEvent request = run.only("nvtx", "request");
  CHECK(run.track(request).name == "NVTX ranges");
  CHECK(run.text(request, "payload") == "2.5");
  CHECK(run.text(request, "kind") == "start/end");
  const RecordedEvent open = run.only("nvtx", "left open");
  CHECK(open.end >= batch.end);
  REQUIRE(run.quality("begin_without_end") != nullptr);
  CHECK(run.quality("begin_without_end")->count == 1);
  CHECK(run.count_by_name("nvtx").at("aten::add") == 5);
}

TEST_CASE(
    "data that NVTX ranges carry by a schema of the program's own are read as text, and messages' sizes as bytes") {
  const CudaRun run = run_cuda({"payloads"});
  CHECK(run.end.exit_code == 0);
  const std::string text = "Message size [bytes]=1048576, Operation=max, Root=-1, Algorithm=ring";
  const RecordedEvent reduce = run.only("nvtx", "ncclAllReduce");
  CHECK(run.text(reduce, "payload") == text);
  CHECK(run.number(reduce, "message bytes") == 1 << 20);
  CHECK(run.text(reduce, "domain") == "NCCL");
  std::map<std::string, std::string> by_schema;  // what has no name of its own
  for (const RecordedEvent& event : run.table("nvtx")) {
    if (event.name == "all-reduce") by_schema[run.text(event, "kind")] = run.text(event, "payload");
  }
  CHECK(by_schema == std::map<std::string, std::string>{{"push/pop", text},
                                                        {"mark", "Message size [bytes]=1048576, Operation=max"}});
  REQUIRE(run.quality("values_left_out") != nullptr);
  CHECK(run.quality("values_left_out")->count == 1);
}

TEST_CASE("streams that the program names with NVTX are called so, whether by runtime, driver or as a resource") {
  const CudaRun run = run_cuda({"names"});
  CHECK(run.end.exit_code == 0);
  CHECK(run.track(run.only("kernel", "first")).name == "stream 7 (compute)");
  CHECK(run.track(run.only("kernel", "second")).name == "stream 13 (copi\u00e9s)");
  CHECK(run.track(run.only("kernel", "third")).name == "stream 9 (reduce)");
  CHECK(run.meta("device.0.program_name") == "trainer's GPU");
}

TEST_CASE("a kind that the user turned off is not collected, and calls that are excluded are missing") {
  const CudaRun run = run_cuda({"all"}, {.options = {{"memory", "off"},
                                                     {"events", "off"},
                                                     {"calls", "runtime"},
                                                     {"exclude-calls", "cudaGetLastError,cudaMalloc"}}});
  CHECK(run.table("memory").empty());
  CHECK(run.table("cuda_event").empty());
  CHECK(run.table("page_fault").empty());
  const Counts calls = run.count_by_name("runtime_call");
  CHECK(calls.count("cuLaunchKernel") == 0);
  CHECK(calls.count("cudaGetLastError") == 0);
  CHECK(calls.count("cudaMalloc") == 0);
  CHECK(calls.at("cudaLaunchKernel") == 1);
}

TEST_CASE("with a range by name only what happens within it is captured, and by cudaProfilerStart likewise") {
  const CudaRun by_name = run_cuda({"ranges"}, {.options = {{"range", "wanted"}}});
  CHECK(by_name.count_by_name("kernel") == Counts{{"inside", 25}});
  CHECK(by_name.count_by_name("nvtx") == Counts{{"wanted", 2}});
  const CudaRun by_calls = run_cuda({"ranges"}, {.options = {{"range", "profiler"}}});
  CHECK(by_calls.count_by_name("kernel") == Counts{{"profiled", 7}});
}

TEST_CASE("launches from eight threads at once all arrive, each on its thread's row") {
  const CudaRun run = run_cuda({"threads"});
  CHECK(run.count_by_name("kernel") == Counts{{"many", 160'000}});
  CHECK(run.count_by_name("runtime_call") == Counts{{"cudaLaunchKernel", 160'000}});
  std::set<TrackNumber> rows;
  for (const RecordedEvent& call : run.table("runtime_call")) rows.insert(call.track);
  CHECK(rows.size() == 8);
  CHECK(run.table("dependency").size() == 160'000);
  CHECK(run.sink.qualities.empty());
}

TEST_CASE("a ring that is too small makes the collector wait, or drops and counts") {
  const CudaRun waits = run_cuda({"threads"}, {.options = {{"buffer", "128KiB"}}});
  CHECK(waits.count_by_name("kernel").at("many") == 160'000);
  CHECK(waits.quality("dropped_events") == nullptr);
  const CudaRun drops = run_cuda({"threads"}, {.options = {{"buffer", "128KiB"}, {"when-full", "drop"}}});
  std::uint64_t dropped = 0;
  for (const QualityEntry& entry : drops.sink.qualities) {
    if (entry.kind == "dropped_events") dropped += entry.count;
  }
  CHECK(drops.table("kernel").size() + drops.table("runtime_call").size() + dropped >= 320'000);
}

TEST_CASE("buffers that lie harm nobody: what is whole in them arrives, the rest is counted") {
  for (const bool lies : {false, true}) {
    CAPTURE(lies);
    CudaSetup setup;
    if (lies) setup.environment = {"STAND_IN_LIES=1"};
    const CudaRun run = run_cuda({"lies"}, setup);
    CHECK(run.end.exit_code == 0);
    CHECK(run.count_by_name("kernel").at("good") >= 1);
    CHECK(run.count_by_name("kernel").at("unnamed kernel") == 1);
    CHECK(length(run.only("kernel", "backwards")) == 0);
    REQUIRE(run.quality("rows_lost") != nullptr);
    CHECK(run.quality("rows_lost")->count >= 1);
    REQUIRE(run.quality("dropped_events") != nullptr);
    CHECK(run.quality("dropped_events")->count == 17);
    CHECK(run.quality("rows_left_out") != nullptr);
  }
}

TEST_CASE("a program that dies while a buffer is out loses what is in it and nothing before") {
  const CudaRun run = run_cuda({"die"});
  CHECK(run.end.exit_code != 0);
  CHECK(run.count_by_name("kernel") == Counts{{"before", 100}});
}

TEST_CASE("a capture that ends while its program runs on has what CUPTI held back until then") {
  const CudaRun run = run_cuda({"outlive"}, {.ends_at = "launched"});
  CHECK(run.end.exit_code == 0);
  CHECK(run.count_by_name("kernel") == Counts{{"before_the_end", 100}});
}

TEST_CASE("a program that a signal ends has given its records first, and ends by that signal") {
  const CudaRun run = run_cuda({"signal"});
  const CudaRun plain = run_cuda_plain({"signal"});
  CHECK(run.count_by_name("kernel") == Counts{{"before_the_end", 100}});
  CHECK(run.end.exit_code == plain.end.exit_code);
}

TEST_CASE("the first kernel is at the viewer a moment after it ran, while the program goes on") {
  const test::TemporaryFolder folder;
  const CudaRun run = run_cuda({"train", "4000", folder.file("end")}, {.until = folder.file("end")});
  const std::vector<RecordedEvent> kernels = run.table("kernel");
  REQUIRE_FALSE(kernels.empty());
  CHECK(run.first_kernel_came_ns < kernels.back().end);
  const std::size_t steps = run.count_by_name("nvtx")["step"];
  CHECK(steps < 4000);
  CHECK(run.count_by_name("nvtx") == Counts{{"step", steps}, {"forward", steps}, {"backward", steps}});
}

TEST_CASE("a paused capture of CUDA collects no launches, and knows all the same what memory is in use") {
  const test::TemporaryFolder folder;
  const CudaRun run = run_cuda({"train", "4000", folder.file("end")}, {.pauses = true, .until = folder.file("end")});
  run.check_pause("cudaLaunchKernel");
}

TEST_CASE("processes that a program starts are captured in the same session, each with rows of its own") {
  const CudaRun run = run_cuda({"children"});
  CHECK(run.count_by_name("kernel") == Counts{{"launched", 60}, {"in_parent", 10}});
  std::set<std::string> hosts;
  for (const RecordedEvent& call : run.table("runtime_call")) hosts.insert(run.track(call).host);
  CHECK(hosts.size() == 4);
  for (const RecordedEvent& kernel : run.table("kernel")) CHECK(run.track(kernel).device == "GPU 0");
  CHECK(run.tracks_of("kernel").size() == 4);
}

TEST_CASE("workers that each call their only GPU number 0 are shown on the GPUs that these are") {
  const CudaRun run = run_cuda({"workers"});
  std::map<std::string, std::size_t> kernels;
  for (const RecordedEvent& kernel : run.table("kernel")) ++kernels[run.track(kernel).device];
  CHECK(kernels == std::map<std::string, std::size_t>{{"GPU 0", 2}, {"GPU 1", 1}});
}

TEST_CASE("a forked child's ranges are its own") {
  const CudaRun run = run_cuda({"forks"});
  CHECK(run.count_by_name("nvtx") == Counts{{"parent", 1}, {"child", 1}});
  CHECK(run.track(run.only("nvtx", "parent")).host != run.track(run.only("nvtx", "child")).host);
}

TEST_CASE("a program that CUPTI serves already keeps it, and the capture says so") {
  const CudaRun run = run_cuda({"launches", "10"}, {.environment = {"STAND_IN_SUBSCRIBED=1"}});
  CHECK(run.table("kernel").empty());
  REQUIRE(run.quality("probe_trouble") != nullptr);
  CHECK(run.quality("probe_trouble")->detail.find("torch.profiler") != std::string::npos);
}

TEST_CASE("a tool of the program that takes CUPTI later gets all of its records, and the capture says from when on") {
  const CudaRun run = run_cuda({"takeover"});
  CHECK(run.count_by_name("kernel") == Counts{{"before", 10}});
  CHECK(run.printed.find("the other tool has 60") != std::string::npos);
  REQUIRE(run.quality("probe_trouble") != nullptr);
  CHECK(run.quality("probe_trouble")->detail.find("taken CUPTI over") != std::string::npos);
}

TEST_CASE("where CUPTI keeps its own clock, times are right within what the pairs of readings say") {
  for (const char* how : {"refused", "silent"}) {  // it says so, or says that it took ours
    CAPTURE(how);
    const CudaRun run = run_cuda({"launches", "100"}, {.environment = {std::string("STAND_IN_OWN_CLOCK=") + how}});
    REQUIRE(run.quality("clock_residual") != nullptr);
    std::string residual;
    for (const auto& [name, value] : run.sink.meta) {
      if (name.ends_with(".clock_residual_ns")) residual = value;
    }
    CHECK(std::stoll(residual) > 0);
    const std::vector<RecordedEvent> calls = run.table("runtime_call");
    REQUIRE(calls.size() == 100);
    // Within the capture: the stand-in's clock counts from 1970.
    CHECK(calls.front().start > 0);
    CHECK(calls.back().end < 60'000'000'000);
  }
}

TEST_CASE("records in the clock that CUPTI was given are exact even where it answers another one when asked") {
  const CudaRun run = run_cuda({"all"}, {.environment = {"STAND_IN_ANSWERS_REAL_TIME=1"}});
  run.check_times(run.only("kernel", "void gemm<float>(float*)"), 10'000, 20'001);
  run.check_times(run.only("runtime_call", "cudaLaunchKernel"), 1'000, 2'000);
  CHECK(run.quality("clock_residual") == nullptr);
}

TEST_CASE("what the rights do not allow is said with how to get them") {
  const CudaRun run = run_cuda({"launches", "10"}, {.environment = {"STAND_IN_FORBIDS=10"}});
  REQUIRE(run.quality("probe_trouble") != nullptr);
  const std::string& detail = run.quality("probe_trouble")->detail;
  CHECK(detail.find("collects no kernels") != std::string::npos);
  CHECK(detail.find("NVreg_RestrictProfilingToAdminUsers=0") != std::string::npos);
  CHECK(run.count_by_name("runtime_call").at("cudaLaunchKernel") == 10);
}

TEST_CASE("a CUPTI that is newer than the driver is not taken, and what to install is said") {
  const CudaRun run = run_cuda({"launches", "10"}, {.environment = {"STAND_IN_DRIVER=12040"}});
  CHECK(run.end.exit_code == 0);
  CHECK(run.table("kernel").empty());
  REQUIRE(run.quality("probe_trouble") != nullptr);
  CHECK(run.quality("probe_trouble")->detail.find("is of CUDA 13 and the driver of 12") != std::string::npos);
}

TEST_CASE("the CUPTI of the program's own Python packages is found beside its CUDA runtime") {
  const ScratchFolder packages;
  namespace fs = std::filesystem;
  const fs::path root = packages.path / "site-packages" / "nvidia";
  fs::create_directories(root / "cuda_cupti" / "lib");
  fs::create_directories(root / "cuda_runtime" / "lib");
  fs::copy_file(stand_in_cupti(), root / "cuda_cupti" / "lib" / "libcupti.so.12");
  fs::copy_file(fs::path(stand_in_cupti()).parent_path() / "libnvidia_ml_stand_in.so",
                root / "cuda_runtime" / "lib" / "libcudart.so.12");
  const CudaRun run =
      run_cuda({"launches", "0"}, {.environment = {"LD_PRELOAD=" + (root / "cuda_runtime/lib/libcudart.so.12").string(),
                                                   "STAND_IN_CUPTI=24", "STAND_IN_DRIVER=12060"},
                                   .names_library = false});
  std::string found;
  for (const auto& [key, value] : run.sink.meta) {
    if (key.ends_with(".cupti")) found = value;
  }
  CHECK(found == (root / "cuda_cupti/lib/libcupti.so.12").string());
}

TEST_CASE("counters of NVML are those of the GPUs that the program uses, ten times a second") {
  ::setenv("ACCELSCOPE_NVML",
           (std::filesystem::path(stand_in_cupti()).parent_path() / "libnvidia_ml_stand_in.so").c_str(), 1);
  const CudaRun run = run_cuda({"nvml"}, {.options = {{"gpu-counters", "nvml"}}});
  ::unsetenv("ACCELSCOPE_NVML");
  std::map<std::string, std::set<double>> values;
  for (const RecordedEvent& event : run.table("counter")) {
    CHECK(run.track(event).device == "GPU 0");
    values[run.track(event).name + " " + run.track(event).unit].insert(run.real(event, "value"));
  }
  CHECK(values == std::map<std::string, std::set<double>>{{"GPU busy %", {87}},
                                                          {"memory busy %", {31}},
                                                          {"memory used B", {21'474'836'480.0}},
                                                          {"SM clock MHz", {1980}},
                                                          {"memory clock MHz", {2619}},
                                                          {"power W", {512.5}},
                                                          {"temperature C", {54}},
                                                          {"PCIe sent B/s", {1'024'000}},
                                                          {"PCIe received B/s", {2'048'000}}});
}

TEST_CASE("a program runs the same with and without a capture of CUDA") {
  for (const char* what : {"launches", "threads"}) {
    CAPTURE(what);
    const CudaRun plain = run_cuda_plain({what, "100"});
    const CudaRun traced = run_cuda({what, "100"});
    CHECK(plain.end.exit_code == traced.end.exit_code);
    CHECK(plain.printed == traced.printed);
  }
}

TEST_CASE("the collector of CUDA is small, and the driver and NVTX find what they look for in it") {
  const probes::ProbeFiles files = probes::ProbeFiles::lay_down().value();
  CHECK(std::filesystem::file_size(files.path("libaccelscope_cuda.so")) < 2U << 20U);
  const request::CaptureKind& kind = **request::find_kind("cuda");
  const std::vector<std::string> environment =
      kind.environment(request::read_options(kind, {"cuda", {}}).value(), files, {}).value();
  CHECK(environment == std::vector<std::string>{"CUDA_INJECTION64_PATH=" + files.path("libaccelscope_cuda.so"),
                                                "NVTX_INJECTION64_PATH=" + files.path("libaccelscope_cuda.so")});
}

TEST_CASE("doctor says of CUDA which driver, which CUPTI, which rights and whether NVML is there") {
  const std::vector<request::KindCheck> checks = (*request::find_kind("cuda"))->check();
  REQUIRE(checks.size() == 4);
  CHECK(checks[0].text.find("driver") != std::string::npos);
  CHECK(checks[1].text.find("CUPTI") != std::string::npos);
  CHECK(checks[2].text.find("counters of the multiprocessors") != std::string::npos);
  CHECK(checks[3].text.find("NVML") != std::string::npos);
}

}  // namespace accelscope::capture
