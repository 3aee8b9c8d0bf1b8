// What it means to select: the event, the line that it came from, the events it depends on. All panels use these, so
// that a selection made in one shows in all.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/tab.h"
#include "core/base/worker_pool.h"

namespace accelscope::app::view {

// How a view moves: zoom about a point, pan, fit. Pure; the limits keep a view between a few nanoseconds and a little
// more than the session, and never lose the session out of sight.

inline constexpr double kLeastSpanNs = 4;
inline constexpr double kWheelZoom = 1.25;  // a notch of the wheel
inline constexpr double kKeyZoom = 1.5;
inline constexpr double kKeyPan = 0.2;      // of the view
inline constexpr double kFitMargin = 0.05;  // on both sides of what is fitted

// The session's stretch of time that views are held to.
struct SessionSpan {
  double begin_ns = 0;
  double end_ns = 1;
};
[[nodiscard]] SessionSpan session_span(const Snapshot& snapshot);

// factor > 1 shows less. The time `at_ns` keeps its place.
[[nodiscard]] session::ViewRange zoomed(const session::ViewRange& view, double at_ns, double factor,
                                        const SessionSpan& session);
[[nodiscard]] session::ViewRange panned(const session::ViewRange& view, double by_ns, const SessionSpan& session);
[[nodiscard]] session::ViewRange fitted(double begin_ns, double end_ns, const SessionSpan& session,
                                        double margin = kFitMargin);
// The view, moved as little as needed so that the stretch is seen, with its span kept if the stretch fits.
[[nodiscard]] session::ViewRange with_in_sight(const session::ViewRange& view, double begin_ns, double end_ns,
                                               const SessionSpan& session);

// Brings it into the view in time when it lies outside, and nearer when it would be too narrow to be seen: once its
// times are known.
void select_event(session::SessionTab& tab, EventId id);
void select_in_view(session::SessionTab& tab, EventId id);  // the same at the zoom that there is
void clear_selection(session::SessionTab& tab);
// On from the selected event, on a worker; nothing where none is selected unless the step begins elsewhere. Calls
// `arrived` when it has ended, unless something else was selected meanwhile; it may have led nowhere.
void step_selection(session::SessionTab& tab, session::EventStep step,
                    std::function<void(const session::StepPlace&)> arrived);

// Shows a stretch with a margin of a tenth on both sides.
void show_stretch(session::SessionTab& tab, std::int64_t begin_ns, std::int64_t end_ns);

// Follows what the user selected since the last frame, in whichever panel: sets the source line of a newly selected
// event, lights its dependencies once they are known, and walks the chain of them when the tab wants it. Holds what
// was seen last.
class SelectionFollower {
 public:
  explicit SelectionFollower(WorkerPool& pool) : pool_(pool) {}
  void update(session::SessionTab& tab);
  [[nodiscard]] bool pending() const { return chain_task_.valid(); }

 private:
  void follow_source(session::SessionTab& tab);
  void light_dependencies(session::SessionTab& tab);
  void follow_chain(session::SessionTab& tab);

  WorkerPool& pool_;
  std::optional<EventId> seen_;
  bool source_wanted_ = false;
  std::optional<std::uint64_t> lit_version_;  // of the dependencies that are lit
  Task<std::shared_ptr<const analysis::DependencyChain>> chain_task_;
  EventId chain_of_ = kNoEvent;  // that is being walked
};

// What an event shares with others, as filters in the search grammar: all of its name, its source line, its layer, its
// lane. And what is done with such a filter: select, show only, hide. No drawing.
struct SharedTrait {
  std::string id;      // "name", "line", "layer", "lane"
  std::string label;   // "named MATMUL", "of kernel.py:3"
  EventFilter filter;  // the events that have it
};
// Those that the event has.
[[nodiscard]] std::vector<SharedTrait> traits_of(const EventRecord& event, const Snapshot& snapshot);

void show_only(session::SessionTab& tab, const EventFilter& trait);
// A lane is hidden by keeping all others.
void hide(session::SessionTab& tab, const EventFilter& trait);
// What "Zoom in and filter in by selection" would let through: the region, else all events named as the selected one,
// else the visible stretch; and how a menu says that.
struct SelectedPart {
  EventFilter filter;
  std::string label;
};
[[nodiscard]] SelectedPart selected_part(const session::SessionTab& tab);
// The view and the filter become those of it, in one step of the history.
void filter_by_selection(session::SessionTab& tab);

}  // namespace accelscope::app::view
