// The vendor's JSON written from a session: every row of a real profile, key by key, where the environment names a
// folder of them; and the forms in which the vendor writes values.
#include <doctest/doctest.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "capture/sim/output/simulator.h"
#include "core/base/format.h"
#include "core/export/neuron/neuron_json.h"
#include "tests/capture/imported.h"

namespace accelscope::capture {
namespace {

std::string exported(const Imported& session, const TimeRange& range = {}) {
  WorkerPool pool(2);
  TaskControl control;
  const QueryContext query{session.store(), session.store().snapshot(), pool, control};
  exporting::JsonExport request{query, {}, range, {}};
  request.forms = exporting::neuron::json_forms(session.snapshot());
  std::string text;
  const auto report = exporting::export_json(request, [&](std::string_view part) {
    text += part;
    return Result<void>{};
  });
  REQUIRE_MESSAGE(report.ok(), (report.ok() ? "" : report.message()));
  CHECK(report->bytes == text.size());
  return text;
}

// A value with numbers in one form: 0 and 0.0 are the same.
std::string canonical(simdjson::dom::element value) {
  double real = 0;
  if (value.is_double() && value.get(real) == simdjson::SUCCESS && real == std::trunc(real) && std::abs(real) < 9e15) {
    return std::to_string(static_cast<std::int64_t>(real));
  }
  return simdjson::minify(value);
}

using ExportedRow = std::map<std::string, std::string>;
using Tables = std::map<std::string, std::vector<ExportedRow>>;

Tables read(simdjson::dom::element document, const std::function<bool(std::string_view, std::string_view)>& wanted) {
  Tables tables;
  for (const auto table : document.get_object()) {
    std::vector<ExportedRow>& rows = tables[std::string(table.key)];
    for (const auto row : table.value.get_array()) {
      ExportedRow fields;
      for (const auto field : row.get_object()) {
        if (wanted(table.key, field.key)) fields[std::string(field.key)] = canonical(field.value);
      }
      rows.push_back(std::move(fields));
    }
    std::sort(rows.begin(), rows.end());
  }
  return tables;
}

bool any_key(std::string_view, std::string_view) { return true; }

}  // namespace

TEST_CASE("every row of a real profile is written again with every key that it had") {
  const char* root = std::getenv("ACCELSCOPE_REAL_DATA");
  if (root == nullptr) return;
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(root) / "neuron")) {
    if (entry.path().extension() != ".json") continue;
    CAPTURE(entry.path().string());
    simdjson::dom::parser parser;
    simdjson::dom::element original;
    REQUIRE(parser.load(entry.path().string()).get(original) == simdjson::SUCCESS);
    std::set<std::pair<std::string, std::string>> keys;
    for (const auto& [table, rows] : read(original, any_key)) {
      for (const ExportedRow& row : rows) {
        for (const auto& [key, value] : row) keys.emplace(table, key);
      }
    }
    const std::string text = exported(Imported::file(entry.path().string()));
    simdjson::dom::parser second_parser;
    simdjson::dom::element written;
    REQUIRE(second_parser.parse(text).get(written) == simdjson::SUCCESS);
    const Tables before = read(original, any_key);
    const Tables after = read(written, [&](std::string_view table, std::string_view key) {
      return keys.contains({std::string(table), std::string(key)});
    });
    for (const auto& [table, rows] : before) {
      CAPTURE(table);
      REQUIRE(after.contains(table));
      REQUIRE(after.at(table).size() == rows.size());
      for (std::size_t i = 0; i < rows.size(); ++i) CHECK((after.at(table)[i] == rows[i]));
    }
    ++files;
  }
  CHECK(files > 0);
}

