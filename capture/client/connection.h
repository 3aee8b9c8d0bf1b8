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
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/client/agent_feed.h"
#include "capture/client/capture_status.h"
#include "capture/security/token.h"
#include "capture/wire/capture_messages.h"
#include "capture/wire/connector.h"

namespace accelscope::capture::client {

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
