// What can be done with the timeline by menus, the palette and keys: the table, and what its rows do. Commands on lanes
// go to the lane under the pointer or of the selected event.
#include <fmt/format.h>

#include "app/rows/groups.h"
#include "app/session/analysis.h"
#include "app/timeline/frame.h"
#include "app/view/record.h"

namespace accelscope::app::timeline {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kKeyScroll = 60;  // units

// One event on in the lane, or on to the next of the same name.
void step(const TimelineTarget& target, bool after, bool same_name) {
  session::SessionTab& tab = target.tab;
  TimelineState& state = target.state;
  if (!tab.selected) return;
  const auto to_neighbour = [after, same_name](EventReader& reader, session::StepPlace& place,
                                               const TaskControl& control) -> Result<void> {
    const auto found = TRY(reader.neighbour(*place.event, after, same_name, control));
    if (found) place.event = found;
    return {};
  };
  view::step_selection(tab, to_neighbour, [&tab, &state](const session::StepPlace& place) {
    const EventRecord* event = tab.events->find(*place.event);
    if (place.event == tab.selected || event == nullptr) return;
    tab.selected = place.event;
    tab.chosen_in = session::ChosenIn::timeline;
    tab.also_selected.clear();
    state.reveal = place.event;
    const session::ViewRange view =
        view::with_in_sight(tab.view, static_cast<double>(event->begin_ns), static_cast<double>(event->end_ns),
                            view::session_span(*tab.snapshot));
    if (view != tab.view) tab.show(view);
  });
}

void zoom_by_key(session::SessionTab& tab, double factor) {
  const double middle = (tab.view.begin_ns + tab.view.end_ns) / 2;
  double at = tab.cursor_ns ? static_cast<double>(*tab.cursor_ns) : middle;
  if (at < tab.view.begin_ns || at > tab.view.end_ns) at = middle;
  tab.show(view::zoomed(tab.view, at, factor, view::session_span(*tab.snapshot)));
}

void fit_selection(session::SessionTab& tab) {
  if (tab.region && tab.region->range) {
    const TimeRange range = *tab.region->range;
    return tab.show(view::fitted(static_cast<double>(range.begin_ns), static_cast<double>(range.end_ns),
                                 view::session_span(*tab.snapshot), 0.1));
  }
  if (tab.selected) fit_events(tab, selected_events(tab));
}

// The box, the time between two selected events, the selected one, or where the pointer is.
void mark(session::SessionTab& tab) {
  if (tab.region && tab.region->range) {
    return drop_marker(tab, tab.region->range->begin_ns, tab.region->range->end_ns);
  }
  const double middle = (tab.view.begin_ns + tab.view.end_ns) / 2;
  const std::int64_t at = tab.cursor_ns.value_or(static_cast<std::int64_t>(middle));
  const std::vector<EventId> events = selected_events(tab);
  tab.events->when_known(session::EventIntent::marker, events, [&tab, events, at] {
    const EventRecord* event = events.empty() ? nullptr : tab.events->find(events.front());
    if (const auto gap = events.size() == 2 ? gap_between(tab, events.front(), events.back()) : std::nullopt) {
      const auto [from, to] = std::minmax(gap->first.end_ns, gap->second.begin_ns);
      return drop_marker(tab, from, to);
    }
    if (event != nullptr) return drop_marker(tab, event->begin_ns, event->end_ns);
    drop_marker(tab, at);
  });
}

// All of the work; asked again, each of its bursts in turn, where long gaps part them.
void fit_activity(session::SessionTab& tab) {
  const view::SessionSpan session = view::session_span(*tab.snapshot);
  const auto fit = [&](double begin_ns, double end_ns) { return view::fitted(begin_ns, end_ns, session, 0.01); };
  if (!tab.active) return tab.show(fit(session.begin_ns, session.end_ns));
  std::vector<session::ViewRange> stops = {
      fit(static_cast<double>(tab.active->begin_ns), static_cast<double>(tab.active->end_ns))};
  if (const auto activity = tab.analysis ? tab.analysis->activity() : nullptr) {
    const auto folded = content::stretches_to_fold(session.begin_ns, session.end_ns, tab.active, activity->gaps);
    const std::vector<TimeRange> bursts = content::bursts_of(*tab.active, folded);
    for (const TimeRange& burst : bursts) {
      if (bursts.size() > 1)
        stops.push_back(fit(static_cast<double>(burst.begin_ns), static_cast<double>(burst.end_ns)));
    }
  }
  const auto at = std::ranges::find(stops, tab.view);
  tab.show(at == stops.end() || at + 1 == stops.end() ? stops.front() : *(at + 1));
}

void pan_by(session::SessionTab& tab, double share) {
  tab.show(view::panned(tab.view, share * tab.view.span_ns(), view::session_span(*tab.snapshot)));
}

void fit_all(session::SessionTab& tab) {
  const view::SessionSpan session = view::session_span(*tab.snapshot);
  tab.show(view::fitted(session.begin_ns, session.end_ns, session, 0.01));
}

bool can_go_back(const session::SessionTab& tab) { return tab.history.can_go_back(); }
bool can_go_forward(const session::SessionTab& tab) { return tab.history.can_go_forward(); }

void go_in_history(const TimelineTarget& target, bool back) {
  session::SessionTab& tab = target.tab;
  if (target.state.settle_at_s) finish_move(tab, target.state);  // a zoom under way counts as finished
  if (back ? can_go_back(tab) : can_go_forward(tab)) tab.restore(back ? tab.history.back() : tab.history.forward());
}

// A line for each selected event, as its menu copies it.
void copy_selected(const TimelineTarget& target) {
  session::SessionTab& tab = target.tab;
  const std::vector<EventId> events = selected_events(tab);
  std::string text;
  for (const EventId id : events) {
    const EventRecord* event = tab.events->find(id);
    if (event == nullptr) continue;  // not read yet
    text += (text.empty() ? "" : "\n") +
            fmt::format("{}\t{}\t{}", event->name_text, event->begin_ns, event->end_ns - event->begin_ns);
  }
  if (!text.empty()) target.ui.copy_to_clipboard(text);
}

void clear_all_selection(const TimelineTarget& target) {
  session::SessionTab& tab = target.tab;
  tab.events->drop(session::EventIntent::selection);
  tab.selected.reset();
  tab.also_selected.clear();
  tab.related.clear();
  tab.lit.reset();
  tab.region.reset();
  tab.operation.reset();
  tab.chosen_warning.clear();
  target.state.box_armed = false;
  if (target.state.gesture == Gesture::box) target.state.gesture = Gesture::none;
}

[[nodiscard]] std::optional<std::string> row_under(const TimelineState& state, Point at) {
  for (const DrawnRow& drawn : state.drawn_rows) {
    const rows::TimelineRow& row = state.rows[drawn.row];
    if (row.key.starts_with("group:#")) continue;  // it only tells what is hidden
    if (row.series.size() < 2 && drawn.rect.intersected(drawn.clip).contains(at)) return row.key;
  }
  return {};
}

[[nodiscard]] std::optional<std::string> row_of_selected(const session::SessionTab& tab) {
  const LaneSnapshot* lane = tab.selected ? tab.snapshot->find_lane(lane_of(*tab.selected)) : nullptr;
  const TrackSnapshot* track = lane != nullptr ? tab.snapshot->find_track(lane->track) : nullptr;
  if (track == nullptr) return {};
  return rows::row_key(rows::TrackNames(*tab.snapshot), track->track->number);
}

// `change` gets the choices and the key of the row under the pointer or of the selected event; "" where there is none.
template <typename Change>
void change_row(const TimelineTarget& target, Change change) {
  rows::RowChoices choices = target.tab.choices.rows;
  std::optional<std::string> key = row_under(target.state, target.ui.input().mouse);
  if (!key) key = row_of_selected(target.tab);
  change(choices, key.value_or(""));
  view::choose_rows(target.tab, std::move(choices));
}

void open_groups(const TimelineTarget& target, bool open) {
  change_row(target, [&](rows::RowChoices& choices, const std::string&) { open_all(target.state, choices, open); });
}

// Of the lane's events in the view the one at the time, else the nearest.
[[nodiscard]] Result<std::optional<EventId>> event_near(EventReader& reader, const LaneSnapshot& lane, std::int64_t ns,
                                                        const session::ViewRange& view) {
  const auto found = reader.event_at(lane, ns, whole_time(view.span_ns()));
  if (!found || !*found) return found;
  const EventRecord event = TRY(reader.read(**found));
  const bool in_view =
      static_cast<double>(event.end_ns) >= view.begin_ns && static_cast<double>(event.begin_ns) <= view.end_ns;
  return in_view ? found : Result(std::optional<EventId>());
}

// From one of the lanes to the next that has an event in the view.
[[nodiscard]] session::EventStep lane_step(std::vector<LaneSnapshot> lanes, const session::ViewRange& view, bool up) {
  return [lanes = std::move(lanes), view, up](EventReader& reader, session::StepPlace& place,
                                              const TaskControl& control) -> Result<void> {
    const EventRecord from = TRY(reader.read(*place.event));
    if (place.lane_step.event != from.id) {
      const double middle = (static_cast<double>(from.begin_ns) + static_cast<double>(from.end_ns)) / 2;
      place.lane_step.ns = whole_time(std::clamp(middle, view.begin_ns, view.end_ns));
    }
    const auto is_own = [&](const LaneSnapshot& lane) { return lane.number() == lane_of(from.id); };
    std::size_t at = static_cast<std::size_t>(std::ranges::find_if(lanes, is_own) - lanes.begin());
    if (at == lanes.size()) return {};
    while (up ? at-- > 0 : ++at < lanes.size()) {
      if (control.cancelled()) return cancelled_error();
      const auto event = TRY(event_near(reader, lanes[at], place.lane_step.ns, view));
      if (!event) continue;
      place.event = event;
      place.lane_step.event = *event;
      return {};
    }
    return {};
  };
}

void step_lane(const TimelineTarget& target, bool up) {
  session::SessionTab& tab = target.tab;
  TimelineState& state = target.state;
  if (!tab.selected) return;
  std::vector<LaneSnapshot> lanes;  // from top to bottom
  for (const rows::TimelineRow& row : state.rows) {
    if (row.kind != rows::RowKind::slices) continue;
    for (const std::uint32_t lane : row.lanes) lanes.push_back(tab.snapshot->lanes[lane]);
  }
  view::step_selection(tab, lane_step(std::move(lanes), tab.view, up), [&tab, &state](const session::StepPlace& place) {
    if (place.event == tab.selected) return;
    tab.selected = place.event;
    tab.chosen_in = session::ChosenIn::timeline;
    tab.also_selected.clear();
    tab.lane_step = place.lane_step;
    state.reveal = place.event;
  });
}

// A box grows; without one the selection goes on, and where nothing is selected a box begins.
void step_lane_or_box(const TimelineTarget& target, bool up) {
  if (target.tab.selected && !has_box(target.tab)) return step_lane(target, up);
  target.state.box_step = {.along = up ? -1 : 1};
}

// Of the label that has the keyboard, else of the selected event, else under the pointer: that moves away from below
// it.
void step_row(const TimelineTarget& target, int step) {
  const std::string& at = target.ui.keyboard_focus().at;
  const auto focused = std::ranges::find_if(
      target.state.rows, [&](const rows::TimelineRow& row) { return at.ends_with(".label." + row.key); });
  std::optional<std::string> key;
  if (focused != target.state.rows.end()) key = focused->key;
  if (!key) key = row_of_selected(target.tab);
  if (!key) key = row_under(target.state, target.ui.input().mouse);
  if (key)
    view::choose_rows(target.tab, rows::with_row_stepped(target.tab.choices.rows, target.state.rows, *key, step));
}

constexpr palette::MenuId kInView = palette::MenuId::view, kInAnalyse = palette::MenuId::analyse;
// What most do by keys stays out of the way of the rest of the menu.
constexpr const char *kMove = "Move", *kLanes = "Lanes", *kStep = "Step";
using Response = const TimelineTarget&;

constexpr std::array kTimelineCommands = std::to_array<TimelineCommand>({
    {"zoom_in", "Zoom in", kInView, kMove, "W", "", [](Response target) { zoom_by_key(target.tab, view::kKeyZoom); }},
    {"zoom_out", "Zoom out", kInView, kMove, "S", "", [](Response target) { zoom_by_key(target.tab, 1 / view::kKeyZoom); }},
    {"pan_left", "Earlier", kInView, kMove, "A", "Left", [](Response target) { pan_by(target.tab, -view::kKeyPan); }},
    {"pan_right", "Later", kInView, kMove, "D", "Right", [](Response target) { pan_by(target.tab, view::kKeyPan); }},
    {"fit_all", "Fit the whole session", kInView, "", "0", "", [](Response target) { fit_all(target.tab); }},
    {"fit_activity", "Fit the activity", kInView, "", "Shift+0", "", [](Response target) { fit_activity(target.tab); }},
    {"fit_selection", "Fit the selection", kInView, "", "F", "", [](Response target) { fit_selection(target.tab); }},
    {"view_back", "Back to the last view", kInView, "", "Alt+Left", "", [](Response target) { go_in_history(target, true); },
     can_go_back},
    {"view_forward", "Forward to the next view", kInView, "", "Alt+Right", "",
     [](Response target) { go_in_history(target, false); }, can_go_forward},
    {"next_event", "Next event of the lane", kInAnalyse, kStep, ".", "", [](Response target) { step(target, true, false); }},
    {"previous_event", "Previous event of the lane", kInAnalyse, kStep, ",", "",
     [](Response target) { step(target, false, false); }},
    {"next_same_name", "Next event of the same name", kInAnalyse, kStep, "Shift+.", "",
     [](Response target) { step(target, true, true); }},
    {"previous_same_name", "Previous event of the same name", kInAnalyse, kStep, "Shift+,", "",
     [](Response target) { step(target, false, true); }},
    {"copy_event", "Copy name, start and duration", kInAnalyse, kStep, "Ctrl+C", "", copy_selected,
     [](const session::SessionTab& tab) { return tab.selected.has_value(); }},
    {"drop_marker", "Drop a marker, or measure the selection", kInAnalyse, "", "M", "", [](Response target) { mark(target.tab); }},
    {"clear_selection", "Clear the selection", kInAnalyse, "", "Esc", "", clear_all_selection},
    {"toggle_follow", "Follow the newest events", kInView, "", "", "",
     [](Response target) { target.tab.follow = !target.tab.follow; }},
    {"scroll_up", "Scroll the lanes up", kInView, kMove, "Up", "",
     [](Response target) { target.state.scroll -= target.ui.px(kKeyScroll); }},
    {"scroll_down", "Scroll the lanes down", kInView, kMove, "Down", "",
     [](Response target) { target.state.scroll += target.ui.px(kKeyScroll); }},
    {"box_select", "Select a box of lanes and time", kInAnalyse, "", "B", "",
     [](Response target) { target.state.box_armed = !target.state.box_armed; }},
    {"colours", "Colours and their legend", kInView, "", "Shift+C", "",
     [](Response target) { target.state.legend.open_wanted = true; }},
    {"filter_by_region", "Zoom in and filter in by selection", kInAnalyse, "", "Shift+F", "",
     [](Response target) { view::filter_by_selection(target.tab); }},
    {"event_above", "Event in the lane above, or grow the box", kInAnalyse, kStep, "Shift+Up", "",
     [](Response target) { step_lane_or_box(target, true); }},
    {"event_below", "Event in the lane below, or grow the box", kInAnalyse, kStep, "Shift+Down", "",
     [](Response target) { step_lane_or_box(target, false); }},
    {"box_later", "Extend the box to later, or begin one", kInAnalyse, kStep, "Shift+Right", "",
     [](Response target) { target.state.box_step = {.across = 1}; }},
    {"box_earlier", "Extend the box to earlier, or begin one", kInAnalyse, kStep, "Shift+Left", "",
     [](Response target) { target.state.box_step = {.across = -1}; }},
    {"filter_lanes", "Filter lanes by name", kInView, kLanes, "L", "", [](Response target) { target.state.focus_filter = true; }},
    {"collapse_groups", "Collapse all groups of lanes", kInView, kLanes, "C", "",
     [](Response target) { open_groups(target, false); }},
    {"expand_groups", "Expand all groups of lanes", kInView, kLanes, "E", "", [](Response target) { open_groups(target, true); }},
    {"pin_lane", "Pin or unpin the lane under the pointer or of the selection", kInView, kLanes, "P", "",
     [](Response target) {
       change_row(target, [](rows::RowChoices& choices, const std::string& key) {
         if (!key.empty() && !key.starts_with("group:")) flip_pin(choices, key);  // a group cannot be pinned
       });
     }},
    {"hide_lane", "Hide the lane under the pointer or of the selection", kInView, kLanes, "H", "",
     [](Response target) {
       change_row(target, [](rows::RowChoices& choices, const std::string& key) {
         if (!key.empty()) choices.hidden.insert(key);
       });
     }},
    {"lane_up", "Move the lane or group up", kInView, kLanes, "Alt+Up", "",
     [](Response target) { step_row(target, -1); }},
    {"lane_down", "Move the lane or group down", kInView, kLanes, "Alt+Down", "",
     [](Response target) { step_row(target, 1); }},
    {"show_hidden", "Show all hidden lanes", kInView, kLanes, "Shift+H", "",
     [](Response target) { change_row(target, [](rows::RowChoices& choices, const std::string&) { choices.hidden.clear(); }); }},
});

}  // namespace

std::span<const TimelineCommand> timeline_commands() noexcept { return kTimelineCommands; }

}  // namespace accelscope::app::timeline
