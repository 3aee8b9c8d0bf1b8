// `accelscope what-if` and the tables that say why a session took as long as it did: what is printed of the whole
// session, a range and a selection, and the same in SQL.
#include <doctest/doctest.h>

#include <charconv>
#include <string>

#include "capture/sim/output/simulator.h"
#include "core/store/store.h"
#include "tests/app/program_run.h"

using namespace accelscope;
using namespace accelscope::test;

namespace {

struct KernelFile {
  TemporaryFolder folder;
  std::string path = folder.file("kernel.accel");

  KernelFile() {
    auto store = Store::create();
    REQUIRE(store.ok());
    StoreSink sink(**store);
    REQUIRE(capture::sim::simulate({.seed = 3, .kernels = 1}, sink).ok());
    REQUIRE((*store)->save(path).ok());
  }
  [[nodiscard]] std::string query(const std::string& sql) const {
    const ProgramOutcome outcome = run({"query", path, sql, "--format", "csv"});
    REQUIRE(outcome.code == app::terminal::kExitDone);
    const std::string rows = outcome.out.substr(outcome.out.find('\n') + 1);
    return rows.substr(0, rows.find('\n'));
  }
  [[nodiscard]] std::int64_t table_sum(const std::string& table, std::vector<std::string> more,
                                       const std::string& column) const {
    std::vector<std::string> all{"view", path, "--table", table, "--output-format", "csv"};
    all.insert(all.end(), more.begin(), more.end());
    const ProgramOutcome outcome = run(all);
    REQUIRE_MESSAGE(outcome.code == app::terminal::kExitDone, outcome.err);
    std::size_t at = 0, place = 0;
    std::int64_t sum = 0;
    for (std::size_t line = 0; at < outcome.out.size(); ++line) {
      const std::size_t end = outcome.out.find('\n', at);
      const std::string text = outcome.out.substr(at, end - at);
      at = end + 1;
      std::size_t cell = 0, begin = 0;
      for (;; ++cell) {
        const std::size_t comma = std::min(text.find(',', begin), text.size());
        if (line == 0 && text.substr(begin, comma - begin) == column) place = cell;
        if (line > 0 && cell == place) {
          std::int64_t value = 0;
          std::from_chars(text.data() + begin, text.data() + comma, value);
          sum += value;
        }
        if (comma == text.size()) break;
        begin = comma + 1;
      }
    }
    return sum;
  }
};

}  // namespace

TEST_CASE("why: path, shares and bounds of the session and of a range add up to it, in tables and in SQL alike") {
  const KernelFile file;
  const std::string total = file.query("SELECT sum(dur_ns) FROM critical_path");
  CHECK(total == file.query("SELECT max(ts_ns + dur_ns) - min(ts_ns) FROM critical_path"));
  for (const char* by : {"resource", "line", "name", "kind"}) {
    CHECK(std::to_string(file.table_sum("path-shares", {"--by", by}, "path_ns")) == total);
  }
  CHECK(std::to_string(file.table_sum("critical-path", {}, "dur_ns")) == total);
  CHECK(std::to_string(file.table_sum("bounds", {}, "path_ns")) == total);
  for (const char* table : {"critical-path", "bounds"}) {
    const std::string column = std::string(table) == "bounds" ? "path_ns" : "dur_ns";
    CHECK(file.table_sum(table, {"--range", "1900us:2000us"}, column) == 100'000);
  }
  CHECK(std::to_string(file.table_sum("waits", {}, "dur_ns")) == file.query("SELECT sum(dur_ns) FROM wait"));
  CHECK(file.table_sum("wait-causes", {}, "wait_ns") == file.table_sum("waits", {}, "dur_ns"));
  CHECK(file.table_sum("waits", {"--filter", "MATMUL"}, "dur_ns") < file.table_sum("waits", {}, "dur_ns"));
  CHECK(file.query("SELECT sum(path_ns) FROM bound") == total);
  CHECK(file.query("SELECT sum(gap_ns) FROM path_gap") ==
        file.query("SELECT sum(dur_ns) FROM critical_path WHERE id IS NULL"));
  const std::string advice = run({"advise", file.path, "--format", "json"}).out;
  CHECK(
      advice.find("\"saving_ns\": " + file.query("SELECT saving_ns FROM finding WHERE saving_ns IS NOT NULL LIMIT 1") +
                  ",") != std::string::npos);
  CHECK(file.query("SELECT what_if FROM finding WHERE what_if IS NOT NULL LIMIT 1").starts_with("drop reload of w"));
  // No gap saves more than the session takes, and none less than nothing.
  CHECK(file.table_sum("path-gaps", {}, "saving_ns") >= 0);
}

TEST_CASE("what-if: changes that are made together touch what each of them touches, and no more") {
  const KernelFile file;
  const auto touched = [&](const std::vector<std::string>& changes) {
    std::vector<std::string> words = {"what-if", file.path, "--format", "json"};
    for (const std::string& change : changes) words.insert(words.end(), {"--change", change});
    const ProgramOutcome outcome = run(words);
    REQUIRE_MESSAGE(outcome.code == app::terminal::kExitDone, outcome.err);
    const std::string key = "\"touched\": ";
    return std::stoll(outcome.out.substr(outcome.out.find(key) + key.size()));
  };
  const std::string one = "remove wait S[4] on TensorMatrix", two = "remove wait S[6] on Tensor";
  CHECK(touched({one, two}) == touched({one}) + touched({two}));
  // What is gone already is not merged, nor counted again.
  CHECK(touched({"drop reload of w1", "drop reload of w1"}) == touched({"drop reload of w1"}));
}

TEST_CASE("what-if: totals and both paths as text and JSON, and what is no change or touches nothing is said") {
  const KernelFile file;
  const ProgramOutcome text = run({"what-if", file.path, "--change", "dma bandwidth x1.5"});
  CHECK(text.code == app::terminal::kExitDone);
  CHECK(text.out.find("as fast") != std::string::npos);
  CHECK(text.out.find("Most of the critical path: memory") != std::string::npos);
  const ProgramOutcome json = run(
      {"what-if", file.path, "--change", "opcode MATMUL x0.5", "--change", "dma bandwidth x1.5", "--format", "json"});
  CHECK(json.code == app::terminal::kExitDone);
  CHECK(json.out.find("\"changes\": [\n \"opcode MATMUL x0.5\",\n \"dma bandwidth x1.5\"\n]") != std::string::npos);
  CHECK(json.out.find("\"total_before_ns\": " + file.query("SELECT sum(dur_ns) FROM critical_path")) !=
        std::string::npos);
  const ProgramOutcome part = run({"what-if", file.path, "--change", "dma bandwidth x1.5", "--range", "1900us:2000us"});
  CHECK(part.code == app::terminal::kExitDone);
  const ProgramOutcome reload =
      run({"what-if", file.path, "--change", "drop reload of w1", "--range", "1900us:2000us"});
  CHECK_MESSAGE(reload.code == app::terminal::kExitDone, reload.err);
  CHECK(run({"what-if", file.path, "--change", "faster"}).code == app::terminal::kExitUsage);
  const ProgramOutcome nothing = run({"what-if", file.path, "--change", "opcode NONE x2"});
  CHECK(nothing.code == app::terminal::kExitFailed);
  CHECK(nothing.err.find("touches nothing") != std::string::npos);
  const ProgramOutcome filtered = run({"what-if", file.path, "--change", "remove wait S[4]", "--filter", "MATMUL"});
  CHECK(filtered.code == app::terminal::kExitFailed);
  CHECK(filtered.err.find("takes a range") != std::string::npos);
}
