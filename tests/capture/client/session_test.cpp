// Captures that survive what breaks: connections, agents, and the viewer itself.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>

#include "capture/client/connection.h"
#include "capture/client/record.h"
#include "capture/security/secrets.h"
#include "client_support.h"

using namespace accelscope;
using namespace accelscope::capture;

namespace {

constexpr std::uint64_t kEvents = 600'001;

client::CapturePlan plan_for(const system::Address& address) {
  client::CapturePlan plan;
  plan.places = {address.text()};
  return plan;
}

std::uint64_t stored(const Store& store) { return store.snapshot()->event_count; }

const QualityEntry* quality(const Snapshot& snapshot, const std::string& kind) {
  for (const auto& entry : snapshot.quality) {
    if (entry.kind == kind) return &entry;
  }
  return nullptr;
}

// What a viewer leaves that dies after some frames: here it hangs up, which leaves the same files.
void leave_behind(const std::filesystem::path& folder, const std::vector<wire::Frame>& frames, std::size_t count) {
  ScriptedAgent agent({.frames = frames, .burst = count, .forgets = true});
  const auto store = empty_store();
  const auto session = begin_session(plan_for(agent.address()), store, session_options(folder));
  REQUIRE(session->wait_for(kPatience));
  agent.join();
  CHECK(client::find_recoverable(folder.string()).empty());  // its process lives
}

client::Recoverable left_in(const std::filesystem::path& folder) {
  const std::vector<client::Recoverable> found = client::find_recoverable(folder.string());
  REQUIRE(found.size() == 1);
  return found.front();
}

}  // namespace

TEST_CASE("a capture whose connection is cut anywhere, again and again, is taken up and complete to the last event") {
  const std::vector<wire::Frame> frames = frames_of({.events = kEvents, .lanes = 3});
  for (const CutAt cut : {CutAt::between_frames, CutAt::in_header, CutAt::in_body}) {
    CAPTURE(static_cast<int>(cut));
    const TestFolder folder;
    ScriptedAgent agent({.frames = frames, .burst = 5, .cut = cut});
    const auto store = empty_store();
    const auto session = begin_session(plan_for(agent.address()), store, session_options(folder.path));
    REQUIRE(session->wait_for(kPatience));
    agent.join();
    const client::CaptureStatus status = session->status();
    CHECK(status.phase == client::CapturePhase::ended);
    CHECK(status.message == "");
    CHECK(status.events == kEvents);
    CHECK(stored(*store) == kEvents);
    CHECK(store->status().duplicates == 0);
    CHECK(store->status().lost == 0);
    CHECK(status.agents[0].lost_events == 0);
    CHECK(status.agents[0].doubled_frames == 0);
    CHECK(status.agents[0].reconnects == agent.starts.size() - 1);
    REQUIRE(agent.starts.size() == (frames.size() + 4) / 5);
    for (std::size_t i = 1; i < agent.starts.size(); ++i) {
      CHECK(agent.starts[i].mode == wire::StartMode::take_up);
      CHECK(agent.starts[i].capture_id == "c4p7");
      CHECK(agent.starts[i].after_sequence == 5 * i);
    }
    CHECK(agent.highest_received == frames.size());
    CHECK(agent.highest_durable == frames.size());
  }
}

TEST_CASE("frames that come twice after a break are stored once and counted") {
  const std::vector<wire::Frame> frames = frames_of({.events = kEvents, .lanes = 3});
  const TestFolder folder;
  ScriptedAgent agent({.frames = frames, .burst = 20, .overlap = 3});
  const auto store = empty_store();
  const auto session = begin_session(plan_for(agent.address()), store, session_options(folder.path));
  REQUIRE(session->wait_for(kPatience));
  agent.join();
  CHECK(stored(*store) == kEvents);
  CHECK(store->status().duplicates == 0);
  CHECK(session->status().agents[0].doubled_frames == 3 * (agent.starts.size() - 1));
}

