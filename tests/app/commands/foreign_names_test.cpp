// What names in files may do to who looks at them: nothing. And what commands make of files that are closed to others.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>

#include "core/base/own_files.h"
#include "tests/app/program_run.h"
#include "tests/support/small_session.h"

using namespace accelscope;
using namespace accelscope::app;
using test::holds;
using test::ProgramOutcome;
using test::run;

namespace fs = std::filesystem;

namespace {

// As JSON has it: a title, a colour, C1, a turn of the direction of writing.
constexpr const char* kHostile = R"(\u001b]0;title\u0007\u001b[31mred\u009b31m\u202eevil\u0008)";

std::string hostile_trace(const std::string& path) {
  std::string events;
  for (int i = 0; i < 40; ++i) {
    events += fmt::format(
        R"({{"name":"{}gemm_{}","cat":"kernel{}","ph":"X","ts":{},"dur":40,"pid":0,"tid":7,"args":{{"device":0,"stream":7,"{}":"{}"}}}},)",
        kHostile, i % 3, kHostile, i * 100, kHostile, kHostile);
  }
  test::write_file(path, fmt::format(R"({{"traceEvents":[{}{{"name":"process_name","ph":"M","pid":0,"tid":7,)"
                                     R"("args":{{"name":"{}gpu"}}}}],"otherData":{{"{}":"{}"}},)"
                                     R"("deviceProperties":[{{"id":0,"name":"{}GPU"}}]}})",
                                     events, kHostile, kHostile, kHostile, kHostile));
  return path;
}

// The first character that steers a terminal, as a number; 0: there is none.
unsigned steers(const std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f) return byte;
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
    if (byte == 0xc2 && next < 0xa0) return next;
    if (text.compare(i, 3, "\xe2\x80\xae") == 0) return 0x202e;
  }
  return 0;
}

mode_t mode_of(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 ? facts.st_mode & 07777U : 0;
}

}  // namespace

TEST_CASE("no command prints what steers a terminal, whatever a file's names hold") {
  const test::TemporaryFolder folder;
  const std::string trace = hostile_trace(folder.file("trace.json"));
  const std::string session = folder.file("a.accel");
  REQUIRE(run({"import", trace, "-o", session}).code == terminal::kExitDone);
  fs::copy_file(session, folder.file("b.accel"));
  const std::string escape = "\x1b[31mred";
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"ingest-check", trace},
                                             {"view", session},
                                             {"show-session", session},
                                             {"query", session, "select name, * from slice"},
                                             {"query", session, "select name as \"" + escape + "\" from slice"},
                                             {"query", session, "select \"" + escape + "\" from nothing"},
                                             {"advise", session},
                                             {"iterations", session},
                                             {"compare", session, folder.file("b.accel")},
                                             {"compare", "--explain", session, folder.file("b.accel")},
                                             {"what-if", session, "--change", escape},
                                             {"list", folder.path()},
                                             {"view", session, "--output-format", "markdown", "--output-file", "-"},
                                             {"view", session, "--table", "hotspots"},
                                             {"view", session, "--table", "statistics", "--by", "name"},
                                             {"view", session, "--table", escape},
                                             {"view", session, "--filter", escape},
                                             {"view", folder.file("none" + escape)},
                                             {escape}}) {
    const ProgramOutcome outcome = run(words);
    CAPTURE(words);
    CHECK(steers(outcome.out) == 0);
    CHECK(steers(outcome.err) == 0);
  }
}

TEST_CASE("data for other programs keeps every byte of a name") {
  const test::TemporaryFolder folder;
  const std::string session = folder.file("a.accel");
  REQUIRE(run({"import", hostile_trace(folder.file("trace.json")), "-o", session}).code == terminal::kExitDone);
  const std::string turned = "red\xc2\x9b" + std::string("31m\xe2\x80\xae");
  const std::string name = "\x1b]0;title\x07\x1b[31m" + turned + "evil\x08gemm_0";
  const std::string query = "select name from slice where name like '%gemm_0' limit 1";
  CHECK(holds(run({"query", session, query, "--format", "csv"}).out, name));
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"query", session, query, "--format", "json"}, {"query", session, query, "--json"}}) {
    const std::string json = run(words).out;
    CHECK(holds(json, turned));
    CHECK_FALSE(holds(json, "\x1b"));
  }
  // Where they go to a terminal, they are for a reader.
  CHECK(steers(run({"query", session, query, "--format", "csv"}, true).out) == 0);
}

TEST_CASE("what is made of a file that only its owner may read is its owner's alone") {
  const test::TemporaryFolder folder;
  const mode_t before = ::umask(022);
  const std::string session = test::save_small_session(folder.path());
  ::chmod(session.c_str(), 0600);
  const auto made = [&](const std::vector<std::string>& words, const std::string& output) {
    CAPTURE(words);
    CHECK(run(words).code == terminal::kExitDone);
    return mode_of(output);
  };
  CHECK(made({"import", session, "-o", folder.file("b.accel")}, folder.file("b.accel")) == 0600);
  CHECK(made({"view", session, "--output-format", "json", "--output-file", folder.file("c.json")},
             folder.file("c.json")) == 0600);
  CHECK(made({"view", session, "--output-format", "html", "--output-file", folder.file("d.html")},
             folder.file("d.html")) == 0600);
  ::chmod(session.c_str(), 0644);
  CHECK(made({"import", session, "-o", folder.file("e.accel")}, folder.file("e.accel")) == 0644);
  ::umask(before);
}