TEST_CASE("values come out in the vendor's forms, ids exact, and fields without a column as they were") {
  const std::string text = exported(Imported::text(
      R"({"instruction":[{"timestamp":5,"duration":3,"opcode":"MATMUL","label":"Tensor","id":9007199254740993,)"
      R"("raw_framework_id":[5],"is_psum_read_sbuf_write":true,"elements":8,"colour":{"a":[1,2]},"layer":"",)"
      R"("predecessors":[{"id":18446744073709551615,"type":"FLOW_DEPENDENCE"}]}],)"
      R"("dma":[{"aggregated":"no","timestamp":1,"duration":2,"variable":"x","dma_engine":"15","dma_queue":"1",)"
      R"("is_cc_dma":"no","duplicate":"yes","source":[["WEIGHT"]],"dest":["SB","HBM"],"op":"","id":7},)"
      R"({"aggregated":"yes","timestamp":1,"duration":2,"variable":"x","read_shape":[[256,128]],"id":8}],)"
      R"("dma_throughput":[{"timestamp":4,"transfer_rate":1,"uses_hbm":"false"}],)"
      R"("neff_node":[{"variable_name":"w","size":"1024","node":"2"}],)"
      R"("sbuf_allocation":[{"timestamp":1,"duration":9,"tensor_name":"t","partition":"3","start_address":16,"end_address":31}],)"
      R"("metadata":[{"pe_clock_freq":2.8,"is_ext":true,"first_ts":"1970-01-01T00:00:00Z","code":"007"}],)"
      R"("summary":[{"hardware_flops":16,"driver_version":"2.25.0"}]})"));
  CAPTURE(text);
  for (const char* part : {R"("id":9007199254740993)",
                           R"("raw_framework_id":[5])",
                           R"("is_psum_read_sbuf_write":true)",
                           R"("colour":{"a":[1,2]})",
                           R"("layer":"")",
                           R"("predecessors":[{"id":18446744073709551615,"type":"FLOW_DEPENDENCE"}])",
                           R"("dma_engine":"15")",
                           R"("is_cc_dma":"no")",
                           R"("duplicate":"yes")",
                           R"("source":[["WEIGHT"]])",
                           R"("dest":["SB","HBM"])",
                           R"("aggregated":"yes")",
                           R"("read_shape":[[256,128]])",
                           R"("uses_hbm":"false")",
                           R"("size":"1024")",
                           R"("start_address":16,"end_address":31)",
                           R"("partition":"3")",
                           R"("pe_clock_freq":2.8)",
                           R"("is_ext":true)",
                           R"("first_ts":"1970-01-01T00:00:00Z")",
                           R"("code":"007")",
                           R"("hardware_flops":16)",
                           R"("driver_version":"2.25.0")"}) {
    CAPTURE(part);
    CHECK(text.find(part) != std::string::npos);
  }
  // What is made of other fields is not written.
  for (const char* part : {"pe_utilization", "hbm_throughput", "DMA_TRIGGER", "raw_flops", "\"extra\""}) {
    CAPTURE(part);
    CHECK(text.find(part) == std::string::npos);
  }
  simdjson::dom::parser parser;
  CHECK(parser.parse(text).error() == simdjson::SUCCESS);
}

TEST_CASE("a range holds the rows that share time with it, and tables without time whole") {
  const Imported session =
      Imported::text(R"({"instruction":[{"timestamp":0,"duration":10,"opcode":"A","label":"Tensor"},)"
                     R"({"timestamp":20,"duration":10,"opcode":"B","label":"Tensor"},)"
                     R"({"timestamp":40,"duration":10,"opcode":"C","label":"Tensor"}],)"
                     R"("neff_node":[{"variable_name":"w"}]})");
  const std::string text = exported(session, {25, 40});
  CHECK(text.find("\"opcode\":\"A\"") == std::string::npos);
  CHECK(text.find("\"opcode\":\"B\"") != std::string::npos);
  CHECK(text.find("\"opcode\":\"C\"") == std::string::npos);
  CHECK(text.find("\"variable_name\":\"w\"") != std::string::npos);
  // A table of which nothing is left is not there at all.
  CHECK(exported(session, {60, 70}).find("\"instruction\"") == std::string::npos);
}

TEST_CASE("what the vendor's tables cannot hold of a simulated session is listed, and all else comes back") {
  const Imported before =
      Imported::by([](EventSink& sink) { return sim::simulate({.seed = 5, .kernels = 3, .devices = 2}, sink); });
  WorkerPool pool(2);
  TaskControl control;
  exporting::JsonExport request{{before.store(), before.shared_snapshot(), pool, control}, {}, {}, {}};
  request.forms = exporting::neuron::json_forms(before.snapshot());
  std::string text;
  const auto report = exporting::export_json(request, [&](std::string_view part) {
    text += part;
    return Result<void>{};
  });
  REQUIRE(report.ok());
  std::map<std::string, std::uint64_t> left_out;
  for (const exporting::JsonLeftOut& one : report->left_out) {
    CHECK(!one.meaning.empty());
    left_out[one.schema] += one.events;
  }
  CHECK(left_out.contains("memory_event"));
  CHECK(left_out.contains("pe_utilization"));
  const Imported after = Imported::text(text);
  CHECK(after.quality("unknown_fields") == nullptr);
  std::uint64_t listed = 0;
  for (const auto& schema : before.snapshot().schemas) {
    CAPTURE(schema->name);
    const std::size_t events = before.count(schema->name);
    const std::uint64_t missing = left_out[schema->name];
    listed += missing;
    REQUIRE(missing <= events);
    if (missing > 0) {
      CHECK(after.count(schema->name) >= events - missing);  // a reader estimates some again
      continue;
    }
    CHECK(after.count(schema->name) == events);
    std::map<std::string, std::size_t> of_devices;
    for (const EventValues& event : before.events(schema->name)) ++of_devices[event.device];
    for (const EventValues& event : after.events(schema->name)) --of_devices[event.device];
    for (const auto& [device, difference] : of_devices) CHECK(difference == 0);
  }
  const std::vector<std::string> lines = report->losses();
  REQUIRE(lines.size() == report->left_out.size() + 1);
  CHECK(lines.front().find(format_count(listed)) != std::string::npos);
}

}  // namespace accelscope::capture
