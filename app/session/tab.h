// The state of one open session: what every panel reads and changes. Panels talk to each other only through it,
// so that a selection made in one shows in all. No drawing in here, and nothing that needs a window.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/rows/rows.h"
#include "app/session/event_cache.h"
#include "app/session/retained_beside.h"
#include "capture/client/capture_session.h"
#include "core/analysis/dependencies/wait_causes.h"
#include "core/analysis/iterations/iterations.h"
#include "core/model/event_filter.h"
#include "core/model/ids.h"
#include "core/model/time_range.h"
#include "core/store/store.h"

namespace accelscope {
class EventMask;  // core/scan/event_mask.h
}

namespace accelscope::app::timeline {
struct TimelineState;  // app/timeline/frame.h
}

namespace accelscope::app::session {

// The critical path that the timeline marks: a lane of its own above the others, its events with an accent edge and all
// others dimmed, its gaps with what they were for, an arrow from each event to the next. Put there by the panel that
// found it.

struct ShownPath {
  struct Part {
    EventId event = kNoEvent;               // that was under way, or in a gap the one that waited; kNoEvent: none
    std::int64_t begin_ns = 0, end_ns = 0;  // of what lies on the path
    std::int64_t event_begin_ns = 0, event_end_ns = 0;
    bool is_gap = false;
    StringId name = 0;   // of the event
    std::string reason;  // of a gap: "dma"
  };
  std::vector<Part> parts;                // by time; they touch
  std::shared_ptr<const EventMask> mask;  // what is not dimmed; null: nothing is

  using Parts = std::vector<Part>::const_iterator;
};

// How the time of one session is laid beside that of another.

struct SessionTab;

enum class Alignment : std::uint8_t { start, first_activity, end, marker, iteration, relative };

struct AlignmentName {
  std::string_view label, explanation;
};
// In the order of Alignment.
inline constexpr std::array<AlignmentName, 6> kAlignments = {
    {{"Start", "Both sessions begin at the same place"},
     {"First activity", "The first work of both stands at the same place"},
     {"End", "The last work of both stands at the same place"},
     {"Marker", "The first marker whose name both have stands at the same place"},
     {"Iteration", "A turn of the loop that both run begins at the same place: the first, or the one clicked last"},
     {"Relative", "The work of both is as wide: places are shares of it"}}};

// Where a time of a tab's own session lies in another session of its comparison.
struct LaidBeside {
  double own_ns = 0, other_ns = 0;  // at the same place
  double scale = 1;                 // of the other's time to the own

  [[nodiscard]] double to_other(double ns) const noexcept { return other_ns + (ns - own_ns) * scale; }
  [[nodiscard]] double to_own(double ns) const noexcept { return own_ns + (ns - other_ns) / scale; }
};

// Another session of a comparison.
struct ComparedSession {
  std::unique_ptr<SessionTab> session;
  // Of the loop that it and the tab's own session run; empty: of none, null: not known yet.
  std::shared_ptr<const analysis::SharedTurns> turns;
  std::string turns_error;  // why not, where looking for it failed
};
// Nothing: they have no marker, or no loop, in common. What is not known yet of their activity is their whole length.
[[nodiscard]] std::optional<LaidBeside> laid_beside(const SessionTab& tab, const ComparedSession& other, Alignment how);

// What a user sees of a session and can undo, as plain values: the visible stretch of time, and the choices of what is
// shown in it and how. Every finished change is one step of the history.

// The visible stretch of session time. Retained in double so that zooming about the pointer does not creep.
struct ViewRange {
  double begin_ns = 0;
  double end_ns = 1;
  [[nodiscard]] double span_ns() const noexcept { return end_ns - begin_ns; }
  // In whole ns; never empty.
  [[nodiscard]] TimeRange whole_ns() const {
    const auto begin = whole_time(std::floor(begin_ns));
    return {begin, std::max(begin + 1, whole_time(std::ceil(end_ns)))};
  }
  bool operator==(const ViewRange&) const = default;
};

struct ViewChoices {
  EventFilter filter;                            // drives every panel, total and export; lanes dim the rest
  std::string search;                            // hits are lit on the timeline and listed
  std::map<std::string, std::string> colour_by;  // schema name -> column; absent: the name
  rows::RowChoices rows;
  bool operator==(const ViewChoices&) const = default;
};

struct ViewState {
  ViewRange view;
  ViewChoices choices;
  bool operator==(const ViewState&) const = default;
};

// All that a user changes of a session and can undo.
struct EditState {
  ViewState shown;
  std::vector<Marker> markers;
  std::string marker_sets;  // as they are kept
  bool operator==(const EditState& other) const;
};

// Back and forward. push() after a finished gesture; a new state drops what was ahead.
template <typename State>
class History {
 public:
  static constexpr std::size_t kMost = 256;  // a long session must not keep every wheel turn of the day

