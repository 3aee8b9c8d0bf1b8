// The state of one open session: what every panel reads and changes. Panels talk to each other only through it,
// so that a selection made in one shows in all. No drawing in here, and nothing that needs a window.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/client/capture_session.h"
#include "core/analysis/dependency_chain.h"
#include "core/query/event_reader.h"
#include "core/query/time_range.h"
#include "core/store/store.h"

namespace accelscope::app {

// The visible stretch of session time. Kept in double so that zooming about the pointer does not creep.
struct ViewRange {
  double begin_ns = 0;
  double end_ns = 1;
  [[nodiscard]] double span_ns() const noexcept { return end_ns - begin_ns; }
  bool operator==(const ViewRange&) const = default;
};

// Back and forward through views. push() after a finished gesture; a new view drops what was ahead.
class ViewHistory {
 public:
  void push(const ViewRange& view);
  [[nodiscard]] bool can_go_back() const noexcept { return position_ > 0; }
  [[nodiscard]] bool can_go_forward() const noexcept { return position_ + 1 < views_.size(); }
  ViewRange back();     // needs can_go_back()
  ViewRange forward();  // needs can_go_forward()

 private:
  std::vector<ViewRange> views_;
  std::size_t position_ = 0;
};

class SessionAnalysis;  // app/session_analysis.h
struct TimelineState;   // app/timeline_state.h

// recording: also while the capture is paused, taken up again, or ending; `capture` says which.
enum class LiveState : std::uint8_t { none, connecting, recording, ended, failed };

struct SessionTab {
  std::string title;   // "mlp_fwd"
  std::string device;  // "trn1-07 nc0"
  std::string path;    // of the session file; empty: never saved
  bool modified = false;

  std::shared_ptr<Store> store;
  std::shared_ptr<const Snapshot> snapshot;  // refreshed once per frame
  std::unique_ptr<EventReader> reader;       // for the snapshot; UI thread

  std::shared_ptr<SessionAnalysis> analysis;  // what workers find out about the snapshot
  std::optional<TimeRange> active;            // where the session does its work; nothing while unknown

  ViewRange view;
  ViewHistory history;
  bool follow = false;  // live: the view follows the newest events

  // A finished change of the view, from any panel: kept for back and forward, and it ends following.
  void show(const ViewRange& range) {
    follow = false;
    view = range;
    history.push(range);
  }

  std::optional<EventId> selected;
  std::optional<EventId> hovered;
  std::optional<std::int64_t> cursor_ns;         // time under the pointer, in any panel with a time axis
  std::string selected_source;                   // "file.py:37": the line lit in the source view
  std::vector<EventId> related;                  // lit beside the selected one (events of the line, dependencies)
  std::vector<EventId> also_selected;            // by Ctrl+click, beside the selected one
  bool dependency_chain = false;                 // arrows and lists go along the whole chain, not one step
  std::shared_ptr<const DependencyChain> chain;  // of the selected event, once it is known
  std::vector<Marker> markers;
  std::shared_ptr<TimelineState> timeline;  // what only the timeline remembers: scroll, what is collapsed

  LiveState live = LiveState::none;
  capture::CaptureStatus capture;  // of this frame; empty when the session was opened from a file
  double capture_seconds = 0;      // since the capture began; stands still once it is over
  double events_per_second = 0;
  std::string project, configuration;  // that it was captured with, by name
  std::string last_error;
};

// Its capture is not over.
[[nodiscard]] inline bool may_grow(const SessionTab& tab) noexcept {
  return tab.live == LiveState::connecting || tab.live == LiveState::recording;
}

}  // namespace accelscope::app
