// The real programs on real disks that are small, full, read-only or not there, each mounted for this test alone: what
// was captured is saved somewhere and the message says where, or what is missing is told.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include "tests/faults/counted_events.h"
#include "tests/faults/real_capture.h"
#include "tests/faults/trial_folder.h"
#include "tests/support/faults/small_disk.h"
#include "tests/support/files.h"
#include "tests/support/wait.h"

namespace accelscope::capture {
namespace {

namespace fs = std::filesystem;
using test::SmallDisk;

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kSmall = 600 * kKiB;  // the session of these events takes twice that
constexpr const char* kEvents = "200000";
constexpr std::uint64_t kMade = 400'000;

// A small disk, and a folder beside it with room for everything.
struct Disks {
  TrialFolder root;
  fs::path sound = root.path / "sound";
  SmallDisk small;
  explicit Disks(std::uint64_t bytes = kSmall) : small(root.path / "small", bytes) { fs::create_directory(sound); }

  [[nodiscard]] Argv on_disks(const Argv& command) const { return on_disks(command, sound, sound); }
  [[nodiscard]] Argv on_disks(const Argv& command, const fs::path& temporary, const fs::path& retained) const {
    Argv variables = retained_in(retained.string());
    variables.push_back("TMPDIR=" + temporary.string());
    return small.seen_by(with_environment(variables, command));
  }
  [[nodiscard]] std::string on_small(const std::string& name) const { return (small.folder() / name).string(); }
  // A copy of a file there: SQLite looks for it where its links lead in this process.
  [[nodiscard]] std::string copy_of(const std::string& name) const {
    const fs::path copy = sound / ("copy-of-" + name);
    fs::copy_file(small.here() / name, copy);
    return copy.string();
  }
};

Argv slim(const Argv& more) {
  Argv argv = SimulatingAgent::command({"--detail", "slim"});
  argv.insert(argv.end(), more.begin(), more.end());
  return argv;
}

bool runs_here(const Disks& disks) { return disks.small.there() && has_recorder(); }

void check_whole(const std::string& path, std::uint64_t events, const std::string& said) {
  const CountedEvents counted = count_events(path);
  CHECK_MESSAGE(counted.of_chunks == events, said);
  CHECK_MESSAGE(counted.wrong.empty(), counted.wrong);
}

TEST_CASE("of an output folder that is too small, all of a capture is in TMPDIR, and the message names the file") {
  const Disks disks;
  if (!runs_here(disks)) return;
  SimulatingAgent agent(disks.on_disks(slim({"--once", "--rate", "max", "--events", kEvents})));
  const Recorded recorded = run_recorder(disks.on_disks(record_command(agent.address(), disks.on_small("run.accel"))));
  CHECK_MESSAGE(recorded.status == 1, recorded.output);
  CHECK_MESSAGE(contains(recorded.output, "All of it is in " + recorded.path()), recorded.output);
  CHECK(fs::path(recorded.path()).parent_path() == disks.sound);
  check_whole(recorded.path(), *agent.made(), recorded.output);
  CHECK(fs::is_empty(disks.small.here()));  // no draft and no recovery stays
}

TEST_CASE("where every folder is full, the same command has all of the capture once there is room") {
  for (const bool spool : {true, false}) {
    CAPTURE(spool);
    const Disks disks;
    if (!runs_here(disks)) return;
    Argv serve = slim({"--rate", "max", "--events", kEvents});
    if (spool) {
      serve.emplace_back("--spool");
      serve.push_back((disks.sound / "spool").string());
    }
    SimulatingAgent agent(disks.on_disks(serve));
    const Argv record = disks.on_disks(record_command(agent.address(), disks.on_small("run.accel")),
                                       disks.small.folder(), disks.small.folder());
    const Recorded full = run_recorder(record);
    CHECK_MESSAGE(full.status == 1, full.output);
    CHECK_MESSAGE(contains(full.output, "make room there and run the same command again"), full.output);
    CHECK_FALSE(fs::exists(disks.small.here() / "run.accel"));
    REQUIRE(disks.small.remount("size=16m"));
    const Recorded again = run_recorder(record);
    CHECK_MESSAGE(again.status == 0, again.output);
    check_whole(disks.copy_of("run.accel"), *agent.made(), again.output);
  }
}

TEST_CASE("a spool on a full disk holds the source, ends the capture or drops, and what is missing is counted") {
  for (const char* when_full : {"wait", "stop", "drop"}) {
    CAPTURE(when_full);
    const Disks disks;
    if (!runs_here(disks)) return;
    SimulatingAgent agent(
        disks.on_disks(slim({"--rate", "1M", "--events", fmt::format("{}", kMade), "--buffer", "256KiB", "--spool",
                             disks.on_small("spool"), "--when-full", when_full})));
    const std::string output = (disks.sound / "run.accel").string();
    const Argv record = disks.on_disks(record_command(agent.address(), output));
    {
      test::Process killed = started_program(record);
      REQUIRE_MESSAGE(agent.process().wait_for("the capture begins", kPatience).has_value(), agent.process().output());
      ::kill(killed.id(), SIGKILL);
      (void)killed.finish(kPatience);
    }
    // Until the disk is full; it may be that all of the capture finds room there.
    const auto full = [&] { return fs::space(disks.small.here()).available < 64 * kKiB; };
    for (int i = 0; i < 40 && !full(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(25));
    const Recorded recorded = run_recorder(record);
    const std::string said = recorded.output + agent.process().output();
    const auto made = agent.made();
    REQUIRE_MESSAGE(made.has_value(), said);
    const std::uint64_t lost = recorded.number("lost_events");
    CHECK_MESSAGE(recorded.number("events") == *made, said);
    CHECK_MESSAGE(recorded.complete() == (recorded.status == 0), said);
    const std::string_view when = when_full;
    if (when != "stop") CHECK_MESSAGE(*made + lost >= kMade, said);
    if (when == "wait") CHECK_MESSAGE(lost == 0, said);
    if (lost == 0) {
      check_whole(output, *made, said);
    } else {
      CHECK_FALSE(recorded.complete());
      CHECK_MESSAGE(count_events(output).of_rows == *made, said);
    }
  }
}

TEST_CASE("an output folder that nobody may write is refused before anything is captured, and a missing one is made") {
  const Disks disks;
  if (!runs_here(disks)) return;
  REQUIRE(disks.small.remount("ro"));
  SimulatingAgent agent(disks.on_disks(slim({"--once", "--rate", "max", "--events", "20000"})));
  for (const std::string& output : {disks.on_small("run.accel"), std::string("/proc/run.accel")}) {
    const Recorded refused = run_recorder(disks.on_disks(record_command(agent.address(), output)));
    CHECK_MESSAGE(refused.status == 1, refused.output);
    CHECK_MESSAGE(contains(refused.output, output), refused.output);
  }
  CHECK_FALSE(contains(agent.process().output(), "the capture begins"));
  const std::string output = (disks.sound / "missing" / "folder" / "run.accel").string();
  const Recorded recorded = run_recorder(disks.on_disks(record_command(agent.address(), output)));
  CHECK_MESSAGE(recorded.status == 0, recorded.output);
  check_whole(output, *agent.made(), recorded.output);
}

TEST_CASE("a disk that is full in the middle of a capture, and has room again before its end, costs nothing") {
  const Disks disks(96 * 1024 * kKiB);  // of which a recovery leaves 64 MiB free
  if (!runs_here(disks)) return;
  SimulatingAgent agent(disks.on_disks(slim({"--once", "--rate", "200k"})));  // until it is stopped
  test::Process recorder =
      started_program(disks.on_disks(record_command(agent.address(), disks.on_small("run.accel"))));
  REQUIRE(agent.process().wait_for("the capture begins", kPatience).has_value());
  disks.small.fill();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // how long it is full: five chunks of each lane
  disks.small.make_room();
  recorder.interrupt();  // which ends the capture in order
  const Recorded recorded = finish_recording(recorder);
  CHECK_MESSAGE(recorded.complete(), recorded.output);
  REQUIRE_MESSAGE(recorded.path() == disks.on_small("run.accel"), recorded.output);
  check_whole(disks.copy_of("run.accel"), *agent.made(), recorded.output);
}

TEST_CASE("what a program printed is saved elsewhere where its file has no room, and the run says so") {
  const Disks disks;
  if (!disks.small.there()) return;
  constexpr int kLines = 20'000;
  const std::string line(80, 'x');
  test::Process run = started_program(disks.on_disks(
      {test::programs_folder() + "/accelscope-agent", "run", "-o", disks.on_small("run.accel"), "--", "/bin/sh", "-c",
       fmt::format("i=0; while [ $i -lt {} ]; do i=$((i+1)); echo {} $i$i$i$i; done; exit 3", kLines, line)}));
  CHECK(run.finish(kPatience) == 125);  // its own failure, not the program's
  CHECK_MESSAGE(contains(run.output(), "the program ended with status 3"), run.output());
  const std::string rescued = word_after(run.output(), "All of it is in ");
  const CountedEvents counted = count_events(rescued);
  CHECK_MESSAGE(counted.of_chunks >= kLines, run.output());
  CHECK_MESSAGE(counted.wrong.empty(), counted.wrong);
}

// Of a session file, with its detail; "" where there is none.
std::string quality_of(const std::string& path, const std::string& kind) {
  const auto store = Store::open_unchanged(path);
  if (!store) return {};
  const auto snapshot = (*store)->snapshot();
  for (const QualityEntry& entry : snapshot->quality) {
    if (std::string_view(entry.kind) == kind) return entry.detail;
  }
  return {};
}

constexpr std::uint64_t kBudget = 300 * kKiB;
const Argv kWithBudget = {"--memory-budget", "300KiB"};

TEST_CASE("a capture whose memory budget meets a full TMPDIR goes on in memory, says so, and is whole") {
  const Disks disks;
  if (!runs_here(disks)) return;
  SimulatingAgent agent(disks.on_disks(slim({"--once", "--rate", "max", "--events", kEvents})));
  const std::string output = (disks.sound / "run.accel").string();
  const Recorded recorded = run_recorder(
      disks.on_disks(record_command(agent.address(), output, kWithBudget), disks.small.folder(), disks.sound));
  CHECK_MESSAGE(recorded.status == 0, recorded.output);
  CHECK_MESSAGE(recorded.complete(), recorded.output);
  check_whole(output, *agent.made(), recorded.output);
  CHECK(contains(quality_of(output, "spill_failed"), "goes on in memory"));
  CHECK(fs::is_empty(disks.small.here()));
}

TEST_CASE("a capture beyond its memory budget moves to TMPDIR once there is room") {
  const Disks disks(8 * 1024 * kKiB);
  if (!runs_here(disks)) return;
  disks.small.fill();
  const auto room = [&] { return fs::space(disks.small.here()).available; };
  SimulatingAgent agent(disks.on_disks(slim({"--once", "--rate", "200k"})));  // until it is stopped
  const std::string output = (disks.sound / "run.accel").string();
  test::Process recorder = started_program(
      disks.on_disks(record_command(agent.address(), output, kWithBudget), disks.small.folder(), disks.sound));
  REQUIRE(agent.process().wait_for("the capture begins", kPatience).has_value());
  // Past its budget, as what is kept beside the output tells.
  REQUIRE(test::step_until([&] { return test::bytes_below(output + ".recovery") > 2 * kBudget; },
                           [] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }));
  disks.small.make_room();
  const auto before = room();
  CHECK(test::step_until([&] { return room() + 128 * kKiB < before; },
                         [] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }));
  recorder.interrupt();
  const Recorded recorded = finish_recording(recorder);
  CHECK_MESSAGE(recorded.number("lost_events") == 0, recorded.output);
  check_whole(output, *agent.made(), recorded.output);
  CHECK(contains(quality_of(output, "spill_failed"), "goes on in memory"));
}

}  // namespace
}  // namespace accelscope::capture
