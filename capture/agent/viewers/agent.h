// The agent: listens, and captures for the viewer that connects and asks for it. One viewer at a time controls a
// capture; others may watch. A capture goes on when its viewer breaks off, up to the outbox's limits, and is taken up
// again by its id; with a spool it even outlives the agent's own process.
//
//   auto agent = Agent::listen({.description = "simulated accelerator"}, [](EventSink& sink) { return simulate(sink);
//   }); print((*agent)->address().text());
//   (*agent)->run();                    // until stop(), or once: until the first capture is over
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "capture/agent/run/capture_run.h"
#include "capture/agent/run/outbox.h"
#include "capture/request/kind.h"
#include "capture/security/agent_gate.h"
#include "capture/wire/link.h"
#include "core/chunk/event_sink.h"

namespace accelscope::capture::agent {

inline constexpr std::uint64_t kDefaultWindowBytes = 64ULL << 20;

// The kinds that an agent has, and what runs them: see capture/request/kind.h.
struct AgentKinds {
  std::function<std::vector<request::KindFacts>()> list;  // with checks
  // One part for each kind of the request. Fails with what is wrong with it.
  std::function<Result<std::vector<SourcePart>>(const request::CaptureRequest& request, const std::string& work_folder,
                                                std::chrono::steady_clock::time_point origin)>
      parts;
  // Of a request that has parts: a line for people. Optional.
  std::function<std::string(const request::CaptureRequest& request, const std::string& work_folder)> describe;
};

struct AgentOptions {
  system::Address listen;        // port 0: any free one
  std::string description;       // of what the source streams
  std::string name = "capture";  // of captures that the viewer gives none
  bool once = false;             // run() returns after the first capture
  bool stop_on_signals = false;  // SIGINT and SIGTERM stop the agent in an orderly way
  OutboxOptions outbox;
  std::string spool_folder;  // "": none; holds a folder for each capture
  // The source makes the same frames each time, and this says which: an agent that died goes on where its spool ends.
  std::string repeats;
  bool own_time = false;                             // the source's events are not in capture time: see CaptureKind
  std::string scratch_folder;                        // for the files of captures; "": the system's temporary folder
  std::uint64_t window_bytes = kDefaultWindowBytes;  // sent at most ahead of a viewer's acknowledgements
  std::size_t max_watchers = 8;
  // A capture without a viewer and without a spool is given up after so long.
  std::chrono::milliseconds orphan_limit{60'000};
  std::chrono::milliseconds idle_exit{0};  // run() returns after so long without viewer and capture; 0: never
  bool may_run = false;                    // starts programs for its controlling viewer
  AgentKinds kinds;
  security::AgentSecrets secrets;          // see prepare_agent_secrets()
  std::vector<request::KindChoice> fixed;  // what a start without kinds captures, if there is no source of another make
  wire::LinkLimits limits;
  // A line for each step in the life of a connection, a capture or a spool; from more than one thread.
  std::function<void(const std::string&)> log;
};

class Agent {
 public:
  // source: what a start without kinds captures; empty: AgentOptions::fixed, or kinds must be given.
  [[nodiscard]] static Result<std::unique_ptr<Agent>> listen(AgentOptions options, SourceFunction source);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  [[nodiscard]] const system::Address& address() const noexcept;
  // Fails, with `once`, if that capture did not reach its viewer whole.
  Result<void> run();
  [[nodiscard]] bool interrupted() const noexcept;  // after run(): it was ended by Ctrl+C
  void stop();  // any thread: ends a running capture in an orderly way, then run() returns

  // From another shell (any thread, waits for the answer): what happened, or why not.
  Result<std::string> command(ControlCommand what);
  // The agent's state in Prometheus' text format 0.0.4. Any thread; "" if the agent does not answer in time.
  [[nodiscard]] std::string metrics();

  struct Implementation;
  explicit Agent(std::unique_ptr<Implementation> impl);

 private:
  std::unique_ptr<Implementation> impl_;
};

}  // namespace accelscope::capture::agent
