// The viewer's side of a connection to an agent: connects, starts the agent's source and feeds a sink (a store's
// scope) on a thread of its own. Everything that came before a failure stays in the sink.
//
//   StoreSink sink(store);
//   Connection connection({.address = *parse_address("127.0.0.1:7420")}, sink);
//   ... connection.status() once per frame ...
//   connection.stop();   // orderly: what the agent has sealed still comes
//   connection.wait();   // until it has ended or failed
//
// All functions may be called from any thread. The destructor closes at once (after an end: as soon as the last
// acknowledgement is out).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "capture/wire/link.h"
#include "capture/wire/messages.h"
#include "core/model/event_sink.h"

namespace accelscope::capture {

struct ConnectionOptions {
  Address address;
  std::string version;                           // of this program
  std::string description;                       // for the agent's log: who looks
  std::uint64_t window_bytes = 64ULL << 20;      // the agent sends at most so much ahead of what is stored
  bool stay_after_end = false;                   // keeps the connection for acknowledge_durable() until close()
  std::chrono::milliseconds stop_limit{10'000};  // for the agent to end after stop()
  LinkLimits limits;
};

enum class ConnectionState : std::uint8_t { connecting, streaming, stopping, ended, failed };

struct ConnectionStatus {
  ConnectionState state = ConnectionState::connecting;
  std::string peer;         // "127.0.0.1:7420 (accelscope-agent 0.1.0)"
  std::string description;  // what the agent streams
  std::string session_id;
  std::uint64_t events = 0;
  std::uint64_t chunks = 0;
  std::uint64_t bytes = 0;          // that came over the wire
  std::uint64_t last_sequence = 0;  // everything up to this frame is in the sink
  std::uint64_t doubled_frames = 0;
  std::uint64_t lost_events = 0;  // by the agent's totals, once ended
  double streaming_seconds = 0;   // since the source was started, until the end
  double events_per_second = 0;   // of the last second
  double bytes_per_second = 0;
  ProgressReport agent;                 // the agent's last report
  Outcome outcome = Outcome::complete;  // once ended
  std::string message;                  // failed: what is wrong and what to try; ended: why, if not by itself
};

class Connection {
 public:
  // Connects in the background; the sink must outlive the connection.
  Connection(ConnectionOptions options, EventSink& sink);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] ConnectionStatus status() const;
  [[nodiscard]] bool done() const;                                     // ended or failed
  void wait() const;                                                   // until done
  [[nodiscard]] bool wait_for(std::chrono::milliseconds limit) const;  // true once done
  void stop();
  // Tells the agent that everything up to this frame (ConnectionStatus::last_sequence) is in a saved file.
  void acknowledge_durable(std::uint64_t sequence);
  void close();  // with stay_after_end; waits until what was said is sent

 private:
  struct Implementation;
  std::unique_ptr<Implementation> impl_;
};

}  // namespace accelscope::capture
