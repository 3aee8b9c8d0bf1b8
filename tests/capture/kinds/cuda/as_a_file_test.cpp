// What a user reads of a live capture of CUDA is what he reads of the same work in an export of Nsight Systems.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <variant>

#include "capture/sources/base/importers.h"
#include "core/analysis/roofline/roofline.h"
#include "core/base/worker_pool.h"
#include "core/sql/base/sql.h"
#include "core/store/store.h"
#include "tests/capture/kinds/cuda/cuda_run.h"
#include "tests/support/cuda/stand_in_cupti.h"
#include "tests/support/files.h"
#include "tests/support/nsys_export.h"

namespace accelscope::capture {
namespace {

[[nodiscard]] std::vector<std::string> answer(Store& store, const std::string& question) {
  WorkerPool pool(1);
  sql::Session session(store, store.snapshot(), pool);
  TaskControl control;
  const Result<listing::SqlResult> result = session.run(question, {}, control);
  REQUIRE_MESSAGE(result.ok(), result.message());
  std::vector<std::string> lines;
  for (std::size_t row = 0; row < result->row_count(); ++row) {
    std::string line;
    for (std::size_t column = 0; column < result->columns.size(); ++column) {
      const listing::SqlValue& value = result->at(row, column);
      if (const auto* text = std::get_if<std::string>(&value)) line += *text;
      if (const auto* number = std::get_if<std::int64_t>(&value)) line += std::to_string(*number);
      if (const auto* real = std::get_if<double>(&value)) line += fmt::format("{:.6g}", *real);
      line += "|";
    }
    lines.push_back(line);
  }
  return lines;
}

// The device's side of a run, and its ranges, as the export's tables have them.
[[nodiscard]] std::string export_of(const CudaRun& run) {
  std::string names, kernels, copies, ranges;
  std::map<std::string, std::size_t> numbers;
  const auto number_of = [&](const std::string& name) {
    const auto [known, is_new] = numbers.try_emplace(name, numbers.size() + 1);
    if (is_new) names += fmt::format("INSERT INTO StringIds VALUES ({}, '{}');\n", known->second, name);
    return known->second;
  };
  for (const RecordedEvent& kernel : run.table("kernel")) {
    kernels += fmt::format(
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({}, {}, 0, 1, {}, {}, 16777216, {}, 0, 128, 2, 1, 256, 1, 1, "
        "0, 0);\n",
        kernel.start, kernel.end, run.number(kernel, "stream").value(), run.number(kernel, "correlation").value(),
        number_of(kernel.name));
  }
  for (const RecordedEvent& copy : run.table("memcpy")) {
    copies +=
        fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES ({}, {}, 0, 1, {}, {}, 16777216, {}, 1, 1, 2);\n",
                    copy.start, copy.end, run.number(copy, "stream").value(), run.number(copy, "correlation").value(),
                    run.number(copy, "bytes").value());
  }
  for (const RecordedEvent& range : run.table("nvtx")) {
    ranges += fmt::format("INSERT INTO NVTX_EVENTS VALUES ({}, {}, 59, '{}', 16777217);\n", range.start, range.end,
                          range.name);
  }
  return R"(
    CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
    INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.25.0');
    CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, totalMemory INTEGER, smCount INTEGER);
    INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H100 80GB HBM3', 85899345920, 132);
    CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
    INSERT INTO PROCESSES VALUES (16777216, 1, 'train');
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
      streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, registersPerThread INTEGER,
      gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER,
      staticSharedMemory INTEGER, dynamicSharedMemory INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
      streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER,
      dstKind INTEGER);
    CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER);
  )" + names +
         kernels + copies + ranges;
}

}  // namespace

