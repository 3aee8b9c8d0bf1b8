// What is said of a running capture, in words: for the top bar, the list of its agents and the status bar. No drawing.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "capture/client/capture_session.h"

namespace accelscope::app::content {

[[nodiscard]] std::string phase_text(capture::client::CapturePhase phase);  // "recording"
[[nodiscard]] std::string elapsed_text(double seconds);                     // "0:42", "1:02:03"

// The hosts in a word or two: "trn1-07", "trn1-07 +1".
[[nodiscard]] std::string hosts_text(const capture::client::CaptureStatus& status);
// Some agent is controlled by another viewer, or by nobody: we only watch. "" if we control all.
[[nodiscard]] std::string watching_text(const capture::client::CaptureStatus& status);

struct AgentLine {
  std::string label;
  std::string value;
  bool bad = false;  // lost, dropped, broken
};
// All that is known of one agent, the most important first; what is not known is left out.
[[nodiscard]] std::vector<AgentLine> agent_lines(const capture::client::AgentStatus& agent);

}  // namespace accelscope::app::content
