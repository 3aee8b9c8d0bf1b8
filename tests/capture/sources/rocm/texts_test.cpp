// rocprofv3's results in JSON and tables in CSV.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "capture/sources/base/importers.h"
#include "capture/sources/rocm/results_json/reader.h"
#include "tests/capture/sources/rocm/rocpd_maker.h"

namespace accelscope::capture {
namespace {

constexpr std::string_view kFacts = R"json("metadata": {"node": {"machine_id": "m1", "hostname": "node1"}, "pid": 908,
  "command": ["/usr/bin/train", "--fast"]},
 "agents": [{"id": {"handle": 37944}, "type": 1, "logical_node_type_id": 0, "node_id": 0, "name": "EPYC"},
  {"id": {"handle": 37946}, "type": 2, "logical_node_type_id": 2, "node_id": 4, "name": "gfx950", "cu_count": 256,
   "product_name": "AMD Instinct MI350X", "mem_banks": [{"size_in_bytes": 309220868096}]}],
 "counters": [{"agent_id": {"handle": 37946}, "id": {"handle": 5}, "name": "SQ_WAVES", "description": "Waves."}],
 "strings": {"callback_records": [], "buffer_records": [{"kind": "NONE", "operations": []},
   {"kind": "HIP_RUNTIME_API", "operations": ["none", "hipLaunchKernel"]},
   {"kind": "KERNEL_DISPATCH", "operations": ["a", "b"]},
   {"kind": "MARKER_CORE_RANGE_API", "operations": ["roctxRangePushA"]},
   {"kind": "MEMORY_COPY", "operations": ["x", "MEMORY_COPY_HOST_TO_DEVICE"]},
   {"kind": "MEMORY_ALLOCATION", "operations": ["MEMORY_ALLOCATION_ALLOCATE", "MEMORY_ALLOCATION_FREE"]}],
  "marker_api": [{"key": 9, "value": "step \"1\", [x]"}], "correlation_id": {"external": [{"key": 44, "value": "layer"}]}},
 "kernel_symbols": [{"kernel_id": 8, "formatted_kernel_name": "gemm<{4}>(float*)",
   "kernel_name": "_Z4gemm", "kernel_object": 77, "arch_vgpr_count": 128, "accum_vgpr_count": 4, "sgpr_count": 96}],)json";

std::string dispatch(std::int64_t id, std::int64_t start, bool inside = false) {
  return fmt::format(
             R"({}"correlation_id": {{"internal": {}, "external": 44}}, "start_timestamp": {}, "end_timestamp": {},
 "dispatch_info": {{"agent_id": {{"handle": 37946}}, "queue_id": {{"handle": 16}}, "kernel_id": 8, "dispatch_id": {},
 "private_segment_size": 0, "group_segment_size": 512, "workgroup_size": {{"x": 64, "y": 1, "z": 1}},
 "grid_size": {{"x": 130, "y": 3, "z": 1}}}})",
             inside ? "{" : R"({"kind": 2, "operation": 1, "thread_id": 908, )", id, start, start + 50, id) +
         (inside ? "}" : R"(, "stream_id": {"handle": 3}})");
}

std::string result_of_one(bool with_counters = true) {
  std::string text = "{";
  text += kFacts;
  text += R"("summary": [], "callback_records": {)";
  if (with_counters) {
    text +=
        R"("counter_collection": [{"thread_id": 908, "dispatch_data": )" + dispatch(2, 1200, true) +
        R"(, "records": [{"counter_id": {"handle": 5}, "value": 10}, {"counter_id": {"handle": 5}, "value": 2.5}]}])";
  }
  text += R"(}, "buffer_records": {"kernel_dispatch": [)" + dispatch(1, 1100) + ", " + dispatch(2, 1200) + R"(],
 "hip_api": [{"kind": 1, "operation": 1, "thread_id": 908, "correlation_id": {"internal": 1, "external": 0},
   "start_timestamp": 1000, "end_timestamp": 1010, "args": {"stream": "0x0"}}],
 "marker_api": [{"kind": 3, "operation": 0, "thread_id": 908, "correlation_id": {"internal": 9, "external": 0},
   "start_timestamp": 990, "end_timestamp": 1400}],
 "memory_copy": [{"kind": 4, "operation": 1, "thread_id": 908, "correlation_id": {"internal": 3, "external": 0},
   "start_timestamp": 1300, "end_timestamp": 1320, "src_agent_id": {"handle": 37944}, "dst_agent_id": {"handle": 37946},
   "bytes": 2000, "stream_id": {"handle": 3}, "dst_address": {"handle": 18446744073709551615}}],
 "memory_allocation": [{"kind": 5, "operation": 0, "agent_id": {"handle": 37946}, "address": {"handle": 64},
   "allocation_size": 1024, "start_timestamp": 980, "end_timestamp": 985, "correlation_id": {"internal": 4}},
  {"kind": 5, "operation": 1, "agent_id": {"handle": 0}, "address": {"handle": 64}, "allocation_size": 0,
   "start_timestamp": 1500, "end_timestamp": 1502, "correlation_id": {"internal": 5}}],
 "pc_sample_host_trap": [{"inst_index": 1}, {"inst_index": 2}]}})";
  return text;
}

