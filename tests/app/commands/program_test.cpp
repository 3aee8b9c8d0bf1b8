#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <regex>

#include "app/commands/command_line.h"
#include "core/listing/base/write.h"
#include "core/store/store.h"
#include "render/base/platform.h"
#include "tests/app/program_run.h"
#include "tests/support/process.h"
#include "tests/support/small_session.h"
#include "tests/support/wait.h"

using namespace accelscope;
using namespace accelscope::app::commands;
using namespace accelscope::app;
using test::holds;
using test::ProgramOutcome;
using test::run;
using test::write_file;

TEST_CASE("every command has help with its example, on the standard output") {
  const ProgramOutcome help = run({"--help"});
  CHECK(help.code == terminal::kExitDone);
  for (const terminal::ProgramCommand& command : program_commands()) {
    CAPTURE(std::string(command.name));
    CHECK(holds(help.out, std::string(command.name)));
    const ProgramOutcome own = run({std::string(command.name), "--help"});
    CHECK(own.code == terminal::kExitDone);
    CHECK(own.err.empty());
    CHECK(holds(own.out, std::string(command.example)));
    CHECK(holds(own.out, "--quiet"));
  }
  CHECK(holds(run({"--version"}).out, "accelscope "));
}

TEST_CASE("the manual page and what shells complete name every command, its options and what these may be") {
  const std::string manual = run({"manual"}).out;
  const std::string bash = run({"completion", "bash"}).out, zsh = run({"completion", "zsh"}).out,
                    fish = run({"completion", "fish"}).out;
  for (const terminal::ProgramCommand& command : program_commands()) {
    const std::string name(command.name);
    CAPTURE(name);
    CHECK(holds(manual, std::regex_replace("\n.SS " + name + "\n", std::regex("-"), "\\-")));
    CHECK(holds(bash, "    " + name + ")\n"));
    CHECK(holds(zsh, "'" + name + ":"));
    CHECK(holds(fish, " -a " + name + " -d "));
  }
  CHECK(holds(manual, ".SS \\-\\-kind opencl\n"));
  CHECK(holds(manual, "\\fB\\-\\-fail\\-above\\fR"));
  CHECK(holds(bash, "--chip) COMPREPLY=($(compgen -W 'trn1 trn2 trn3' -- \"$typed\"))"));
  CHECK(holds(zsh, "--chip) compadd -- 'trn1' 'trn2' 'trn3'"));
  CHECK(holds(fish, "-l chip -x -a 'trn1 trn2 trn3' -d "));
  CHECK(holds(run({"manual", "keys"}).out, "| `Ctrl+O` | Open a file or folder... |"));
  CHECK(run({"completion", "csh"}).code == terminal::kExitUsage);
  CHECK(run({"completion"}).code == terminal::kExitUsage);
}

TEST_CASE("wrong usage exits with 2 and says what to try") {
  const std::vector<std::vector<std::string>> wrong = {{"frobnicate"},
                                                       {"--frobnicate"},
                                                       {"query"},
                                                       {"query", "a.accel", "SELECT 1", "--format", "xml"},
                                                       {"query", "a.accel", "SELECT 1", "surplus"},
                                                       {"import"},
                                                       {"simulate", "-o", "x", "--devices", "0"},
                                                       {"screenshot", "a.accel", "-o", "x.png", "--size", "huge"},
                                                       {"view", "a.json", "--output-format", "pprof"},
                                                       {"view", "a.json", "--output-format", "nonsense"},
                                                       {"ssh://me@"},
                                                       {"--compare"},
                                                       {"record", "-o", "x.accel"}};
  for (const auto& arguments : wrong) {
    CAPTURE(arguments.front());
    const ProgramOutcome outcome = run(arguments);
    CHECK(outcome.code == terminal::kExitUsage);
    CHECK(outcome.out.empty());
    CHECK(outcome.err.starts_with("accelscope: "));
    CHECK(holds(outcome.err, "; try accelscope"));
  }
  CHECK(holds(run({"view", "a.json", "--output-format", "pprof"}).err,
              "there are summary-text, summary-json, db, json, perfetto"));
}

TEST_CASE("input that cannot be read exits with 1 and names the file") {
  const test::TemporaryFolder folder;
  const std::string absent = folder.file("absent.accel");
  const std::string empty = folder.file("empty.json");
  const std::string noise = folder.file("noise.bin");
  write_file(empty, "");
  write_file(noise, std::string("\x01\x02\xff\xfe garbage", 12));
  for (const std::string& file : {absent, empty, noise}) {
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"query", file, "SELECT 1"}, {"view", file}, {"ingest-check", file}}) {
      CAPTURE(file);
      const ProgramOutcome outcome = run(arguments);
      CHECK(outcome.code == terminal::kExitFailed);
      CHECK(outcome.out.empty());
      CHECK(outcome.err.starts_with("accelscope: " + file));
    }
  }
  CHECK(run({"import", absent, "-o", folder.file("out.accel")}).code == terminal::kExitFailed);
  CHECK_FALSE(std::filesystem::exists(folder.file("out.accel")));
}

