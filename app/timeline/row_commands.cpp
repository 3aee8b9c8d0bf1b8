// Commands on lanes, as menus, the palette and keys give them: to the lane under the pointer or of the selected event.
#include <algorithm>

#include "app/rows/track_names.h"
#include "app/timeline/frame.h"
#include "app/view/selection.h"

namespace accelscope::app {
namespace {

using namespace render;

[[nodiscard]] std::optional<std::string> row_under(const TimelineState& state, Point at) {
  for (const DrawnRow& drawn : state.drawn_rows) {
    const TimelineRow& row = state.rows[drawn.row];
    if (row.key.starts_with("group:#")) continue;  // it only tells what is hidden
    if (row.series.size() < 2 && drawn.rect.intersected(drawn.clip).contains(at)) return row.key;
  }
  return {};
}

[[nodiscard]] std::optional<std::string> row_of_selected(const SessionTab& tab) {
  const LaneSnapshot* lane = tab.selected ? tab.snapshot->find_lane(lane_of(*tab.selected)) : nullptr;
  const TrackSnapshot* track = lane != nullptr ? tab.snapshot->find_track(lane->track) : nullptr;
  if (track == nullptr) return {};
  return row_key(TrackNames(*tab.snapshot), track->track->number);
}

// A group cannot be pinned.
void pin(RowChoices& choices, const std::string& key) {
  if (key.starts_with("group:")) return;
  if (std::erase(choices.pinned, key) == 0) choices.pinned.push_back(key);
}

void open_groups(const TimelineState& state, RowChoices& choices, bool open) {
  for (const TimelineRow& row : state.rows) {
    if (row.kind == RowKind::group) choices.open[row.key] = open;
  }
}

// Of the lane's events in the view the one at the time, else the nearest.
[[nodiscard]] Result<std::optional<EventId>> event_near(EventReader& reader, const LaneSnapshot& lane, std::int64_t ns,
                                                        const ViewRange& view) {
  const auto found = reader.event_at(lane, ns, static_cast<std::int64_t>(view.span_ns()));
  if (!found || !*found) return found;
  const Result<EventRecord> event = reader.read(**found);
  if (!event) return event.error();
  const bool in_view =
      static_cast<double>(event->end_ns) >= view.begin_ns && static_cast<double>(event->begin_ns) <= view.end_ns;
  return in_view ? found : Result(std::optional<EventId>());
}

// From one of the lanes to the next that has an event in the view.
[[nodiscard]] EventStep lane_step(std::vector<LaneSnapshot> lanes, const ViewRange& view, bool up) {
  return [lanes = std::move(lanes), view, up](EventReader& reader, StepPlace& place,
                                              const TaskControl& control) -> Result<void> {
    const Result<EventRecord> from = reader.read(*place.event);
    if (!from) return from.error();
    if (place.lane_step.event != from->id) {
      const double middle = (static_cast<double>(from->begin_ns) + static_cast<double>(from->end_ns)) / 2;
      place.lane_step.ns = static_cast<std::int64_t>(std::clamp(middle, view.begin_ns, view.end_ns));
    }
    const auto is_own = [&](const LaneSnapshot& lane) { return lane.number() == lane_of(from->id); };
    std::size_t at = static_cast<std::size_t>(std::find_if(lanes.begin(), lanes.end(), is_own) - lanes.begin());
    if (at == lanes.size()) return {};
    while (up ? at-- > 0 : ++at < lanes.size()) {
      if (control.cancelled()) return cancelled_error();
      const auto event = event_near(reader, lanes[at], place.lane_step.ns, view);
      if (!event) return event.error();
      if (!*event) continue;
      place.event = *event;
      place.lane_step.event = **event;
      return {};
    }
    return {};
  };
}

void step_lane(SessionTab& tab, TimelineState& state, bool up) {
  if (!tab.selected) return;
  std::vector<LaneSnapshot> lanes;  // from top to bottom
  for (const TimelineRow& row : state.rows) {
    if (row.kind != RowKind::slices) continue;
    for (const std::uint32_t lane : row.lanes) lanes.push_back(tab.snapshot->lanes[lane]);
  }
  step_selection(tab, lane_step(std::move(lanes), tab.view, up), [&tab, &state](const StepPlace& place) {
    if (place.event == tab.selected) return;
    tab.selected = place.event;
    tab.chosen_in = ChosenIn::timeline;
    tab.also_selected.clear();
    tab.lane_step = place.lane_step;
    state.reveal = place.event;
  });
}

}  // namespace

bool run_row_command(SessionTab& tab, TimelineState& state, TimelineCommand command, Point mouse) {
  RowChoices choices = tab.choices.rows;
  const auto with_row = [&](auto change) {
    std::optional<std::string> key = row_under(state, mouse);
    if (!key) key = row_of_selected(tab);
    if (key) change(*key);
  };
  switch (command) {
    case TimelineCommand::event_above:
    case TimelineCommand::event_below:
      step_lane(tab, state, command == TimelineCommand::event_above);
      return true;
    case TimelineCommand::filter_lanes:
      state.focus_filter = true;
      return true;
    case TimelineCommand::collapse_groups:
    case TimelineCommand::expand_groups:
      open_groups(state, choices, command == TimelineCommand::expand_groups);
      break;
    case TimelineCommand::pin_lane:
      with_row([&](const std::string& key) { pin(choices, key); });
      break;
    case TimelineCommand::hide_lane:
      with_row([&](const std::string& key) { choices.hidden.insert(key); });
      break;
    case TimelineCommand::show_hidden:
      choices.hidden.clear();
      break;
    default:
      return false;
  }
  if (choices != tab.choices.rows) change_rows(tab, std::move(choices));
  return true;
}

}  // namespace accelscope::app
