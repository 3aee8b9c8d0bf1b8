// What a user sees of a memory report of TTNN: operations one after another, buffers over time, tensors by name.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "capture/sources/base/importers.h"
#include "core/analysis/memory/usage.h"
#include "tests/capture/sources/rocm/rocpd_maker.h"
#include "tests/capture/sources/ttnn/report_maker.h"

namespace accelscope::capture {
namespace {

Imported imported_report(const std::string& sql) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("db.sqlite");
  run_sql(path, sql);
  return Imported::by([&](EventSink& sink) { return sources::ttnn::import_memory_report(path, {}, sink); });
}

}  // namespace

TEST_CASE("a report of TTNN: operations lie one after another, with arguments, tensors and failures") {
  const Imported session = imported_report(ttnn_report_sql());
  const std::vector<EventValues> operations = session.events("ttnn_op");
  REQUIRE(operations.size() == 3);
  CHECK(operations[1].name == "ttnn.matmul");
  CHECK(operations[1].begin == 1'000'000);
  CHECK(operations[1].end == 3'000'000);
  CHECK(operations[1].string("arguments") == "0=Tensor\ncore_grid=8x8");
  CHECK(operations[1].string("inputs") == "tensor 5 Shape([1, 32]) BFLOAT16");
  CHECK(session.count("tensor") == 2);
  const std::vector<EventValues> errors = session.events("error");
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].begin == 3'000'000);
  CHECK(
      std::any_of(session.snapshot().quality.begin(), session.snapshot().quality.end(), [](const QualityEntry& entry) {
        return entry.kind == "rows_left_out" && entry.count == 2 && entry.detail.find("edges") != std::string::npos;
      }));
}

TEST_CASE("a report of TTNN: every table's rows are in its sum, those of operations that it does not have too") {
  const Imported session = imported_report(ttnn_report_sql() +
                                           "INSERT INTO operation_arguments VALUES(9, 'a', 'b');"
                                           "INSERT INTO stack_traces VALUES(9, 'lost.py:1'), (8, 'lost.py:2');");
  const auto fact = [&](const std::string& key) { return std::string(session.snapshot().meta_value(key)); };
  CHECK(fact("source.rows.operation_arguments") == "3");
  CHECK(fact("source.read.operation_arguments") == "2");
  CHECK(fact("source.rows.stack_traces") == "3");
  CHECK(fact("source.read.stack_traces") == "1");
  CHECK(fact("source.rows.output_tensors") == "2");
  CHECK(fact("source.read.output_tensors") == "2");
  CHECK(std::count_if(session.snapshot().quality.begin(), session.snapshot().quality.end(),
                      [](const QualityEntry& entry) {
                        return entry.detail.find("stack_traces") != std::string::npos && entry.count == 2;
                      }) == 1);
}

TEST_CASE("a report of TTNN: what lies in L1 over time is in the memory tracker, by tensor and with L1's size") {
  const Imported session = imported_report(ttnn_report_sql());
  WorkerPool pool(1);
  TaskControl control;
  const Result<std::shared_ptr<const analysis::MemoryUsage>> usage = analysis::memory_usage(
      {.store = session.store(), .snapshot = session.shared_snapshot(), .pool = pool, .control = control});
  REQUIRE(usage.ok());
  const auto l1 = std::find_if((*usage)->pools.begin(), (*usage)->pools.end(),
                               [](const analysis::PoolUsage& each) { return each.base_name == "L1"; });
  REQUIRE(l1 != (*usage)->pools.end());
  CHECK(l1->device == "chip 0");
  CHECK(l1->capacity_bytes == 1'395'424);
  CHECK(l1->peak_bytes == 2048);
  std::vector<std::string> lives;
  for (const analysis::Allocation& each : (*usage)->allocations) {
    if ((*usage)->pools[each.pool].base_name != "L1") continue;
    lives.push_back(fmt::format("{} {} {}..{}", (*usage)->tensors[each.tensor], each.bytes, each.begin_ns,
                                each.end_ns.value_or(-1)));
  }
  std::sort(lives.begin(), lives.end());
  CHECK(lives == std::vector<std::string>{"tensor 5 Shape([1, 32]) BFLOAT16 2048 0..3000000",
                                          "tensor 6 Shape([32, 32]) BFLOAT16 1024 3000000..-1"});
}

TEST_CASE("a report of TTNN of another version, without tables that this one has, is read as far as it goes") {
  const Imported session = imported_report(
      "CREATE TABLE devices (device_id int); CREATE TABLE operations (operation_id int, name text);"
      "INSERT INTO operations VALUES(1, 'a'), (2, 'b');"
      "CREATE TABLE buffers (operation_id int, device_id int, address int, max_size_per_bank int, buffer_type int);"
      "INSERT INTO buffers VALUES(1, 0, 64, 512, 7), (9, 0, 64, 512, 1);");
  CHECK(session.count("ttnn_op") == 2);
  CHECK(session.count("memory") == 2);
  CHECK(quality_count(session, "rows_left_out") == 1);
}

TEST_CASE("a report of TTNN: a tensor with a shape of megabytes is cut where operations list it, which is said") {
  const Imported session =
      imported_report(ttnn_report_sql() +
                      "UPDATE tensors SET shape = replace(hex(zeroblob(500000)), '0', 'x') WHERE tensor_id = 5;"
                      "WITH RECURSIVE n(i) AS (VALUES(10) UNION ALL SELECT i + 1 FROM n WHERE i < 400)"
                      "  INSERT INTO input_tensors SELECT 3, i, 5 FROM n;");
  const std::vector<EventValues> operations = session.events("ttnn_op");
  REQUIRE(operations.size() == 3);
  CHECK(operations[2].string("inputs").starts_with("tensor 5 xxx"));
  CHECK(operations[2].string("inputs").size() < 500'000);
  CHECK(std::count_if(session.snapshot().quality.begin(), session.snapshot().quality.end(),
                      [](const QualityEntry& entry) {
                        return entry.kind == "texts_cut" && entry.count == 1 &&
                               entry.detail.find("tensors are described") != std::string::npos;
                      }) == 1);
}

TEST_CASE("a report of TTNN: operations that take longer than any session, and a buffer of a size below nothing") {
  const Imported session =
      imported_report(ttnn_report_sql() +
                      "INSERT INTO buffers VALUES(1, 0, 128, -9223372036854775807 - 1, 1, 0);"
                      "WITH RECURSIVE n(i) AS (VALUES(10) UNION ALL SELECT i + 1 FROM n WHERE i < 1100)"
                      "  INSERT INTO operations SELECT i, 'slow', 9.9e6 FROM n;");
  CHECK(session.count("ttnn_op") == 3 + 1091);
  const std::vector<EventValues> memory = session.events("memory");
  CHECK(std::any_of(memory.begin(), memory.end(),
                    [](const EventValues& event) { return event.integer("bytes") == INT64_MAX; }));
}

}  // namespace accelscope::capture