std::string result_file(const std::string& processes) { return "{\"rocprofiler-sdk-tool\": [" + processes + "]}"; }

Imported imported_result(const std::string& text) {
  const test::TemporaryFolder folder;
  test::write_file(folder.file("test.json"), text);
  return Imported::by(
      [&](EventSink& sink) { return sources::rocm::import_rocprofv3_json(folder.file("test.json"), {}, sink); });
}

class SlowSource final : public json::ByteSource {
 public:
  SlowSource(std::string text, std::size_t step) : text_(std::move(text)), step_(step) {}
  Result<std::size_t> read(std::span<char> out) override {
    const std::size_t count = std::min({step_, out.size(), text_.size() - at_});
    std::copy_n(text_.data() + at_, count, out.data());
    at_ += count;
    return count;
  }
  [[nodiscard]] std::uint64_t file_bytes() const override { return text_.size(); }
  [[nodiscard]] std::uint64_t file_bytes_read() const override { return at_; }

 private:
  std::string text_;
  std::size_t step_;
  std::size_t at_ = 0;
};

}  // namespace

TEST_CASE("what encloses the tables of a result becomes blanks, whatever pieces it is read in") {
  const std::string text = result_file(result_of_one() + ", " + result_of_one(false));
  std::string whole;
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, std::size_t{100}, text.size()}) {
    sources::rocm::FlatResults flat(std::make_unique<SlowSource>(text, step));
    std::string read;
    std::vector<char> buffer(53);
    for (;;) {
      const Result<std::size_t> count = flat.read(buffer);
      REQUIRE(count.ok());
      if (*count == 0) break;
      read.append(buffer.data(), *count);
    }
    CHECK(read.size() == text.size());
    if (whole.empty()) whole = read;
    CHECK(read == whole);
  }
  CHECK(whole.find("rocprofiler-sdk-tool") == std::string::npos);
  CHECK(whole.find("\"buffer_records\": {") == std::string::npos);
  CHECK(whole.find("\"buffer_records\": [{\"kind\": \"NONE\"") != std::string::npos);  // among the strings
  std::int64_t depth = 0;
  for (const char c : whole) depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
  CHECK(depth == 0);
}

TEST_CASE("a table that rocpd's own tool wrote: columns in its spelling, and unknown ones as arguments") {
  test::TemporaryFolder folder;
  test::write_file(folder.file("9_kernel_trace.csv"),
                   "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Name\",\"Start_Timestamp\",\"End_Timestamp\","
                   "\"Lds_Block_Size\",\"Vgpr_Count\",\"Sgpr_Count\",\"Odd_Fact\"\n"
                   "\"KERNEL_DISPATCH\",\"Agent 4\",1,\"norm\",1000,2000,8456,16,32,7\n");
  const Imported session = imported_input({folder.file("9_kernel_trace.csv")});
  const auto kernels = session.events("kernel");
  REQUIRE(kernels.size() == 1);
  CHECK(kernels[0].integer("shared memory") == 8456);
  CHECK(kernels[0].integer("arch_vgpr_count") == 16);
  CHECK(kernels[0].integer("sgpr_count") == 32);
  CHECK(kernels[0].string("args") == "Odd_Fact=7");
}

