// --filter, --tracks and --range of `query` and `view`: what passes, what is said, what is refused.
#include <doctest/doctest.h>

#include <fstream>

#include "tests/app/program_run.h"
#include "tests/support/small_session.h"

using namespace accelscope;
using namespace accelscope::app;
using test::holds;
using test::ProgramOutcome;
using test::run;

namespace {

struct Fixture {
  test::TemporaryFolder folder;
  std::string path = test::save_small_session(folder.path());

  // The rows of a query in a filter as CSV without the header.
  std::string rows(const std::string& sql, std::vector<std::string> options) {
    std::vector<std::string> arguments{"query", path, sql, "--format", "csv"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const ProgramOutcome outcome = run(arguments);
    if (outcome.code != terminal::kExitDone) return "failed: " + outcome.err;
    return outcome.out.substr(outcome.out.find("\n") + 1);
  }
};

constexpr const char* kNames = "SELECT name, count(*) FROM slice GROUP BY name ORDER BY name";

}  // namespace

TEST_CASE_FIXTURE(Fixture, "filter options: a query sees what the searches, the tracks and the range let through") {
  CHECK(rows(kNames, {}) == "ACTIVATE,10\nMATMUL,20\nWAIT,1\n");
  CHECK(rows(kNames, {"--filter", "MATMUL"}) == "MATMUL,20\n");
  CHECK(rows(kNames, {"--filter=-MATMUL"}) == "ACTIVATE,10\nWAIT,1\n");
  CHECK(rows(kNames, {"--filter", "!MATMUL", "--filter", "kernel.py:4"}) == "ACTIVATE,10\n");
  CHECK(rows(kNames, {"--tracks", "tens"}) == "MATMUL,20\n");
  CHECK(rows(kNames, {"--tracks", "Tensor,Scalar", "--filter", "duration>60"}) == "MATMUL,20\nWAIT,1\n");
  // 1,000 to 1,300 holds two matrix products, the second cut at its end, the wait and the first activation.
  CHECK(rows(kNames, {"--range", "1000ns:1250ns"}) == "ACTIVATE,1\nMATMUL,2\nWAIT,1\n");
  CHECK(rows(kNames, {"--range", "1000ns:1250ns", "--filter", "MATMUL"}) == "MATMUL,2\n");
  CHECK(rows("SELECT count(*) FROM source_line", {"--filter", "MATMUL"}) == "1\n");
  CHECK(rows("SELECT count(*) FROM memory", {"--tracks", "Tensor"}) == "0\n");
  CHECK(rows("SELECT count(*) FROM memory", {}) == "3\n");
  CHECK(rows("SELECT count(*) FROM flow", {"--filter", "/MATMUL|ACTIVATE/"}) == "1\n");
  CHECK(rows("SELECT count(*) FROM flow", {"--filter", "MATMUL"}) == "0\n");
}

TEST_CASE_FIXTURE(Fixture, "filter options: how much passes is said, and what cannot be understood is named") {
  const ProgramOutcome filtered = run({"query", path, "SELECT 1", "--filter", "MATMUL"});
  CHECK(holds(filtered.err, "20 of 87 events pass the filter"));
  CHECK(run({"query", path, "SELECT 1"}).err.empty());
  const auto failure = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments{"query", path, "SELECT 1"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const ProgramOutcome outcome = run(arguments);
    CHECK(outcome.code == terminal::kExitFailed);
    return outcome.err;
  };
  CHECK(holds(failure({"--filter", "/(/"}), "/(/ is not a regular expression"));
  CHECK(holds(failure({"--filter", "nosuchfield=3"}), "nosuchfield"));
  CHECK(holds(failure({"--filter", "-"}), "the search is empty"));
  CHECK(holds(failure({"--tracks", "Vector"}), "there are Tensor, Scalar"));
  CHECK(holds(failure({"--range", "nonsense"}), "--range"));
}

TEST_CASE_FIXTURE(Fixture, "filter options: figures and exported rows are of the events that pass") {
  const ProgramOutcome text = run({"view", path, "--filter", "MATMUL"});
  REQUIRE(text.code == terminal::kExitDone);
  CHECK(holds(text.out, "20 of 87 events pass the filter"));
  CHECK(holds(text.out, "not filtered"));
  CHECK(holds(text.out, "20 events over"));
  const ProgramOutcome json = run({"view", path, "--filter", "MATMUL", "--output-format", "summary-json"});
  REQUIRE(json.code == terminal::kExitDone);
  CHECK(holds(json.out, "\"instruction_event_count\": 20"));
  CHECK(holds(json.out, "\"filter\": \"20 of 87"));
  const std::string file = folder.file("part.json");
  const ProgramOutcome exported = run({"view", path, "--filter", "!MATMUL", "--range", "1000ns:1250ns",
                                       "--output-format", "json", "--output-file", file});
  REQUIRE_MESSAGE(exported.code == terminal::kExitDone, exported.err);
  std::ifstream in(file);
  const std::string written{std::istreambuf_iterator<char>(in), {}};
  CHECK_FALSE(holds(written, "MATMUL"));
  CHECK(holds(written, "ACTIVATE"));
  CHECK(holds(written, "WAIT"));
  std::size_t rows = 0;
  for (std::size_t at = written.find("ACTIVATE"); at != std::string::npos; at = written.find("ACTIVATE", at + 1))
    ++rows;
  CHECK(rows == 1);
  CHECK(run({"view", path, "--filter", "MATMUL", "--output-format", "db"}).code == terminal::kExitUsage);
}

TEST_CASE_FIXTURE(Fixture, "filter options: why a search found nothing, or everything, is said on the error stream") {
  const auto said = [&](const std::string& search) { return run({"query", path, "SELECT 1", "--filter", search}).err; };
  CHECK(holds(said("name=MATMU"),
              "--filter name=MATMU: No name is exactly MATMU; 20 contain it; try --filter 'name~MATMU'"));
  CHECK(holds(said("duration>=0"), "duration>=0 matches every event"));
  CHECK_FALSE(holds(said("MATMUL"), "--filter MATMUL:"));
  CHECK(rows(kNames, {"--filter", "/./"}) == "ACTIVATE,10\nMATMUL,20\n");
}
