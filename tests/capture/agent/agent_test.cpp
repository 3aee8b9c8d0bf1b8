// What an agent does for its viewers, good and bad ones.

#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <future>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "capture/agent/viewers/agent.h"
#include "capture/wire/messages.h"
#include "tests/capture/recording_sink.h"
#include "tests/capture/wire/wire_support.h"

namespace accelscope::capture {
namespace {

// A source that says when it has begun and when it has returned, and writes until it is told to stop.
struct WatchedSource {
  std::promise<void> begun;
  std::promise<Result<void>> ended;
  std::atomic<std::uint64_t> chunks{0};

  agent::SourceFunction function() {
    return [this](EventSink& sink) {
      begun.set_value();
      struct Counting final : EventSink {
        Counting(EventSink& inner_sink, std::atomic<std::uint64_t>& count) : inner(inner_sink), chunks(count) {}
        Result<void> define(const Definition& definition) override { return inner.define(definition); }
        Result<void> append(SealedChunk chunk) override {
          Result<void> done = inner.append(std::move(chunk));
          chunks.fetch_add(done.ok() ? 1 : 0);
          return done;
        }
        [[nodiscard]] bool cancelled() const override { return inner.cancelled(); }
        EventSink& inner;
        std::atomic<std::uint64_t>& chunks;
      } counting(sink, chunks);
      Result<void> result = endless_source()(counting);
      ended.set_value(result);
      return result;
    };
  }
};

template <typename T>
T await(std::future<T> future) {
  REQUIRE(future.wait_for(kPatience) == std::future_status::ready);
  return future.get();
}

RawPeer greeted_viewer(const system::Address& address, const wire::Hello& hello = viewer_hello()) {
  RawPeer peer = RawPeer::connect_to(address);
  peer.send(wire::encode(hello));
  return peer;
}

// What the next viewer sees once the agent has let go of the one before.
client::AgentStatus next_viewer(const system::Address& address) {
  client::AgentStatus status;
  do {
    RecordingSink sink;
    TestConnection connection(connection_to(address), sink);
    REQUIRE(connection.wait_for(kPatience));
    status = connection.status();
  } while (contains(status.message, "serves another viewer") || contains(status.message, "that broke off"));
  return status;
}

TEST_CASE("stopping from the viewer ends the source, and all it made arrives") {
  RunningAgent agent(endless_source(), {.once = true});
  RecordingSink sink;
  TestConnection connection(connection_to(agent.address()), sink);
  while (connection.status().events == 0 && !connection.done()) std::this_thread::yield();
  connection.stop();
  REQUIRE(connection.wait_for(kPatience));
  const client::AgentStatus status = connection.status();
  CHECK(status.phase == client::CapturePhase::ended);
  CHECK(status.outcome == wire::Outcome::stopped);
  CHECK(status.lost_events == 0);
  CHECK(status.events == sink.event_count);
  CHECK(contains(status.message, "stopped by the viewer"));
  CHECK(agent.join().ok());
}

TEST_CASE("stopping the agent ends the capture in order, and all it made arrives") {
  RunningAgent agent(endless_source());
  RecordingSink sink;
  TestConnection connection(connection_to(agent.address()), sink);
  while (connection.status().events == 0 && !connection.done()) std::this_thread::yield();
  agent.stop();
  REQUIRE(connection.wait_for(kPatience));
  CHECK(connection.status().phase == client::CapturePhase::ended);
  CHECK(connection.status().outcome == wire::Outcome::stopped);
  CHECK(connection.status().lost_events == 0);
  CHECK(contains(connection.status().message, "the agent was stopped"));
  CHECK(agent.join().ok());
}

TEST_CASE("a source that fails tells the viewer why, and what came is kept") {
  RunningAgent agent(
      [](EventSink& sink) -> Result<void> {
        if (Result<void> done = write_stream({.events = 500, .lanes = 1}, sink); !done) return done;
        return Error{"device 3 fell off the bus; reset it"};
      },
      {.once = true});
  RecordingSink sink;
  TestConnection connection(connection_to(agent.address()), sink);
  REQUIRE(connection.wait_for(kPatience));
  CHECK(connection.status().phase == client::CapturePhase::failed);
  CHECK(contains(connection.status().message, "device 3 fell off the bus"));
  CHECK(sink.event_count == 500);
  CHECK_FALSE(agent.join().ok());
}

TEST_CASE("a source that throws is an error, not the end of the agent") {
  RunningAgent agent([](EventSink&) -> Result<void> { throw std::runtime_error("no such driver"); }, {.once = true});
  RecordingSink sink;
  TestConnection connection(connection_to(agent.address()), sink);
  REQUIRE(connection.wait_for(kPatience));
  CHECK(contains(connection.status().message, "no such driver"));
}

TEST_CASE("a second viewer is told that the agent is busy and with whom, and later it is served") {
  WatchedSource source;
  RunningAgent agent([&source, runs = std::make_shared<int>(0)](EventSink& sink) {
    return (*runs)++ == 0 ? source.function()(sink) : write_stream({.events = 10, .lanes = 1}, sink);
  });
  RecordingSink first_sink;
  TestConnection first(connection_to(agent.address()), first_sink);
  await(source.begun.get_future());
  {
    RecordingSink sink;
    TestConnection second(connection_to(agent.address()), sink);
    REQUIRE(second.wait_for(kPatience));
    CHECK(second.status().phase == client::CapturePhase::failed);
    CHECK(contains(second.status().message, "serves another viewer"));
    CHECK(contains(second.status().message, "accelscope " ACCELSCOPE_VERSION));
  }
  first.stop();
  REQUIRE(first.wait_for(kPatience));
  CHECK(first.status().phase == client::CapturePhase::ended);
  first.close();
  const client::AgentStatus third = next_viewer(agent.address());
  CHECK(third.phase == client::CapturePhase::ended);
  CHECK(third.events == 10);
}

TEST_CASE("a viewer that never reads cannot make the agent keep more than its buffer, and is given up") {
  WatchedSource source;
  agent::AgentOptions options;
  options.once = true;
  options.outbox.buffer_bytes = 4U << 20;
  options.orphan_limit = std::chrono::milliseconds(50);
  options.limits = quick_limits();
  options.limits.stall = std::chrono::milliseconds(400);
  RunningAgent agent(source.function(), options);
  RawPeer peer = greeted_viewer(agent.address());
  peer.send(wire::encode(wire::Start{}));
  // Heartbeats go on, but nothing is read: the window fills, the source waits, and the agent notices.
  std::future<Result<void>> ended = source.ended.get_future();
  const wire::Frame heartbeat = wire::make_frame(wire::FrameType::heartbeat, {});
  const auto patience_ends = std::chrono::steady_clock::now() + kPatience;
  while (ended.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) {
    REQUIRE(std::chrono::steady_clock::now() < patience_ends);
    peer.send(heartbeat);
  }
  (void)ended.get();
  const std::vector<wire::Frame> frames = frames_of({.events = 16'384, .lanes = 1});
  CHECK(source.chunks.load() <=
        options.outbox.buffer_bytes / frames.back().wire_bytes() + 2);  // and the one it was held back with
  const Result<void> outcome = agent.join();
  REQUIRE_FALSE(outcome.ok());
  CHECK(contains(outcome.message(), "before the capture was delivered"));
}

TEST_CASE("a viewer that reads but never acknowledges holds the source at the window") {
  WatchedSource source;
  agent::AgentOptions options;
  options.window_bytes = 1U << 20;
  options.outbox.buffer_bytes = 2U << 20;
  RunningAgent agent(source.function(), options);
  RawPeer peer = greeted_viewer(agent.address());
  peer.send(wire::encode(wire::Start{}));
  std::uint64_t bytes = 0;
  std::uint64_t last = 0;
  std::uint64_t queued = 0;
  // The progress report comes when the source has waited for a second.
  while (auto frame = peer.receive()) {
    if (frame->header.sequence != 0) {
      bytes += frame->wire_bytes();
      last = frame->header.sequence;
    }
    if (frame->header.type != wire::FrameType::progress) continue;
    queued = wire::decode<wire::ProgressReport>(frame->body).value().queued_bytes;
    break;
  }
  CHECK(bytes <= options.window_bytes);
  CHECK(queued <= options.outbox.buffer_bytes);
  peer.send(wire::encode(wire::Received{last}));
  const auto next = peer.receive(wire::FrameType::chunk);
  REQUIRE(next);
  CHECK(next->header.sequence == last + 1);
}

TEST_CASE("a window smaller than a chunk still lets one chunk through at a time") {
  RunningAgent agent(synthetic_source({.events = 100'000, .lanes = 2}));
  RecordingSink sink;
  client::ConnectionOptions options = connection_to(agent.address());
  options.window_bytes = 100;
  TestConnection connection(options, sink);
  REQUIRE(connection.wait_for(kPatience));
  CHECK(connection.status().phase == client::CapturePhase::ended);
  CHECK(sink.event_count == 100'000);
}

TEST_CASE("a viewer of another major version learns which side to update") {
  RunningAgent agent(synthetic_source({}));
  for (const auto& [major, side] : {std::pair<std::uint16_t, std::string>{wire::kProtocolMajor + 1, "accelscope-agent"},
                                    std::pair<std::uint16_t, std::string>{wire::kProtocolMajor - 1, "accelscope"}}) {
    wire::Hello hello = viewer_hello();
    hello.major = major;
    RawPeer peer = greeted_viewer(agent.address(), hello);
    const auto error = peer.receive(wire::FrameType::error);
    REQUIRE(error);
    const wire::ErrorMessage message = wire::decode<wire::ErrorMessage>(error->body).value();
    CHECK(message.code == wire::ErrorCode::version);
    CHECK(message.text.ends_with("; update " + side));
  }
}

TEST_CASE("garbage, floods, early and impossible frames end a connection, and the agent serves the next viewer") {
  agent::AgentOptions options;
  options.limits = quick_limits();
  options.limits.farewell = std::chrono::milliseconds(200);
  options.limits.control_frames_per_tick = 50;  // what an agent that is slowed down by others still reads in a tick
  RunningAgent agent(synthetic_source({.events = 10, .lanes = 1}), options);
  {
    RawPeer garbage = RawPeer::connect_to(agent.address());
    garbage.send(std::as_bytes(std::span("GET / HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n")));
    CHECK_FALSE(garbage.receive(wire::FrameType::start));
    RawPeer early = RawPeer::connect_to(agent.address());
    early.send(wire::encode(wire::Start{}));
    CHECK_FALSE(early.receive(wire::FrameType::chunk));
    RawPeer twice = greeted_viewer(agent.address());
    twice.send(wire::encode(viewer_hello()));
    CHECK(twice.receive(wire::FrameType::error));
  }
  CHECK(next_viewer(agent.address()).events == 10);
  {
    RawPeer liar = greeted_viewer(agent.address());
    liar.send(wire::encode(wire::Start{}));
    liar.send(wire::encode(wire::Received{1'000'000}));
    CHECK(liar.receive(wire::FrameType::error));
  }
  CHECK(next_viewer(agent.address()).events == 10);
  {
    RawPeer flood = greeted_viewer(agent.address());
    const wire::Frame heartbeat = wire::make_frame(wire::FrameType::heartbeat, {});
    Bytes many;
    for (int i = 0; i < 20'000; ++i) {
      const auto bytes = std::as_bytes(std::span(&heartbeat.header, 1));
      many.insert(many.end(), bytes.begin(), bytes.end());
    }
    while (flood.send(ByteView(many))) {
    }
  }
  const client::AgentStatus status = next_viewer(agent.address());
  CHECK(status.phase == client::CapturePhase::ended);
  CHECK(status.events == 10);
  CHECK(contains(agent.log(), "not the start of a frame"));
  CHECK(contains(agent.log(), "began with a start frame"));
  CHECK(contains(agent.log(), "which it cannot have"));
  CHECK(contains(agent.log(), "floods this side"));
}

TEST_CASE("a viewer that dies and does not come back frees the source, with a log line that counts what was lost") {
  WatchedSource source;
  agent::AgentOptions options;
  options.once = true;
  options.orphan_limit = std::chrono::milliseconds(50);
  RunningAgent agent(source.function(), options);
  {
    RawPeer peer = greeted_viewer(agent.address());
    peer.send(wire::encode(wire::Start{}));
    await(source.begun.get_future());
    REQUIRE(peer.receive(wire::FrameType::chunk));
  }
  (void)await(source.ended.get_future());
  CHECK_FALSE(agent.join().ok());
  CHECK(contains(agent.log(), "frames were not acknowledged"));
}

// Prometheus' text format 0.0.4: of every family HELP, TYPE and then its samples, "NAME{LABELS} VALUE".
std::map<std::string, double> parsed_metrics(const std::string& text) {
  std::map<std::string, double> samples;
  std::set<std::string> families;
  std::string family, type;
  CHECK(text.ends_with('\n'));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    std::istringstream words(line);
    std::string first, second, name;
    words >> first >> second >> name;
    if (first == "#" && second == "HELP") {
      CHECK(families.insert(name).second);
      family = name;
      type.clear();
    } else if (first == "#") {
      CHECK(second == "TYPE");
      CHECK(name == family);
      words >> type;
      CHECK((type == "counter" || type == "gauge"));
      CHECK((type == "counter") == name.ends_with("_total"));
    } else {
      CHECK_FALSE(type.empty());
      CHECK(first.substr(0, first.find('{')) == family);
      CHECK(first.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == first.find('{'));
      char* end = nullptr;
      const double value = std::strtod(second.c_str(), &end);
      CHECK(*end == '\0');
      CHECK(samples.emplace(first, value).second);
    }
  }
  return samples;
}

TEST_CASE("an agent's metrics count clients, captures, events and bytes, and counts never fall") {
  agent::AgentOptions options;
  options.listen = {.host = "127.0.0.1", .port = 0};
  const auto listening = agent::Agent::listen(options, synthetic_source({}));
  REQUIRE_MESSAGE(listening.ok(), listening.message());
  agent::Agent& agent = **listening;
  std::jthread thread([&agent] { (void)agent.run(); });
  const auto before = parsed_metrics(agent.metrics());
  CHECK(before.at("accelscope_agent_captures_total") == 0);
  CHECK(before.at("accelscope_agent_clients") == 0);
  CHECK(before.at("accelscope_agent_dropped_events_total") == 0);
  CHECK(before.at("process_resident_memory_bytes") > 0);
  CHECK(before.at("accelscope_agent_uptime_seconds") >= 0);
  CHECK(agent.metrics().find("accelscope_agent_info{version=\"") != std::string::npos);
  std::uint64_t events = 0;
  {
    RawPeer peer = greeted_viewer(agent.address());
    peer.send(wire::encode(wire::Start{}));
    const auto end = peer.receive(wire::FrameType::end);
    REQUIRE(end);
    events = wire::decode<wire::StreamEnd>(end->body).value().events;
    const auto during = parsed_metrics(agent.metrics());
    CHECK(during.at("accelscope_agent_clients") == 1);
    CHECK(during.at("accelscope_agent_captures_total") == 1);
    CHECK(during.at("accelscope_agent_captures{state=\"ended\"}") == 1);
    CHECK(during.at("accelscope_agent_events_total") == static_cast<double>(events));
    CHECK(during.at("accelscope_agent_waiting_bytes") > 0);
    CHECK(during.at("accelscope_agent_sent_bytes_total") > during.at("accelscope_agent_waiting_bytes") / 2);
    peer.close();
  }
  std::map<std::string, double> after;
  do after = parsed_metrics(agent.metrics());
  while (after.at("accelscope_agent_clients") > 0);
  for (const char* name :
       {"accelscope_agent_captures_total", "accelscope_agent_events_total", "accelscope_agent_connections_total"})
    CHECK(after.at(name) >= 1);
  CHECK(after.at("accelscope_agent_events_total") == static_cast<double>(events));
  CHECK(after.at("accelscope_agent_sent_bytes_total") > 0);
  agent.stop();
}

TEST_CASE("an agent asked for anything but loopback, or for a port in use, says why it cannot") {
  RunningAgent agent(synthetic_source({}));
  agent::AgentOptions options;
  options.listen = agent.address();
  const Result<std::unique_ptr<agent::Agent>> second = agent::Agent::listen(options, synthetic_source({}));
  REQUIRE_FALSE(second.ok());
  CHECK(contains(second.message(), agent.address().text()));
  CHECK(contains(second.message(), "is another agent running?"));
}

}  // namespace
}  // namespace accelscope::capture
