// How a session that is being captured fares, agent by agent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "capture/request/request.h"
#include "capture/wire/messages.h"

namespace accelscope::capture::client {

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
  std::uint64_t bytes = 0;           // over the wire
  std::uint64_t lost_events = 0;     // all that were made and are not here, as far as is known
  std::uint64_t dropped_events = 0;  // of those: by the agent, for want of room
  bool totals_agree = true;          // at its end: what came is what the agent counts
  std::uint64_t doubled_frames = 0;
  bool end_known = false;     // what was made is known: the agent has counted it at its end
  bool out_of_reach = false;  // failed, but the agent may still have what is missing
  std::uint64_t last_sequence = 0;
  std::uint64_t reconnects = 0;
  std::uint64_t waiting_bytes = 0;  // made, but not yet here
  double events_per_second = 0;
  double bytes_per_second = 0;
  double streaming_seconds = 0;
  wire::Outcome outcome = wire::Outcome::complete;
  std::optional<double> clock_residual_ns;  // of the fit of this host's clock; nothing for the reference
  std::optional<double> round_trip_ns;      // best so far
  std::uint64_t results_files = 0;          // brought back
  std::optional<int> exit_status;           // of its program, once that has ended; 128 + the signal's number
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

// All that the viewer's form and `accelscope record` say about a capture: where, what and how.
struct CapturePlan {
  std::vector<std::string> places;  // "local", "HOST:PORT", "tls://HOST:PORT", "ssh://USER@HOST:PORT": one agent each
  wire::StartMode mode = wire::StartMode::begin;
  std::string capture_id;  // to take up or watch; "": the agent's running one
  request::CaptureRequest request;
  std::vector<std::string> send;  // local files and folders that go to the agent before it starts
  std::string results_folder;     // where request.results are brought to; "": beside the session
  bool replaces_results = false;  // files that are there already
  std::string token_file;         // "": the usual places (capture/security/secrets.h)
  std::string ssh_config_file;    // "": ssh's own
  std::string ssh_identity_file;  // the private key that ssh tries first; "": its own
};

// The same as a command: {"accelscope", "record", "ssh://ubuntu@trn1-07", "-o", "mlp.accel", "--kind", ...}. Options
// that have their default value are left out.
[[nodiscard]] std::vector<std::string> record_command(const CapturePlan& plan, const std::string& output_path);

}  // namespace accelscope::capture::client
