// `view --output-format html` and `markdown`: the figures of the summary, the tables of the listings, ranges and
// filters, names that a file made up.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <regex>

#include "tests/app/program_run.h"

using namespace accelscope;
using namespace accelscope::app;
using test::holds;
using test::ProgramOutcome;
using test::read_file;
using test::run;
using test::write_file;

namespace {

std::string made_session(const test::TemporaryFolder& folder) {
  const std::string path = folder.file("simulated.json");
  REQUIRE(run({"simulate", "-o", path, "--seed", "7", "--format", "neuron-json"}).code == terminal::kExitDone);
  return path;
}

std::string made_report(const std::string& input, std::vector<std::string> more = {},
                        const std::string& format = "html") {
  std::vector<std::string> arguments = {"view", input, "--output-format", format, "-o", "-"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const ProgramOutcome outcome = run(arguments);
  CAPTURE(outcome.err);
  REQUIRE(outcome.code == terminal::kExitDone);
  return outcome.out;
}

}  // namespace

TEST_CASE("view html: the computed figures are those of summary-json, digit by digit") {
  const test::TemporaryFolder folder;
  const std::string input = made_session(folder);
  const std::string page = made_report(input);
  const std::string summary = run({"view", input, "--output-format", "summary-json"}).out;
  const std::regex figure("<dd data-name=\"([a-z_0-9]+)\" title=\"([-0-9.e+]+)[^\"]*\">");
  std::size_t compared = 0;
  for (std::sregex_iterator at(page.begin(), page.end(), figure), end; at != end; ++at, ++compared) {
    CAPTURE((*at)[1].str());
    const std::regex reported("\"" + (*at)[1].str() + "\": ([-0-9.e+]+)");
    bool same = false;
    for (std::sregex_iterator other(summary.begin(), summary.end(), reported); other != end; ++other) {
      same = same || std::strtod((*other)[1].str().c_str(), nullptr) == std::strtod((*at)[2].str().c_str(), nullptr);
    }
    CHECK(same);
  }
  CHECK(compared > 3);
  std::smatch verdict;
  REQUIRE(std::regex_search(summary, verdict, std::regex("\"verdict\": \"([^\"\\\\]{10,60})")));
  CHECK(holds(page, verdict[1].str()));
}

TEST_CASE(
    "view html: it has advice, timeline, tables and the quality report, and Markdown the same without the timeline") {
  const test::TemporaryFolder folder;
  const std::string input = made_session(folder);
  const std::string page = made_report(input);
  for (const char* part :
       {"<h2>Key figures", "<h2>Advice", "<h2>Timeline", "<canvas", "<h2>Kernels and operations", "<h2>Data quality",
        "prefers-color-scheme: light", "<h2>All figures", "Written by</dt><dd>accelscope "}) {
    CAPTURE(part);
    CHECK(holds(page, part));
  }
  CHECK_FALSE(holds(page, "http:"));
  CHECK_FALSE(holds(page, "https:"));
  CHECK(page.size() < 3'000'000);
  const std::string text = made_report(input, {}, "markdown");
  CHECK(holds(text, "### Advice"));
  CHECK(holds(text, "| figure | value |"));
  CHECK_FALSE(holds(text, "Timeline"));
  CHECK(text.size() < 60'000);  // GitHub takes no more than 65,536 characters of a comment
}

TEST_CASE("view html: a range and a filter are said, and the verdict is of no filtered events") {
  const test::TemporaryFolder folder;
  const std::string input = made_session(folder);
  const std::string part = made_report(input, {"--range", "25%:50%"});
  CHECK(holds(part, "<dt>Range</dt>"));
  const std::string filtered = made_report(input, {"--filter", "name=MATMUL"});
  CHECK(holds(filtered, "events pass the filter"));
  CHECK(holds(filtered, "Of a filter"));
  const std::string summary = run({"view", input, "--output-format", "summary-json", "--range", "25%:50%"}).out;
  std::smatch active;
  REQUIRE(std::regex_search(summary, active, std::regex("\"verdict\": \"([^\"\\\\]{10,40})")));
  CHECK(holds(part, active[1].str()));
}

TEST_CASE("view html: names that a trace made up are texts in the page") {
  const test::TemporaryFolder folder;
  const std::string input = folder.file("evil.json");
  write_file(input, R"json({"traceEvents":[
{"ph":"X","cat":"kernel","name":"</script><script>alert(1)</script>","pid":0,"tid":7,"ts":20,"dur":15,"args":{"device":0,"stream":7}},
{"ph":"X","cat":"kernel","name":"\"onload=\"alert(2)\u0001\u202e","pid":0,"tid":7,"ts":40,"dur":15,"args":{"device":0,"stream":7}},
{"ph":"M","name":"process_name","pid":9,"args":{"name":"<img src=x onerror=alert(3)>"}},
{"ph":"X","cat":"cpu_op","name":"<b>op</b>","pid":9,"tid":9,"ts":1,"dur":100}]})json");
  const std::string page = made_report(input);
  const auto count = [&](const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = page.find(part); at != std::string::npos; at = page.find(part, at + 1)) ++found;
    return found;
  };
  CHECK(count("<script") == 2);
  CHECK(count("</script") == 2);
  CHECK(count("<img") == 0);
  CHECK(count("<b>op") == 0);
  CHECK(count("\"onload=") == count("\\\"onload="));  // in the script's values alone
  CHECK(count("&lt;/script&gt;") > 0);
}

TEST_CASE("view html: of a session without events the page says so instead of failing") {
  const test::TemporaryFolder folder;
  write_file(folder.file("none.json"),
             R"({"traceEvents":[{"ph":"M","name":"process_name","pid":9,"args":{"name":"p"}}]})");
  const ProgramOutcome outcome = run({"view", folder.file("none.json"), "--output-format", "html", "-o", "-"});
  if (outcome.code == terminal::kExitDone) CHECK(holds(outcome.out, "<h2>Data quality"));
}

TEST_CASE("view --table: devices, gaps and lines of source are printed as any listing") {
  const test::TemporaryFolder folder;
  const std::string input = made_session(folder);
  const ProgramOutcome devices = run({"view", input, "--table", "devices", "--output-format", "csv"});
  REQUIRE(devices.code == terminal::kExitDone);
  CHECK(holds(devices.out, "device,span_ns,active_ns"));
  CHECK(holds(devices.out, "nc0,"));
  CHECK(run({"view", input, "--table", "idle", "--output-format", "json"}).code == terminal::kExitDone);
  const ProgramOutcome lines = run({"view", input, "--table", "lines", "--output-format", "csv"});
  REQUIRE(lines.code == terminal::kExitDone);
  CHECK(holds(lines.out, "line,busy_ns,wait_ns"));
}

TEST_CASE("view --table: times of a table of the file are read by people with their units, by programs as digits") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("trace.json");
  write_file(path, R"({"traceEvents":[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":0,"dur":1,
    "args":{"device":0,"stream":7}},{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":250,"dur":4064.5,
    "args":{"device":0,"stream":7}}]})");
  const std::string people = run({"view", path, "--table", "kernel"}).out;
  CHECK(holds(people, "4.064 ms"));
  CHECK(holds(people, "250 µs"));
  const std::string programs = run({"view", path, "--table", "kernel", "--output-format", "csv"}).out;
  CHECK(holds(programs, ",250000,4064500,"));
}
