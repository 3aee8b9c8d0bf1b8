// What a shell may expect of every command: pipes on both sides, full disks, interrupts, help on a part, names of its
// own for what it writes, and programs that are recorded where the user stands.
#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>

#include "app/terminal/command.h"
#include "capture/request/kind.h"
#include "core/listing/base/write.h"
#include "render/base/platform.h"
#include "tests/app/program_run.h"
#include "tests/support/process.h"
#include "tests/support/small_session.h"
#include "tests/support/wait.h"

using namespace accelscope;
using namespace accelscope::app;
using test::holds;
using test::ProgramOutcome;
using test::read_file;
using test::run;
using test::write_file;

namespace {

namespace fs = std::filesystem;

struct Said {
  int status = 0;
  std::string text;  // both streams
};

// The commands in a shell of their own, in the folder, with the programs on its PATH.
Said shell(const std::string& folder, const std::string& script) {
  const std::string setup = "cd '" + folder + "' && PATH='" + render::program_directory() + "':$PATH && ";
  auto process = test::Process::start({"/bin/bash", "-c", setup + script});
  REQUIRE(process.ok());
  Said said;
  said.status = process->finish(test::kPatience);
  said.text = process->output();
  return said;
}

}  // namespace

TEST_CASE("record local runs a program where its user stands, shows what it prints and ends with its status") {
  const test::TemporaryFolder folder;
  write_file(folder.file("bench.sh"), "echo here: $(pwd); echo trouble >&2; printf unfinished; exit 7\n");
  const Said said = shell(folder.path(), "accelscope record local -o b.accel -- sh bench.sh >out 2>err; echo $?");
  CHECK(said.text == "7\n");
  CHECK(read_file(folder.file("out")) == "here: " + fs::canonical(folder.path()).string() + "\nunfinished\n");
  CHECK(holds(read_file(folder.file("err")), "trouble\n"));
  CHECK(holds(read_file(folder.file("err")), "the program ended with status 7"));
  CHECK(test::csv(folder.file("b.accel"), "SELECT value FROM meta WHERE key = 'program.exit_status'") == "7\n");

  const Said json = shell(folder.path(),
                          "accelscope record local -o c.accel --json -- sh bench.sh 2>err; accelscope record local "
                          "-o d.accel --quiet -- sh bench.sh; accelscope record local -- true; ls true.accel");
  CHECK(holds(json.text, "\"exit_status\": 7, "));
  CHECK_FALSE(holds(json.text, "here: "));  // beside the result, or not at all
  CHECK(holds(read_file(folder.file("err")), "here: "));
  CHECK(holds(json.text, "true.accel"));
}

TEST_CASE("record sends a program's files to the agent's folder, and runs it there") {
  const test::TemporaryFolder folder;
  write_file(folder.file("data.txt"), "42\n");
  fs::create_directories(folder.file("elsewhere"));
  const Said said = shell(folder.file("elsewhere"),
                          "accelscope record local -o b.accel --send ../data.txt -- cat data.txt 2>&1; echo $?");
  CHECK(holds(said.text, "42\n"));
  CHECK(said.text.ends_with("\n0\n"));
}

TEST_CASE("a full or closed standard output is an error of every command, and of both programs") {
  const test::TemporaryFolder folder;
  const std::string session = test::save_small_session(folder.path());
  fs::copy_file(session, folder.file("s.accel"));
  for (const char* command :
       {"accelscope query s.accel 'SELECT 1'", "accelscope query s.accel --tables", "accelscope view s.accel",
        "accelscope view s.accel --json", "accelscope view s.accel --output-format json -o -",
        "accelscope view --terminology", "accelscope ingest-check s.accel", "accelscope show-session s.accel",
        "accelscope doctor", "accelscope --help", "accelscope --version", "accelscope query --help",
        "accelscope import s.accel -o - ", "accelscope screenshot --list-panels", "accelscope-agent --version",
        "accelscope-agent --help", "accelscope-agent run --help python", "accelscope-agent list"}) {
    CAPTURE(command);
    const Said full = shell(folder.path(), std::string(command) + " >/dev/full");
    CHECK(full.status == 1);
    CHECK(holds(full.text, "cannot be written"));
    CHECK(shell(folder.path(), std::string(command) + " >&-").status == 1);
  }
  const Said retained = shell(folder.path(), "accelscope record local -o r.accel -- echo hello >/dev/full");
  CHECK(retained.status == 1);
  CHECK(holds(retained.text, "the session has all of it"));
  CHECK(test::csv(folder.file("r.accel"), "SELECT text FROM output_line") == "hello\n");
}