TEST_CASE("a result of rocprofv3: kernels with counters, calls, marks, copies and memory") {
  const Imported session = imported_result(result_file(result_of_one()));
  const auto kernels = session.events("kernel");
  REQUIRE(kernels.size() == 2);
  CHECK(quality_count(session, "duplicate_events") == 1);
  for (const EventValues& kernel : kernels) {
    CHECK(kernel.name == "gemm<{4}>(float*)");
    CHECK(kernel.device == "GPU 2");
    CHECK(kernel.string("grid") == "[3, 3, 1]");
    CHECK(kernel.string("region") == "layer");
    CHECK(kernel.integer("arch_vgpr_count") == 128);
    const bool counted = kernel.integer("dispatch_id") == 2;
    CHECK(kernel.real("SQ_WAVES").has_value() == counted);
    if (counted) CHECK(kernel.real("SQ_WAVES") == 12.5);
    CHECK(kernel.end - kernel.begin == 50);
  }
  const auto calls = session.events("runtime_call");
  REQUIRE(calls.size() == 1);
  CHECK(calls[0].name == "hipLaunchKernel");
  CHECK(calls[0].string("category") == "HIP_RUNTIME_API");
  CHECK(calls[0].string("args") == R"({"stream": "0x0"})");
  const auto marks = session.events("nvtx");
  REQUIRE(marks.size() == 1);
  CHECK(marks[0].name == "step \"1\", [x]");
  CHECK(marks[0].string("kind") == "roctxRangePushA");
  const auto copies = session.events("memcpy");
  REQUIRE(copies.size() == 1);
  CHECK(copies[0].name == "MEMORY_COPY_HOST_TO_DEVICE");
  CHECK(copies[0].integer("bytes") == 2000);
  CHECK(copies[0].integer("dst_address") == -1);  // all bits
  const auto memory = session.events("memory");
  REQUIRE(memory.size() == 2);
  CHECK(memory[0].integer("Bytes") == 1024);
  CHECK(memory[1].integer("Bytes") == -1024);
  CHECK(session.count("dependency") == 1);
  CHECK(quality_count(session, "rows_left_out") == 2);  // samples of instructions
  CHECK(quality_count(session, "stray_bytes") == 0);
  const QualityEntry* unread = session.quality("unknown_columns");
  REQUIRE(unread != nullptr);
  CHECK(unread->detail.find("kernel_symbols.kernel_object") != std::string::npos);
  CHECK(session.snapshot().meta_value("device.2.totalGlobalMem") == "309220868096");
  // Two processes in one file.
  const Imported both = imported_result(result_file(result_of_one(false) + "," + result_of_one(false)));
  CHECK(both.count("kernel") == 4);
  CHECK(both.count("dependency") == 2);
}

TEST_CASE("a result of rocprofv3 that is cut or damaged anywhere gives what is whole of it, or says why not") {
  const std::string text = result_file(result_of_one());
  const test::TemporaryFolder folder;
  const std::string path = folder.file("cut.json");
  for (std::size_t size = 0; size < text.size(); size += 37) {
    test::write_file(path, text.substr(0, size));
    const auto store = std::move(Store::create().value());
    StoreSink sink(*store);
    const Result<void> done = sources::rocm::import_rocprofv3_json(path, {}, sink);
    if (!done) CHECK(done.message().starts_with(path + ": "));
  }
  const Imported cut = imported_result(text.substr(0, text.find("\"memory_copy\"")));
  CHECK(cut.count("kernel") == 2);
  CHECK(quality_count(cut, "truncated") == 1);
  std::uint64_t random = 3;
  for (int round = 0; round < 300; ++round) {
    std::string flipped = text;
    random = random * 6364136223846793005U + 1442695040888963407U;
    flipped[(random >> 20) % flipped.size()] = static_cast<char>(random >> 50);
    const auto store = std::move(Store::create().value());
    StoreSink sink(*store);
    test::write_file(path, flipped);
    (void)sources::rocm::import_rocprofv3_json(path, {}, sink);
  }
}

