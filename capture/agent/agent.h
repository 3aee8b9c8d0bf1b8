// The agent: listens, and runs a source for the viewer that connects and asks for it. One viewer at a time controls
// it; others are told that it is busy. What the source makes goes over the wire until the source ends, the viewer asks
// to stop, the agent is stopped, or the viewer is gone; then the next viewer may come.
//
//   auto agent = Agent::listen({.description = "simulated accelerator"}, [](EventSink& sink) { return simulate(sink);
//   }); print((*agent)->address().text());
//   (*agent)->run();                    // until stop(), or once: until the first capture is over
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "capture/wire/link.h"
#include "core/model/event_sink.h"

namespace accelscope::capture {

// Writes a whole capture into the sink; returns early once the sink is cancelled. Runs on a thread of its own, once
// for every viewer that starts it.
using SourceFunction = std::function<Result<void>(EventSink&)>;

inline constexpr std::uint64_t kDefaultWindowBytes = 64ULL << 20;

struct AgentOptions {
  Address listen;  // port 0: any free one
  std::string version;
  std::string description;                           // of what the source streams
  bool once = false;                                 // run() returns after the first capture
  bool stop_on_signals = false;                      // SIGINT and SIGTERM stop the agent in an orderly way
  std::uint64_t window_bytes = kDefaultWindowBytes;  // kept at most for a viewer that is behind
  std::size_t max_connections = 8;                   // beside the controlling viewer, these wait for their refusal
  LinkLimits limits;
  std::function<void(const std::string&)> log;  // a line for each step in the life of a connection
};

class Agent {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Agent>> listen(AgentOptions options, SourceFunction source);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  [[nodiscard]] const Address& address() const noexcept;
  // Fails, with `once`, if that capture did not reach its viewer whole.
  Result<void> run();
  void stop();  // any thread: ends a running capture in an orderly way, then run() returns

  struct Implementation;
  explicit Agent(std::unique_ptr<Implementation> impl);

 private:
  std::unique_ptr<Implementation> impl_;
};

}  // namespace accelscope::capture
