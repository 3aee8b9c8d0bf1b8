// The kind `rocm` on a program whose rocprofiler-sdk is a stand-in: every record arrives as it was, to the ns and the
// byte, whatever the version of the library, and whatever becomes of the program.
#include <doctest/doctest.h>

#include <filesystem>
#include <set>

#include "capture/probe/host/files.h"
#include "capture/request/kind.h"
#include "capture/request/options.h"
#include "tests/capture/kinds/cuda/cuda_run.h"
#include "tests/support/files.h"

namespace accelscope::capture {
namespace {

using RocmCounts = std::map<std::string, std::size_t>;

[[nodiscard]] CudaRun run_rocm(const std::vector<std::string>& arguments, CudaSetup setup = {}) {
  setup.kind = "rocm";
  setup.program = "rocm_for_tests";
  return run_cuda(arguments, setup);
}

[[nodiscard]] const CudaRun& rocm_run() {
  static const CudaRun run = run_rocm(
      {"all"}, {.options = {{"page-migration", "on"}, {"calls", "all"}}, .environment = {"STAND_IN_SDK=10300"}});
  return run;
}

}  // namespace

TEST_CASE("a ROCm kernel arrives with all that rocprofiler-sdk tells of it, on the row of its stream and GPU") {
  const CudaRun& run = rocm_run();
  CHECK(run.end.exit_code == 0);
  const RecordedEvent kernel = run.only("kernel", "void gemm<float>(float*)");
  run.check_times(kernel, 10'000, 20'001);
  CHECK(run.track(kernel).name == "stream 3");
  CHECK(run.track(kernel).kind == "stream");
  CHECK(run.track(kernel).device == "GPU 0");
  CHECK(run.text(kernel, "kind") == "KERNEL_DISPATCH");
  CHECK(run.number(kernel, "correlation") == 101);
  CHECK(run.number(kernel, "device") == 0);
  CHECK(run.number(kernel, "stream") == 3);
  CHECK(run.number(kernel, "queue_id") == 2);
  CHECK(run.number(kernel, "kernel_id") == 1);
  CHECK(run.number(kernel, "dispatch_id") == 501);
  CHECK(run.number(kernel, "tid") == run.printed_number("thread"));
  CHECK(run.text(kernel, "grid") == "[128, 2, 1]");
  CHECK(run.text(kernel, "grid_size") == "[32768, 2, 1]");
  CHECK(run.text(kernel, "block") == "[256, 1, 1]");
  CHECK(run.number(kernel, "shared memory") == 65'536);
  CHECK(run.number(kernel, "private_segment_size") == 48);
  CHECK(run.number(kernel, "arch_vgpr_count") == 128);
  CHECK(run.number(kernel, "accum_vgpr_count") == 64);
  CHECK(run.number(kernel, "sgpr_count") == 96);
  const RecordedEvent reduce = run.only("kernel", "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)");
  run.check_times(reduce, 21'000, 30'000);
  CHECK(run.track(reduce).name == "NCCL, stream 3");
  CHECK(run.track(reduce).kind == "collective");
  const RecordedEvent unnamed = run.only("kernel", "kernel 9");
  CHECK(run.track(unnamed).device == "GPU 1");
  CHECK(run.track(unnamed).name == "queue 2");
  CHECK(run.meta("device.0.name") == "AMD Instinct MI355X");
  CHECK(run.meta("device.1.architecture") == "gfx950");
  CHECK(run.meta("device.0.numSms") == "256");
  CHECK(run.meta("device.0.warpSize") == "64");
  CHECK(run.meta("capacity.GPU 0 memory") == std::to_string(std::uint64_t{288} << 30U));
  std::string library;
  for (const auto& [key, value] : run.sink.meta) {
    if (key.ends_with(".rocprofiler_sdk")) library = value;
  }
  CHECK(library.ends_with("librocprofiler_sdk_stand_in.so"));
  REQUIRE(run.quality("times_out_of_capture") != nullptr);
  CHECK(run.quality("times_out_of_capture")->count == 1);
}

TEST_CASE("ROCm copies and allocations arrive to the byte, from where to where, and a release is of what was there") {
  const CudaRun& run = rocm_run();
  const RecordedEvent copy = run.only("memcpy", "MEMORY_COPY_HOST_TO_DEVICE");
  run.check_times(copy, 31'000, 41'000);
  CHECK(run.track(copy).name == "memcpy stream 4");
  CHECK(run.track(copy).device == "GPU 0");
  CHECK(run.number(copy, "bytes") == 6'000'000'007);
  CHECK(run.real(copy, "memory bandwidth (GB/s)") == doctest::Approx(600'000.0007));
  CHECK(run.text(copy, "src_agent") == "CPU 0");
  CHECK(run.text(copy, "dst_agent") == "GPU 0");
  CHECK(run.number(copy, "src_address") == 0x1000);
  CHECK(run.number(copy, "dst_address") == 0x7F00'0000'0000);
  const RecordedEvent peer = run.only("memcpy", "MEMORY_COPY_DEVICE_TO_DEVICE");
  CHECK(run.track(peer).name == "memcpy no stream");
  CHECK(run.track(peer).device == "GPU 1");
  const std::vector<RecordedEvent> memory = run.table("memory");
  REQUIRE(memory.size() == 6);
  const auto check = [&](std::size_t at, std::int64_t time, std::int64_t bytes, const char* level, const char* device) {
    CAPTURE(at);
    run.check_times(memory[at], time, time);
    CHECK(run.number(memory[at], "Bytes") == bytes);
    CHECK(run.text(memory[at], "level") == level);
    CHECK(run.track(memory[at]).device == device);
  };
  check(0, 4'300, 6'442'450'945, "REAL", "GPU 0");
  check(1, 4'400, 4'096, "REAL", "CPU 0");
  check(2, 4'500, 8'192, "VIRTUAL", "GPU 1");
  check(3, 9'500, 65'536, "SCRATCH", "GPU 0");
  check(4, 50'000, -6'442'450'945, "REAL", "GPU 0");
  check(5, 50'100, 0, "REAL", "GPU 0");
  CHECK(run.track(memory[0]).name == "GPU 0 memory");
  CHECK(run.number(memory[0], "call_ns") == 50);
  CHECK(run.number(memory[1], "Device Id") == -1);
  CHECK(run.text(memory[3], "flags") == "4");
  CHECK(run.number(memory[3], "queue_id") == 2);
  REQUIRE(run.quality("releases_unknown") != nullptr);
  CHECK(run.quality("releases_unknown")->count == 1);
}

TEST_CASE("calls of ROCm stand on their thread with what they launched, and pages that moved are told") {
  const CudaRun& run = rocm_run();
  const RecordedEvent launch = run.only("runtime_call", "hipLaunchKernel");
  run.check_times(launch, 1'000, 2'000);
  CHECK(run.track(launch).name == "main runtime");
  CHECK(run.text(launch, "category") == "HIP_RUNTIME_API");
  CHECK(run.number(launch, "parent correlation") == 100);
  CHECK(run.count_by_name("runtime_call") == RocmCounts{{"hipLaunchKernel", 1},
                                                        {"hipMemcpyAsync", 1},
                                                        {"hipGetLastError", 1},
                                                        {"hipMalloc", 1},
                                                        {"HIP_RUNTIME_API 99", 1},
                                                        {"ncclAllReduce", 1},
                                                        {"__hipPushCallConfiguration", 1},
                                                        {"hsa_signal_create", 1}});
  CHECK(run.flows() == RocmCounts{{"hipLaunchKernel -> void gemm<float>(float*)", 1},
                                  {"hipMemcpyAsync -> MEMORY_COPY_HOST_TO_DEVICE", 1},
                                  {"ncclAllReduce -> ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", 1}});
  const RecordedEvent moved = run.only("region", "KFD_PAGE_MIGRATE_PAGEFAULT_GPU");
  run.check_times(moved, 50'000, 50'500);
  CHECK(run.text(moved, "args") == "CPU 0 -> GPU 0, 0x7e000000 to 0x7e010000");
  const RecordedEvent fault = run.only("region", "KFD_PAGE_FAULT_WRITE_FAULT_MIGRATED");
  run.check_times(fault, 51'000, 51'020);
  CHECK(run.text(fault, "args") == "GPU 0, 0x7e001000");
}

TEST_CASE("every known version of rocprofiler-sdk gives the same events, but for what it does not tell") {
  for (const char* version : {"400", "500", "600", "10000", "10100", "10305"}) {
    CAPTURE(version);
    const CudaRun run = run_rocm({"all"}, {.environment = {std::string("STAND_IN_SDK=") + version}});
    const bool is_first = std::stoi(version) < 10'000;
    const RecordedEvent kernel = run.only("kernel", "void gemm<float>(float*)");
    run.check_times(kernel, 10'000, 20'001);
    CHECK(run.track(kernel).name == (is_first ? "queue 2" : "stream 3"));
    CHECK(run.number(run.only("memcpy", "MEMORY_COPY_HOST_TO_DEVICE"), "bytes") == 6'000'000'007);
    CHECK(run.number(run.only("memcpy", "MEMORY_COPY_HOST_TO_DEVICE"), "src_address").value_or(0) ==
          (is_first ? 0 : 0x1000));
    run.check_times(run.only("runtime_call", "hipLaunchKernel"), 1'000, 2'000);
    CHECK(run.number(run.only("runtime_call", "hipLaunchKernel"), "parent correlation").value_or(0) ==
          (is_first ? 0 : 100));
    CHECK(run.count_by_name("runtime_call").size() == 6);
    REQUIRE(run.table("memory").size() == 6);
    CHECK(run.number(run.table("memory")[0], "Bytes") == 6'442'450'945);
    run.check_times(run.table("memory")[3], 9'500, 9'500);
    CHECK(run.number(run.table("memory")[3], "Bytes").value_or(0) == (std::stoi(version) >= 10'300 ? 65'536 : 0));
    CHECK(run.flows().size() == 3);
    CHECK(run.quality("rows_lost")->count == 1);  // a device of which too little is told
    CHECK(run.quality("bad_records") == nullptr);
    CHECK(run.quality("probe_trouble") == nullptr);
  }
}

TEST_CASE("a version of rocprofiler-sdk between the known ones is refused, and the program runs on") {
  const CudaRun run = run_rocm({"launches", "10"}, {.environment = {"STAND_IN_SDK=700"}});
  CHECK(run.end.exit_code == 0);
  CHECK(run.sink.events().empty());
  REQUIRE(run.quality("probe_trouble") != nullptr);
  CHECK(run.quality("probe_trouble")->detail.find("0.7") != std::string::npos);
}

TEST_CASE("what rocprofiler-sdk refuses to collect is said, and the rest is captured") {
  const CudaRun run = run_rocm(
      {"launches", "10"},
      {.options = {{"page-migration", "on"}}, .environment = {"STAND_IN_REFUSES=MEMORY_COPY", "STAND_IN_SDK=600"}});
  CHECK(run.count_by_name("kernel") == RocmCounts{{"launched", 10}});
  std::string told;
  for (const QualityEntry& entry : run.sink.qualities) told += entry.detail;
  CHECK(told.find("collects no MEMORY_COPY: Generalized error") != std::string::npos);
  CHECK(told.find("collects no KFD_PAGE_MIGRATE: it does so from ROCm 7 on") != std::string::npos);
}

TEST_CASE("ROCTX ranges arrive as programs make them: nested, free, left open, with the thread's own name") {
  const CudaRun run = run_rocm({"roctx"});
  CHECK(run.end.exit_code == 0);
  const RecordedEvent step = run.only("nvtx", "step");
  const RecordedEvent forward = run.only("nvtx", "forward");
  CHECK(run.track(step).name == "trainer annotations");
  CHECK(step.start <= forward.start);
  CHECK(forward.end <= step.end);
  CHECK(run.sink.lanes.at(forward.lane).depth == 1);
  CHECK(run.text(forward, "kind") == "roctxRangePushA");
  CHECK(run.text(forward, "domain") == "ROCTX");
  CHECK(run.text(run.only("nvtx", "here"), "kind") == "roctxMarkA");
  const RecordedEvent request = run.only("nvtx", "request");
  CHECK(run.track(request).name == "ROCTX ranges");
  CHECK(request.end > step.end);
  CHECK(run.only("nvtx", "left open").end >= request.end);
  REQUIRE(run.quality("begin_without_end") != nullptr);
  CHECK(run.quality("begin_without_end")->count == 1);
}

TEST_CASE("with a range of ROCTX only what happens within it is captured, and by roctxProfilerResume likewise") {
  const CudaRun by_name = run_rocm({"ranges"}, {.options = {{"range", "wanted"}}});
  CHECK(by_name.count_by_name("kernel") == RocmCounts{{"work", 28}});
  CHECK(by_name.count_by_name("nvtx") == RocmCounts{{"wanted", 3}});
  const CudaRun by_calls = run_rocm({"ranges"}, {.options = {{"range", "profiler"}}});
  CHECK(by_calls.count_by_name("kernel") == RocmCounts{{"work", 7}});
}

TEST_CASE("what the user turned off of ROCm is not collected, and calls that are excluded are missing") {
  const CudaRun run =
      run_rocm({"all"}, {.options = {{"memory", "off"}, {"exclude-calls", "hipGetLastError,hipMalloc"}}});
  CHECK(run.table("memory").empty());
  CHECK(run.table("region").empty());
  const RocmCounts calls = run.count_by_name("runtime_call");
  CHECK(calls.count("hipGetLastError") == 0);
  CHECK(calls.count("hsa_signal_create") == 0);
  CHECK(calls.at("hipLaunchKernel") == 1);
  const CudaRun none = run_rocm({"roctx"}, {.options = {{"roctx", "off"}, {"calls", "none"}}});
  CHECK(none.sink.events().empty());
}

TEST_CASE("records of ROCm that lie harm nobody: what is whole arrives, the rest is counted") {
  const CudaRun run = run_rocm({"lies"});
  CHECK(run.end.exit_code == 0);
  CHECK(run.count_by_name("kernel") == RocmCounts{{"good", 3}});
  const std::vector<RecordedEvent> kernels = run.table("kernel");
  run.check_times(kernels[0], 1'000, 2'000);
  run.check_times(kernels[1], 9'000, 9'000);
  CHECK(run.track(kernels[1]).device == "agent 18446744073709551615");
  REQUIRE(run.quality("rows_lost") != nullptr);
  // Four records, the empty headers of two buffers, two each; a kernel's name; a device.
  CHECK(run.quality("rows_lost")->count == 4 + 4 + 1 + 1);
  REQUIRE(run.quality("dropped_events") != nullptr);
  CHECK(run.quality("dropped_events")->count == 17);
}

TEST_CASE("launches of ROCm from eight threads at once all arrive, each on its thread's row and stream") {
  const CudaRun run = run_rocm({"threads"});
  CHECK(run.count_by_name("kernel") == RocmCounts{{"many", 40'000}});
  CHECK(run.count_by_name("runtime_call") == RocmCounts{{"hipLaunchKernel", 40'000}});
  CHECK(run.tracks_of("runtime_call").size() == 8);
  CHECK(run.tracks_of("kernel").size() == 8);
  CHECK(run.table("dependency").size() == 40'000);
}

TEST_CASE("a program of ROCm that dies, or ends by a signal, or outlives the capture loses what it must and no more") {
  CHECK(run_rocm({"die"}).count_by_name("kernel") == RocmCounts{{"before", 100}});
  const CudaRun signal = run_rocm({"signal"});
  CHECK(signal.count_by_name("kernel") == RocmCounts{{"before_the_end", 100}});
  CHECK(signal.end.exit_code != 0);
  const CudaRun outlived = run_rocm({"outlive"}, {.ends_at = "launched"});
  CHECK(outlived.end.exit_code == 0);
  CHECK(outlived.count_by_name("kernel") == RocmCounts{{"before_the_end", 100}});
}

TEST_CASE("a paused capture of ROCm collects no launches, and knows all the same what memory is in use") {
  const test::TemporaryFolder folder;
  const CudaRun run = run_rocm({"train", "4000", folder.file("end")}, {.pauses = true, .until = folder.file("end")});
  run.check_pause("hipLaunchKernel");
  CHECK(run.first_kernel_came_ns < run.table("kernel").back().start);  // while the program goes on
}

TEST_CASE("processes that a program of ROCm starts or forks are captured in the same session, with rows of their own") {
  const CudaRun run = run_rocm({"children"});
  CHECK(run.count_by_name("kernel") == RocmCounts{{"launched", 60}, {"in_parent", 10}});
  for (const RecordedEvent& kernel : run.table("kernel")) CHECK(run.track(kernel).device == "GPU 0");
  CHECK(run.tracks_of("kernel").size() == 4);
  const CudaRun forked = run_rocm({"forks"});
  CHECK(forked.count_by_name("nvtx") == RocmCounts{{"parent", 1}, {"child", 1}});
  CHECK(forked.track(forked.only("nvtx", "parent")).host != forked.track(forked.only("nvtx", "child")).host);
}

TEST_CASE("where rocprofiler-sdk keeps its own clock, times are right within what the pairs of readings say") {
  const CudaRun run = run_rocm({"launches", "100"}, {.environment = {"STAND_IN_OWN_CLOCK=1"}});
  REQUIRE(run.quality("clock_residual") != nullptr);
  CHECK(run.count_by_name("kernel") == RocmCounts{{"launched", 100}});
}

TEST_CASE("a program that runs nothing on ROCm leaves a session that says nothing was lost, one that uses none why") {
  const CudaRun nothing = run_rocm({"nothing"});
  CHECK(nothing.sink.events().empty());
  CHECK(nothing.quality("nothing_attached") == nullptr);
  CHECK(nothing.quality("dropped_events") == nullptr);
  const CudaRun none = run_rocm({"none"});
  CHECK(none.end.exit_code == 0);
  REQUIRE(none.quality("nothing_attached") != nullptr);
  CHECK(none.quality("nothing_attached")->detail.find("rocprofiler-sdk") != std::string::npos);
}

TEST_CASE("the collector of ROCm is small, stands before the user's own tools, and doctor says what is missing") {
  const probes::ProbeFiles files = probes::ProbeFiles::lay_down().value();
  const std::string library = files.path("libaccelscope_rocm.so");
  CHECK(std::filesystem::file_size(library) < 2U << 20U);
  const request::CaptureKind& kind = **request::find_kind("rocm");
  const auto environment = [&](const std::string& others) {
    return kind
        .environment(request::read_options(kind, {"rocm", {}}).value(), files,
                     [&](const std::string&) { return others; })
        .value();
  };
  CHECK(environment("") == std::vector<std::string>{"ROCP_TOOL_LIBRARIES=" + library});
  CHECK(environment("/opt/mine.so") == std::vector<std::string>{"ROCP_TOOL_LIBRARIES=" + library + ":/opt/mine.so:"});
  const std::vector<request::KindCheck> checks = kind.check();
  REQUIRE(checks.size() == 3);
  CHECK(checks[0].text.find("/dev/kfd") != std::string::npos);
  CHECK(checks[1].text.find("rocprofiler-sdk") != std::string::npos);
  CHECK(checks[2].text.find("not seen on hardware") != std::string::npos);
}

}  // namespace accelscope::capture