TEST_CASE("a reader that leaves does not end what is being recorded") {
  const test::TemporaryFolder folder;
  const Said said = shell(folder.path(),
                          "accelscope record local -o r.accel -- sh -c 'for i in $(seq 500); do echo line $i; sleep "
                          "0.0005; done' 2>err | head -1");
  CHECK(said.text == "line 1\n");
  CHECK(test::csv(folder.file("r.accel"), "SELECT count(*) FROM output_line") == "500\n");
  const Said agent = shell(folder.path(),
                           "accelscope-agent run -o a.accel -- sh -c 'for i in $(seq 500); do echo line $i; sleep "
                           "0.0005; done' 2>err | head -1");
  CHECK(agent.text == "line 1\n");
  CHECK(test::csv(folder.file("a.accel"), "SELECT count(*) FROM output_line") == "500\n");
}

TEST_CASE("- is the standard input and output of every command that reads or writes files") {
  const test::TemporaryFolder folder;
  const std::string session = test::save_small_session(folder.path());
  fs::copy_file(session, folder.file("s.accel"));
  const std::string count = test::csv(session, "SELECT count(*) FROM slice");
  const auto piped = [&](const std::string& script) { return shell(folder.path(), "set -o pipefail; " + script); };
  CHECK(piped("accelscope query - 'SELECT count(*) FROM slice' --format csv <s.accel | tail -1").text == count);
  CHECK(piped("cat s.accel | accelscope import - -o - --quiet | accelscope query - 'SELECT count(*) FROM slice' "
              "--format csv | tail -1")
            .text == count);
  for (const char* command : {"view -", "ingest-check -", "show-session -", "view - --output-format json -o -"}) {
    CAPTURE(command);
    const Said said = piped("accelscope " + std::string(command) + " <s.accel >out && test -s out");
    CHECK(said.status == 0);
  }
  CHECK(piped("accelscope simulate --kernels 1 -o - | accelscope query - 'SELECT 1' >out").status == 0);
  CHECK(piped("accelscope simulate --kernels 1 --format neuron-json -o - | accelscope view - >out").status == 0);
  CHECK(piped("accelscope record local -o - -- echo hi 2>err | accelscope query - 'SELECT text FROM output_line' "
              "--format csv | tail -1")
            .text == "hi\n");
  CHECK(piped("accelscope-agent run -o - -- echo hi 2>err | accelscope query - 'SELECT text FROM output_line' "
              "--format csv | tail -1")
            .text == "hi\n");
  const Said nothing = piped("accelscope view - </dev/null");
  CHECK(nothing.status == 1);
  CHECK(holds(nothing.text, "the standard input is empty"));
  const Said noise = piped("echo noise | accelscope view -");
  CHECK(noise.status == 1);
  CHECK(noise.text.starts_with("accelscope: -: "));
  CHECK(run({"import", session, "-o", "-", "--json"}).code == terminal::kExitUsage);
}