TEST_CASE("tables of rocprofv3 in a folder are one session, launches and counters come together") {
  const test::TemporaryFolder folder;
  const auto table = [&](const char* name, const std::string& text) {
    test::write_file(folder.file(std::string("node1/") + name), text);
  };
  table("908_kernel_trace.csv",
        "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\",\"Kernel_Id\",\"Kernel_Name\","
        "\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\","
        "\"Accum_VGPR_Count\",\"SGPR_Count\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\","
        "\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\n"
        "\"KERNEL_DISPATCH\",\"Agent 4\",1,2,908,1,17,\"void add<float>(float*, int)\",1,3200098838431081,"
        "3200098838483232,1024,16,8,4,16,64,1,1,1024,1024,1\n"
        "\"KERNEL_DISPATCH\",\"Agent 4\",1,2,908,2,17,\"gemm\",2,x,3200098838483232,0,0,8,4,16,64,1,1,64,1,1\n");
  table("908_counter_collection.csv",
        "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\",\"Thread_Id\",\"Grid_Size\","
        "\"Kernel_Id\",\"Kernel_Name\",\"Workgroup_Size\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\","
        "\"Accum_VGPR_Count\",\"SGPR_Count\",\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\"\n"
        "1,1,\"Agent 4\",1,908,908,1048576,17,\"void add<float>(float*, int)\",64,0,0,8,0,16,\"SQ_WAVES\",16384.5,"
        "3200098838431081,3200098838483232\n"
        "1,1,\"Agent 4\",1,908,908,1048576,17,\"void add<float>(float*, int)\",64,0,0,8,0,16,\"GRBM_COUNT\",7,"
        "3200098838431081,3200098838483232\n"
        "3,3,\"Agent 4\",1,908,908,640,17,\"late\",64,0,0,8,0,16,\"SQ_WAVES\",3,3200098838500000,3200098838500100\n");
  table(
      "908_hip_api_trace.csv",
      "\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n"
      "\"HIP_RUNTIME_API_EXT\",\"hipLaunchKernel\",908,908,1,3200098838400000,3200098838410000\n");
  table(
      "908_marker_api_trace.csv",
      "\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n"
      "\"MARKER_CORE_API\",\"step, 1\",908,908,9,3200098838390000,3200098838390000\n");
  table(
      "908_memory_copy_trace.csv",
      "\"Kind\",\"Direction\",\"Stream_Id\",\"Source_Agent_Id\",\"Destination_Agent_Id\",\"Correlation_Id\","
      "\"Start_Timestamp\",\"End_Timestamp\"\n"
      "\"MEMORY_COPY\",\"MEMORY_COPY_HOST_TO_DEVICE\",2,\"Agent 0\",\"Agent 4\",5,3200098838300000,3200098838300100\n");
  table(
      "908_memory_allocation_trace.csv",
      "\"Kind\",\"Operation\",\"Agent_Id\",\"Allocation_Size\",\"Address\",\"Correlation_Id\",\"Start_Timestamp\","
      "\"End_Timestamp\"\n"
      "\"MEMORY_ALLOCATION\",\"MEMORY_ALLOCATION_ALLOCATE\",\"Agent 4\",1024,\"0x00007ffb26354000\",1,3200098838200000,"
      "3200098838200010\n");
  table("908_agent_info.csv",
        "\"Node_Id\",\"Logical_Node_Id\",\"Agent_Type\",\"Cu_Count\",\"Name\",\"Vendor_Name\",\"Product_Name\",\"Model_"
        "Name\"\n0,0,\"CPU\",0,\"EPYC\",\"CPU\",\"EPYC\",\"\"\n4,4,\"GPU\",256,\"gfx950\",\"AMD\",\"AMD Instinct "
        "MI350X\",\"\"\n");
  table("908_kernel_stats.csv", "\"Name\",\"Calls\",\"TotalDurationNs\"\n\"add\",1,5\n");
  const Imported session = imported_input({folder.path()});
  const auto kernels = session.events("kernel");
  REQUIRE(kernels.size() == 2);
  const EventValues& add = kernels[0].name == "late" ? kernels[1] : kernels[0];
  const EventValues& late = kernels[0].name == "late" ? kernels[0] : kernels[1];
  CHECK(add.name == "void add<float>(float*, int)");
  CHECK(add.device == "GPU 0");
  CHECK(add.track == "stream 2");
  CHECK(add.string("grid") == "[16, 1024, 1]");
  CHECK(add.integer("shared memory") == 1024);
  CHECK(add.real("SQ_WAVES") == 16384.5);
  CHECK(add.real("GRBM_COUNT") == 7);
  CHECK(add.end - add.begin == 52'151);
  CHECK(late.string("grid") == "[10, 1, 1]");
  CHECK(late.real("SQ_WAVES") == 3);
  CHECK(session.count("runtime_call") == 1);
  CHECK(session.count("dependency") == 1);
  CHECK(session.events("nvtx")[0].name == "step, 1");
  CHECK(session.events("memcpy")[0].device == "GPU 0");
  CHECK(session.events("memory")[0].integer("Addr") == 0x7ffb26354000);
  CHECK(quality_count(session, "rows_skipped") == 1);  // no begin
  CHECK(session.snapshot().meta_value("trace_begin_ns") == "3200098838200000");
  CHECK(session.snapshot().meta_value("device.0.name") == "AMD Instinct MI350X");
  // The same run in another format of the tool is read once.
  run_sql(folder.file("node1/908_results.db"), rocpd_sql());
  test::write_file(folder.file("node1/908_results.json"), result_file(result_of_one()));
  const Imported once = imported_input({folder.path()});
  CHECK(once.snapshot().meta_value("source_format") == "ROCm profile (rocpd 3.0.0)");
  CHECK(once.count("kernel") == 2);
  CHECK(quality_count(once, "files_skipped") == 9);
  // A single table by itself; devices are known by their numbers only.
  const Imported one = imported_input({folder.file("node1/908_memory_copy_trace.csv")});
  CHECK(one.count("memcpy") == 1);
  CHECK(one.events("memcpy")[0].device == "agent 4");
}

TEST_CASE("a result of rocprofv3 whose first launches have no counters keeps those of the later ones as text") {
  // The first process was traced without counters.
  const Imported session = imported_result(result_file(result_of_one(false) + "," + result_of_one()));
  const std::vector<EventValues> kernels = session.events("kernel");
  REQUIRE(kernels.size() == 4);
  CHECK(std::count_if(kernels.begin(), kernels.end(), [](const EventValues& kernel) {
          return kernel.string("further counters").find("=12.5") != std::string::npos;
        }) == 1);
}

TEST_CASE("a result of rocprofv3 with times and sizes at the ends of all numbers shows every event") {
  std::string text = result_of_one();
  const auto put = [&](std::string_view known, std::string_view number) {
    for (std::size_t at = text.find(known); at != std::string::npos; at = text.find(known, at + number.size()))
      text.replace(at, known.size(), number);
  };
  put(R"("start_timestamp": 1100)", R"("start_timestamp": -9223372036854775808)");
  put(R"("start_timestamp": 1300, "end_timestamp": 1320)",
      R"("start_timestamp": -9000000000000000000, "end_timestamp": 9000000000000000000)");
  put(R"("start_timestamp": 980, "end_timestamp": 985)",
      R"("start_timestamp": -9000000000000000000, "end_timestamp": 9000000000000000000)");
  put(R"("start_timestamp": 1000, "end_timestamp": 1010)",
      R"("start_timestamp": -9223372036854775808, "end_timestamp": 9223372036854775807)");
  put(R"("allocation_size": 1024)", R"("allocation_size": -9223372036854775808)");
  const Imported session = imported_result(result_file(text));
  CHECK(session.count("kernel") == 2);
  CHECK(session.count("memcpy") == 1);
  CHECK(session.count("runtime_call") == 1);
  const std::vector<EventValues> memory = session.events("memory");
  CHECK(memory.size() == 2);
  CHECK(std::any_of(memory.begin(), memory.end(),
                    [](const EventValues& event) { return event.integer("Bytes") == INT64_MAX; }));
}

TEST_CASE("a table of rocprofv3 with a device of the largest number is read") {
  const test::TemporaryFolder folder;
  test::write_file(folder.file("908_memory_copy_trace.csv"),
                   "\"Kind\",\"Direction\",\"Stream_Id\",\"Source_Agent_Id\",\"Destination_Agent_Id\","
                   "\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n\"MEMORY_COPY\","
                   "\"MEMORY_COPY_HOST_TO_DEVICE\",2,\"CPU 0\",\"GPU 9223372036854775807\",5,3200098838300000,"
                   "3200098838300100\n");
  const Imported session = imported_input({folder.file("908_memory_copy_trace.csv")});
  CHECK(session.count("memcpy") == 1);
}

}  // namespace accelscope::capture