TEST_CASE("hotspots, bytes moved, steps and ranges of a live capture of CUDA are those of the same work in a file") {
  const CudaRun run = run_cuda({"train", "12"});
  const std::unique_ptr<Store> live = run.store();
  const test::TemporaryFolder folder;
  const std::string path = folder.file("report.sqlite");
  REQUIRE(test::make_nsys_export(path, export_of(run)).ok());
  std::unique_ptr<Store> file = Store::create().value();
  StoreSink sink(*file);
  REQUIRE(sources::nsys::import_nsys(path, {}, sink).ok());
  for (const char* question :
       {"SELECT name, work, count, total_ns, min_ns, max_ns, bytes, grid, block FROM hotspots ORDER BY name",
        "SELECT device, name, memory, count, busy_ns, bytes FROM roofline ORDER BY device, name",
        "SELECT device, path, bytes, busy_ns FROM memory_levels ORDER BY device, path",
        "SELECT track, iterations, median_ns, interval_ns, operations FROM loop WHERE device = 'GPU 0'",
        "SELECT operation, median_ns, count FROM loop_operation WHERE device = 'GPU 0' ORDER BY place",
        "SELECT name, count, total_ns, median_ns FROM named_region ORDER BY name",
        "SELECT active_ns, compute_ns, transfer_ns, collective_ns, idle_ns FROM devices WHERE device = 'GPU 0'"}) {
    CAPTURE(question);
    CHECK(answer(*live, question) == answer(*file, question));
  }
  CHECK(answer(*live, "SELECT sum(count) FROM hotspots") == std::vector<std::string>{"240|"});
  CHECK(answer(*live, "SELECT iterations FROM loop WHERE device = 'GPU 0'") == std::vector<std::string>{"12|"});
}

namespace {

// FLOP by name: each sample's operations in cells of 0.1 us, evenly among those in which work is under way, and in each
// among all that is.
[[nodiscard]] std::map<std::string, double> sampled_operations(const CudaRun& run) {
  constexpr std::int64_t kCellNs = 100;
  std::map<std::int64_t, std::vector<std::string>> active;  // names, by cell
  for (const char* table : {"kernel", "memcpy"}) {
    for (const RecordedEvent& event : run.table(table)) {
      for (std::int64_t cell = event.start / kCellNs; cell < event.end / kCellNs; ++cell)
        active[cell].push_back(event.name);
    }
  }
  std::map<std::int64_t, double> samples;  // FLOP/s, by begin
  for (const RecordedEvent& event : run.table("counter")) {
    if (run.track(event).unit == "FLOP/s") samples[event.start] += run.real(event, "value");
  }
  std::map<std::string, double> operations;
  for (const auto& [begin, per_second] : samples) {
    const auto first = active.lower_bound(begin / kCellNs), last = active.lower_bound(begin / kCellNs + 1000);
    const double of_cell = per_second * 1e-4 / static_cast<double>(std::distance(first, last));
    for (auto cell = first; cell != last; ++cell) {
      for (const std::string& name : cell->second)
        operations[name] += of_cell / static_cast<double>(cell->second.size());
    }
  }
  return operations;
}

}  // namespace

// The stand-in samples the multiprocessors from before the program's first kernel until after its last.
TEST_CASE("the roofline of a live capture of CUDA has its operations and bytes from PM sampling") {
  const std::string driver = (std::filesystem::path(stand_in_cupti()).parent_path() / "libcuda.so.1").string();
  ::setenv("ACCELSCOPE_CUDA_DRIVER", driver.c_str(), 1);
  void* library = ::dlopen(stand_in_cupti().c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE_MESSAGE(library != nullptr, ::dlerror());
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const StandInPm play{
      .begin = static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count()), .period = 100'000, .samples = 50'000};
  reinterpret_cast<decltype(&stand_in_pm_play)>(::dlsym(library, "stand_in_pm_play"))(&play);
  const CudaRun run = run_cuda({"train", "12"}, {.options = {{"gpu-counters", "cupti"}, {"pm-sampling", "on"}}});
  ::unsetenv("ACCELSCOPE_CUDA_DRIVER");
  const std::map<std::string, double> expected = sampled_operations(run);
  REQUIRE(expected.contains("void gemm<float>(float*)"));
  const std::unique_ptr<Store> live = run.store();
  WorkerPool pool(1);
  TaskControl control;
  const auto found =
      analysis::device_rooflines({*live, live->snapshot(), pool, control}, {}, analysis::RoofGrouping::name).value();
  REQUIRE(found->devices.size() == 1);
  CHECK(found->devices[0].is_sampled);
  std::size_t placed = 0;
  for (const analysis::RoofPoint& point : found->devices[0].points) {
    if (!point.is_placed(0)) continue;
    CAPTURE(point.text);
    CHECK(point.flops == doctest::Approx(expected.at(point.text)).epsilon(0.02));
    ++placed;
  }
  CHECK(placed == 3);  // gemm, softmax, AllReduce
}

}  // namespace accelscope::capture
