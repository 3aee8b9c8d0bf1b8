#include "app/view/settings.h"

#include <algorithm>

#include "app/rows/groups.h"
#include "app/rows/rows.h"

namespace accelscope::app {

void choose_rows(SessionTab& tab, RowChoices rows) {
  if (rows == tab.choices.rows) return;
  tab.change([&](ViewChoices& choices) { choices.rows = std::move(rows); });
}

RowChoices full_view(RowChoices choices) {
  choices.hidden.clear();
  choices.name_filter.clear();
  choices.layer_depth = 0;
  choices.minimal = false;
  return choices;
}

RowChoices minimal_view(RowChoices choices) {
  choices = full_view(std::move(choices));
  choices.minimal = true;
  return choices;
}

std::uint32_t layer_levels(const Snapshot& snapshot) {
  std::size_t levels = 0;
  for (const TrackPlace& place : placed_tracks(snapshot)) {
    if (is_layer_group(place.group)) levels = std::max(levels, place.track->lanes.size());
  }
  return static_cast<std::uint32_t>(levels);
}

std::vector<SemaphoreRow> semaphore_rows(const Snapshot& snapshot) {
  std::vector<SemaphoreRow> rows;
  for (const TimelineRow& heading : compose_rows(snapshot, nullptr, {})) {
    if (heading.kind != RowKind::group || !is_semaphore_group(heading.group)) continue;
    const std::string_view title = row_group(heading.group).title;
    std::string device = heading.label;  // "nc0 Semaphores"
    device.resize(device.size() - title.size());
    for (const RowMember& member : heading.members) rows.push_back({member.key, heading.key, device + member.label});
  }
  return rows;
}

void show_semaphores(RowChoices& choices, const std::vector<SemaphoreRow>& rows, bool shown) {
  for (const SemaphoreRow& row : rows) {
    if (!shown) {
      choices.hidden.insert(row.key);
      continue;
    }
    choices.hidden.erase(row.key);
    choices.open[row.heading] = true;
  }
}

}  // namespace accelscope::app