TEST_CASE("query prints a table, CSV by RFC 4180, or one JSON array") {
  const test::TemporaryFolder folder;
  const std::string session = test::save_small_session(folder.path());
  const std::string sql = "SELECT 1 AS a, 'x,\"y\"' AS \"b c\", NULL AS d, 2.0 AS e, 9007199254740993 AS f";
  CHECK(run({"query", session, sql, "--format", "csv"}).out ==
        "a,b c,d,e,f\n1,\"x,\"\"y\"\"\",,2.0,9007199254740993\n");
  const std::string json =
      "[\n{\"a\": 1, \"b c\": \"x,\\\"y\\\"\", \"d\": null, \"e\": 2.0, \"f\": 9007199254740993}\n]\n";
  CHECK(run({"query", session, sql, "--format", "json"}).out == json);
  CHECK(run({"query", session, sql, "--json"}).out == json);
  CHECK(run({"query", session, "SELECT 1 WHERE 0", "--json"}).out == "[]\n");
  const ProgramOutcome table =
      run({"query", session, "SELECT name, count(*) AS n FROM slice GROUP BY name ORDER BY name"});
  CHECK(table.code == terminal::kExitDone);
  CHECK(table.err.empty());
  CHECK(holds(table.out, "MATMUL"));
  const ProgramOutcome wrong = run({"query", session, "SELECT colour FROM slice"});
  CHECK(wrong.code == terminal::kExitFailed);
  CHECK(wrong.out.empty());
  CHECK(holds(wrong.err, "no such column: colour; slice has id"));
  CHECK(holds(run({"query", session, "DELETE FROM slice"}).err, "only SELECT"));
  CHECK(holds(run({"query", session, "--tables"}).out,
              "slice(id, track_id, lane, ts_ns, dur_ns, name, category, schema)"));
}

TEST_CASE("query shows NULL, blobs and infinity in every format, and keys of JSON once") {
  const test::TemporaryFolder folder;
  const std::string session = test::save_small_session(folder.path());
  const std::string sql = "SELECT NULL AS n, x'00ff' AS b, 9e999 AS i, 1 AS id, 2 AS id, 3 AS id_2";
  CHECK(run({"query", session, sql, "--format", "csv"}).out == "n,b,i,id,id,id_2\n,00ff,inf,1,2,3\n");
  CHECK(run({"query", session, sql, "--format", "json"}).out ==
        "[\n{\"n\": null, \"b\": \"00ff\", \"i\": 1e999, \"id\": 1, \"id_3\": 2, \"id_2\": 3}\n]\n");
  CHECK(run({"query", session, sql}).out ==
        "   n  b          i  id  id  id_2\n----  -------  ---  --  --  ----\nNULL  x'00ff'  inf   1   2     3\n");
  CHECK(run({"query", session, "SELECT name FROM slice WHERE 0"}).out == "name\n----\n");
  CHECK(holds(run({"query", session}).out, "track(id, parent_id, name, kind, device, host, unit, lane_count, schema)"));
  CHECK(holds(run({"query", session, "SELECT dur FROM slice"}).err, "no such column: dur; did you mean dur_ns?"));
}

TEST_CASE("query prints tables of any length with the widths of the first rows") {
  const test::TemporaryFolder folder;
  const std::string session = test::save_small_session(folder.path());
  const std::string count =
      "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x * 10 + 1 FROM c LIMIT 5), "
      "d(y) AS (SELECT 0 UNION ALL SELECT y + 1 FROM d LIMIT 4000) ";
  const ProgramOutcome many = run({"query", session, count + "SELECT y FROM d UNION ALL SELECT x FROM c"});
  CHECK(std::count(many.out.begin(), many.out.end(), '\n') == 2 + 4000 + 5);
  CHECK(many.out.starts_with("  y\n---\n  0\n  1\n"));
  CHECK(many.out.ends_with("\n  1\n 11\n111\n1111\n11111\n"));
}

TEST_CASE("query is ended by Ctrl+C with what it has printed and a word about it") {
  const test::TemporaryFolder folder;
  const std::string session = test::save_small_session(folder.path());
  const std::string endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c";
  auto process =
      test::Process::start({render::program_directory() + "/accelscope", "query", session, endless, "--format", "csv"});
  REQUIRE(process.ok());
  REQUIRE(process->wait_for("1000", test::kPatience));
  process->interrupt();
  CHECK(process->finish(test::kPatience) == terminal::kExitInterrupted);
  CHECK(holds(process->output(), "the query was interrupted after "));
}

