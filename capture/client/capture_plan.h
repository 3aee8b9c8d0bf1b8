// All that the viewer's form and `accelscope record` say about a capture: where, what and how.
#pragma once

#include <string>
#include <vector>

#include "capture/request/request.h"
#include "capture/wire/capture_messages.h"

namespace accelscope::capture::client {

struct CapturePlan {
  std::vector<std::string> places;  // "local", "HOST:PORT", "tls://HOST:PORT", "ssh://USER@HOST:PORT": one agent each
  wire::StartMode mode = wire::StartMode::begin;
  std::string capture_id;  // to take up or watch; "": the agent's running one
  request::CaptureRequest request;
  std::vector<std::string> send;  // local files and folders that go to the agent before it starts
  std::string results_folder;     // where request.results are brought to; "": beside the session
  bool replaces_results = false;  // files that are there already
  std::string token_file;         // "": the usual places (capture/security/token.h)
  std::string ssh_config_file;    // "": ssh's own
};

// The same as a command: {"accelscope", "record", "ssh://ubuntu@trn1-07", "-o", "mlp.accel", "--kind", ...}. Options
// that have their default value are left out.
[[nodiscard]] std::vector<std::string> record_command(const CapturePlan& plan, const std::string& output_path);

}  // namespace accelscope::capture::client