  void push(const State& state) {
    if (!states_.empty()) {
      if (states_[position_] == state) return;
      states_.resize(position_ + 1);
    }
    states_.push_back(state);
    if (states_.size() > kMost) states_.erase(states_.begin());
    position_ = states_.size() - 1;
  }
  [[nodiscard]] bool can_go_back() const noexcept { return position_ > 0; }
  [[nodiscard]] bool can_go_forward() const noexcept { return position_ + 1 < states_.size(); }
  [[nodiscard]] const State* current() const noexcept { return states_.empty() ? nullptr : &states_[position_]; }
  const State& back() { return states_[--position_]; }     // needs can_go_back()
  const State& forward() { return states_[++position_]; }  // needs can_go_forward()

 private:
  std::vector<State> states_;
  std::size_t position_ = 0;
};
using ViewHistory = History<ViewState>;
using EditHistory = History<EditState>;

class SessionAnalysis;  // app/session/analysis.h

// recording: also while the capture is paused, taken up again, or ending; `capture` says which.
enum class LiveState : std::uint8_t { none, connecting, recording, ended, failed };

// An operation that several ranks did together, as the timeline marks it: on the lane of each its wait and a box round
// its event. Times are those that the timeline shows.
struct ShownOperation {
  struct Part {
    EventId event = kNoEvent;
    std::int64_t arrival_ns = 0, transfer_ns = 0, end_ns = 0;
    bool is_last = false;  // to arrive, for certain
  };
  std::string title;        // "#29 first in"
  std::string skew;         // "skew 49.6 µs"; "" where the clocks do not tell
  std::vector<Part> parts;  // of each rank
  bool one_clock = true;    // the ranks' times are those of one clock: first and last arrival can be drawn across
  std::int64_t first_arrival_ns = 0, last_arrival_ns = 0;
};

// Lanes of a link's filter that the session does not have, or not yet.
struct AwaitedLanes {
  std::vector<std::string> names;
  EventFilter filter;     // as it was left: another one was chosen since, and nothing is awaited
  std::size_t among = 0;  // so many tracks they are not
};

// Where an event was chosen that is selected a frame or more later.
enum class ChosenIn : std::uint8_t { elsewhere, timeline, sql };

// A word as it stands somewhere.
struct LookedUpWord {
  std::string name;     // of a figure or column, for programs
  std::string title;    // for people; may be empty
  std::string meaning;  // where the glossary does not know it; may be empty
};

// What of the session a panel's numbers are of: all of it, what the timeline shows, or what is selected; always within
// the filter.
enum class Scope : std::uint8_t { session, visible, selection };

struct SessionTab {
  std::string title;   // "mlp_fwd"
  std::string device;  // "trn1-07 nc0"
  std::string path;    // of the session file; empty: never saved
  bool modified = false;
  std::string view_key = kViewKey;  // under which the view is kept: tabs on one session have their own

  WorkerPool* pool = nullptr;  // of the workspace
  std::shared_ptr<Store> store;
  std::shared_ptr<const Snapshot> snapshot;  // refreshed once per frame
  std::shared_ptr<EventCache> events;        // values of single events
  std::shared_ptr<StoreWriter> writer;       // of what is kept beside them

  std::shared_ptr<SessionAnalysis> analysis;  // what workers find out about the snapshot
  std::optional<TimeRange> active;            // where the session does its work; nothing while unknown
  std::optional<TimeRange> first_shown;       // what a first view shows, which holds that; nothing while unknown

  ViewRange view;
  int view_pixels = 0;  // width that the timeline drew it in; 0: it did not yet
  ViewChoices choices;
  ViewHistory history;  // of both
  EditHistory edits;    // of these, the markers and their sets
  AwaitedLanes awaited;
  bool follow = false;  // live: the view follows the newest events

  // A finished change of the view, from any panel: kept for back and forward, and it ends following.
  void show(const ViewRange& range) {
    follow = false;
    view = range;
    remember_view();
  }
  // A finished change of what is shown and how; undone like a change of the view.
  template <typename Change>
  void change(Change&& make) {
    make(choices);
    remember_view();
  }
  void remember_view() { history.push({view, choices}); }
  // Back and forward, a link, a session opened again.
  void restore(const ViewState& state) {
    follow = false;
    view = state.view;
    choices = state.choices;
  }