TEST_CASE("whoever reads a profile that was cut is told what is missing, by every command and with --quiet") {
  const test::TemporaryFolder folder;
  const std::string whole = folder.file("whole.json"), cut = folder.file("cut.json");
  REQUIRE(run({"simulate", "-o", whole, "--format", "neuron-json", "--events", "2000", "--quiet"}).code ==
          terminal::kExitDone);
  std::ifstream file(whole, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  write_file(cut, text.substr(0, text.find("\"instruction\"") + 500));
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"import", cut, "-o", folder.file("cut.accel"), "--quiet"},
        {"view", cut},
        {"query", cut, "SELECT 1"},
        {"query", folder.file("cut.accel"), "SELECT 1"},
        {"show-session", cut}}) {
    const ProgramOutcome outcome = run(command);
    CHECK(outcome.code == terminal::kExitDone);
    CHECK_MESSAGE(holds(outcome.err, "in table \"instruction\": the rest of that table is missing"), outcome.err);
    CHECK_MESSAGE(holds(outcome.err, "cut."), outcome.err);
  }
  CHECK_FALSE(holds(run({"ingest-check", cut}).err, "missing"));  // its report has it
  CHECK(run({"import", whole, "-o", folder.file("whole.accel"), "--quiet"}).err == "");
}

TEST_CASE("simulate, import, ingest-check and view work on each other's files") {
  const test::TemporaryFolder folder;
  const std::string session = folder.file("s.accel");
  const ProgramOutcome simulated = run({"simulate", "-o", session, "--kernels", "1"});
  CHECK(simulated.code == terminal::kExitDone);
  CHECK(simulated.out.empty());
  CHECK(holds(simulated.err, "events over"));
  CHECK(run({"simulate", "-o", session, "--kernels", "1", "--quiet"}).err.empty());

  const ProgramOutcome count =
      run({"query", session, "SELECT count(*) AS n FROM instruction WHERE opcode = 'MATMUL'", "--json"});
  CHECK(count.code == terminal::kExitDone);
  CHECK_FALSE(holds(count.out, "\"n\": 0}"));
  const ProgramOutcome check = run({"ingest-check", session});
  CHECK(check.code == terminal::kExitDone);
  CHECK(holds(check.out, "instruction"));
  CHECK(holds(run({"ingest-check", session, "--json"}).out, "\"tables\": [{\"name\": "));

  const std::string copy = folder.file("copy.accel");
  CHECK(run({"import", session, "-o", copy, "--name", "mine", "--tag", "a", "--tag", "b"}).code == terminal::kExitDone);
  const ProgramOutcome again = run({"import", session, "-o", copy});
  CHECK(again.code == terminal::kExitFailed);
  CHECK(holds(again.err, "--force"));
  CHECK(run({"import", session, "-o", copy, "--force", "--quiet"}).code == terminal::kExitDone);
  const std::string all = "SELECT id, ts_ns, dur_ns, name FROM slice ORDER BY id";
  CHECK(run({"query", session, all, "--format", "csv"}).out == run({"query", copy, all, "--format", "csv"}).out);

  const ProgramOutcome text = run({"view", session});
  CHECK(text.code == terminal::kExitDone);
  CHECK(holds(text.out, "tensor_engine_instruction_count"));
  const ProgramOutcome json = run({"view", session, "--output-format", "summary-json"});
  CHECK(json.out.starts_with("{\n\"n_"));
  CHECK(holds(json.out, "\"hardware_flops\": "));
}

TEST_CASE("a simulated profile in the vendor's format reads back as the same events") {
  const test::TemporaryFolder folder;
  const std::string json = folder.file("p.json");
  const std::string session = folder.file("p.accel");
  CHECK(run({"simulate", "-o", json, "--format", "neuron-json", "--kernels", "1"}).code == terminal::kExitDone);
  CHECK(run({"simulate", "-o", session, "--kernels", "1"}).code == terminal::kExitDone);
  for (const char* table : {"instruction", "dma", "dma_transfer"}) {
    CAPTURE(table);
    const std::string sql = std::string("SELECT count(*), sum(dur_ns), min(ts_ns), max(ts_ns) FROM ") + table;
    CHECK(run({"query", json, sql, "--format", "csv"}).out == run({"query", session, sql, "--format", "csv"}).out);
  }
}

