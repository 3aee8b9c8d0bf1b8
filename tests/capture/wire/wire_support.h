// For the tests of the wire: a source with a known number of events, an agent that runs beside the test, and peers
// that send whatever bytes the test likes.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "capture/agent/viewers/agent.h"
#include "capture/client/connection.h"

namespace accelscope::capture {

inline constexpr std::chrono::seconds kPatience{600};  // no awaited condition takes so long unless it is broken

// The definitions and chunks of `lanes` lanes with six typed columns; the lanes take turns of a whole chunk.
struct SyntheticStream {
  std::uint64_t events = 100'000;
  std::uint32_t lanes = 4;
};
Result<void> write_stream(const SyntheticStream& stream, EventSink& sink);
[[nodiscard]] agent::SourceFunction synthetic_source(SyntheticStream stream);
// Writes until the sink is cancelled or fails.
[[nodiscard]] agent::SourceFunction endless_source();

// The limits of links, short enough that a test need not wait for them.
[[nodiscard]] wire::LinkLimits quick_limits();
[[nodiscard]] client::ConnectionOptions connection_to(const system::Address& address);

// A viewer that keeps all scopes of a capture in one sink, or each in one of its own.
class OneSink final : public ingest::SinkProvider {
 public:
  explicit OneSink(EventSink& sink) : sink_(sink) {}
  EventSink& sink(std::uint32_t /*scope*/) override { return sink_; }

 private:
  EventSink& sink_;
};
struct OneSinkFeed {
  explicit OneSinkFeed(EventSink& sink) : provider(sink), feed(provider, feed_options()) {}
  [[nodiscard]] static client::AgentFeedOptions feed_options() {
    return {.clock = std::make_shared<ingest::SessionClock>()};
  }
  OneSink provider;
  client::AgentFeed feed;
};
class TestConnection : private OneSinkFeed, public client::Connection {
 public:
  TestConnection(client::ConnectionOptions options, EventSink& sink)
      : OneSinkFeed(sink), client::Connection(std::move(options), OneSinkFeed::feed) {
    begin();
  }
};

class RunningAgent {
 public:
  explicit RunningAgent(agent::SourceFunction source, agent::AgentOptions options = {});
  ~RunningAgent();
  [[nodiscard]] const system::Address& address() const { return agent_->address(); }
  void stop() { agent_->stop(); }
  // Waits until run() has returned.
  Result<void> join();
  [[nodiscard]] std::string log() const;
  Result<std::string> command(agent::ControlCommand what) { return agent_->command(what); }

 private:
  struct Log;
  std::shared_ptr<Log> log_;
  std::unique_ptr<agent::Agent> agent_;
  Result<void> outcome_;
  std::thread thread_;
};

// One end of a plain TCP connection.
class RawPeer {
 public:
  [[nodiscard]] static RawPeer connect_to(const system::Address& address);
  ~RawPeer();
  RawPeer(RawPeer&&) noexcept;

  bool send(ByteView bytes);  // false once the other side is gone
  bool send(const wire::Frame& frame);
  [[nodiscard]] std::optional<wire::Frame> receive();                      // nothing at the end of the stream
  [[nodiscard]] std::optional<wire::Frame> receive(wire::FrameType type);  // skips others
  void close();

  struct Implementation;
  explicit RawPeer(std::unique_ptr<Implementation> impl);

 private:
  std::unique_ptr<Implementation> impl_;
};

// Listens on a free port and hands out the first connection.
class RawListener {
 public:
  explicit RawListener(std::uint16_t port = 0);  // 0: the system's choice
  ~RawListener();
  [[nodiscard]] system::Address address() const;
  [[nodiscard]] RawPeer accept();

 private:
  struct Implementation;
  std::unique_ptr<Implementation> impl_;
};

[[nodiscard]] wire::Hello agent_hello();
[[nodiscard]] wire::Hello viewer_hello();
// The numbered frames of a stream as an agent would send them.
[[nodiscard]] std::vector<wire::Frame> frames_of(const SyntheticStream& stream);
[[nodiscard]] bool contains(const std::string& text, const std::string& part);

}  // namespace accelscope::capture