  std::optional<Scope> scope;  // that the user chose last, in whichever panel: all follow; nothing: each has its own
  std::optional<EventId> selected;
  LaneStep lane_step;                        // where a walk from lane to lane began
  ChosenIn chosen_in = ChosenIn::elsewhere;  // of a selection that is new in this frame
  std::optional<EventId> hovered;
  std::optional<std::int64_t> cursor_ns;   // time under the pointer, in any panel with a time axis
  std::string selected_source;             // "file.py:37": the line lit in the source view
  std::optional<std::string> asked_query;  // that the SQL panel shall run in the next frame
  std::optional<LookedUpWord> looked_up;   // that the glossary shall explain in the next frame
  std::vector<EventId> related;            // lit beside the selected one: its dependencies, a call's event
  std::shared_ptr<const EventMask> lit;    // all events of the source line that was asked for; may be null
  std::vector<EventId> also_selected;      // by Ctrl+click, beside the selected one
  std::string chosen_warning;              // key of the finding whose box the timeline shows; "": none
  bool dependency_chain = false;           // arrows and lists go along the whole chain, not one step
  std::shared_ptr<const analysis::DependencyChain> chain;  // of the selected event, once it is known
  std::optional<EventFilter> region;  // selected beside single events: a box, or all of a name, a line, a layer
  std::shared_ptr<const ShownOperation> operation;    // marked on the timeline; null: none
  std::shared_ptr<const ShownPath> marked_path;       // marked on the timeline; null: none
  std::int64_t first_marker_id = 1;                   // of new markers: tabs on one store have their own
  std::vector<Marker> markers;                        // by time; changed by put_marker() and remove_marker()
  std::optional<std::int64_t> chosen_marker;          // id of the one that the Markers page tells of
  std::map<std::string, std::string> retained;        // other values beside the events; changed by keep_value()
  std::shared_ptr<timeline::TimelineState> timeline;  // what only the timeline remembers: scroll, what is collapsed

  // In a comparison: the other sessions, and how their times are laid beside this one's. A session has a number: 0 is
  // the tab's own, those of `beside` follow.
  std::vector<ComparedSession> beside;
  std::vector<std::size_t> order = {0};  // numbers of A, the base that the others are set against, B, C ...
  std::string own_title;                 // of the tab's own session; "": the tab is called so
  Alignment alignment = Alignment::first_activity;
  std::size_t aligned_turn = 0;
  std::size_t touched = 0;  // number of the session in which the user last chose something: panels tell of it

  LiveState live = LiveState::none;
  capture::client::CaptureStatus capture;  // of this frame; empty when the session was opened from a file
  double capture_seconds = 0;              // since the capture began; stands still once it is over
  double events_per_second = 0;
  std::string project, configuration;  // that it was captured with, by name
  std::string last_error;
};

// A tab of the store: what every tab has, whoever shows it. The pool must outlive it.
void attach(SessionTab& tab, WorkerPool& pool, std::shared_ptr<Store> store, RetainedBeside retained = {});
// The session of a number, as in SessionTab::order.
[[nodiscard]] inline SessionTab& compared_session(SessionTab& tab, std::size_t number) noexcept {
  return number == 0 ? tab : *tab.beside[number - 1].session;
}
// All sessions of a tab: one, or those of a comparison, A first.
[[nodiscard]] std::vector<SessionTab*> sessions_of(SessionTab& tab);
// A and the one at that place of the order change places.
void exchange_base(SessionTab& tab, std::size_t place);
// The session of that number, from 1 on, leaves the comparison; those after it get the number before theirs.
void remove_side(SessionTab& tab, std::size_t number);
// What tells of what the user does with it: the session, or another one of its comparison.
[[nodiscard]] inline SessionTab& in_progress(SessionTab& tab) noexcept { return compared_session(tab, tab.touched); }
// Of the session itself, where the tab is named after several.
[[nodiscard]] inline const std::string& own_title(const SessionTab& tab) noexcept {
  return tab.own_title.empty() ? tab.title : tab.own_title;
}
// A comparison is called after its sessions: "first : second".
void name_comparison(SessionTab& tab);
// Once per frame: the store's newest state, and what was asked for. Returns what could not be written.
[[nodiscard]] std::vector<std::string> begin_frame(SessionTab& tab);

// Once per frame in which no gesture is under way: what was changed is a step that can be undone.
void note_edits(SessionTab& tab);
// Back or forward by one of these steps; says what it did, "" where there was none.
[[nodiscard]] std::string undo_edit(SessionTab& tab, bool forward);

// Its capture is not over.
[[nodiscard]] inline bool may_grow(const SessionTab& tab) noexcept {
  return tab.live == LiveState::connecting || tab.live == LiveState::recording;
}

}  // namespace accelscope::app::session
