// The kind `program` on real programs: what they print, how they end, and what a user is told.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "tests/capture/kinds/kind_run_support.h"
#include "tests/capture/wire/wire_support.h"
#include "tests/support/sanitized.h"

namespace accelscope::capture {
namespace {

namespace fs = std::filesystem;

request::CaptureRequest shell(const std::string& script, std::vector<request::OptionSetting> options = {}) {
  return {.kinds = {{"program", std::move(options)}}, .program = "sh", .arguments = {"-c", script}};
}

std::string failure_of(const request::CaptureRequest& request) {
  SteeredSink sink;
  const KindOutcome outcome = run_kind_into(request, sink);
  REQUIRE_FALSE(outcome.result.ok());
  CHECK(request::describe_request(request, "").message() == outcome.result.message());  // told before anything starts
  return outcome.result.message();
}

bool alive(int id) {
  std::ifstream stat(fmt::format("/proc/{}/stat", id));
  std::string number;
  std::string name;
  std::string state;
  return static_cast<bool>(stat >> number >> name >> state) && state != "Z" && state != "X";
}

// It was sent a signal; the system may take a moment.
bool ends_soon(int id) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (alive(id) && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  return !alive(id);
}

bool has_line(const RecordingSink& sink, const std::string& text) {
  return std::find(sink.strings.begin(), sink.strings.end(), text) != sink.strings.end();
}

TEST_CASE("a program's output is kept by stream, its exit status is told and its life is a slice") {
  SteeredSink sink;
  const KindOutcome outcome = run_kind_into(shell("echo a; echo b >&2; printf c; exit 3"), sink);
  REQUIRE_MESSAGE(outcome.result.ok(), outcome.result.message());
  CHECK(lines_of(sink.retained, "stdout") == std::vector<std::string>{"a", "c"});
  CHECK(lines_of(sink.retained, "stderr") == std::vector<std::string>{"b"});
  CHECK(outcome.exit_status == 3);
  CHECK(outcome.printed.size() == 5);
  CHECK(sink.retained.meta.at("program.exit_status") == "3");
  CHECK(contains(quality_detail(sink.retained, "program_failed"), "ended with status 3"));
  const std::vector<RecordedEvent> life = events_of(sink.retained, "Program");
  REQUIRE(life.size() == 1);
  const ChunkView view = sink.retained.view(life[0]);
  const Schema& schema = sink.retained.schema_of(life[0]);
  CHECK(view.text(*schema.find("command"), 0) == "sh -c 'echo a; echo b >&2; printf c; exit 3'");
  CHECK(view.int64(*schema.find("exit_status"), 0) == 3);
  CHECK(view.int64(*schema.find("max_resident_bytes"), 0) > 100'000);
  for (const RecordedEvent& line : events_of(sink.retained, "stdout")) {
    CHECK(line.start >= life[0].start);
    CHECK(line.start <= life[0].end);
  }
}

TEST_CASE("a program that a signal ends is told by the signal's name") {
  SteeredSink sink;
  const KindOutcome outcome = run_kind_into(shell("echo last words; kill -SEGV $$"), sink);
  REQUIRE(outcome.result.ok());
  CHECK(outcome.exit_status == 139);
  CHECK(sink.retained.meta.at("program.signal") == "SIGSEGV");
  CHECK(contains(quality_detail(sink.retained, "program_failed"), "SIGSEGV"));
  CHECK(lines_of(sink.retained, "stdout") == std::vector<std::string>{"last words"});
}

TEST_CASE("a program that cannot be started is refused with what is wrong and what to try") {
  const ScratchFolder scratch;
  request::CaptureRequest request{.kinds = {{"program", {}}}, .program = "no-such-program-here"};
  request.environment = {"PATH=/usr/bin:/opt/none"};
  CHECK(failure_of(request) == "no-such-program-here: not found; PATH is /usr/bin:/opt/none");
  request = {.kinds = {{"program", {}}}, .program = "./missing", .directory = scratch.path.string()};
  CHECK(contains(failure_of(request), "./missing: no such program"));
  { std::ofstream(scratch.file("plain")) << "echo hello\n"; }
  request.program = "./plain";
  CHECK(contains(failure_of(request), "./plain: is not executable; chmod +x it"));
  request.program = scratch.path.string();
  CHECK(contains(failure_of(request), "is a folder"));
  request = {.kinds = {{"program", {}}}, .program = "sh", .directory = scratch.file("nowhere")};
  CHECK(contains(failure_of(request), "nowhere: no such folder"));
}

TEST_CASE("a file that the system cannot execute is told apart from one that is not there") {
  const ScratchFolder scratch;
  const auto start = [&](const std::string& name, const std::string& text) {
    { std::ofstream(scratch.file(name)) << text; }
    fs::permissions(scratch.file(name), fs::perms::owner_all);
    SteeredSink sink;
    const request::CaptureRequest request{.kinds = {{"program", {}}}, .program = scratch.file(name)};
    const KindOutcome outcome = run_kind_into(request, sink);
    REQUIRE_FALSE(outcome.result.ok());
    return outcome.result.message();
  };
  CHECK(contains(start("lost", "#!/no/such/interpreter\n"), "the interpreter that its first line names"));
  CHECK(contains(start("bare", "echo hello\n"), "#!/bin/sh"));
}

TEST_CASE("a program runs in its folder with its environment, whose values stay out of the session") {
  const ScratchFolder scratch;
  request::CaptureRequest request = shell("pwd; test \"$SECRET\" = \"$(cat)hid\"\"den\" && echo same");
  request.directory = scratch.path.string();
  request.environment = {"SECRET=overwritten", "SECRET=hidden", "OTHER=1"};
  SteeredSink sink;
  REQUIRE(run_kind_into(request, sink).result.ok());
  CHECK(lines_of(sink.retained, "stdout") == std::vector<std::string>{fs::canonical(scratch.path).string(), "same"});
  CHECK(sink.retained.meta.at("program.environment_names") == "SECRET SECRET OTHER");
  for (const Bytes& definition : sink.retained.definition_bytes) {
    const std::string text(reinterpret_cast<const char*>(definition.data()), definition.size());
    CHECK_FALSE(contains(text, "hidden"));
  }
}

TEST_CASE("a script runs in place of a program, with arguments, and is readable by its owner only") {
  const ScratchFolder scratch;
  request::CaptureRequest request{.kinds = {{"program", {}}}, .script = "for i in 1 2; do echo $1 $i; done\n"};
  request.arguments = {"step"};
  SteeredSink sink;
  REQUIRE(run_kind_into(request, sink, scratch.path.string()).result.ok());
  CHECK(lines_of(sink.retained, "stdout") == std::vector<std::string>{"step 1", "step 2"});
  CHECK(fs::status(scratch.file("accelscope-script.sh")).permissions() ==
        (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("a line can be seen while the program goes on") {
  const ScratchFolder scratch;
  const std::string seen = scratch.file("seen");
  SteeredSink sink;
  sink.on_append = [&seen](const SealedChunk&) { std::ofstream{seen}; };
  // Without the line in the sink it would wait for ever.
  const KindOutcome outcome = run_kind_into(
      shell(fmt::format("echo ready; until [ -e {} ]; do :; done; echo done", seen), {{"counters", "off"}}), sink);
  REQUIRE(outcome.result.ok());
  CHECK(lines_of(sink.retained, "stdout") == std::vector<std::string>{"ready", "done"});
}

TEST_CASE("a stopped capture asks the program to end and keeps what it says then") {
  SteeredSink sink;
  sink.cancel_when = [](const RecordingSink& retained) { return has_line(retained, "ready"); };
  const KindOutcome outcome =
      run_kind_into(shell("trap 'echo bye; exit 7' INT; echo ready; while :; do :; done"), sink);
  REQUIRE(outcome.result.ok());
  CHECK(outcome.exit_status == 7);
  CHECK(lines_of(sink.retained, "stdout") == std::vector<std::string>{"ready", "bye"});
  CHECK(contains(quality_detail(sink.retained, "program_stopped"), "ended with status 7"));
  CHECK_FALSE(has_quality(sink.retained, "program_failed"));
}

TEST_CASE("a program that does not end when asked is killed after its grace") {
  for (const std::string signal : {"INT", "TERM"}) {
    SteeredSink sink;
    sink.cancel_when = [](const RecordingSink& retained) { return has_line(retained, "ready"); };
    const std::string trap = fmt::format("trap '' {}; echo ready; while :; do :; done", signal);
    const KindOutcome outcome = run_kind_into(shell(trap, {{"grace", "20ms"}, {"stop-signal", signal}}), sink);
    REQUIRE(outcome.result.ok());
    CHECK(outcome.exit_status == 128 + SIGKILL);
    CHECK(contains(quality_detail(sink.retained, "program_stopped"), "was killed"));
  }
}

TEST_CASE("a stopped capture ends what the program has started with it") {
  SteeredSink sink;
  sink.cancel_when = [](const RecordingSink& retained) { return has_line(retained, "ready"); };
  // A shell's background programs do not hear SIGINT.
  const KindOutcome outcome = run_kind_into(shell("sleep 1000 & echo $!; echo ready; wait", {{"grace", "20ms"}}), sink);
  REQUIRE(outcome.result.ok());
  const std::vector<std::string> lines = lines_of(sink.retained, "stdout");
  REQUIRE(lines.size() == 2);
  CHECK(ends_soon(std::stoi(lines[0])));
}

TEST_CASE("a program's end is not held up by what it leaves behind, which is told") {
  SteeredSink sink;
  const KindOutcome outcome = run_kind_into(shell("sleep 1000 & echo $!"), sink);
  REQUIRE(outcome.result.ok());
  CHECK(outcome.exit_status == 0);
  CHECK(contains(quality_detail(sink.retained, "output_left_open"), "live on"));
  const std::vector<std::string> lines = lines_of(sink.retained, "stdout");
  REQUIRE(lines.size() == 1);
  const int left = std::stoi(lines[0]);
  CHECK(alive(left));  // it was not the program's wish to end it
  ::kill(left, SIGKILL);
}

// Keeps nothing, so that the memory of the source itself can be seen.
class CountingSink final : public EventSink {
 public:
  Result<void> define(const Definition& definition) override {
    if (const auto* lane = std::get_if<Lane>(&definition)) tracks[lane->number] = lane->track;
    if (const auto* batch = std::get_if<StringBatch>(&definition)) strings += batch->strings.size();
    return {};
  }
  Result<void> append(SealedChunk chunk) override {
    const ChunkView view = ChunkView::parse(chunk.bytes).value();
    if (tracks.at(chunk.lane()) == 1) {
      lines += view.count();
      last = view.text(0, view.count() - 1);
    }
    std::ifstream statm("/proc/self/statm");
    std::uint64_t pages = 0;
    std::uint64_t resident = 0;
    statm >> pages >> resident;
    const auto bytes = resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    if (first_resident == 0) first_resident = bytes;
    most_resident = std::max(most_resident, bytes);
    return {};
  }
  std::map<LaneNumber, TrackNumber> tracks;
  std::uint64_t lines = 0;
  std::uint64_t strings = 0;
  std::uint64_t first_resident = 0;
  std::uint64_t most_resident = 0;
  std::string last;
};

TEST_CASE("100 MB of output arrive to the last line without memory or dictionary growing with them") {
  CountingSink sink;
  const KindOutcome outcome = [&] {
    const request::CaptureRequest request{
        .kinds = {{"program", {}}},
        .program = "awk",
        .arguments = {"BEGIN { for (i = 1; i <= 1000000; i++) printf \"%099d\\n\", i }"}};
    const request::KindRun run{request, request.kinds[0], std::chrono::steady_clock::now(), "", {}, {}};
    return KindOutcome{request::run_kind(run, sink), "", 0};
  }();
  REQUIRE(outcome.result.ok());
  CHECK(sink.lines == 1'000'000);
  CHECK(sink.last == fmt::format("{:099}", 1'000'000));
  CHECK(sink.strings < 5'000);
  if (!accelscope::test::sanitized()) CHECK(sink.most_resident - sink.first_resident < 24U << 20);
}

std::vector<double> samples_of(const RecordingSink& sink, const std::string& track, bool real) {
  std::vector<double> values;
  for (const RecordedEvent& event : events_of(sink, track)) {
    const ChunkView view = sink.view(event);
    values.push_back(real ? view.float64(0, event.row) : static_cast<double>(view.int64(0, event.row)));
  }
  return values;
}

TEST_CASE("what a program and its children use is sampled, but not while the capture is paused") {
  SteeredSink sink;
  int asked = 0;
  std::uint64_t samples_in_pause = 0;
  sink.pause_when = [&](const RecordingSink& retained) {
    if (++asked > 5) return false;
    samples_in_pause = events_of(retained, "CPU").size();
    return true;
  };
  sink.cancel_when = [](const RecordingSink& retained) { return events_of(retained, "CPU").size() >= 3; };
  const KindOutcome outcome = run_kind_into(
      shell("sh -c 'while :; do :; done' & while :; do :; done", {{"sample-interval", "10ms"}, {"grace", "20ms"}}),
      sink);
  REQUIRE(outcome.result.ok());
  CHECK(asked > 5);
  CHECK(samples_in_pause == 0);
  const std::vector<double> cpu = samples_of(sink.retained, "CPU", true);
  CHECK(*std::max_element(cpu.begin(), cpu.end()) > 0);
  for (const double share : cpu) CHECK(share <= 100.0 * 2 * static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN)));
  for (const double processes : samples_of(sink.retained, "Processes", false)) CHECK(processes >= 1);
  for (const double bytes : samples_of(sink.retained, "Memory", false)) CHECK(bytes > 100'000);
  for (const double threads : samples_of(sink.retained, "Threads", false)) CHECK(threads >= 1);
}

TEST_CASE("output is kept while the capture is paused") {
  SteeredSink sink;
  sink.pause_when = [](const RecordingSink&) { return true; };
  REQUIRE(run_kind_into(shell("echo kept"), sink).result.ok());
  CHECK(lines_of(sink.retained, "stdout") == std::vector<std::string>{"kept"});
}

TEST_CASE("what a user turns off is not there") {
  SteeredSink sink;
  REQUIRE(run_kind_into(shell("echo a", {{"lines", "off"}, {"counters", "off"}}), sink).result.ok());
  CHECK(sink.retained.tracks.size() == 1);
  CHECK(events_of(sink.retained, "Program").size() == 1);
}

TEST_CASE("a failing sink ends the program and is told") {
  class FailingSink final : public EventSink {
   public:
    Result<void> define(const Definition&) override { return {}; }
    Result<void> append(SealedChunk) override { return Error{"the disk is full"}; }
  };
  FailingSink sink;
  const KindOutcome outcome = run_kind_into(shell("echo a; while :; do :; done"), sink);
  CHECK(outcome.result.message() == "the disk is full");
  CHECK(outcome.exit_status == 128 + SIGINT);
}

}  // namespace
}  // namespace accelscope::capture
