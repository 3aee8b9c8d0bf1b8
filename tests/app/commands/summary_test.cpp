// Summaries as a user gets them, and how well the figures agree with what files state.
#include <doctest/doctest.h>
#include <simdjson.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

#include "app/commands/view/view_output.h"
#include "app/terminal/command.h"
#include "core/analysis/figures/terminology.h"
#include "core/store/store.h"
#include "tests/app/program_run.h"
#include "tests/support/small_session.h"

using namespace accelscope;
using namespace accelscope::app::commands;
using namespace accelscope::app;
using test::holds;
using test::ProgramOutcome;
using test::run;

namespace {

// Every figure that the file states as a number is computed, explained and agrees within the margin that it states.
void check_agreement(const std::string& path, const std::set<std::string>& wrong_in_file) {
  CAPTURE(path);
  const ProgramOutcome opened = run({"query", path, "SELECT count(*) FROM metric", "--format", "csv"});
  REQUIRE(opened.code == terminal::kExitDone);
  const test::TemporaryFolder folder;
  const std::string session = folder.file("n.accel");
  REQUIRE(run({"import", path, "-o", session}).code == terminal::kExitDone);
  const auto store = Store::open(session);
  REQUIRE(store.ok());
  const auto summary = printed_summary(**store, "n");
  REQUIRE(summary.ok());
  std::size_t compared = 0;
  for (const analysis::SessionMetric& metric : summary->metrics) {
    CAPTURE(metric.name);
    CHECK(analysis::find_term(metric.name) != nullptr);
    if (!metric.vendor) continue;
    if (metric.name == "nc_idx" || metric.name == "nd_idx") continue;   // numbers of the machine's parts
    if (metric.name == "model_flops" && *metric.vendor == 0) continue;  // the program has no statistics of its graph
    if (metric.name == "event_count" || metric.name == "trace_count") {
      CHECK(analysis::name_of(analysis::check(metric)) == "cannot be recomputed");
      CHECK_FALSE(metric.how.empty());
      continue;
    }
    REQUIRE(metric.value.has_value());
    CAPTURE(*metric.value);
    CAPTURE(*metric.vendor);
    CAPTURE(metric.margin);
    CHECK_FALSE(metric.how.empty());
    CHECK((analysis::check(metric) == analysis::MetricCheck::agrees) != wrong_in_file.contains(metric.name));
    if (wrong_in_file.contains(metric.name)) CHECK(analysis::is_flagged(metric));
    // Bytes, counts and operations are exact; only times may lack fractions of a ns.
    // Shares of what could have been done in the time have the time's, where a run is short.
    const bool has_slack = holds(metric.name, "_time") || holds(metric.name, "_cycle") ||
                           holds(metric.name, "_estimated_percent") || metric.name == "mbu_min_read_util_percent" ||
                           holds(metric.name, "avg_util_limit");
    if (!has_slack) CHECK(metric.margin == analysis::kExactMargin);
    ++compared;
  }
  CHECK(compared > 90);
}

}  // namespace

TEST_CASE("figures of a real Neuron profile agree with the vendor's") {
  const char* root = std::getenv("ACCELSCOPE_REAL_DATA");
  if (root == nullptr) return;
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(root) / "neuron")) {
    if (entry.path().extension() != ".json") continue;
    check_agreement(entry.path().string(), {});
    ++files;
  }
  CHECK(files > 0);
}

TEST_CASE("figures of a simulated profile agree with those that its file states") {
  const test::TemporaryFolder folder;
  const std::string json = folder.file("p.json");
  REQUIRE(run({"simulate", "-o", json, "--format", "neuron-json", "--events", "40000"}).code == terminal::kExitDone);
  check_agreement(json, {});
}

TEST_CASE("summaries have a block for every device, under keys of their own") {
  const test::TemporaryFolder folder;
  const std::string session = folder.file("two.accel");
  REQUIRE(run({"simulate", "-o", session, "--devices", "2", "--kernels", "1"}).code == terminal::kExitDone);
  const ProgramOutcome json = run({"view", session, "--output-format", "summary-json"});
  REQUIRE(json.code == terminal::kExitDone);
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  REQUIRE(parser.parse(json.out).get(document) == simdjson::SUCCESS);
  std::set<std::string> devices;
  simdjson::dom::object blocks;
  REQUIRE(document.get(blocks) == simdjson::SUCCESS);
  for (const auto& [key, block] : blocks) {
    CHECK(key.size() == 42);
    CHECK(key.substr(0, 2) == "n_");
    std::string_view device;
    REQUIRE(block["accelscope"]["device"].get(device) == simdjson::SUCCESS);
    devices.emplace(device);
    double flops = 0;
    double ours = 0;
    REQUIRE(block["hardware_flops"].get(flops) == simdjson::SUCCESS);
    REQUIRE(block["accelscope"]["hardware_flops"].get(ours) == simdjson::SUCCESS);
    CHECK(flops == ours);
    CHECK(flops > 0);
    CHECK(block["accelscope"]["session_event_count"].error() == simdjson::SUCCESS);
  }
  CHECK(devices == std::set<std::string>{"nc0", "nc1"});
  const ProgramOutcome text = run({"view", session});
  for (const char* part : {"\n  session ", "\n  nc0 ", "\n  nc1 ", "figures that both state", "±"}) {
    CAPTURE(part);
    CHECK(holds(text.out, part));
  }
  const ProgramOutcome sql = run(
      {"query", session, "SELECT device, count(*) FROM metric WHERE name = 'total_time' AND verdict <> '' GROUP BY 1",
       "--format", "csv"});
  CHECK(holds(sql.out, "nc0,1"));
  CHECK(holds(sql.out, "nc1,1"));
}

TEST_CASE("a summary begins with what bounds the session, its worst line and what its data lack") {
  const test::TemporaryFolder folder;
  const std::string path = test::save_small_session(folder.path());
  const ProgramOutcome text = run({"view", path});
  REQUIRE(text.code == terminal::kExitDone);
  const std::size_t verdict = text.out.find(" of work");
  REQUIRE(verdict != std::string::npos);
  CHECK(verdict < text.out.find("instruction"));
  const std::string line = text.out.substr(verdict, text.out.find('\n', verdict) - verdict);
  CHECK(holds(line, "; kernel.py:3 waits 40 ns; data quality: missing dge notifications"));
  const ProgramOutcome json = run({"view", path, "--output-format", "summary-json"});
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  REQUIRE(parser.parse(json.out).get(document) == simdjson::SUCCESS);
  std::string_view same;
  simdjson::dom::object blocks;
  REQUIRE(document.get(blocks) == simdjson::SUCCESS);
  for (const auto& [key, block] : blocks) {
    REQUIRE(block["accelscope"]["verdict"].get(same) == simdjson::SUCCESS);
    CHECK(holds(std::string(same), line));
  }
  CHECK_FALSE(same.empty());
}
