// Commands on lanes, as menus, the palette and keys give them: to the lane under the pointer or of the selected event.
#include <algorithm>

#include "app/rows/track_names.h"
#include "app/timeline/frame.h"

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
[[nodiscard]] std::optional<EventRecord> event_near(SessionTab& tab, const LaneSnapshot& lane, std::int64_t ns) {
  const auto slack = static_cast<std::int64_t>(tab.view.span_ns());
  const Result<std::optional<EventId>> found = tab.reader->event_at(lane, ns, slack);
  if (!found) tab.last_error = found.message();
  if (!found || !*found) return {};
  Result<EventRecord> event = tab.reader->read(**found);
  if (!event) tab.last_error = event.message();
  if (!event || static_cast<double>(event->end_ns) < tab.view.begin_ns ||
      static_cast<double>(event->begin_ns) > tab.view.end_ns) {
    return {};
  }
  return std::move(event).value();
}

// Lanes without an event in the view are passed over.
void step_lane(SessionTab& tab, TimelineState& state, int direction) {
  if (!tab.selected || !tab.reader) return;
  const Result<EventRecord> from = tab.reader->read(*tab.selected);
  if (!from || from->lane == nullptr) return;
  if (state.lane_step.event != from->id) {
    const double middle = (static_cast<double>(from->begin_ns) + static_cast<double>(from->end_ns)) / 2;
    state.lane_step.ns = static_cast<std::int64_t>(std::clamp(middle, tab.view.begin_ns, tab.view.end_ns));
  }
  std::vector<std::uint32_t> lanes;  // from top to bottom
  for (const TimelineRow& row : state.rows) {
    if (row.kind == RowKind::slices) lanes.insert(lanes.end(), row.lanes.begin(), row.lanes.end());
  }
  const auto is_own = [&](std::uint32_t lane) { return tab.snapshot->lanes[lane].number() == lane_of(from->id); };
  auto at = std::find_if(lanes.begin(), lanes.end(), is_own) - lanes.begin();
  const auto count = static_cast<std::ptrdiff_t>(lanes.size());
  if (at == count) return;
  for (at += direction; at >= 0 && at < count; at += direction) {
    const LaneSnapshot& lane = tab.snapshot->lanes[lanes[static_cast<std::size_t>(at)]];
    const std::optional<EventRecord> event = event_near(tab, lane, state.lane_step.ns);
    if (!event) continue;
    tab.selected = state.lane_step.event = event->id;
    tab.also_selected.clear();
    state.reveal = event->id;
    return;
  }
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
      step_lane(tab, state, command == TimelineCommand::event_above ? -1 : 1);
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
