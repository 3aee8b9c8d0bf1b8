// accelscope-agent on the command line: captures without a viewer, their control from another shell, and what is said.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "capture/agent/run/capture_run.h"
#include "core/base/format.h"
#include "core/store/store.h"
#include "tests/capture/kinds/kind_run_support.h"
#include "tests/capture/wire/wire_support.h"
#include "tests/support/process.h"
#include "tests/support/programs_folder.h"
#include "tests/support/sanitized.h"

namespace accelscope::capture {
namespace {

namespace fs = std::filesystem;
using test::Process;

// The agent's program with its sockets and secrets in a folder of the test's own.
class Shell {
 public:
  Shell() {
    ::setenv("XDG_RUNTIME_DIR", scratch.path.c_str(), 1);
    ::setenv("XDG_CONFIG_HOME", scratch.path.c_str(), 1);
  }
  [[nodiscard]] Process start(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), accelscope::test::programs_folder() + "/accelscope-agent");
    Result<Process> process = Process::start(arguments);
    REQUIRE(process.ok());
    return std::move(process).value();
  }
  struct Said {
    int status = 0;
    std::string output;
  };
  [[nodiscard]] Said run(const std::vector<std::string>& arguments) const {
    Process process = start(arguments);
    const int status = process.finish(kPatience);
    return {status, process.output()};
  }
  void wait_for_capture(const std::string& name) const {
    while (!contains(run({"list"}).output, name + ": ")) std::this_thread::yield();
  }
  [[nodiscard]] std::string file(const std::string& name) const { return scratch.file(name); }
  ScratchFolder scratch;
};

struct Session {
  explicit Session(const std::string& path) {
    Result<std::unique_ptr<Store>> opened = Store::open(path);
    REQUIRE_MESSAGE(opened.ok(), opened.message());
    store = std::move(opened).value();
    snapshot = store->snapshot();
  }
  [[nodiscard]] std::uint64_t events_on(const std::string& track) const {
    std::uint64_t events = 0;
    for (const LaneSnapshot& lane : snapshot->lanes) {
      if (name_of(lane.track) == track) events += lane.event_count;
    }
    return events;
  }
  [[nodiscard]] std::string fact(const std::string& key) const {
    for (const MetaEntry& entry : snapshot->meta) {
      if (entry.key == key) return entry.value;
    }
    return {};
  }
  [[nodiscard]] std::string name_of(TrackNumber number) const {
    for (const TrackSnapshot& track : snapshot->tracks) {
      if (track.track->number == number) return track.track->name;
    }
    return {};
  }
  std::unique_ptr<Store> store;
  std::shared_ptr<const Snapshot> snapshot;
};