TEST_CASE("an agent that has dropped frames says so, and the session counts the events to the last one") {
  const std::vector<wire::Frame> frames = frames_of({.events = kEvents, .lanes = 3});
  std::uint64_t gone = 0;
  for (std::size_t i = 25; i < 30; ++i) gone += log::events_in(frames[i]);
  REQUIRE(gone > 0);
  const TestFolder folder;
  ScriptedAgent agent({.frames = frames, .gap = wire::Gap{26, 30, gone, "the buffer was full"}});
  const auto store = empty_store();
  const auto session = begin_session(plan_for(agent.address()), store, session_options(folder.path));
  REQUIRE(session->wait_for(kPatience));
  agent.join();
  CHECK(session->status().agents[0].lost_events == gone);
  CHECK(stored(*store) == kEvents - gone);
  CHECK(store->status().lost == gone);
  const auto snapshot = store->snapshot();
  REQUIRE(quality(*snapshot, "lost_frames") != nullptr);
  CHECK(quality(*snapshot, "lost_frames")->count == 5);
  CHECK(contains(quality(*snapshot, "lost_frames")->detail, "the buffer was full"));
}

TEST_CASE("an agent that does not come back is given up with what came kept and the reason told") {
  const std::vector<wire::Frame> frames = frames_of({.events = kEvents, .lanes = 3});
  const auto store = empty_store();
  const TestFolder folder;
  client::CaptureSessionOptions options = session_options(folder.path);
  options.give_up = std::chrono::milliseconds(120);
  std::unique_ptr<client::CaptureSession> session;
  {
    RawListener listener;
    session = begin_session(plan_for(listener.address()), store, options);
    RawPeer peer = listener.accept();
    peer.send(wire::encode(agent_hello()));
    peer.send(wire::encode(wire::Welcome{}));
    REQUIRE(peer.receive(wire::FrameType::start));
    peer.send(wire::encode(wire::Started{.capture_id = "c4p7", .controls = true}));
    for (std::size_t i = 0; i < 20; ++i) peer.send(frames[i]);
    while (true) {
      const auto ack = peer.receive(wire::FrameType::received);
      REQUIRE(ack);
      if (wire::decode<wire::Received>(ack->body).value().sequence == 20) break;
    }
  }
  REQUIRE(session->wait_for(kPatience));
  const client::CaptureStatus status = session->status();
  CHECK(status.phase == client::CapturePhase::failed);
  CHECK(contains(status.message, "could not be made again"));
  CHECK(contains(status.message, "are kept"));
  CHECK(status.events == stored(*store));
  CHECK(stored(*store) > 0);
  CHECK(quality(*store->snapshot(), "connection_lost") != nullptr);
}

TEST_CASE("an agent that was started anew says that it has no such capture, and what came is kept") {
  const std::vector<wire::Frame> frames = frames_of({.events = kEvents, .lanes = 3});
  const TestFolder folder;
  ScriptedAgent agent({.frames = frames, .burst = 15, .forgets = true});
  const auto store = empty_store();
  const auto session = begin_session(plan_for(agent.address()), store, session_options(folder.path));
  REQUIRE(session->wait_for(kPatience));
  agent.join();
  CHECK(session->status().phase == client::CapturePhase::failed);
  CHECK(contains(session->status().message, "no such capture"));
  CHECK(contains(session->status().message, "are kept"));
  CHECK(stored(*store) == session->status().events);
}

TEST_CASE("what a dead viewer had received is read from its recovery folder, and the rest is fetched from the agent") {
  const std::vector<wire::Frame> frames = frames_of({.events = kEvents, .lanes = 3});
  const TestFolder folder;
  leave_behind(folder.path, frames, 17);
  client::Recoverable left = left_in(folder.path);
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < 17; ++i) before += log::events_in(frames[i]);
  CHECK(left.events == before);
  CHECK(left.bytes > 0);
  CHECK(left.plan.places.size() == 1);

  // The agent listens elsewhere now: the place that is asked for is what the recovery goes by.
  ScriptedAgent agent({.frames = frames});
  left.plan.places = {agent.address().text()};
  const auto store = empty_store();
  Result<std::unique_ptr<client::CaptureSession>> session =
      client::CaptureSession::recover(left, store, session_options(folder.path));
  REQUIRE_MESSAGE(session.ok(), session.message());
  REQUIRE((*session)->wait_for(kPatience));
  agent.join();
  REQUIRE(agent.starts.size() == 1);
  CHECK(agent.starts[0].mode == wire::StartMode::take_up);
  CHECK(agent.starts[0].after_sequence == 17);
  CHECK((*session)->status().phase == client::CapturePhase::ended);
  CHECK(stored(*store) == kEvents);
  CHECK(store->status().duplicates + store->status().lost == 0);
  (*session)->saved();
  CHECK(client::find_recoverable(folder.path.string()).empty());
  CHECK_FALSE(std::filesystem::exists(left.folder));
}

