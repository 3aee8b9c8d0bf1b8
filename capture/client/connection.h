// The viewer's side of a capture at one agent: connects, starts a capture (or takes one up, or watches one), and feeds
// what comes into the session on a thread of its own. When the connection breaks it is made anew and the capture taken
// up where it broke off. Everything that came before a failure stays in the session.
//
//   AgentFeed feed(store, {...});
//   Connection connection({.connector = tcp_connector(address, {}), .place = "127.0.0.1:7420"}, feed);
//   connection.begin();
//   ... connection.status() once per frame ...
//   connection.stop();   // orderly: what the agent has sealed still comes
//   connection.wait();   // until it has ended or failed
//
// All functions may be called from any thread. The destructor closes at once (after an end: as soon as the last
// acknowledgement is out).
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "capture/client/capture_status.h"
#include "capture/ingest/session_clock.h"
#include "capture/ingest/stream_ingest.h"
#include "capture/log/frame_log.h"
#include "capture/security/secrets.h"
#include "capture/wire/connector.h"
#include "capture/wire/messages.h"

namespace accelscope::capture::client {

// What comes from one agent on its way into the session: into the recovery file, then into the store, one scope for
// each kind of the capture, with the host's clock brought onto the session's time. No sockets in here: the same code
// reads a recovery file that a dead process left. One thread at a time.

// The hosts of a session: two agents on one host, or hosts of one name, are told apart by their places.
class HostNames {
 public:
  // The host's name, with the place's port if another place has that name already. Any thread.
  [[nodiscard]] std::string name(const std::string& host, const std::string& place);
  [[nodiscard]] const std::shared_ptr<ingest::HostFacts>& facts() const noexcept { return facts_; }

 private:
  std::shared_ptr<ingest::HostFacts> facts_ = std::make_shared<ingest::HostFacts>();
  std::mutex mutex_;
  std::map<std::string, std::string> places_;  // by host
};

struct AgentFeedOptions {
  std::string place;
  std::shared_ptr<HostNames> hosts;  // none: the name is taken as it is
  std::shared_ptr<ingest::SessionClock> clock;
  bool reference = true;         // the session's time is this agent's
  bool names_host = false;       // on tracks: there are several hosts
  std::filesystem::path folder;  // of the recovery file; "": none is kept
};

class AgentFeed final : public ingest::SinkProvider {
 public:
  // The sinks are asked for with the scopes of the wire.
  AgentFeed(ingest::SinkProvider& sinks, AgentFeedOptions options);

  // Reads what a former process left in the folder, and goes on there. Damage is counted in the quality report.
  Result<void> replay();

  Result<void> begin(const wire::Started& started, const std::string& host);  // also when a capture was taken up again
  Result<void> take(wire::Frame frame);
  Result<void> take(const wire::Gap& gap);
  Result<std::string> finish(const wire::StreamEnd& end);  // see StreamIngest::finish()
  Result<void> add_clock(const ClockPair& pair);
  Result<void> tick(bool last = false);  // tells the store what is known better of the clock
  Result<void> note(const QualityEntry& entry) { return sink(0).define(entry); }

  EventSink& sink(std::uint32_t scope) override;

  [[nodiscard]] const ingest::StreamIngest& counts() const noexcept { return ingest_; }
  [[nodiscard]] std::uint64_t durable() const noexcept;  // highest number in the recovery file that is on the disk
  [[nodiscard]] const std::string& unsafe() const noexcept { return unsafe_; }  // why no more is kept there; "": it is
  [[nodiscard]] const ingest::HostClock& clock() const noexcept { return clock_; }
  [[nodiscard]] const log::FrameLogFacts& facts() const noexcept { return facts_; }

 private:
  Result<void> log(const wire::Frame& frame);
  Result<void> write_facts();
  Result<void> lose_log(const Error& why);
  Result<void> keep_log_safe();
  void replay(const wire::Frame& frame);
  [[nodiscard]] std::string host() const { return host_.empty() ? options_.place : host_; }

  ingest::SinkProvider& sinks_;
  AgentFeedOptions options_;
  ingest::HostClock clock_;
  ingest::StreamIngest ingest_;
  std::map<std::uint32_t, std::unique_ptr<ingest::HostClockSink>> scopes_;
  std::unique_ptr<log::FrameLog> log_;
  log::FrameLogFacts facts_;
  std::string unsafe_;
  std::string host_;
  std::vector<ClockAnchor> map_;  // host ns -> session ns, as the store has it
};

// A reading of clocks as it is kept in a recovery file.
[[nodiscard]] wire::Frame encode_clock_pair(const ClockPair& pair);
[[nodiscard]] Result<ClockPair> decode_clock_pair(ByteView body);

struct ConnectionOptions {
  wire::Connector connector;
  std::string place;        // as the user named it, for messages
  std::string description;  // for the agent's log: who looks
  std::string viewer_id;    // of this program's run: lets the agent tell a viewer that comes back from another one
  wire::Start start;        // the first of all; later ones take up what it began
  std::vector<std::string> send;                 // files and folders that go to the agent before it starts
  std::filesystem::path results_folder;          // where start.request.results go
  bool replaces_results = false;                 // files that are there already; else they are left, and named
  std::uint64_t window_bytes = 64 << 20;         // the agent sends at most so much ahead of what is stored
  std::chrono::milliseconds give_up{60'000};     // without a connection that brings anything
  std::chrono::milliseconds begin_limit{5'000};  // the same before the capture has begun: somebody waits for it
  std::chrono::milliseconds stop_limit{30'000};  // after stop(), without anything coming
  bool stay_after_end = true;  // keeps the connection for saved() and discard(); else it is closed at the end
  wire::LinkLimits limits;
  // The agent's secret, if one is known; asked for at each connection. Quick. None: no secret is known.
  std::function<Result<std::optional<security::Token>>()> token;
  // The token was given for this very agent: one that asks for none is another one, and is sent nothing.
  bool must_prove = false;
  std::function<void()> ask_token;       // the agent wants one: set_token() is called later; none: that is an error
  std::function<std::int64_t()> now_ns;  // the viewer's clock; none: a steady one
};

class Connection {
 public:
  // The feed must outlive the connection, which alone uses it.
  Connection(ConnectionOptions options, AgentFeed& feed);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void begin();  // connects in the background
  [[nodiscard]] AgentStatus status() const;
  [[nodiscard]] bool done() const;                                     // ended or failed
  void wait() const;                                                   // until done
  [[nodiscard]] bool wait_for(std::chrono::milliseconds limit) const;  // true once done
  void set_paused(bool paused);
  void stop();
  void leave();                                          // stops what we control, and hangs up on what we watch
  void set_token(std::optional<security::Token> token);  // after ask_token; nothing: the user knows none
  void saved();                                          // everything that came is in a session file
  void discard();                                        // nobody wants the capture any more
  void close();                                          // waits until what was said is sent

 private:
  struct Implementation;
  std::unique_ptr<Implementation> impl_;
};

}  // namespace accelscope::capture::client
