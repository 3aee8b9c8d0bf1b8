// What a user sees of rocprof's results, the profiler before rocprofv3: its table of kernels and its database.
#include <doctest/doctest.h>

#include <algorithm>

#include "capture/sources/base/importers.h"
#include "tests/capture/sources/rocm/rocpd_maker.h"
#include "tests/capture/sources/rocm/rocprof_maker.h"

namespace accelscope::capture {
namespace {

constexpr const char* kKernels =
    "Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,arch_vgpr,accum_vgpr,sgpr,wave_size,sig,obj,"
    "Wavefronts,VALUBusy,DispatchNs,BeginNs,EndNs,CompleteNs,DurationNs\n"
    "0,\"fill(int, float*)\",8,2,0,4242,4243,26624,256,512,16,12,4,32,64,0x0,0x7f67b3115a80,416,12.5,1000,1100,1400,"
    "1500,300\n"
    "1,add.kd,8,2,1,4242,4243,1024,64,0,0,4,4,32,64,0x0,0x7f67b3145940,16,99,2000,2100,2300,2400,200\n";

Imported imported_file(const std::string& name, const std::string& content, bool database) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file(name);
  if (database) {
    run_sql(path, content);
  } else {
    test::write_file(path, content);
  }
  const sources::RecognisedFile file = sources::recognise(path);
  REQUIRE_MESSAGE(file.format() != nullptr, file.why_not);
  return Imported::by([&](EventSink& sink) { return file.format()->run(path, {}, sink); });
}

}  // namespace

TEST_CASE("rocprof's table of kernels: when each ran, on which queue, with its sizes and counters") {
  const Imported session = imported_file("results.csv", kKernels, false);
  const std::vector<EventValues> kernels = session.events("kernel");
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0].name == "fill(int, float*)");
  CHECK(kernels[0].end - kernels[0].begin == 300);
  CHECK(kernels[1].begin - kernels[0].begin == 1000);
  CHECK(kernels[0].string("block") == "[256, 1, 1]");
  CHECK(kernels[0].string("grid_size") == "[26624, 1, 1]");
  CHECK(kernels[0].real("Wavefronts") == 416);
  CHECK(kernels[1].real("VALUBusy") == 99);
  CHECK(kernels[1].real("CompleteNs") == 2400);
  CHECK(session.snapshot().quality.size() == 1);  // sizes in one number
}

TEST_CASE("rocprof's table without times says how to get them, and its sums are no trace") {
  const std::string untimed = "Index,KernelName,gpu-id,queue-id,pid,tid,grd,wgr,GPUBusy\n0,\"a\",8,2,1,1,64,64,50\n";
  CHECK(sources::rocm::probe_rocprof_csv(untimed, "results.csv") > 0);
  const test::TemporaryFolder folder;
  const std::string path = folder.file("results.csv");
  test::write_file(path, untimed);
  const auto store = std::move(Store::create().value());
  StoreSink sink(*store);
  const Result<void> done = sources::rocm::import_rocprof_csv(path, {}, sink);
  REQUIRE_FALSE(done.ok());
  CHECK(done.message().find("--timestamp on") != std::string::npos);
  CHECK(sources::rocm::probe_rocprof_csv("\"Name\",\"Calls\",\"TotalDurationNs\"\n", "results.stats.csv") == 0);
}

TEST_CASE(
    "rocprof's database: kernels, copies and fills, the calls that started them, ranges, and tells what is not read") {
  const Imported session = imported_file("results.db", rocprof_sql(), true);
  const std::vector<EventValues> kernels = session.events("kernel");
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0].name == "gemm(float*)");
  CHECK(kernels[0].string("region") == "step 1");
  CHECK(session.count("memcpy") == 1);
  CHECK(session.count("memset") == 1);
  CHECK(session.events("nvtx").size() == 1);
  CHECK(session.count("dependency") == 2);  // from the launch, and from the copy's call
  CHECK(quality_count(session, "rows_left_out") == 1);
}

TEST_CASE("of a folder of rocprof's results the database is read, and its table is not read again") {
  const test::TemporaryFolder folder;
  run_sql(folder.file("results.db"), rocprof_sql());
  test::write_file(folder.file("results.csv"), kKernels);
  const auto store = std::move(Store::create().value());
  const Result<void> done = sources::import_input({sources::recognise(folder.file(""))}, {},
                                                  [&] { return std::make_unique<StoreSink>(*store); });
  REQUIRE_MESSAGE(done.ok(), done.message());
  std::uint64_t kernels = 0;
  for (const LaneSnapshot& lane : store->snapshot()->lanes) {
    kernels += lane.schema->name == "kernel" ? lane.event_count : 0;
  }
  CHECK(kernels == 2);
}

TEST_CASE("rocprof's table without names of kernels is refused by what it lacks, when it is opened as such") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("results.csv");
  test::write_file(path, "Index,gpu-id,grd,BeginNs,EndNs\n0,8,64,1000,2000\n");
  const auto store = std::move(Store::create().value());
  StoreSink sink(*store);
  const Result<void> done = sources::rocm::import_rocprof_csv(path, {}, sink);
  REQUIRE_FALSE(done.ok());
  CHECK(done.message().find("KernelName") != std::string::npos);
}

TEST_CASE("rocprof's table with times at the ends of all numbers shows every kernel") {
  const Imported session = imported_file("results.csv",
                                         "Index,KernelName,gpu-id,queue-id,pid,tid,grd,wgr,BeginNs,EndNs\n"
                                         "0,a,8,2,1,1,64,64,-9223372036854775808,9223372036854775807\n"
                                         "1,b,8,2,1,1,64,64,9223372036854775807,-9223372036854775808\n",
                                         false);
  CHECK(session.count("kernel") == 2);
}

}  // namespace accelscope::capture
