#include "app/content/capture/text.h"

#include <cmath>

#include "core/base/format.h"

namespace accelscope::app::content {

using capture::client::AgentStatus;
using capture::client::CapturePhase;

std::string phase_text(CapturePhase phase) {
  switch (phase) {
    case CapturePhase::preparing:
      return "connecting";
    case CapturePhase::streaming:
      return "recording";
    case CapturePhase::paused:
      return "paused";
    case CapturePhase::reconnecting:
      return "reconnecting";
    case CapturePhase::stopping:
      return "ending";
    case CapturePhase::ended:
      return "ended";
    case CapturePhase::failed:
      return "failed";
  }
  return "failed";
}

std::string elapsed_text(double seconds) {
  const auto whole = static_cast<long long>(std::max(0.0, seconds));
  const auto two = [](long long value) { return (value < 10 ? "0" : "") + std::to_string(value); };
  const long long hours = whole / 3600;
  const std::string minutes = hours > 0 ? two(whole / 60 % 60) : std::to_string(whole / 60);
  return (hours > 0 ? std::to_string(hours) + ":" : "") + minutes + ":" + two(whole % 60);
}

std::string hosts_text(const capture::client::CaptureStatus& status) {
  if (status.agents.empty()) return "";
  const AgentStatus& first = status.agents.front();
  std::string text = first.host.empty() ? first.place : first.host;
  if (status.agents.size() > 1) text += " +" + std::to_string(status.agents.size() - 1);
  return text;
}

std::string watching_text(const capture::client::CaptureStatus& status) {
  for (const AgentStatus& agent : status.agents) {
    const bool running = agent.phase == CapturePhase::streaming || agent.phase == CapturePhase::paused;
    if (!running || agent.controls) continue;
    return agent.controller.empty() ? "watching" : "watching; " + agent.controller + " controls it";
  }
  return "";
}

std::vector<AgentLine> agent_lines(const AgentStatus& agent) {
  std::vector<AgentLine> lines;
  const auto add = [&](std::string label, std::string value, bool bad = false) {
    if (!value.empty()) lines.push_back({std::move(label), std::move(value), bad});
  };
  const bool broken = agent.phase == CapturePhase::failed || agent.phase == CapturePhase::reconnecting;
  const std::string step = agent.step.empty() ? "" : ": " + agent.step;
  add("State", phase_text(agent.phase) + step, broken);
  add("Reason", agent.message, broken);
  add("Address", agent.peer.empty() ? agent.place : agent.peer);
  add("Captures", agent.description);
  const bool decided = agent.phase != CapturePhase::preparing;
  const bool nobody = agent.controller.empty();
  if (decided) add("Controlled by", agent.controls ? "this viewer" : nobody ? "nobody" : agent.controller);
  if (agent.watchers > 0) add("Watching", format_count(agent.watchers));
  add("Events",
      format_count(agent.events) + "  " + format_count(static_cast<std::uint64_t>(agent.events_per_second)) + "/s");
  add("Received", format_bytes(agent.bytes) + "  " + format_rate(agent.bytes_per_second));
  add("Waiting at the agent", format_bytes(agent.waiting_bytes));
  if (agent.dropped_events > 0) add("Dropped by the agent", format_count(agent.dropped_events), true);
  const std::uint64_t lost_later = agent.lost_events - std::min(agent.lost_events, agent.dropped_events);
  if (lost_later > 0) add("Lost", format_count(lost_later), true);
  if (agent.reconnects > 0) add("Connected again", format_count(agent.reconnects) + " times");
  if (agent.clock_residual_ns) add("Clock fits within", format_duration(*agent.clock_residual_ns));
  if (agent.round_trip_ns) add("Round trip", format_duration(*agent.round_trip_ns));
  if (agent.results_files > 0) add("Files brought back", format_count(agent.results_files));
  return lines;
}

}  // namespace accelscope::app::content