TEST_CASE("a recovery file whose last frame was not finished costs that frame only, and says so") {
  const std::vector<wire::Frame> frames = frames_of({.events = kEvents, .lanes = 3});
  const TestFolder folder;
  leave_behind(folder.path, frames, 30);
  const client::Recoverable left = left_in(folder.path);
  const std::filesystem::path log = std::filesystem::path(left.folder) / "agent-01";
  // The last frames of the file are readings of clocks and events; cut into the last data frame.
  std::uint64_t end = log::kSegmentHeaderBytes;
  const log::SegmentReader segment = log::SegmentReader::open(log::segment_path(log, 1)).value();
  for (auto place = segment.find(end).value(); place; place = segment.find(end).value()) {
    end = place->end();
    if (place->header.sequence == 30) break;
  }
  std::filesystem::resize_file(log::segment_path(log, 1), end - 10);
  const auto store = empty_store();
  client::CaptureSessionOptions options = session_options(folder.path);
  Result<std::unique_ptr<client::CaptureSession>> session = client::CaptureSession::recover(left, store, options);
  REQUIRE_MESSAGE(session.ok(), session.message());
  std::uint64_t expected = 0;
  for (std::size_t i = 0; i < 29; ++i) expected += log::events_in(frames[i]);
  CHECK(stored(*store) == expected);
  REQUIRE(quality(*store->snapshot(), "recovery_cut") != nullptr);
  CHECK(quality(*store->snapshot(), "recovery_cut")->count == frames[29].wire_bytes() - 10);
  REQUIRE((*session)->wait_for(kPatience));  // nobody is at that address any more
  CHECK((*session)->status().phase == client::CapturePhase::failed);
  CHECK(stored(*store) == expected);
}