TEST_CASE("progress lines are for terminals, and never for --quiet") {
  const test::TemporaryFolder folder;
  const auto simulate = [&](bool terminal, bool quiet) {
    std::vector<std::string> arguments{"simulate", "-o", folder.file("s.accel"), "--kernels", "1"};
    if (quiet) arguments.emplace_back("--quiet");
    return run(arguments, terminal).err;
  };
  CHECK_FALSE(holds(simulate(false, false), "\x1b"));
  CHECK(holds(simulate(true, false), "\x1b"));
  CHECK(simulate(true, true).empty());
}

TEST_CASE("record says why no agent answers") {
  const test::TemporaryFolder folder;
  const ProgramOutcome refused = run({"record", "127.0.0.1:1", "-o", folder.file("r.accel")});
  CHECK(refused.code == terminal::kExitFailed);
  CHECK(holds(refused.err, "127.0.0.1:1"));
  CHECK(run({"record", "192.0.2.1:7420", "-o", folder.file("r.accel")}).code == terminal::kExitFailed);
  CHECK_FALSE(std::filesystem::exists(folder.file("r.accel")));
}

TEST_CASE("doctor names every finding and what to do") {
  const ProgramOutcome text = run({"doctor"});
  CHECK(text.code == terminal::kExitDone);
  for (const char* subject : {"version", "display", "OpenGL", "agent", "settings", "temporary files"}) {
    CAPTURE(subject);
    CHECK(holds(text.out, subject));
  }
  CHECK(run({"doctor", "--json"}).out.starts_with("[\n{\"subject\": \"version\", \"works\": true"));
}

TEST_CASE(
    "screenshot --controls says of whatever can be clicked its name, label and place, a line or a row of JSON each") {
  const test::TemporaryFolder folder;
  const std::string session = test::save_small_session(folder.path());
  const std::vector<std::string> picture = {"screenshot", session,      "-o",        folder.file("x.png"),
                                            "--panel",    "statistics", "--controls"};
  const ProgramOutcome text = run(picture);
  REQUIRE(text.code == terminal::kExitDone);
  const std::regex form(R"(\S+ +\S.* \d+,\d+ \d+x\d+(  disabled)?)");
  std::istringstream lines(text.out);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) CHECK_MESSAGE(std::regex_match(line, form), line);
  CHECK(count > 40);
  CHECK(std::regex_search(text.out, std::regex(R"(top\.record +Record +\d+,)")));
  CHECK(std::regex_search(text.out, std::regex(R"(menu\.File +File +\d+,)")));
  std::vector<std::string> as_rows = picture;
  as_rows.emplace_back("--json");
  const ProgramOutcome rows = run(as_rows);
  CHECK(holds(rows.out, R"("name": "top.record", "label": "Record", "x": )"));
  CHECK(std::ranges::count(rows.out, '\n') == static_cast<std::ptrdiff_t>(count) + 2);  // and the brackets
}

TEST_CASE("record captures from an agent, and Ctrl+C ends it in an orderly way with the file saved") {
  const test::TemporaryFolder folder;
  const std::string programs = render::program_directory();
  auto agent = test::Process::start(
      {programs + "/accelscope-agent", "simulate", "--listen", "127.0.0.1:0", "--once", "--rate", "1M"});
  REQUIRE(agent.ok());
  const auto listening = agent->wait_for("listening on ", test::kPatience);
  REQUIRE(listening.has_value());
  const std::size_t begin = listening->find("listening on ") + std::string("listening on ").size();
  const std::string address = listening->substr(begin, listening->find_first_not_of("0123456789.:", begin) - begin);
  auto record = test::Process::start({programs + "/accelscope", "record", address, "-o", folder.file("r.accel")});
  REQUIRE(record.ok());
  REQUIRE(agent->wait_for("the capture begins", test::kPatience).has_value());
  constexpr std::uintmax_t kSome = 256 << 10;  // events are among what came
  REQUIRE(test::step_until([&] { return test::bytes_below(folder.file("r.accel.recovery")) > kSome; },
                           [] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }));
  record->interrupt();
  CHECK(record->finish(test::kPatience) == terminal::kExitInterrupted);
  CHECK(holds(record->output(), " events "));
  CHECK_FALSE(holds(record->output(), "\x1b"));  // no progress line: the output is a pipe
  const ProgramOutcome count =
      run({"query", folder.file("r.accel"), "SELECT count(*) > 0 AS any FROM slice", "--json"});
  CHECK(holds(count.out, "\"any\": 1"));
  // It counts what every view counts: rows of tables without times are no events.
  std::smatch said, shown;
  const std::regex events(R"(([\d,]+) events (?:and|in|over) )");
  REQUIRE(std::regex_search(record->output(), said, events));
  const std::string view = run({"view", folder.file("r.accel")}).out;
  REQUIRE(std::regex_search(view, shown, events));
  CHECK(said[1].str() == shown[1].str());
  CHECK(agent->finish(test::kPatience) == 0);
}
