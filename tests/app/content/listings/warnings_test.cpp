// Warnings and errors by the command line: ranked, within a range, and what ran around an error.
#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "tests/app/program_run.h"
#include "tests/support/simulated_session.h"

using namespace accelscope;
using namespace accelscope::app;
using test::holds;
using test::run;

namespace {

struct SimulatedFile {
  SimulatedFile() { test::save_simulated_session(path); }
  test::TemporaryFolder folder;
  std::string path = folder.file("s.accel");
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("warnings: the weights that are read four times are told first, with their line and what to try") {
  const SimulatedFile file;
  const auto all = run({"view", file.path, "--table", "warnings", "--output-format", "csv"});
  REQUIRE(all.code == terminal::kExitDone);
  const std::vector<std::string> lines = lines_of(all.out);
  REQUIRE(lines.size() > 3);
  CHECK(lines[0] ==
        "rule,device,headline,line,count,saving_ns,least_ns,share,remedy,evidence,same_time,what_if,ts_ns,end_ns,"
        "event_id,replayed");
  CHECK(lines[1].starts_with("hardware_error,nc0,"));  // before all that costs time
  CHECK(lines[2].starts_with("reloaded_tensor,nc0,"));
  CHECK(holds(lines[2], "loaded 4×"));
  CHECK(holds(lines[2], ".py:"));
  CHECK(holds(lines[2], ",drop reload of w"));
  const std::string json = run({"view", file.path, "--table", "warnings", "--output-format", "json"}).out;
  const auto values = [&](std::string_view key) {
    std::vector<std::int64_t> found;
    for (std::size_t at = json.find(key); at != std::string::npos; at = json.find(key, at + 1)) {
      const std::string value = json.substr(at + key.size());
      CHECK(value.starts_with("null") == found.empty());  // the error alone saves no time
      found.push_back(value.starts_with("null") ? 0 : std::stoll(value));
    }
    return found;
  };
  const std::vector<std::int64_t> most = values("\"saving_ns\": "), least = values("\"least_ns\": ");
  REQUIRE(most.size() == lines.size() - 1);
  REQUIRE(least.size() == most.size());
  for (std::size_t i = 2; i < most.size(); ++i)
    CHECK(most[i] + least[i] <= most[i - 1] + least[i - 1]);  // by the middle of what each saves
  const auto none =
      run({"view", file.path, "--table", "warnings", "--filter", "no such thing", "--output-format", "csv"});
  CHECK(lines_of(none.out).size() == 1);
  const std::string verdict = run({"view", file.path}).out;
  CHECK(holds(verdict, "loaded 4×"));  // the verdict names it, after the error
  const std::size_t error = verdict.find("out of bounds"), bound = verdict.find("-bound");
  CHECK((error != std::string::npos && error < bound));
}

TEST_CASE("errors: of an error every engine is told, with operands and lines") {
  const SimulatedFile file;
  const auto all = run({"view", file.path, "--table", "errors", "--output-format", "csv"});
  REQUIRE(all.code == terminal::kExitDone);
  const std::vector<std::string> lines = lines_of(all.out);
  REQUIRE(lines.size() > 6);
  CHECK(lines[0].starts_with("ts_ns,error,details,error_id,track,state,name,since_ns,operands,line,event_id"));
  for (const char* engine : {",Tensor,", ",Vector,", ",Scalar,", ",GpSimd,", ",Sync,", ",qSyncIOParam0,"}) {
    CAPTURE(engine);
    CHECK(holds(all.out, engine));
  }
  CHECK(holds(all.out, "under way"));
  CHECK(holds(all.out, "S["));
  const auto before = run({"view", file.path, "--table", "errors", "--range", "0%:1%", "--output-format", "csv"});
  CHECK(lines_of(before.out).size() == 1);
}

TEST_CASE("warnings: behind a filter it is said which rules could not be judged, and what they need") {
  const SimulatedFile file;
  const auto part = run({"view", file.path, "--table", "warnings", "--tracks", "Tensor", "--output-format", "csv"});
  REQUIRE(part.code == terminal::kExitDone);
  CHECK(holds(part.err, "not judged: "));
  CHECK(holds(part.err, "needs all events of the range, of which the filter leaves some out"));
  CHECK_FALSE(holds(run({"view", file.path, "--table", "warnings", "--output-format", "csv"}).err, "the filter"));
}