TEST_CASE("a pipe is a file that is read once, and one into which nothing comes can be interrupted") {
  const test::TemporaryFolder folder;
  fs::copy_file(test::save_small_session(folder.path()), folder.file("s.accel"));
  fs::create_directory(folder.file("tmp"));
  const Said read = shell(folder.path(),
                          "export TMPDIR=$PWD/tmp; accelscope query <(cat s.accel) 'SELECT count(*) FROM slice' "
                          "--format csv | tail -1");
  CHECK(read.text == test::csv(folder.file("s.accel"), "SELECT count(*) FROM slice"));
  const Said two = shell(folder.path(),
                         "mkdir a b; mkfifo a/p b/p; (cat s.accel >a/p &); (echo noise >b/p &); "
                         "accelscope view a/p b/p");
  CHECK(two.status == 1);
  CHECK(holds(two.text, "b/p"));
  const Said noise = shell(folder.path(), "mkfifo noise; (echo noise >noise &) ; accelscope view noise");
  CHECK(noise.status == 1);
  CHECK(noise.text.starts_with("accelscope: noise: "));
  // Interrupted when it has begun to keep what comes: never by anybody, or by a program that says nothing.
  for (const char* writer : {"", "sleep 100 >p & writer=$!; "}) {
    const Said said = shell(folder.path(), "export TMPDIR=$PWD/tmp; rm -f p; mkfifo p; " + std::string(writer) +
                                               "accelscope view p & reader=$!; "
                                               "until ls tmp/*/*/p >/dev/null 2>&1; do :; done; "
                                               "kill -INT $reader; wait $reader; status=$?; "
                                               "[ -n \"$writer\" ] && kill $writer; exit $status");
    CHECK(said.status == 130);
    CHECK(holds(said.text, "p: interrupted before its end"));
  }
  CHECK(fs::is_empty(folder.file("tmp")));
}

TEST_CASE("what is no file is refused by its kind, at once") {
  const test::TemporaryFolder folder;
  struct Refused {
    std::string make;
    std::string path;
    std::string contains_words;
  };
  for (const Refused& refused : std::initializer_list<Refused>{
           {"", "/dev/zero", "/dev/zero: is a pipe or a device"},
           {"", "/dev/null", "/dev/null: is a pipe or a device"},
           {"python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"s.json\")'; ", "s.json",
            "s.json: is a socket"},
           {"ln -s loop.json loop.json; ", "loop.json", "loop.json: cannot be opened: Too many levels"},
           {"ln -s nowhere gone.json; ", "gone.json", "gone.json: there is no such file"},
           {"touch empty.json; ", "empty.json", "empty.json: the file is empty"}}) {
    for (const char* command : {"view ", "import --force -o out.accel ", "ingest-check ", "screenshot -o out.png "}) {
      const Said said = shell(folder.path(), refused.make + "accelscope " + command + refused.path);
      CHECK(said.status == 1);
      CHECK_MESSAGE(holds(said.text, refused.contains_words), command << said.text);
      shell(folder.path(), "rm -f *.json");
    }
  }
}

TEST_CASE("what a command writes has a name of its own where none is given, and nothing is replaced for it") {
  const test::TemporaryFolder folder;
  REQUIRE(shell(folder.path(), "accelscope simulate --kernels 1 --format neuron-json -o kernel.json").status == 0);
  CHECK(shell(folder.path(), "accelscope import kernel.json && test -f kernel.accel").status == 0);
  const Said again = shell(folder.path(), "accelscope import kernel.json");
  CHECK(again.status == 1);
  CHECK(holds(again.text, "exists already"));
  CHECK(shell(folder.path(), "gzip kernel.json && accelscope import kernel.json.gz --force").status == 0);
  CHECK(shell(folder.path(), "accelscope simulate --kernels 1 && test -f simulated.accel").status == 0);
  write_file(folder.file("bench.py"), "");
  CHECK(shell(folder.path(), "accelscope-agent run -- python3 bench.py && test -f bench.accel").status == 0);
}

TEST_CASE("a command that Ctrl+C ends has the status of one") {
  const test::TemporaryFolder folder;
  const std::string programs = render::program_directory();
  const auto status = [&](const std::vector<std::string>& argv, const char* until) {
    auto process = test::Process::start(argv);
    REQUIRE(process.ok());
    REQUIRE_MESSAGE(process->wait_for(until, test::kPatience), process->output());
    process->interrupt();
    return process->finish(test::kPatience);
  };
  CHECK(status({programs + "/accelscope", "record", "local", "-o", folder.file("r.accel"), "--", "sh", "-c",
                "echo ready; exec sleep 100"},
               "ready") == terminal::kExitInterrupted);
  CHECK(status({programs + "/accelscope-agent", "run", "-o", folder.file("a.accel"), "--", "sh", "-c",
                "trap 'exit 0' INT; echo ready; while :; do sleep 0.01; done"},
               "ready") == terminal::kExitInterrupted);
  CHECK(status({programs + "/accelscope-agent", "simulate", "--listen", "127.0.0.1:0"}, "listening on ") ==
        terminal::kExitInterrupted);
}

