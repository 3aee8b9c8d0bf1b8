// What a viewer makes of an agent that breaks the rules: the message names the peer, what it did and where, and every
// event that came before stays.
#include <doctest/doctest.h>

#include <cstring>
#include <functional>
#include <map>

#include "core/chunk/chunk_format.h"
#include "core/store/store.h"
#include "tests/capture/wire/wire_support.h"

namespace accelscope::capture {
namespace {

struct Seen {
  client::AgentStatus status;
  std::uint64_t stored_events = 0;
  std::vector<QualityEntry> quality;
};

// Runs a viewer against an agent that says hello, waits for start, and then does as the test likes.
Seen watch(const std::function<void(RawPeer&)>& act, wire::Hello hello = agent_hello(),
           std::chrono::milliseconds silence = wire::LinkLimits{}.silence) {
  RawListener listener;
  Result<std::unique_ptr<Store>> store = Store::create();
  REQUIRE(store.ok());
  StoreSink sink(*store.value());
  client::ConnectionOptions options = connection_to(listener.address());
  options.limits.silence = silence;
  options.give_up = std::chrono::milliseconds(0);
  options.limits.farewell = std::chrono::milliseconds(200);
  TestConnection connection(options, sink);
  RawPeer peer = listener.accept();
  peer.send(wire::encode(hello));
  if (hello.major == wire::kProtocolMajor) {
    peer.send(wire::encode(wire::Welcome{}));
    REQUIRE(peer.receive(wire::FrameType::start));
    peer.send(wire::encode(wire::Started{.capture_id = "c4p7", .name = "a test", .controls = true}));
  }
  act(peer);
  REQUIRE(connection.wait_for(kPatience));
  const auto snapshot = store.value()->snapshot();
  Seen seen{connection.status(), snapshot->event_count, snapshot->quality};
  CHECK(contains(seen.status.peer, listener.address().text()));
  if (seen.status.phase == client::CapturePhase::failed)
    CHECK(contains(seen.status.message, listener.address().text()));
  return seen;
}

std::vector<wire::LaneTotal> count_lanes(const std::vector<wire::Frame>& frames, std::size_t first_frames) {
  std::map<LaneNumber, std::uint64_t> events;
  for (std::size_t i = 0; i < first_frames; ++i) {
    if (frames[i].header.type != wire::FrameType::chunk) continue;
    ChunkHeader header;
    std::memcpy(&header, frames[i].body.data(), sizeof header);
    events[header.lane] += header.count;
  }
  std::vector<wire::LaneTotal> totals;
  for (const auto& [lane, count] : events) totals.push_back({lane, count});
  return totals;
}

std::uint64_t count_events(const std::vector<wire::Frame>& frames, std::size_t first_frames) {
  std::uint64_t events = 0;
  for (const wire::LaneTotal& total : count_lanes(frames, first_frames)) events += total.events;
  return events;
}

// Closing a socket that holds unread bytes resets the connection and drops what is still under way, so the cut comes
// once everything has arrived.
void await_acknowledgement(RawPeer& peer, std::uint64_t sequence) {
  for (auto ack = peer.receive(wire::FrameType::received); ack; ack = peer.receive(wire::FrameType::received)) {
    if (wire::decode<wire::Received>(ack->body).value().sequence == sequence) return;
  }
}

const SyntheticStream kStreamed{.events = 200'000, .lanes = 2};

TEST_CASE("a connection that is cut between frames keeps what came and says who is gone") {
  const std::vector<wire::Frame> frames = frames_of(kStreamed);
  const std::size_t sent = frames.size() - 3;
  const Seen seen = watch([&](RawPeer& peer) {
    for (std::size_t i = 0; i < sent; ++i) peer.send(frames[i]);
    await_acknowledgement(peer, sent);
    peer.close();
  });
  CHECK(seen.status.phase == client::CapturePhase::failed);
  CHECK(seen.status.events == count_events(frames, sent));
  CHECK(seen.stored_events == seen.status.events);
  CHECK(seen.status.last_sequence == sent);
  CHECK(contains(seen.status.message, "accelscope-agent 1.2.3"));
  CHECK(contains(seen.status.message, "that came before are kept"));
  CHECK(contains(seen.status.message, "could not be made again"));
  REQUIRE(seen.quality.size() == 1);
  CHECK(seen.quality[0].kind == "connection_lost");
}

TEST_CASE("a connection that is cut within a frame says where, and loses only that frame") {
  const std::vector<wire::Frame> frames = frames_of(kStreamed);
  const std::size_t sent = frames.size() - 1;
  const Seen seen = watch([&](RawPeer& peer) {
    for (std::size_t i = 0; i < sent; ++i) peer.send(frames[i]);
    peer.send(std::as_bytes(std::span(&frames[sent].header, 1)));
    peer.send(ByteView(frames[sent].body).first(100));
    await_acknowledgement(peer, sent);
    peer.close();
  });
  CHECK(seen.status.phase == client::CapturePhase::failed);
  CHECK(seen.stored_events == count_events(frames, sent));
  CHECK(contains(seen.status.message, "in the middle of a chunk frame (132 of "));
}

TEST_CASE("an agent that falls silent within a frame is noticed") {
  const std::vector<wire::Frame> frames = frames_of(kStreamed);
  std::optional<RawPeer> held;
  const auto act = [&](RawPeer& peer) {
    peer.send(frames[0]);
    peer.send(std::as_bytes(std::span(&frames[1].header, 1)));
    held.emplace(std::move(peer));  // stays open, says nothing
  };
  const Seen seen = watch(act, agent_hello(), std::chrono::milliseconds(1500));
  CHECK(seen.status.phase == client::CapturePhase::failed);
  CHECK(seen.status.last_sequence == 1);
  CHECK(contains(seen.status.message, "has sent nothing for 1.5 s in the middle of a definition frame"));
}

TEST_CASE("an agent that sends garbage gets an error, and so does the user") {
  const Seen seen = watch(
      [](RawPeer& peer) { peer.send(std::as_bytes(std::span("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"))); });
  CHECK(seen.status.phase == client::CapturePhase::failed);
  CHECK(contains(seen.status.message, "not the start of a frame"));
}

TEST_CASE("something that is no agent at all is told apart before anything is started") {
  RawListener listener;
  Result<std::unique_ptr<Store>> store = Store::create();
  StoreSink sink(*store.value());
  TestConnection connection(connection_to(listener.address()), sink);
  RawPeer peer = listener.accept();
  peer.send(std::as_bytes(std::span("SSH-2.0-OpenSSH_9.2p1 Debian and more\r\n")));
  REQUIRE(connection.wait_for(kPatience));
  CHECK(connection.status().phase == client::CapturePhase::failed);
  CHECK(contains(connection.status().message, "not the start of a frame"));
}

TEST_CASE("a peer that never says hello is given up") {
  RawListener listener;
  Result<std::unique_ptr<Store>> store = Store::create();
  StoreSink sink(*store.value());
  client::ConnectionOptions options = connection_to(listener.address());
  options.limits.hello = std::chrono::milliseconds(100);
  TestConnection connection(options, sink);
  const RawPeer peer = listener.accept();
  REQUIRE(connection.wait_for(kPatience));
  CHECK(contains(connection.status().message, "has not said hello within 0.1 s"));
}

TEST_CASE("a frame with a wrong checksum is refused, and the agent learns why") {
  std::vector<wire::Frame> frames = frames_of(kStreamed);
  std::optional<wire::Frame> answer;
  const Seen seen = watch([&](RawPeer& peer) {
    peer.send(frames[0]);
    frames[1].header.checksum ^= 1;
    peer.send(frames[1]);
  });
  CHECK(seen.status.phase == client::CapturePhase::failed);
  CHECK(seen.status.last_sequence == 1);
  CHECK(contains(seen.status.message, "wrong checksum"));
}

TEST_CASE("a missing frame is an error that names its number") {
  const std::vector<wire::Frame> frames = frames_of(kStreamed);
  std::optional<wire::Frame> answer;
  const Seen seen = watch([&](RawPeer& peer) {
    for (const wire::Frame& frame : frames) {
      if (frame.header.sequence != 8) peer.send(frame);
    }
    answer = peer.receive(wire::FrameType::error);
  });
  CHECK(seen.status.phase == client::CapturePhase::failed);
  CHECK(seen.status.last_sequence == 7);
  CHECK(contains(seen.status.message, "left out frames 8 to 8"));
  REQUIRE(answer);
  CHECK(contains(wire::decode<wire::ErrorMessage>(answer->body).value().text, "left out frames 8 to 8"));
}

TEST_CASE("a frame that comes twice is taken once and counted") {
  const std::vector<wire::Frame> frames = frames_of(kStreamed);
  const Seen seen = watch([&](RawPeer& peer) {
    for (const wire::Frame& frame : frames) {
      peer.send(frame);
      if (frame.header.sequence % 5 == 0) peer.send(frame);
    }
    peer.send(wire::encode(wire::StreamEnd{wire::Outcome::complete, frames.size(), kStreamed.events, 0, "",
                                           count_lanes(frames, frames.size())}));
    REQUIRE(peer.receive(wire::FrameType::received));
  });
  CHECK(seen.status.phase == client::CapturePhase::ended);
  CHECK(seen.stored_events == kStreamed.events);
  CHECK(seen.status.doubled_frames == frames.size() / 5);
}

TEST_CASE("totals that do not agree with what came are reported with the number of lost events") {
  const std::vector<wire::Frame> frames = frames_of(kStreamed);
  const Seen seen = watch([&](RawPeer& peer) {
    for (const wire::Frame& frame : frames) peer.send(frame);
    wire::StreamEnd end{wire::Outcome::complete,           frames.size(), kStreamed.events + 123, 0, "",
                        count_lanes(frames, frames.size())};
    end.lanes.back().events += 123;
    peer.send(wire::encode(end));
    REQUIRE(peer.receive(wire::FrameType::received));
  });
  CHECK(seen.status.phase == client::CapturePhase::ended);
  CHECK(seen.status.lost_events == 123);
  CHECK(contains(seen.status.message, "123 events of 1 lanes were sent but never came"));
  REQUIRE(seen.quality.size() == 1);
  CHECK(seen.quality[0].kind == "lost_events");
  CHECK(seen.quality[0].count == 123);
}

TEST_CASE("a chunk that is damaged inside is refused although its frame is whole") {
  std::vector<wire::Frame> frames = frames_of(kStreamed);
  wire::Frame& last = frames.back();
  last.body[last.body.size() / 2] ^= std::byte{1};
  last = wire::make_frame(wire::FrameType::chunk, last.body, last.header.sequence);
  const Seen seen = watch([&](RawPeer& peer) {
    for (const wire::Frame& frame : frames) peer.send(frame);
    (void)peer.receive(wire::FrameType::error);
  });
  CHECK(seen.status.phase == client::CapturePhase::failed);
  CHECK(contains(seen.status.message, "cannot be kept"));
  CHECK(seen.stored_events == count_events(frames, frames.size() - 1));
}

TEST_CASE("an agent of a newer minor version works, and of another major version it is refused with what to update") {
  wire::Hello hello = agent_hello();
  hello.minor = wire::kProtocolMinor + 1;
  const std::vector<wire::Frame> frames = frames_of({.events = 10, .lanes = 1});
  const auto stream = [&](RawPeer& peer) {
    for (const wire::Frame& frame : frames) peer.send(frame);
    peer.send(wire::encode(wire::StreamEnd{wire::Outcome::complete, frames.size(), 10, 1, "", {{0, 10}}}));
    (void)peer.receive(wire::FrameType::received);
  };
  CHECK(watch(stream, hello).stored_events == 10);
  hello.major = wire::kProtocolMajor + 1;
  const Seen newer = watch(stream, hello);
  CHECK(newer.status.phase == client::CapturePhase::failed);
  CHECK(contains(newer.status.message, "; update accelscope"));
  CHECK_FALSE(contains(newer.status.message, "; update accelscope-agent"));
  hello.major = wire::kProtocolMajor - 1;
  CHECK(contains(watch(stream, hello).status.message, "; update accelscope-agent"));
}

TEST_CASE("where nobody listens, the message says so and what to try") {
  std::optional<RawListener> listener;
  listener.emplace();
  const system::Address address = listener->address();
  listener.reset();
  Result<std::unique_ptr<Store>> store = Store::create();
  StoreSink sink(*store.value());
  TestConnection connection(connection_to(address), sink);
  REQUIRE(connection.wait_for(kPatience));
  CHECK(connection.status().phase == client::CapturePhase::failed);
  CHECK(contains(connection.status().message, address.text()));
  CHECK(contains(connection.status().message, "start accelscope-agent"));
}

}  // namespace
}  // namespace accelscope::capture
