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

inline constexpr std::chrono::seconds kPatience{20};  // no awaited condition takes so long unless it is broken

// The definitions and chunks of `lanes` lanes with six typed columns; the lanes take turns of a whole chunk.
struct SyntheticStream {
  std::uint64_t events = 100'000;
  std::uint32_t lanes = 4;
};
Result<void> write_stream(const SyntheticStream& stream, EventSink& sink);
[[nodiscard]] SourceFunction synthetic_source(SyntheticStream stream);
// Writes until the sink is cancelled or fails.
[[nodiscard]] SourceFunction endless_source();

// The limits of links, short enough that a test need not wait for them.
[[nodiscard]] LinkLimits quick_limits();
[[nodiscard]] ConnectionOptions connection_to(const Address& address);

// A viewer that keeps all scopes of a capture in one sink, or each in one of its own.
class OneSink final : public SinkProvider {
 public:
  explicit OneSink(EventSink& sink) : sink_(sink) {}
  EventSink& sink(std::uint32_t /*scope*/) override { return sink_; }

 private:
  EventSink& sink_;
};
struct OneSinkFeed {
  explicit OneSinkFeed(EventSink& sink) : provider(sink), feed(provider, feed_options()) {}
  [[nodiscard]] static AgentFeedOptions feed_options() { return {.clock = std::make_shared<SessionClock>()}; }
  OneSink provider;
  AgentFeed feed;
};
class TestConnection : private OneSinkFeed, public Connection {
 public:
  TestConnection(ConnectionOptions options, EventSink& sink)
      : OneSinkFeed(sink), Connection(std::move(options), OneSinkFeed::feed) {
    begin();
  }
};

class RunningAgent {
 public:
  explicit RunningAgent(SourceFunction source, AgentOptions options = {});
  ~RunningAgent();
  [[nodiscard]] const Address& address() const { return agent_->address(); }
  void stop() { agent_->stop(); }
  // Waits until run() has returned.
  Result<void> join();
  [[nodiscard]] std::string log() const;

 private:
  struct Log;
  std::shared_ptr<Log> log_;
  std::unique_ptr<Agent> agent_;
  Result<void> outcome_;
  std::thread thread_;
};

// One end of a plain TCP connection.
class RawPeer {
 public:
  [[nodiscard]] static RawPeer connect_to(const Address& address);
  ~RawPeer();
  RawPeer(RawPeer&&) noexcept;

  bool send(ByteView bytes);  // false once the other side is gone
  bool send(const Frame& frame);
  [[nodiscard]] std::optional<Frame> receive();                // nothing at the end of the stream
  [[nodiscard]] std::optional<Frame> receive(FrameType type);  // skips others
  void close();

  struct Implementation;
  explicit RawPeer(std::unique_ptr<Implementation> impl);

 private:
  std::unique_ptr<Implementation> impl_;
};

// Listens on a free port and hands out the first connection.
class RawListener {
 public:
  RawListener();
  ~RawListener();
  [[nodiscard]] Address address() const;
  [[nodiscard]] RawPeer accept();

 private:
  struct Implementation;
  std::unique_ptr<Implementation> impl_;
};

[[nodiscard]] Hello agent_hello();
[[nodiscard]] Hello viewer_hello();
// The numbered frames of a stream as an agent would send them.
[[nodiscard]] std::vector<Frame> frames_of(const SyntheticStream& stream);
[[nodiscard]] bool contains(const std::string& text, const std::string& part);

}  // namespace accelscope::capture