TEST_CASE("help on one kind shows that kind, and the whole help is short enough to read") {
  const ProgramOutcome whole = run({"record", "--help"});
  CHECK(whole.code == terminal::kExitDone);
  CHECK(whole.out.size() < 6'000);
  CHECK(holds(whole.out, "accelscope record [OPTIONS] PLACE [-- PROGRAM ARGS...]"));
  CHECK(holds(whole.out, "--help KIND"));
  for (const capture::request::KindFacts& facts : capture::request::declared_kinds()) {
    CAPTURE(facts.name);
    CHECK(holds(whole.out, facts.title));
    const ProgramOutcome own = run({"record", "--help", facts.name});
    CHECK(own.code == terminal::kExitDone);
    CHECK(holds(own.out, facts.explanation));
    for (const capture::request::KindOption& option : facts.options) CHECK(holds(own.out, "--" + option.name));
    CHECK(own.out.size() < 8'000);  // with indentation, where the library wraps it
  }
  CHECK_FALSE(holds(run({"record", "--help", "opencl"}).out, "--sample-interval"));
  CHECK(run({"record", "--help", "no-such-kind"}).out == whole.out);
  CHECK(run({"help", "query"}).out == run({"query", "--help"}).out);
  const Said version = shell("/", "accelscope --version; accelscope-agent --version; accelscope query --version");
  CHECK(version.text ==
        run({"--version"}).out + "accelscope-agent " + run({"--version"}).out.substr(11) + run({"--version"}).out);
}

TEST_CASE("query lists its tables as JSON, and cuts no cell that goes into a pipe") {
  const test::TemporaryFolder folder;
  const std::string session = test::save_small_session(folder.path());
  const ProgramOutcome tables = run({"query", session, "--tables", "--json"});
  CHECK(tables.out.starts_with("[\n{\"name\": \"slice\", \"columns\": [\"id\", \"track_id\","));
  CHECK(tables.out.ends_with("}\n]\n"));
  CHECK(run({"query", session, "--json"}).out == tables.out);
  const std::string text(300, 'x');
  CHECK(holds(run({"query", session, "SELECT '" + text + "'"}).out, text));
  CHECK_FALSE(holds(run({"query", session, "SELECT '" + text + "' AS t"}, true).out, text));
}

TEST_CASE("columns of tables never touch, and count characters") {
  listing::TextTable table({listing::CellAlign::left, listing::CellAlign::right}, "  ");
  table.row({"name", "n"});
  table.line("heading");
  table.row({std::string(listing::TextTable::kWidest + 20, 'a'), "1"});
  table.row({"µs", "12"});
  std::ostringstream out;
  table.print(out);
  const std::string wide(listing::TextTable::kWidest, ' ');
  CHECK(out.str() == "  name" + wide.substr(4) + "   n\nheading\n  " +
                         std::string(listing::TextTable::kWidest + 20, 'a') + "   1\n  µs" + wide.substr(2) + "  12\n");
}

TEST_CASE("a source root that is not there is told before anything is read") {
  const test::TemporaryFolder folder;
  const std::string session = test::save_small_session(folder.path());
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"import", session, "-o", folder.file("o.accel"), "--source-root", "/no/such/folder"},
        {"view", session, "--nki-source-root", "/no/such/folder"},
        {"screenshot", session, "-o", folder.file("o.png"), "--source-root", "/no/such/folder"}}) {
    const ProgramOutcome outcome = run(arguments);
    CHECK(outcome.code == terminal::kExitFailed);
    CHECK(holds(outcome.err, "/no/such/folder: there is no such folder"));
  }
}
