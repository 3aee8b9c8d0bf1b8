// Captures that outlive connections: taken up again, watched, spooled, full, paused.
#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <set>

#include "capture/agent/viewers/agent.h"
#include "capture/ingest/stream_ingest.h"
#include "capture/security/secrets.h"
#include "capture/wire/messages.h"
#include "core/chunk/chunk_format.h"
#include "tests/capture/wire/wire_support.h"

namespace accelscope::capture {
namespace {

constexpr SyntheticStream kStream{.events = 400'000, .lanes = 4};

struct TemporaryFolder {
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "accelscope-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path = pattern;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

// What a viewer has got, over all of its connections.
struct Got {
  std::set<std::uint64_t> sequences;
  std::uint64_t highest = 0;
  std::uint64_t events = 0;
  std::uint64_t doubled = 0;
  std::uint64_t gap_events = 0;
  std::uint64_t gap_frames = 0;
  std::uint64_t definitions = 0;
  std::optional<wire::StreamEnd> end;
  std::string capture_id;

  void take(const wire::Frame& frame) {
    if (frame.header.type == wire::FrameType::started)
      capture_id = wire::decode<wire::Started>(frame.body).value().capture_id;
    if (frame.header.type == wire::FrameType::end) end = wire::decode<wire::StreamEnd>(frame.body).value();
    if (frame.header.type == wire::FrameType::gap) {
      const wire::Gap gap = wire::decode<wire::Gap>(frame.body).value();
      gap_events += gap.events;
      gap_frames += gap.last - gap.first + 1;
    }
    if (frame.header.sequence == 0) return;
    if (!sequences.insert(frame.header.sequence).second) ++doubled;
    highest = std::max(highest, frame.header.sequence);
    if (frame.header.type == wire::FrameType::definition) ++definitions;
    if (frame.header.type != wire::FrameType::chunk) return;
    ChunkHeader header;
    std::memcpy(&header, frame.body.data(), sizeof header);
    events += header.count;
  }
};

RawPeer viewer(const system::Address& address, const std::string& id = "viewer-1") {
  RawPeer peer = RawPeer::connect_to(address);
  wire::Hello hello = viewer_hello();
  hello.session_id = id;
  peer.send(wire::encode(hello));
  return peer;
}

RawPeer viewer_with(const security::Token& token, const system::Address& address) {
  RawPeer peer = RawPeer::connect_to(address);
  security::ViewerProof proof = security::ViewerProof::begin(token).value();
  wire::Hello hello = viewer_hello();
  hello.nonce = proof.nonce();
  peer.send(wire::encode(hello));
  const auto greeting = peer.receive(wire::FrameType::hello);
  REQUIRE(greeting);
  peer.send(wire::encode(
      wire::ProofMessage{proof.prove(wire::decode<wire::Hello>(greeting->body).value().nonce, {}).value()}));
  const auto welcome = peer.receive(wire::FrameType::welcome);
  REQUIRE(welcome);
  CHECK(proof.check_welcome(wire::decode<wire::Welcome>(welcome->body).value().mac).ok());
  return peer;
}

// Reads until so many data frames have come, or the end; acknowledges each.
void read(RawPeer& peer, Got& got, std::size_t frames, bool durable = false) {
  for (std::size_t count = 0; count < frames && !got.end;) {
    const std::optional<wire::Frame> frame = peer.receive();
    REQUIRE(frame);
    REQUIRE(frame->header.type != wire::FrameType::error);
    got.take(*frame);
    if (frame->header.sequence == 0) continue;
    ++count;
    peer.send(wire::encode(wire::Received{got.highest}));
    if (durable) peer.send(wire::encode(wire::Durable{got.highest}));
  }
}

std::string refusal(RawPeer& peer) {
  const auto error = peer.receive(wire::FrameType::error);
  return error ? wire::decode<wire::ErrorMessage>(error->body).value().text : "";
}

namespace {

// Hands on so many chunks and then hangs, as in a process that is about to be killed: from there on its spool changes
// no more by itself, and can be copied.
Result<void> write_and_hang(const SyntheticStream& stream, int most, EventSink& sink) {
  struct Part final : EventSink {
    Part(EventSink& inner_sink, int most_chunks) : inner(inner_sink), left(most_chunks) {}
    Result<void> define(const Definition& definition) override { return inner.define(definition); }
    Result<void> append(SealedChunk chunk) override {
      if (left-- > 0) return inner.append(std::move(chunk));
      while (!inner.cancelled()) std::this_thread::yield();
      return Error{"gone"};
    }
    EventSink& inner;
    int left;
  } part(sink, most);
  return write_stream(stream, part);
}

// An agent that makes its stream, of which a viewer takes so many frames, and ends: the rest lies in its spool.
void leave_in_spool(const agent::AgentOptions& options, Got& got, std::size_t frames) {
  std::atomic<bool> made{false};
  RunningAgent agent(
      [&made](EventSink& sink) {
        Result<void> done = write_stream(kStream, sink);
        made = true;
        return done;
      },
      options);
  RawPeer peer = viewer(agent.address());
  peer.send(wire::encode(wire::Start{}));
  read(peer, got, frames);
  while (!made) std::this_thread::yield();
}

}  // namespace

TEST_CASE("a capture that is cut again and again arrives whole, each event once") {
  RunningAgent agent(synthetic_source(kStream));
  Got got;
  std::size_t cuts = 0;
  for (; !got.end; ++cuts) {
    RawPeer peer = viewer(agent.address());
    peer.send(wire::encode(got.capture_id.empty() ? wire::Start{}
                                                  : wire::Start{.after_sequence = got.highest,
                                                                .mode = wire::StartMode::take_up,
                                                                .capture_id = got.capture_id}));
    REQUIRE(peer.receive(wire::FrameType::welcome));
    read(peer, got, 1 + cuts % 5);
  }
  CHECK(cuts > 5);
  CHECK(got.events == kStream.events);
  CHECK(got.doubled == 0);
  CHECK(got.gap_frames == 0);
  CHECK(*got.sequences.rbegin() == got.sequences.size());
  CHECK(got.end->events == kStream.events);
}

TEST_CASE("a viewer that comes back before its old connection is known to be dead is served") {
  RunningAgent agent(endless_source());
  RawPeer old = viewer(agent.address());
  old.send(wire::encode(wire::Start{}));
  Got got;
  read(old, got, 3);
  const wire::Start again{
      .after_sequence = got.highest, .mode = wire::StartMode::take_up, .capture_id = got.capture_id};
  RawPeer stranger = viewer(agent.address(), "viewer-2");
  stranger.send(wire::encode(again));
  CHECK(contains(refusal(stranger), "serves another viewer"));
  RawPeer back = viewer(agent.address());
  back.send(wire::encode(again));
  read(back, got, 10);
  CHECK(got.doubled == 0);
  CHECK(got.highest == got.sequences.size());
}

TEST_CASE("a watcher sees the capture without holding it up or commanding it, also when it comes late") {
  std::atomic<bool> go_on{false};
  agent::AgentOptions options;
  options.outbox.buffer_bytes = 8U << 20;
  RunningAgent agent(
      [&go_on](EventSink& sink) -> Result<void> {
        if (Result<void> done = write_stream({.events = 50'000, .lanes = 2}, sink); !done) return done;
        while (!go_on && !sink.cancelled()) std::this_thread::yield();
        return {};
      },
      options);
  RawPeer owner = viewer(agent.address());
  owner.send(wire::encode(wire::Start{}));
  Got owned;
  while (owned.events < 50'000) read(owner, owned, 1, true);
  owner.send(wire::encode(wire::ClockReport{}));  // its answer comes when the acknowledgements before it were taken
  REQUIRE(owner.receive(wire::FrameType::clock));
  // All of it was let go by now, since its owner has it safe: the late watcher gets the definitions and a gap.
  RawPeer watcher = viewer(agent.address(), "viewer-2");
  watcher.send(wire::encode(wire::Start{.mode = wire::StartMode::watch}));
  go_on = true;
  read(owner, owned, 100);
  Got seen;
  read(watcher, seen, 100);
  REQUIRE(seen.end);
  CHECK(seen.definitions == owned.definitions);
  CHECK(seen.gap_events == 50'000);
  CHECK(seen.events == 0);
  watcher.send(wire::encode(wire::Stop{"I want it"}));
  CHECK(contains(refusal(watcher), "stop frame where none belongs"));
}

TEST_CASE("without a viewer and without room, a capture waits, stops or drops as configured") {
  for (const agent::WhenFull when_full : {agent::WhenFull::wait, agent::WhenFull::stop, agent::WhenFull::drop}) {
    CAPTURE(static_cast<int>(when_full));
    std::atomic<std::uint64_t> made{0};
    agent::AgentOptions options;
    options.outbox = {.buffer_bytes = 3U << 20, .when_full = when_full};
    RunningAgent agent(
        [&made](EventSink& sink) {
          Result<void> done = write_stream({.events = 2'000'000, .lanes = 2}, sink);
          made = 2'000'000;
          return done;
        },
        options);
    Got got;
    {
      RawPeer peer = viewer(agent.address());
      peer.send(wire::encode(wire::Start{}));
      read(peer, got, 8);
    }
    if (when_full == agent::WhenFull::drop) {
      while (made == 0) std::this_thread::yield();
    }
    if (when_full == agent::WhenFull::stop) {
      while (!contains(agent.log(), "before the capture was delivered")) std::this_thread::yield();
    }
    while (!got.end) {
      RawPeer peer = viewer(agent.address());
      peer.send(wire::encode(
          wire::Start{.after_sequence = got.highest, .mode = wire::StartMode::take_up, .capture_id = got.capture_id}));
      read(peer, got, 1'000);
    }
    CHECK(got.doubled == 0);
    CHECK(got.gap_frames == 0);
    CHECK(got.end->events == got.events);
    if (when_full == agent::WhenFull::wait) {
      CHECK(got.events == 2'000'000);
      CHECK(got.end->outcome == wire::Outcome::complete);
    } else if (when_full == agent::WhenFull::drop) {
      CHECK(got.events < 2'000'000);
      CHECK(got.end->outcome == wire::Outcome::complete);
    }
  }
}

TEST_CASE("what an agent with a spool has sealed is there for its viewer when another process goes on") {
  const TemporaryFolder folder;
  agent::AgentOptions options;
  options.spool_folder = (folder.path / "spool").string();
  options.outbox.buffer_bytes = 1U << 20;
  Got got;
  leave_in_spool(options, got, 9);
  RunningAgent agent(nullptr, options);
  while (!contains(agent.log(), "400,000 events")) std::this_thread::yield();
  RawPeer peer = viewer(agent.address());
  const auto welcomed = peer.receive(wire::FrameType::welcome);
  REQUIRE(welcomed);
  const wire::Welcome welcome = wire::decode<wire::Welcome>(welcomed->body).value();
  REQUIRE(welcome.captures.size() == 1);
  CHECK(welcome.captures[0].id == got.capture_id);
  CHECK(welcome.captures[0].events == kStream.events);
  peer.send(wire::encode(
      wire::Start{.after_sequence = got.highest, .mode = wire::StartMode::take_up, .capture_id = got.capture_id}));
  read(peer, got, 1'000'000, true);
  CHECK(got.events == kStream.events);
  CHECK(got.doubled == 0);
  CHECK(got.end->events == kStream.events);
  // Safe with the viewer: the spool has done its work.
  peer.send(wire::encode(wire::Durable{got.highest}));
  peer.close();
  while (!contains(agent.log(), "saved everything")) std::this_thread::yield();
  agent.stop();
  CHECK(agent.join().ok());
  CHECK(std::filesystem::is_empty(options.spool_folder));
}

TEST_CASE(
    "an agent whose spool takes long to read serves viewers meanwhile, and then hands on what it holds in order") {
  const TemporaryFolder folder;
  agent::AgentOptions options;
  options.spool_folder = (folder.path / "spool").string();
  Got got;
  leave_in_spool(options, got, 3);
  std::atomic<bool> go_on{false};
  options.log = [&go_on](const std::string& line) {
    if (contains(line, "reads what is spooled")) go_on.wait(false);
  };
  RunningAgent agent(synthetic_source({.events = 1'000}), options);
  RawPeer peer = viewer(agent.address());
  const auto welcomed = peer.receive(wire::FrameType::welcome);
  REQUIRE(welcomed);
  const wire::Welcome welcome = wire::decode<wire::Welcome>(welcomed->body).value();
  REQUIRE(welcome.captures.size() == 1);
  CHECK(welcome.captures[0].id == got.capture_id);
  CHECK(contains(welcome.captures[0].description, "its spool is being read"));
  for (const auto what : {agent::ControlCommand::status, agent::ControlCommand::held}) {
    CHECK(contains(*agent.command(what), "is being read (0 %), record --take-up --capture " + got.capture_id));
  }
  peer.send(wire::encode(
      wire::Start{.after_sequence = got.highest, .mode = wire::StartMode::take_up, .capture_id = got.capture_id}));
  while (!contains(agent.log(), "waits until the spool is read")) std::this_thread::yield();
  {
    RawPeer second = viewer(agent.address(), "viewer-2");
    second.send(wire::encode(wire::Start{}));
    Got fresh;
    read(second, fresh, 1'000);
    CHECK(fresh.events == 1'000);
    second.send(wire::encode(wire::Discard{fresh.capture_id}));
  }
  go_on = true;
  go_on.notify_all();
  read(peer, got, 1'000'000, true);
  CHECK(got.events == kStream.events);
  CHECK(got.doubled == 0);
  CHECK(*got.sequences.rbegin() == got.sequences.size());
}

TEST_CASE("an agent that is stopped while it reads its spool leaves that as it is") {
  const TemporaryFolder folder;
  agent::AgentOptions options;
  options.spool_folder = (folder.path / "spool").string();
  {
    RunningAgent agent([](EventSink& sink) { return write_and_hang(kStream, 11, sink); }, options);
    RawPeer peer = viewer(agent.address());
    peer.send(wire::encode(wire::Start{}));
    Got got;
    while (got.events < 11 * 16'384) read(peer, got, 1);
  }
  std::atomic<int> step{0};
  options.log = [&step](const std::string& line) {
    if (!contains(line, "reads what is spooled")) return;
    step = 1;
    step.notify_all();
    step.wait(1);
  };
  {
    RunningAgent agent(nullptr, options);
    step.wait(0);
    agent.stop();
    CHECK(agent.join().ok());
    step = 2;
    step.notify_all();
  }
  options.log = nullptr;
  RunningAgent agent(nullptr, options);
  while (!contains(agent.log(), "180,224 events")) std::this_thread::yield();
}

TEST_CASE("an agent that dies during a capture that repeats itself goes on where its spool ends") {
  const TemporaryFolder folder;
  agent::AgentOptions options;
  options.spool_folder = (folder.path / "spool").string();
  options.repeats = "synthetic 400,000";
  std::filesystem::path copy = folder.path / "copy";
  Got got;
  {
    RunningAgent agent([](EventSink& sink) { return write_and_hang(kStream, 11, sink); }, options);
    RawPeer peer = viewer(agent.address());
    peer.send(wire::encode(wire::Start{}));
    while (got.events < 11 * 16'384) read(peer, got, 1);
    // What a killed process leaves behind.
    std::filesystem::copy(options.spool_folder, copy, std::filesystem::copy_options::recursive);
  }
  for (const bool repeats : {false, true}) {
    CAPTURE(repeats);
    options.spool_folder = (folder.path / (repeats ? "again" : "not again")).string();
    std::filesystem::copy(copy, options.spool_folder, std::filesystem::copy_options::recursive);
    options.repeats = repeats ? "synthetic 400,000" : "something else";
    RunningAgent agent(synthetic_source(kStream), options);
    RawPeer peer = viewer(agent.address());
    Got whole = got;
    peer.send(wire::encode(
        wire::Start{.after_sequence = got.highest, .mode = wire::StartMode::take_up, .capture_id = got.capture_id}));
    read(peer, whole, 1'000);
    REQUIRE(whole.end);
    CHECK(whole.doubled == 0);
    CHECK(whole.end->events == whole.events);
    CHECK(whole.events == (repeats ? kStream.events : 11 * 16'384));
    CHECK(whole.end->outcome == (repeats ? wire::Outcome::complete : wire::Outcome::failed));
    if (!repeats) CHECK(contains(whole.end->text, "the agent died during the capture"));
  }
  // The spool can be opened as it is, too.
  Result<std::unique_ptr<Store>> store = Store::create();
  REQUIRE(store.ok());
  const std::filesystem::path spool = std::filesystem::directory_iterator(copy)->path();
  CHECK(ingest::holds_frames(copy));
  CHECK(ingest::holds_frames(spool));
  CHECK(ingest::import_frames(spool, *store.value(), [] { return true; }).ok());
  CHECK(store.value()->snapshot()->event_count == 11 * 16'384);
  CHECK(store.value()->status().lost == 0);
  CHECK(store.value()->snapshot()->quality.back().kind == "capture_unfinished");
  CHECK_FALSE(ingest::holds_frames(folder.path / "nowhere"));
  CHECK(contains(ingest::import_frames(folder.path / "nowhere", *store.value(), [] { return true; }).message(),
                 "nothing to recover"));
}

TEST_CASE("an agent that died after it had let go of much still counts and repeats right") {
  const TemporaryFolder folder;
  const SyntheticStream stream{.events = 600'000, .lanes = 3};
  agent::AgentOptions options;
  options.outbox.spool_segment_bytes = 256U << 10;
  options.spool_folder = (folder.path / "spool").string();
  options.repeats = "synthetic 600,000";
  const std::filesystem::path copy = folder.path / "copy";
  Got got;
  {
    RunningAgent agent([&stream](EventSink& sink) { return write_and_hang(stream, 25, sink); }, options);
    RawPeer peer = viewer(agent.address());
    peer.send(wire::encode(wire::Start{}));
    while (got.events < 25 * 16'384) read(peer, got, 1, true);
    peer.send(wire::encode(wire::ClockReport{}));  // its answer comes when the acknowledgements before it were taken
    for (std::optional<wire::Frame> frame = peer.receive(); frame && frame->header.type != wire::FrameType::clock;) {
      got.take(*frame);
      frame = peer.receive();
    }
    std::filesystem::copy(options.spool_folder, copy, std::filesystem::copy_options::recursive);
  }
  // The first of its files is gone, and so are the frames in it.
  CHECK_FALSE(std::filesystem::exists(std::filesystem::directory_iterator(copy)->path() / "segment-000001.frames"));
  for (const bool repeats : {false, true}) {
    CAPTURE(repeats);
    options.spool_folder = (folder.path / (repeats ? "again" : "not again")).string();
    std::filesystem::copy(copy, options.spool_folder, std::filesystem::copy_options::recursive);
    options.repeats = repeats ? "synthetic 600,000" : "";
    RunningAgent agent(synthetic_source(stream), options);
    RawPeer peer = viewer(agent.address());
    Got whole = got;
    peer.send(wire::encode(
        wire::Start{.after_sequence = got.highest, .mode = wire::StartMode::take_up, .capture_id = got.capture_id}));
    read(peer, whole, 10'000);
    REQUIRE(whole.end);
    CHECK(whole.doubled == 0);
    CHECK(whole.end->events == whole.events);
    CHECK(whole.end->chunks == whole.sequences.size() - whole.definitions);
    std::uint64_t in_lanes = 0;
    for (const wire::LaneTotal& lane : whole.end->lanes) in_lanes += lane.events;
    CHECK(in_lanes == whole.events);
    if (repeats) CHECK(whole.events == stream.events);
  }
}

TEST_CASE("a slow viewer of a spooling agent reads from disk what memory cannot hold") {
  const TemporaryFolder folder;
  agent::AgentOptions options;
  options.spool_folder = (folder.path / "spool").string();
  options.outbox.buffer_bytes = 1U << 20;
  std::atomic<bool> made{false};
  RunningAgent agent(
      [&made](EventSink& sink) {
        Result<void> done = write_stream({.events = 2'000'000, .lanes = 3}, sink);
        made = true;
        return done;
      },
      options);
  RawPeer peer = viewer(agent.address());
  peer.send(wire::encode(wire::Start{}));
  Got got;
  read(peer, got, 5);
  while (!made) std::this_thread::yield();
  read(peer, got, 1'000'000);
  CHECK(got.events == 2'000'000);
  CHECK(got.doubled == 0);
  CHECK(got.highest == got.sequences.size());
}

TEST_CASE("a paused capture says so to all, and the pause is in the session") {
  std::atomic<bool> was_paused{false};
  RunningAgent agent([&was_paused](EventSink& sink) -> Result<void> {
    while (!sink.paused() && !sink.cancelled()) std::this_thread::yield();
    was_paused = true;
    while (sink.paused() && !sink.cancelled()) std::this_thread::yield();
    return write_stream({.events = 10, .lanes = 1}, sink);
  });
  RawPeer owner = viewer(agent.address());
  owner.send(wire::encode(wire::Start{}));
  REQUIRE(owner.receive(wire::FrameType::started));
  RawPeer watcher = viewer(agent.address(), "viewer-2");
  watcher.send(wire::encode(wire::Start{.mode = wire::StartMode::watch}));
  REQUIRE(watcher.receive(wire::FrameType::state));
  owner.send(wire::encode(wire::Pause{}));
  const auto state = watcher.receive(wire::FrameType::state);
  REQUIRE(state);
  CHECK(wire::decode<wire::StateReport>(state->body).value().state == wire::CaptureState::paused);
  CHECK(contains(wire::decode<wire::StateReport>(state->body).value().reason, "paused by the viewer"));
  CHECK(wire::decode<wire::StateReport>(state->body).value().watchers == 1);
  while (!was_paused) std::this_thread::yield();
  owner.send(wire::encode(wire::Resume{}));
  Got got;
  read(owner, got, 1'000);
  CHECK(got.events == 11);  // ten, and the pause
}

TEST_CASE("files go along with a capture, and results come back, from an agent that may run programs") {
  const TemporaryFolder folder;
  agent::AgentOptions options;
  options.scratch_folder = folder.path.string();
  options.may_run = true;
  options.listen.port = 0;
  CHECK(contains(agent::Agent::listen(options, nullptr).message(), "needs a token"));
  const security::Token token = security::Token::make().value();
  options.secrets.token = token;
  options.kinds.parts = [](const request::CaptureRequest& request, const std::string& work_folder,
                           std::chrono::steady_clock::time_point) -> Result<std::vector<agent::SourcePart>> {
    if (request.kinds.front().name != "copy") return Error{"no such kind; choose copy"};
    return std::vector<agent::SourcePart>{
        {"copy",
         [work_folder](EventSink& sink, const request::OpenScope& /*open_scope*/, const request::AskCapture&) {
           std::filesystem::copy_file(work_folder + "/in/a", work_folder + "/b.npy");
           return write_stream({.events = 5, .lanes = 1}, sink);
         },
         true}};
  };
  RunningAgent agent(nullptr, options);
  {
    RawPeer stranger = viewer(agent.address());
    stranger.send(wire::encode(wire::Start{}));
    CHECK(contains(refusal(stranger), "token"));
    RawPeer peer = viewer_with(token, agent.address());
    peer.send(wire::encode(wire::Start{.request = {.kinds = {{"nothing", {}}}}}));
    CHECK(contains(refusal(peer), "choose copy"));
    RawPeer unkind = viewer_with(token, agent.address());
    unkind.send(wire::encode(wire::Start{}));
    CHECK(contains(refusal(unkind), "choose a kind"));
  }
  {
    RawPeer peer = viewer_with(token, agent.address());
    peer.send(wire::encode(wire::FilePiece{"in/a", 0644, 0, 5, "hello"}));
    peer.send(wire::encode(wire::Start{.request = {.kinds = {{"copy", {}}}}}));
    Got got;
    read(peer, got, 1'000);
    REQUIRE(got.end);
    CHECK(got.end->outcome == wire::Outcome::complete);
    CHECK(got.events == 5);
    peer.send(wire::encode(wire::Fetch{got.capture_id, {"*.npy", "missing"}}));
    const auto piece = peer.receive(wire::FrameType::file);
    REQUIRE(piece);
    CHECK(wire::decode<wire::FilePiece>(piece->body).value() == wire::FilePiece{"b.npy", 0644, 0, 5, "hello"});
    const auto fetched = peer.receive(wire::FrameType::fetched);
    REQUIRE(fetched);
    CHECK(wire::decode<wire::Fetched>(fetched->body).value() == wire::Fetched{1, 5, "missing: no such file"});
    peer.send(wire::encode(wire::Discard{got.capture_id}));  // else it might come back for more
    while (!std::filesystem::is_empty(folder.path)) std::this_thread::yield();
  }
  agent.stop();
  CHECK(agent.join().ok());
  CHECK(std::filesystem::is_empty(folder.path));

  RunningAgent careful(synthetic_source({}));
  RawPeer peer = viewer(careful.address());
  peer.send(wire::encode(wire::FilePiece{"in/a", 0644, 0, 5, "hello"}));
  CHECK(contains(refusal(peer), "--allow-run"));
}

}  // namespace
}  // namespace accelscope::capture