TEST_CASE("run keeps every line of a program, shows it, and ends with the program's status") {
  const Shell shell;
  const auto [status, output] =
      shell.run({"run", "-o", shell.file("a.accel"), "--env", "SECRET=hidden", "--counters=off", "--", "sh", "-c",
                 "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo line $i; done; echo problem >&2; exit 7"});
  CHECK(status == 7);
  CHECK(contains(output, "line 1\n"));
  CHECK(contains(output, "line 20000\n"));
  CHECK(contains(output, "problem\n"));
  CHECK(contains(output, "20,002 events, the program ended with status 7"));
  const Session session(shell.file("a.accel"));
  CHECK(session.events_on("stdout") == 20'000);
  CHECK(session.events_on("stderr") == 1);
  CHECK(session.snapshot->event_count == 20'002);
  CHECK(session.fact("program.exit_status") == "7");
  CHECK_MESSAGE(contains(session.fact("capture.command"), "--kind program --counters=off '--env=SECRET=***'"),
                session.fact("capture.command"));
  CHECK_FALSE(contains(session.fact("capture.command"), "hidden"));
  CHECK_FALSE(session.fact("capture.host").empty());
}

TEST_CASE("run's own failures end with 125, say what to do and leave no file") {
  const Shell shell;
  const std::string file = shell.file("a.accel");
  const auto refused = [&](std::vector<std::string> arguments, const std::string& part) {
    arguments.insert(arguments.begin(), {"run", "-o", file});
    const auto [status, output] = shell.run(arguments);
    CHECK(status == 125);
    CHECK_MESSAGE(contains(output, part), output);
    CHECK_FALSE(fs::exists(file));
  };
  refused({}, "no kind of capture is chosen");
  refused({"--kind", "program"}, "needs a program");
  refused({"--", "no-such-program"}, "no-such-program: not found; PATH is");
  refused({"python3", "x.py"}, "write the program after --");
  refused({"--sample-interval", "abc", "--", "true"}, "--sample-interval: 'abc' is not a duration; write 100ms or 2s");
  refused({"--speed", "2", "--", "true"}, "--speed: is an option of the kind replay");
  refused({"--kind", "simulat"}, "did you mean 'simulate'?");
  refused({"--kind", "replay", "--file", "/no/such/file"}, "/no/such/file");
  refused({"--cwd", "/no/such/folder", "--", "true"}, "/no/such/folder: no such folder");
  { std::ofstream(file) << "something"; }
  CHECK(contains(shell.run({"run", "-o", file, "--", "true"}).output, "exists already"));
  CHECK(shell.run({"run", "-o", file, "--force", "--", "true"}).status == 0);
}

TEST_CASE("Ctrl+C ends the program in order and keeps what it says then") {
  const Shell shell;
  Process run = shell.start({"run", "-o", shell.file("a.accel"), "--", "sh", "-c",
                             "trap 'echo bye; exit 5' INT; echo ready; while :; do :; done"});
  REQUIRE(run.wait_for("ready", kPatience));
  run.interrupt();
  CHECK(run.finish(kPatience) == 5);
  CHECK(contains(run.output(), "bye"));
  CHECK(Session(shell.file("a.accel")).events_on("stdout") == 2);
}

TEST_CASE("a capture is listed, paused, resumed and stopped from another shell, and the pause is in the session") {
  const Shell shell;
  const std::string file = shell.file("a.accel");
  Process run = shell.start({"run", "-o", file, "--name", "mlp", "--kind", "simulate", "--rate", "max", "--detail",
                             "slim", "--memory-budget", "256MiB"});
  shell.wait_for_capture("mlp");
  CHECK(shell.run({"resume"}).status == 1);
  Shell::Said said = shell.run({"pause", "mlp"});
  CHECK(said.status == 0);
  CHECK(contains(said.output, "mlp: paused at "));
  // What was open is sealed, then nothing more comes.
  std::string before;
  for (std::string now = shell.run({"list"}).output; now.substr(now.rfind("s, ")) != before;
       now = shell.run({"list"}).output) {
    before = now.substr(now.rfind("s, "));
    CHECK(contains(now, "mlp: paused"));
  }
  CHECK(contains(shell.run({"pause"}).output, "paused already"));
  CHECK(contains(shell.run({"resume"}).output, "mlp: resumed at "));
  CHECK(contains(shell.run({"stop", "nlp"}).output, "did you mean mlp?"));
  CHECK(contains(shell.run({"stop"}).output, "mlp: stopped at "));
  CHECK(run.finish(kPatience) == 0);
  const Session session(file);
  CHECK(contains(run.output(), fmt::format("{} events", format_count(session.snapshot->event_count))));
  CHECK(session.events_on("Capture") == 1);
  // The device stood still meanwhile: a moment of its time, between what it did before and after.
  const auto lane_of = [&](const std::string& track) {
    const auto& lanes = session.snapshot->lanes;
    const auto found = std::find_if(lanes.begin(), lanes.end(), [&](const LaneSnapshot& lane) {
      return lane.event_count > 0 && session.name_of(lane.track) == track;
    });
    REQUIRE(found != lanes.end());
    return *found;
  };
  const LaneSnapshot capture = lane_of("Capture");
  const LaneSnapshot engine = lane_of("TensorMatrix");
  CHECK(capture.end_ticks == capture.begin_ticks);
  CHECK(capture.begin_ticks > engine.begin_ticks);
  CHECK(capture.end_ticks <= engine.end_ticks + 1'000'000);
  CHECK(contains(shell.run({"list"}).output, "no capture"));
  CHECK(shell.run({"stop"}).status == 1);
}

TEST_CASE("when the program ends, what runs beside it ends too, each in a scope of its own") {
  const Shell shell;
  const auto [status, output] = shell.run({"run", "-o", shell.file("a.accel"), "--kind", "program,simulate", "--quiet",
                                           "--rate", "10k", "--", "echo", "one line"});
  CHECK(status == 0);
  CHECK_FALSE(contains(output, "one line"));
  const Session session(shell.file("a.accel"));
  CHECK(session.events_on("stdout") == 1);
  CHECK(session.fact("capture.kinds") == "program, simulate");
  CHECK(std::any_of(session.snapshot->tracks.begin(), session.snapshot->tracks.end(),
                    [](const TrackSnapshot& track) { return track.track->kind == "engine"; }));
}

TEST_CASE("several files are replayed into one session, each in a scope of its own") {
  const Shell shell;
  std::uint64_t events = 0;
  for (const std::string seed : {"1", "2"}) {
    const std::string file = shell.file(seed + ".accel");
    REQUIRE(shell.run({"run", "-o", file, "--kind", "simulate", "--rate", "max", "--events", "1000", "--seed", seed})
                .status == 0);
    events += Session(file).snapshot->event_count;
  }
  const Shell::Said said = shell.run({"run", "-o", shell.file("both.accel"), "--kind", "replay", "--file",
                                      shell.file("1.accel"), "--file", shell.file("2.accel")});
  CHECK_MESSAGE(said.status == 0, said.output);
  const Session session(shell.file("both.accel"));
  CHECK(session.snapshot->event_count == events);
}

TEST_CASE("a run started paused samples nothing until it is resumed, and a duration ends it") {
  const Shell shell;
  Process run = shell.start({"run", "-o", shell.file("a.accel"), "--name", "still", "--paused", "--duration", "0.3",
                             "--kind", "simulate", "--rate", "max"});
  CHECK(run.finish(kPatience) == 0);
  const Session session(shell.file("a.accel"));
  CHECK(session.events_on("Capture") == 1);
  CHECK(session.events_on("TensorMatrix") == 0);
}

TEST_CASE("what a killed run had sealed is in its spool") {
  const Shell shell;
  const std::string spool = shell.file("spool");
  Process run = shell.start({"run", "-o", shell.file("a.accel"), "--spool", spool, "--", "sh", "-c",
                             fmt::format("echo first; until [ -e {} ]; do :; done", shell.file("go"))});
  REQUIRE(run.wait_for("first", kPatience));
  while (!contains(shell.run({"list"}).output, "sh: running") || contains(shell.run({"list"}).output, " 0 events")) {
    std::this_thread::yield();
  }
  ::kill(run.id(), SIGKILL);
  { std::ofstream{shell.file("go")}; }
  (void)run.finish(kPatience);
  REQUIRE(fs::exists(spool));
  for (const auto& entry : fs::directory_iterator(spool)) {
    Result<std::unique_ptr<agent::CaptureRun>> left = agent::CaptureRun::reopen(entry.path().string(), {});
    REQUIRE_MESSAGE(left.ok(), left.message());
    (*left)->settle({}, {});
    CHECK((*left)->state() == wire::CaptureState::interrupted);
    CHECK((*left)->offer().events >= 1);
  }
  REQUIRE(shell.run({"run", "-o", shell.file("b.accel"), "--spool", shell.file("other"), "--", "true"}).status == 0);
  CHECK(fs::is_empty(shell.file("other")));  // saved, so nothing is left to take up
}

TEST_CASE("a detached agent prints its address, leaves the terminal, and serves") {
  const Shell shell;
  Process starter = shell.start({"simulate", "--events", "5000", "--rate", "max", "--listen", "127.0.0.1:0", "--detach",
                                 "--once", "--scratch", shell.scratch.path.string()});
  const std::optional<std::string> line = starter.wait_for("listening on ", kPatience);
  REQUIRE(line);
  CHECK(starter.finish(kPatience) == 0);  // its output is closed by now, though the agent runs
  const Result<system::Address> address = system::parse_address(line->substr(std::string("listening on ").size()));
  REQUIRE(address.ok());
  RecordingSink sink;
  TestConnection connection(connection_to(*address), sink);
  REQUIRE(connection.wait_for(kPatience));
  CHECK(connection.status().phase == client::CapturePhase::ended);
  CHECK(sink.event_count >= 5'000);
  CHECK(fs::exists(shell.file("agent.log")));
  Process failing = shell.start({"--detach", "--listen", fmt::format("127.0.0.1:{}", 1), "--scratch",
                                 shell.scratch.path.string(), "--spool", "/proc/none"});
  CHECK(failing.finish(kPatience) == 1);
  CHECK(contains(failing.output(), "accelscope-agent: "));
}

TEST_CASE("a viewer chooses the kind, and reads no files of a host that does not allow it") {
  const Shell shell;
  Process agent = shell.start({"--listen", "127.0.0.1:0", "--quiet"});
  const std::string label = "listening on ";
  const std::optional<std::string> line = agent.wait_for(label, kPatience);
  REQUIRE(line);
  const system::Address address = system::parse_address(line->substr(label.size())).value();
  const auto capture = [&](const request::KindChoice& kind, RecordingSink& sink) {
    client::ConnectionOptions options = connection_to(address);
    options.start.request.kinds = {kind};
    TestConnection connection(options, sink);
    REQUIRE(connection.wait_for(kPatience));
    return connection.status();
  };
  RecordingSink simulated;
  CHECK(capture({"simulate", {{"events", "1000"}, {"rate", "max"}}}, simulated).phase == client::CapturePhase::ended);
  CHECK(simulated.event_count >= 1'000);
  RecordingSink refused;
  const client::AgentStatus denied = capture({"replay", {{"file", "/etc/hostname"}}}, refused);
  CHECK(denied.phase == client::CapturePhase::failed);
  CHECK(contains(denied.message, "reads no files of its host"));
  const client::AgentStatus unknown = capture({"simulat", {}}, refused);
  CHECK(contains(unknown.message, "did you mean 'simulate'?"));
  CHECK(refused.event_count == 0);
  agent.interrupt();
  CHECK(agent.finish(kPatience) == 130);
}

TEST_CASE("an agent that may start programs makes itself a token and a certificate, and shows neither secret") {
  const Shell shell;
  Process agent = shell.start({"--allow-run", "--listen", "127.0.0.1:0"});
  REQUIRE(agent.wait_for("listening on 127.0.0.1:", kPatience));
  agent.interrupt();
  CHECK(agent.finish(kPatience) == 130);
  CHECK(contains(agent.output(), "viewers that know the token may start programs here"));
  for (const std::string name : {"token", "agent.key"}) {
    const std::string path = shell.file("accelscope/" + name);
    CHECK(fs::status(path).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
    std::string secret;
    std::ifstream(path) >> secret;
    CHECK_FALSE(contains(agent.output(), secret));
  }
  Process lacking = shell.start({"--allow-run", "--listen", "127.0.0.1:0", "--token-file", "/no/such/token"});
  CHECK(lacking.finish(kPatience) == 1);
  CHECK(contains(lacking.output(), "/no/such/token"));
}

TEST_CASE("help shows the kinds' options with their defaults, doctor every kind's checks") {
  const Shell shell;
  const Shell::Said help = shell.run({"run", "--help"});
  CHECK(help.status == 0);
  CHECK(help.output.size() < 4'000);
  for (const request::KindFacts& facts : request::declared_kinds()) {
    CHECK(contains(help.output, facts.title));
    const Shell::Said own = shell.run({"run", "--help", facts.name});
    CHECK(own.status == 0);
    CHECK(contains(own.output, facts.explanation));
    for (const request::KindOption& option : facts.options) CHECK(contains(own.output, "--" + option.name));
  }
  const std::string of_program = shell.run({"run", "--help", "program"}).output;
  const std::size_t interval = of_program.find("--sample-interval DURATION");
  REQUIRE(interval != std::string::npos);
  CHECK(contains(of_program.substr(interval, of_program.find('\n', interval) - interval), "100ms"));
  CHECK(contains(help.output, "125 if the capture itself failed"));
  CHECK(shell.run({"--help"}).status == 0);
  const Shell::Said doctor = shell.run({"doctor", "--listen", "127.0.0.1:0", "--spool", shell.file("spool")});
  CHECK(doctor.status == 0);
  for (const request::KindFacts& facts : request::checked_kinds()) {
    for (const request::KindCheck& check : facts.checks) CHECK(contains(doctor.output, check.text));
  }
  CHECK(contains(doctor.output, "free for a spool"));
  CHECK(contains(doctor.output, "/token: not there yet"));
  fs::create_directories(shell.file("accelscope"));
  { std::ofstream(shell.file("accelscope/token")) << "0123456789abcdef0123456789abcdef\n"; }
  fs::permissions(shell.file("accelscope/token"), fs::perms::owner_read | fs::perms::others_read);
  const Shell::Said open = shell.run({"doctor", "--listen", "127.0.0.1:0"});
  CHECK(open.status == 1);
  CHECK(contains(open.output, "failed   " + shell.file("accelscope/token")));
  CHECK_FALSE(contains(open.output, "0123456789abcdef"));
}

constexpr std::chrono::seconds kMemoryPatience{150};
constexpr std::uint64_t kMemoryAllowance = 30U << 20;

system::Address address_of(Process& agent) {
  const std::string label = "listening on ";
  const std::optional<std::string> line = agent.wait_for(label, kMemoryPatience);
  REQUIRE(line);
  return system::parse_address(line->substr(label.size())).value();
}

// From its begin to its end, on a connection of its own; nobody wants it then.
void take_capture(const system::Address& address) {
  RawPeer peer = RawPeer::connect_to(address);
  peer.send(wire::encode(viewer_hello()));
  REQUIRE(peer.receive(wire::FrameType::welcome));
  peer.send(wire::encode(wire::Start{}));
  std::string id;
  for (;;) {
    const std::optional<wire::Frame> frame = peer.receive();
    REQUIRE(frame);
    REQUIRE(frame->header.type != wire::FrameType::error);
    if (frame->header.type == wire::FrameType::started) {
      id = wire::decode<wire::Started>(frame->body).value().capture_id;
    }
    if (frame->header.type == wire::FrameType::end) break;
    if (frame->header.sequence != 0) peer.send(wire::encode(wire::Received{frame->header.sequence}));
  }
  peer.send(wire::encode(wire::Discard{id}));
  peer.send(wire::encode(wire::ClockReport{}));  // its answer comes when what was said before was taken
  REQUIRE(peer.receive(wire::FrameType::clock));
}

TEST_CASE("the memory of an agent is flat over sixty captures, each on a connection of its own") {
  if (test::sanitized()) return;  // which keeps what is freed
  const Shell shell;
  Process agent = shell.start({"simulate", "--events", "20k", "--rate", "max", "--listen", "127.0.0.1:0", "--quiet"});
  const system::Address address = address_of(agent);
  std::uint64_t after_fifteen = 0;
  for (int capture = 1; capture <= 60; ++capture) {
    take_capture(address);
    if (capture == 15) after_fifteen = agent.resident_bytes();
  }
  REQUIRE(after_fifteen > 0);
  CHECK(agent.resident_bytes() < after_fifteen + kMemoryAllowance);
  agent.interrupt();
  (void)agent.finish(kMemoryPatience);
}

TEST_CASE("what a capture took of an agent's memory goes back to the system when it is over") {
  if (test::sanitized()) return;
  const Shell shell;
  Process agent = shell.start({"simulate", "--events", "1M", "--rate", "max", "--listen", "127.0.0.1:0", "--quiet"});
  const system::Address address = address_of(agent);
  const std::uint64_t at_rest = agent.resident_bytes();
  take_capture(address);
  const auto give_up = std::chrono::steady_clock::now() + kMemoryPatience;
  while (agent.resident_bytes() > at_rest + kMemoryAllowance && std::chrono::steady_clock::now() < give_up) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  CHECK(agent.resident_bytes() < at_rest + kMemoryAllowance);
  agent.interrupt();
  (void)agent.finish(kMemoryPatience);
}

TEST_CASE("options of the agent that cannot be are refused by their names") {
  const Shell shell;
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& part) {
    const auto [status, output] = shell.run(arguments);
    CHECK(status == 2);
    CHECK_MESSAGE(contains(output, part), output);
  };
  refused({"--buffer", "much"}, "--buffer");
  refused({"--spool-limit", "-1"}, "--spool-limit");
  refused({"--when-full", "burst"}, "--when-full");
  refused({"--listen", "127.0.0.1:0", "simulate"}, "write the options after 'simulate'");
  refused({"simulate", "--", "true"}, "is for accelscope-agent run");
  refused({"simulate", "--devices", "65"}, "--devices");
  refused({"explode"}, "explode");
}

}  // namespace
}  // namespace accelscope::capture
