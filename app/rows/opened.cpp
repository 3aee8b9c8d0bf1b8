// Which groups, threads and cores are open until the user says otherwise.
#include "app/rows/composer.h"
#include "render/base/theme.h"

namespace accelscope::app {

namespace size = render::size;

void RowComposer::close_large_sections() {
  float height = 0;
  for (const RowSection& section : sections_) height += size::kGroupRow + (section.heading.open ? section.height : 0);
  const auto streams = std::find_if(sections_.begin(), sections_.end(),
                                    [](const RowSection& each) { return is_stream_group(each.group_index); });
  while (sections_.size() > 1 && height > kUsualHeight) {
    RowSection* largest = nullptr;
    for (RowSection& section : sections_) {
      if (!section.heading.open || section.top_rows <= kManyRows || section.bundles) continue;
      // What a GPU did is what one opened the session for.
      if (streams != sections_.end() && &section == &*streams && section.height <= kFold) continue;
      if (largest == nullptr || section.height > largest->height) largest = &section;
    }
    if (largest == nullptr) break;
    largest->heading.open = false;
    height -= largest->height;
  }
  // Nor are many threads open above which the streams had to be closed.
  const bool closed = streams != sections_.end() && !streams->heading.open;
  for (RowSection& section : sections_) {
    if (closed && is_host_group(section.group_index) && section.top_rows > kManyRows) section.heading.open = false;
  }
  close_before_fold();
  for (RowSection& section : sections_) {
    // Who filters wants to see what is left.
    const bool by_default = section.heading.open || !choices_.name_filter.empty();
    section.heading.open = is_open(section.heading.key, by_default);
  }
  open_bundles();
}

// A first look shows that there are engines, transfers, counters and memory: closes groups, those of other devices
// first and then the largest, until each of these begins in sight.
void RowComposer::close_before_fold() {
  const auto engines = std::find_if(sections_.begin(), sections_.end(),
                                    [](const RowSection& section) { return is_engine_group(section.group_index); });
  if (engines == sections_.end()) return;
  const std::string device = engines->device;
  for (;;) {
    float y = 0;
    float last = 0;  // where the last of them begins
    RowSection* closed = nullptr;
    RowSection* candidate = nullptr;
    for (RowSection& section : sections_) {
      const bool own = section.device == device;
      if ((own && begins_in_sight(section.group_index)) || section.pools) {
        last = y;
        closed = candidate;
      }
      y += size::kGroupRow + (section.heading.open ? section.height : 0);
      if (!section.heading.open || section.bundles || &section == &*engines || section.height <= size::kLane) continue;
      const auto worth = [&](const RowSection& each) { return std::pair{each.device != device, each.height}; };
      if (candidate == nullptr || worth(section) > worth(*candidate)) candidate = &section;
    }
    if (last + size::kGroupRow <= kFold || closed == nullptr) return;
    closed->heading.open = false;
  }
}

// The thread that launches, and cores as long as the window has room: the others are one row each.
void RowComposer::open_bundles() {
  float y = 0;
  for (const RowSection& section : sections_) {
    y += size::kGroupRow;
    if (!section.heading.open) continue;
    const bool threads = is_host_group(section.group_index) || is_stream_group(section.group_index);
    bool first = !section.of_profiler && !is_stream_group(section.group_index);
    for (const TrackPlace* place : section.tracks) {
      if (belongs_to_track(snapshot_, *place)) continue;
      y += track_row(*place, {}, RowSize::normal, most_levels(section)).height;
      if (!is_bundle(*place->track)) continue;
      float inside = 0;
      for (const TrackPlace* child : children_.at(place->track->track->number)) {
        inside += track_row(*child, {}, RowSize::normal, most_levels(section)).height;
      }
      if (first || (!threads && y + inside <= kUsualHeight)) {
        opened_.insert(place->track->track->number);
        y += inside;
      }
      first = false;
    }
  }
}

}  // namespace accelscope::app
