// What a reader is told first of real profiles, beside what an expert says of them (tests/real/expected.tsv): what
// bounds each, and what to look at first. An answer that says that it does not know counts as half.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/app/program_run.h"

using namespace accelscope;
using namespace accelscope::app;
using test::holds;
using test::run;

namespace {

struct ExpectedAnswer {
  std::string file, bound, finding;
};

std::vector<ExpectedAnswer> expected_answers() {
  std::ifstream in(ACCELSCOPE_EXPECTED_ANSWERS);
  std::vector<ExpectedAnswer> rows;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#' || line.starts_with("file\t")) continue;
    std::vector<std::string> cells;
    std::istringstream text(line);
    for (std::string cell; std::getline(text, cell, '\t');) cells.push_back(cell);
    cells.resize(6);
    rows.push_back({cells[0], cells[1], cells[3]});
  }
  return rows;
}

// The expert's words for what a verdict says.
bool same_bound(const std::string& verdict, const std::string& bound) {
  struct Words {
    const char* said;
    std::vector<std::string> meant;
  };
  static const std::array<Words, 14> kWords = {{{"ost-bound", {"launch", "host", "idle"}},
                                                {"bound by its kernels", {"compute"}},
                                                {"mostly its kernels", {"compute"}},
                                                {"mostly communication", {"communication"}},
                                                {"mostly copies", {"copies"}},
                                                {"mostly waits", {"waits"}},
                                                {"ound by communication", {"communication"}},
                                                {"bound by copies", {"copies"}},
                                                {"DMA-bound", {"memory", "copies"}},
                                                {"latency-bound", {"waits", "latency"}},
                                                {"peaks at", {"memory-peak"}},
                                                {"Out of memory", {"memory-peak"}},
                                                {"ound by waits", {"waits", "latency"}},
                                                {"bound by ", {"compute"}}}};
  for (const Words& words : kWords) {
    if (holds(verdict, words.said)) {
      return std::find(words.meant.begin(), words.meant.end(), bound) != words.meant.end();
    }
  }
  return false;
}

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

// What is found first and what it rests on; why it costs time and what to try are the rule's words, not the file's.
std::string first_finding(const std::string& advice) {
  std::string found;
  std::istringstream lines(advice.substr(std::min(advice.size(), advice.find("1. "))));
  for (std::string line; std::getline(lines, line) && !line.starts_with("2. ");) {
    if (line.starts_with("1. ") || line.starts_with("   Evidence") || line.starts_with("   Source line")) found += line;
  }
  return found;
}

// Whether an answer speaks of what the expert does: a word of his that says something is in it.
bool speaks_of(const std::string& answer, const std::string& finding) {
  static const std::array<std::string_view, 14> kOfAll = {"device", "kernels", "kernel", "first",  "which",
                                                          "while",  "before",  "after",  "their",  "there",
                                                          "thread", "takes",   "other",  "between"};
  std::string word;
  for (const char c : lower(finding) + " ") {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == ':' || c == '.';
    if (letter) {
      word += c;
      continue;
    }
    while (word.ends_with(':') || word.ends_with('.')) word.pop_back();
    const bool tells = word.size() >= 4 && std::find(kOfAll.begin(), kOfAll.end(), word) == kOfAll.end();
    if (tells && holds(answer, word)) return true;
    word.clear();
  }
  return false;
}

}  // namespace

TEST_CASE("what is told first of real profiles is what an expert says of them") {
  const char* root = std::getenv("ACCELSCOPE_REAL_DATA");
  if (root == nullptr) {
    MESSAGE("skipped: ACCELSCOPE_REAL_DATA names no folder of real profiles");
    return;
  }
  double bounds = 0, findings = 0, rows = 0, reported = 0;
  std::string differ;
  for (const ExpectedAnswer& expected : expected_answers()) {
    const std::string input = std::string(root) + "/" + expected.file;
    if (holds(expected.file, "conformance/") || !std::filesystem::exists(input)) continue;
    const test::TemporaryFolder folder;
    const std::string session = folder.file("s.accel");
    const bool imported = run({"import", input, "-o", session}).code == terminal::kExitDone;
    const std::string verdict =
        imported ? run({"view", session, "--output-format", "summary-text"}).out.substr(0, 4'000) : "Unknown";
    const bool known = !holds(verdict, "Unknown") && !holds(verdict, "No times: a program without a trace");
    const bool same = expected.bound == "unknown" ? !known : known && same_bound(verdict, expected.bound);
    ++rows;
    bounds += same ? 1 : expected.bound != "unknown" && !known ? 0.5 : 0;
    if (!same) differ += fmt::format("\n{}: {}", expected.file, expected.bound);
    if (expected.finding.size() < 4) continue;  // a name that any text holds
    ++reported;
    const std::string first = imported ? first_finding(run({"advise", session}).out) : "";
    const bool speaks = speaks_of(lower(first + verdict), expected.finding);
    findings += speaks ? 1 : 0;
    if (!speaks) differ += fmt::format("\n{}: not told of {}", expected.file, expected.finding);
  }
  REQUIRE(rows > 50);
  MESSAGE(fmt::format("{} of {} bounds, {} of {} first findings as an expert says them{}", bounds, rows, findings,
                      reported, differ));
  CHECK(bounds >= 0.9 * rows);
  CHECK(findings >= 0.9 * reported);
}
