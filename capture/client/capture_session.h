// A session that is being captured: one store, fed by one agent or several, each over a connection that is taken up
// again when it breaks; a recovery folder that outlives this process; the clocks of all hosts brought onto one time.
// Used by the viewer and by `accelscope record` alike. All functions may be called from any thread and never wait,
// except where they say so.
//
//   auto session = CaptureSession::begin(plan, store, options);
//   ... session->status() once per frame; session->question() and answer() ...
//   session->stop();  session->wait();  store->save(path);  session->saved();
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/client/capture_plan.h"
#include "capture/wire/link.h"
#include "capture/wire/messages.h"
#include "core/store/store.h"

namespace accelscope::capture {

enum class CapturePhase : std::uint8_t {
  preparing,     // reaching the host: ssh, copying the agent, connecting, asking
  streaming,     // events may come
  paused,        // by the user
  reconnecting,  // the connection broke; trying again
  stopping,      // asked to end; what is sealed still comes
  ended,         // in order
  failed,        // for good; what came is kept
};

struct AgentStatus {
  std::string place;  // as in the plan
  std::string host;   // the machine's own name, once known
  std::string peer;   // "127.0.0.1:7420 (accelscope-agent 0.1.0)"
  CapturePhase phase = CapturePhase::preparing;
  std::string step;     // while preparing: "copying accelscope-agent (3.1 MB)"
  std::string message;  // failed: what is wrong and what to try; reconnecting: what broke
  std::string name;     // of the capture
  std::string description;
  std::string capture_id;
  std::string controller;  // who controls it, if not we
  bool controls = false;
  std::uint32_t watchers = 0;
  std::uint64_t events = 0;
  std::uint64_t chunks = 0;
  std::uint64_t bytes = 0;  // over the wire
  std::uint64_t lost_events = 0;
  std::uint64_t dropped_events = 0;  // by the agent, for want of room
  std::uint64_t doubled_frames = 0;
  std::uint64_t last_sequence = 0;
  std::uint64_t reconnects = 0;
  std::uint64_t waiting_bytes = 0;  // made, but not yet here
  double events_per_second = 0;
  double bytes_per_second = 0;
  double streaming_seconds = 0;
  Outcome outcome = Outcome::complete;
  std::optional<double> clock_residual_ns;  // of the fit of this host's clock; nothing for the reference
  std::optional<double> round_trip_ns;      // best so far
  std::uint64_t results_files = 0;          // brought back
};

struct CaptureStatus {
  CapturePhase phase = CapturePhase::preparing;  // of all agents together
  std::vector<AgentStatus> agents;
  std::uint64_t events = 0;
  double events_per_second = 0;
  double bytes_per_second = 0;
  std::string message;  // the first agent's that has one
  [[nodiscard]] bool over() const noexcept { return phase == CapturePhase::ended || phase == CapturePhase::failed; }
};

// Something that only the user can say.
struct CaptureQuestion {
  enum class Kind : std::uint8_t { text, secret, yes_no };
  std::uint64_t id = 0;
  Kind kind = Kind::text;
  std::string place;
  std::string title;  // "The agent at trn1-07:7420 is new here"
  std::string text;   // with the fingerprint; or ssh's own prompt
  std::string yes = "Yes";
  std::string no = "No";
};

struct CaptureSessionOptions {
  std::string version;             // of this program
  std::string description;         // for the agent's log: who looks
  std::string recovery_directory;  // in which the recovery folder is made; "": none is kept
  bool asks = true;                // there is somebody who answers questions; false: they are all answered with no
  std::uint64_t window_bytes = 64ULL << 20;
  std::chrono::milliseconds give_up{60'000};  // without a connection; then an agent has failed
  LinkLimits limits;
};

// What a former run of the viewer left behind.
struct Recoverable {
  std::string folder;
  CapturePlan plan;
  std::string title;
  std::int64_t begun_unix_s = 0;
  std::uint64_t bytes = 0;
  std::uint64_t events = 0;
};

class CaptureSession {
 public:
  [[nodiscard]] static Result<std::unique_ptr<CaptureSession>> begin(CapturePlan plan, std::shared_ptr<Store> store,
                                                                     CaptureSessionOptions options);
  // Reads the folder into the store (waits for it), then takes the capture up where agents still have it.
  [[nodiscard]] static Result<std::unique_ptr<CaptureSession>> recover(const Recoverable& left,
                                                                       std::shared_ptr<Store> store,
                                                                       CaptureSessionOptions options);
  ~CaptureSession();  // hangs up; the recovery folder stays unless saved() or discard() was called
  CaptureSession(const CaptureSession&) = delete;
  CaptureSession& operator=(const CaptureSession&) = delete;

  void add(const std::string& place);  // a further agent joins
  void leave(const std::string& place);
  void pause();
  void resume();
  void stop();
  [[nodiscard]] CaptureStatus status() const;
  [[nodiscard]] bool wait_for(std::chrono::milliseconds limit) const;  // waits; true once over

  [[nodiscard]] std::optional<CaptureQuestion> question() const;
  void answer(std::uint64_t id, const std::optional<std::string>& answer);  // yes_no: "yes" or nothing

  void saved();    // all that is in the store is in a session file: the recovery folder goes
  void discard();  // nobody wants it

  struct Implementation;
  explicit CaptureSession(std::unique_ptr<Implementation> impl);

 private:
  std::unique_ptr<Implementation> impl_;
};

// Folders of captures whose process is gone.
[[nodiscard]] std::vector<Recoverable> find_recoverable(const std::string& recovery_directory);
[[nodiscard]] Result<void> discard_recoverable(const Recoverable& left);

// Whether a place can be reached, tried once, without starting anything. Waits; `cancelled` is asked some ten times a
// second. ssh places are only checked for their form here, since reaching them may ask the user.
struct Reached {
  double milliseconds = 0;
  std::string peer;
  Welcome welcome;
};
[[nodiscard]] Result<Reached> reach(const std::string& place, const std::string& token_file, const LinkLimits& limits,
                                    const std::function<bool()>& cancelled);

}  // namespace accelscope::capture