TEST_CASE("a recorder that is killed goes on where it was when it is started again, and every event is in the file") {
  const TestFolder folder;
  const std::string output = (folder.path / "killed.accel").string();
  int address_pipe[2];
  REQUIRE(::pipe(address_pipe) == 0);
  const pid_t child = ::fork();  // before this process has threads
  if (child == 0) {
    std::uint16_t port = 0;
    if (::read(address_pipe[0], &port, sizeof port) != sizeof port) ::_exit(1);
    client::RecordOptions options;
    options.plan = plan_for({"127.0.0.1", port});
    options.output_path = output;
    options.limits = quick_limits();
    (void)client::record(options);
    ::_exit(0);
  }
  RunningAgent agent(synthetic_source({.events = 40'000'000, .lanes = 4}));
  const std::uint16_t port = agent.address().port;
  REQUIRE(::write(address_pipe[1], &port, sizeof port) == sizeof port);
  const std::filesystem::path log = std::filesystem::path(client::recovery_folder_of(output)) / "agent-01";
  while (log::FrameLog::survey(log).events < 200'000) std::this_thread::yield();
  REQUIRE(::kill(child, SIGKILL) == 0);
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  ::close(address_pipe[0]);
  ::close(address_pipe[1]);

  std::uint64_t recovered = 0;
  client::RecordOptions options;
  options.plan = plan_for(agent.address());
  options.output_path = output;
  options.limits = quick_limits();
  options.on_recovery = [&recovered](const client::Recoverable& left) { recovered = left.events; };
  options.progress = [&](const client::CaptureStatus& status, std::optional<double> saved) {
    return saved || status.events < recovered + 2'000'000;
  };
  const Result<client::RecordReport> report = client::record(options);
  REQUIRE_MESSAGE(report.ok(), report.message());
  CHECK(recovered >= 200'000);
  CHECK(report.value().events > recovered);
  CHECK(report.value().lost_events == 0);
  CHECK(report.value().complete);
  CHECK_FALSE(std::filesystem::exists(client::recovery_folder_of(output)));
  const Result<std::unique_ptr<Store>> saved = Store::open(output);
  REQUIRE(saved.ok());
  CHECK(stored(*saved.value()) == report.value().events);
  CHECK(saved.value()->snapshot()->lanes.size() == 4);
}

TEST_CASE("a further agent joins a running session and leaves it, without touching what the others bring") {
  RunningAgent first(endless_source());
  RunningAgent second(endless_source());
  const TestFolder folder;
  const auto store = empty_store();
  const auto session = begin_session(plan_for(first.address()), store, session_options(folder.path));
  const auto agent = [&](std::size_t index) { return session->status().agents.at(index); };
  while (agent(0).events == 0) std::this_thread::yield();
  session->add(second.address().text());
  while (agent(1).events == 0) std::this_thread::yield();
  session->leave(second.address().text());
  while (agent(1).phase != client::CapturePhase::ended) std::this_thread::yield();
  const std::uint64_t of_second = agent(1).events;
  const std::uint64_t then = agent(0).events;
  CHECK(agent(0).phase == client::CapturePhase::streaming);
  while (agent(0).events <= then) std::this_thread::yield();
  session->stop();
  REQUIRE(session->wait_for(kPatience));
  const client::CaptureStatus status = session->status();
  CHECK(status.phase == client::CapturePhase::ended);
  CHECK(status.agents[1].events == of_second);
  CHECK(status.events == stored(*store));
  CHECK(status.agents[0].lost_events + status.agents[1].lost_events == 0);
  CHECK(status.agents[1].round_trip_ns.has_value());
  CHECK(status.agents[1].clock_residual_ns.has_value());
  CHECK_FALSE(status.agents[0].clock_residual_ns.has_value());
}

TEST_CASE("what is asked for must fit on the wire, and is refused with a sentence where it does not") {
  RunningAgent agent(endless_source());
  client::CapturePlan plan = plan_for(agent.address());
  plan.request.results = {std::string(20'000, 'x')};
  plan.results_folder = "results";
  const auto store = empty_store();
  const auto session = begin_session(plan, store, session_options({}));
  REQUIRE(session->wait_for(kPatience));
  CHECK(session->status().phase == client::CapturePhase::failed);
  CHECK(contains(session->status().message, "too large to send"));
}

TEST_CASE("a place can be tried without starting anything there") {
  RunningAgent agent(endless_source());
  const Result<client::Reached> reached = client::reach(agent.address().text(), "", quick_limits(), {});
  REQUIRE_MESSAGE(reached.ok(), reached.message());
  CHECK(contains(reached.value().peer, "accelscope-agent " ACCELSCOPE_VERSION));
  CHECK(reached.value().welcome.captures.empty());
  CHECK(reached.value().milliseconds > 0);
  const RawListener silent;
  bool asked = false;
  const Result<client::Reached> cancelled =
      client::reach(silent.address().text(), "", quick_limits(), [&asked] { return asked = true; });
  REQUIRE_FALSE(cancelled.ok());
  CHECK(asked);
}

TEST_CASE("a recovery plan keeps nothing of what was to be run") {
  const TestFolder folder;
  const TestFolder keys;
  agent::AgentOptions options;
  options.secrets.token = security::Token::parse("the-token-of-this-agent").value();
  RunningAgent agent(endless_source(), options);
  client::CapturePlan plan = plan_for(agent.address());
  plan.token_file = (keys.path / "token").string();
  std::filesystem::create_directories(keys.path);
  REQUIRE(security::write_private_file(plan.token_file, "the-token-of-this-agent").ok());
  plan.request.environment = {"SECRET=hunter2"};
  plan.request.program = "train";
  plan.request.arguments = {"--db-pass=hunter2"};
  const auto store = empty_store();
  auto session = begin_session(plan, store, session_options(folder.path));
  while (session->status().events == 0) std::this_thread::yield();
  session.reset();
  const client::Recoverable left = left_in(folder.path);
  CHECK(left.plan.request.program.empty());
  CHECK(contains(left.title, "train at "));
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder.path)) {
    if (file.path().filename() != "plan") continue;
    std::ifstream stream(file.path(), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    CHECK_FALSE(contains(text, "hunter2"));
  }
  REQUIRE(client::discard_recoverable(left).ok());
  CHECK(client::find_recoverable(folder.path.string()).empty());
}

TEST_CASE("two agents of one host are told apart by their ports, and each keeps its name") {
  client::HostNames hosts;
  CHECK(hosts.name("trn1", "a:1") == "trn1");
  CHECK(hosts.name("trn2", "b:1") == "trn2");
  CHECK(hosts.name("trn1", "a:2") == "trn1:2");
  CHECK(hosts.name("trn1", "ssh://me@a") == "trn1 (ssh://me@a)");
  CHECK(hosts.name("trn1", "a:1") == "trn1");
}
