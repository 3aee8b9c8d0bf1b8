#include "app/rows/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "app/persist/persist.h"
#include "app/rows/composer.h"
#include "core/analysis/time/work_kind.h"
#include "core/base/format.h"
#include "core/scan/chunk_scan.h"
#include "render/base/theme.h"

namespace accelscope::app {

namespace size = render::size;

TimelineRow track_row(const TrackPlace& place, std::string key, RowSize row_size, std::size_t most_levels) {
  const TrackSnapshot& track = *place.track;
  TimelineRow row;
  const bool counter = track.schema && track.schema->kind == EventKind::counter;
  row.kind = counter ? RowKind::counter : RowKind::slices;
  row.key = std::move(key);
  row.label = track.track->name;
  row.lanes = track.lanes;
  row.track = track.track.get();
  row.alerts = place.alerts;
  row.size = row_size;
  if (counter) {
    row.series = {row.track};
    row.scale_lanes = row.lanes;
    row.height = counter_height(row_size);
    return row;
  }
  if (row_size == RowSize::small) most_levels = std::min(most_levels, kSmallLevels);
  if (row_size == RowSize::normal) most_levels = std::min(most_levels, usual_levels(track));
  if (row.lanes.size() > most_levels) {
    row.hidden_levels = row.lanes.size() - most_levels;
    row.lanes.resize(most_levels);
  }
  row.height = sub_lane_sizes(row.lanes.size(), row_size).row;
  return row;
}

namespace {

// Of the lane's events, waits included.
double covered_ns(const LaneSnapshot& lane) {
  if (lane.data->kind == EventKind::counter) return 0;  // its tree has samples
  double ticks = 0;
  std::size_t begin = 0;  // leaves before it are done
  for (std::size_t level = kTreeLevels; level-- > 0;) {
    const std::size_t leaves = std::size_t{1} << (3 * level);
    static_assert(kTreeFanout == 8);
    for (std::size_t index = begin / leaves; index < lane.tree.nodes[level]; ++index) {
      const SliceNode& node = lane.data->slices.node(level, index);
      ticks += static_cast<double>(node.busy) + static_cast<double>(node.wait);
      begin = (index + 1) * leaves;
    }
  }
  return ticks * mean_ns_per_tick(*lane.clock, lane.begin_ticks, lane.end_ticks);
}

TimelineRow heading_of_hidden() {
  TimelineRow row;
  row.kind = RowKind::group;
  row.key = "group:#hidden";
  row.label = "Hidden groups";
  row.height = size::kGroupRow;
  row.open = false;
  return row;
}

}  // namespace

std::vector<TimelineRow> RowComposer::run(RowCount* count) {
  make_sections();
  add_derived();
  for (RowSection& section : sections_) {
    name(section);
    measure(section);
  }
  close_large_sections();
  add_pinned();
  TimelineRow hidden = heading_of_hidden();
  for (RowSection* section : ordered_sections()) {
    if (is_hidden(section->heading.key)) {
      hidden.members.push_back({section->heading.key, section->heading.label, true, kNone});
    } else {
      add_section(*section);
    }
    all_ += section->heading.members.size();
    matching_ += section->matching;
  }
  hidden.hidden_count = hidden.members.size();
  if (!hidden.members.empty()) rows_.push_back(std::move(hidden));
  if (count != nullptr) *count = {all_, matching_};
  return std::move(rows_);
}

void RowComposer::make_sections() {
  for (const TrackPlace& place : places_) {
    if (belongs_to_track(snapshot_, place)) children_[place.track->track->parent].push_back(&place);
  }
  // The tracker's pools, of all devices, stand for the allocations they were made from.
  const bool has_pools = memory_ != nullptr && !memory_->pools.empty() && !choices_.minimal;
  bool pools_placed = false;
  for (std::size_t first = 0; first < places_.size();) {
    const TrackPlace& start = places_[first];
    RowSection section;
    section.group = &row_group(start.group);
    section.heading.group = start.group;
    section.group_index = start.group;
    section.device = start.device;
    section.phase = start.phase;
    section.of_profiler = is_of_profiler(*start.track->track) && start.track->track->device.empty();
    for (; first < places_.size() && places_[first].group == start.group && places_[first].device == start.device;
         ++first) {
      const TrackPlace& place = places_[first];
      const bool counter = place.track->schema && place.track->schema->kind == EventKind::counter;
      if (has_pools && is_memory_group(start.group) && !counter) continue;
      section.tracks.push_back(&place);
    }
    section.pools = has_pools && is_memory_group(start.group) && !pools_placed;
    pools_placed = pools_placed || section.pools;
    if (section.tracks.empty() && !section.pools) continue;
    sections_.push_back(std::move(section));
  }
}

// The device's group of counters; one is made where no source recorded any.
RowSection& RowComposer::counter_section(const std::string& device) {
  auto place = sections_.end();
  // Beside GPUs counters come after the threads.
  const bool phases =
      std::any_of(sections_.begin(), sections_.end(), [](const RowSection& each) { return each.phase > 0; });
  if (phases) {
    place = std::find_if(sections_.begin(), sections_.end(),
                         [](const RowSection& each) { return each.phase > counter_phase(); });
    for (RowSection& each : sections_) {
      if (each.device == device && each.group_index == counter_group()) return each;
    }
  }
  for (auto each = sections_.begin(); !phases && each != sections_.end(); ++each) {
    if (each->device != device) continue;
    if (each->group_index == counter_group()) return *each;
    place = each->group_index < counter_group() ? each + 1 : std::min(place, each);
  }
  RowSection section;
  section.group = &row_group(counter_group());
  section.group_index = counter_group();
  section.heading.group = counter_group();
  section.device = device;
  section.phase = phases ? counter_phase() : 0;
  return *sections_.insert(place, std::move(section));
}

void RowComposer::add_derived() {
  for (const auto& counter : derived_) {
    const std::string device = device_name(counter->host, counter->device);
    const auto is_of_device = [&](const TrackPlace& place) { return place.device == device; };
    if (!choices_.only.empty() && std::none_of(places_.begin(), places_.end(), is_of_device)) continue;
    counter_section(device_name(counter->host, counter->device)).derived.push_back(counter);
  }
}

namespace {

// What a capture tells of itself is no device of its own: a pause leaves the groups their names.
bool of_several_devices(const std::vector<TrackPlace>& places) {
  const TrackPlace* first = nullptr;
  for (const TrackPlace& place : places) {
    if (place.track->track->kind == "capture") continue;
    if (first == nullptr) first = &place;
    if (place.device != first->device) return true;
  }
  return false;
}

}  // namespace

void RowComposer::name(RowSection& section) const {
  const bool several = of_several_devices(places_);
  TimelineRow& heading = section.heading;
  heading.kind = RowKind::group;
  const bool names_device = several && !section.device.empty() && !section.pools;
  const bool of_capture = !section.tracks.empty() &&
                          std::all_of(section.tracks.begin(), section.tracks.end(),
                                      [](const TrackPlace* place) { return place->track->track->kind == "capture"; });
  const std::string full = of_capture     ? "Capture"
                           : names_device ? fmt::format("{} {}", section.device, section.group->title)
                                          : std::string(section.group->title);
  heading.key = "group:" + full;
  heading.label = heading_label(section, full);
  heading.height = size::kGroupRow;
  heading.open = section.group->open && !section.of_profiler;
  section.words = fmt::format("{} {} ", section.device, section.group->title);
}

void RowComposer::measure(RowSection& section) {
  TimelineRow& heading = section.heading;
  const auto add = [&](std::string key, std::string label, TrackNumber track) {
    const bool hidden = is_hidden(key);
    if (hidden) ++heading.hidden_count;
    if (matches(section, label)) ++section.matching;
    heading.members.push_back({std::move(key), std::move(label), hidden, track});
  };
  if (section.pools) {
    for (const PoolUsage& pool : memory_->pools) add("pool:" + pool.name, pool.name, kNone);
    section.top_rows = section.used = memory_->pools.size();
    section.height = size::kMemoryLane * static_cast<float>(memory_->pools.size());
  }
  for (const auto& counter : section.derived) {
    add(counter->key, derived_label(*counter), kNone);
    if (!counter->parent.empty()) continue;
    ++section.top_rows;
    ++section.used;
    section.height += counter_height(RowSize::normal);
  }
  find_quiet(section);
  if (!section.quiet.empty()) section.height += size::kLane;
  for (const TrackPlace* place : section.tracks) {
    add(key_of(*place), place->track->track->name, place->track->track->number);
    if (belongs_to_track(snapshot_, *place)) continue;
    ++section.top_rows;
    section.bundles = section.bundles || is_bundle(*place->track);
    if (!section.quiet.contains(place->track->track->number))
      section.height += track_row(*place, {}, RowSize::normal, most_levels(section)).height;
    if (has_events(*place->track)) ++section.used;
  }
}

// Programs that make a stream for each piece of work leave hundreds with a kernel or two, above all that one looks for.
void RowComposer::find_quiet(RowSection& section) const {
  if (!is_stream_group(section.group_index) || !choices_.name_filter.empty()) return;
  constexpr std::size_t kLeastQuiet = 4;
  constexpr double kLeastShare = 0.001;  // of the events and of the time of the whole group
  constexpr double kFewEvents = 4;       // are next to nothing beside a row that is busy for a hundred times as long
  constexpr double kLeastOfBusiest = 0.01;
  struct Work {
    TrackNumber track = 0;
    double events = 0, time_ns = 0;
  };
  std::vector<Work> works;
  Work all, most;
  for (const TrackPlace* place : section.tracks) {
    if (belongs_to_track(snapshot_, *place) || is_bundle(*place->track)) continue;
    Work& work = works.emplace_back(Work{place->track->track->number});
    for (const std::uint32_t lane : place->track->lanes) {
      work.events += static_cast<double>(snapshot_.lanes[lane].event_count);
      work.time_ns += covered_ns(snapshot_.lanes[lane]);
    }
    all.events += work.events, all.time_ns += work.time_ns;
    most.time_ns = std::max(most.time_ns, work.time_ns);
  }
  if (works.size() <= kManyRows) return;
  for (const Work& work : works) {
    const bool few = work.events <= kFewEvents && work.time_ns < kLeastOfBusiest * most.time_ns;
    if (few || (work.events < kLeastShare * all.events && work.time_ns < kLeastShare * all.time_ns))
      section.quiet.insert(work.track);
  }
  if (section.quiet.size() < kLeastQuiet) section.quiet.clear();
}

// One row for all of these, which follow it when it is open.
RowBlock RowComposer::quiet_rows(const RowSection& section, std::vector<RowBlock> blocks) const {
  TimelineRow all;
  all.kind = RowKind::bundle;
  all.key = "quiet:" + section.heading.key;
  all.parent = section.heading.key;
  all.height = size::kLane;
  all.has_children = true;
  all.open = is_open(all.key, false);
  bool streams = true;
  for (RowBlock& block : blocks) {
    const TimelineRow& row = block.front();
    streams = streams && row.track->kind == "stream";
    all.lanes.insert(all.lanes.end(), row.lanes.begin(), row.lanes.end());
    all.members.push_back({row.key, row.label, false, row.track->number});
    for (TimelineRow& each : block) ++each.depth;
    block.front().parent = all.key;
  }
  all.label = fmt::format("{} quiet {}", format_count(blocks.size()), streams ? "streams" : "rows");
  RowBlock rows;
  const bool open = all.open;
  rows.push_back(std::move(all));
  put_in_order(choices_, rows.front().key, blocks);
  for (RowBlock& block : blocks) {
    if (open) std::move(block.begin(), block.end(), std::back_inserter(rows));
  }
  return rows;
}

void RowComposer::add_pinned() {
  for (const std::string& key : choices_.pinned) {
    for (const RowSection& section : sections_) {
      std::vector<TimelineRow> block;
      for (TimelineRow& pool : pool_rows(section)) {
        if (pool.key == key) block.push_back(std::move(pool));
      }
      for (const auto& counter : section.derived) {
        if (counter->key != key) continue;
        DerivedCounter alone = *counter;
        alone.parent.clear();
        DerivedCounters family = {std::make_shared<DerivedCounter>(std::move(alone))};
        std::copy_if(section.derived.begin(), section.derived.end(), std::back_inserter(family),
                     [&](const auto& each) { return each->parent == key; });
        for (RowBlock& each : derived_rows(family, section.heading.key, choices_, [](auto) { return true; })) {
          std::move(each.begin(), each.end(), std::back_inserter(block));
        }
      }
      for (const TrackPlace* place : section.tracks) {
        if (key_of(*place) == key) add_track(section, *place, 0, block);
      }
      const bool names_group = section.heading.label != section.group->title;
      for (TimelineRow& row : block) {
        row.pinned = true;
        // Away from its heading a name alone may not say whose it is.
        if (row.key == key && names_group) row.label = section.heading.label + " " + row.label;
        rows_.push_back(std::move(row));
      }
    }
  }
}

std::vector<RowSection*> RowComposer::ordered_sections() {
  std::vector<RowBlock> blocks;
  for (const RowSection& section : sections_) {
    TimelineRow only_key;
    only_key.key = section.heading.key;
    blocks.push_back({std::move(only_key)});
  }
  put_in_order(choices_, {}, blocks);
  std::vector<RowSection*> ordered;
  for (const auto& block : blocks) {
    for (RowSection& section : sections_) {
      const bool taken = std::find(ordered.begin(), ordered.end(), &section) != ordered.end();
      if (section.heading.key == block.front().key && !taken) ordered.push_back(&section);
    }
  }
  return ordered;
}

std::vector<TimelineRow> RowComposer::pool_rows(const RowSection& section) const {
  std::vector<TimelineRow> rows;
  if (!section.pools) return rows;
  for (std::uint32_t pool = 0; pool < memory_->pools.size(); ++pool) {
    TimelineRow row;
    row.kind = RowKind::memory;
    row.label = memory_->pools[pool].name;
    row.key = "pool:" + row.label;
    row.parent = section.heading.key;
    row.pool = pool;
    row.size = choices_.size_of(row.key);
    row.height = shared_plot_height(row.size);
    rows.push_back(std::move(row));
  }
  return rows;
}

// The track's row and, if it is open, those of the tracks below it.
void RowComposer::add_track(const RowSection& section, const TrackPlace& place, int depth,
                            std::vector<TimelineRow>& rows) const {
  std::string own_key = key_of(place);
  const RowSize row_size = choices_.size_of(own_key);
  const std::size_t levels = most_levels(section);
  TimelineRow row = track_row(place, std::move(own_key), row_size, levels);
  row.depth = depth;
  const auto below = children_.find(place.track->track->number);
  row.has_children = below != children_.end() && depth < kDeepest && static_cast<std::size_t>(depth) + 1 < levels;
  const bool finds_below = !choices_.name_filter.empty() && !matches(section, row.label);
  row.open = row.has_children && is_open(row.key, finds_below || opened_.contains(place.track->track->number));
  if (is_bundle(*place.track)) {
    row.kind = RowKind::bundle;
    row.height = size::kLane;
    // A word of ours, not a name: "core 1,1", "thread 123".
    if (row.label.starts_with("core ")) row.label[0] = 'C';
    if (row.label.starts_with("thread ")) row.label[0] = 'T';
    visit(*place.track, [&](const TrackSnapshot& each) {
      const bool slices = each.schema && each.schema->kind != EventKind::counter;
      if (slices) row.lanes.insert(row.lanes.end(), each.lanes.begin(), each.lanes.end());
    });
  }
  row.parent = section.heading.key;
  const bool open = row.open;
  const std::string key = row.key;
  rows.push_back(std::move(row));
  if (!open) return;
  std::vector<RowBlock> blocks;
  for (const TrackPlace* child : below->second) {
    const std::string child_key = key_of(*child);
    if (is_hidden(child_key) || is_pinned(child_key)) continue;
    if (finds_below && !any_matches(section, *child->track)) continue;
    RowBlock& block = blocks.emplace_back();
    add_track(section, *child, depth + 1, block);
    block.front().parent = key;
    block.front().label = label_below(place.track->track->name, block.front().label);
  }
  put_in_order(choices_, key, blocks);
  for (auto& block : blocks) std::move(block.begin(), block.end(), std::back_inserter(rows));
}

void RowComposer::add_section(RowSection& section) {
  std::vector<RowBlock> blocks;
  for (RowBlock& block : derived_rows(section.derived, section.heading.key, choices_,
                                      [&](std::string_view label) { return matches(section, label); })) {
    if (!is_hidden(block.front().key) && !is_pinned(block.front().key)) blocks.push_back(std::move(block));
  }
  for (TimelineRow& row : pool_rows(section)) {
    if (is_hidden(row.key) || is_pinned(row.key) || !matches(section, row.label)) continue;
    blocks.emplace_back().push_back(std::move(row));
  }
  std::vector<RowBlock> quiet;
  for (const TrackPlace* place : section.tracks) {
    const std::string key = key_of(*place);
    if (belongs_to_track(snapshot_, *place) || is_hidden(key) || is_pinned(key)) continue;
    if (!any_matches(section, *place->track)) continue;
    const bool is_quiet = section.quiet.contains(place->track->track->number);
    add_track(section, *place, 0, (is_quiet ? quiet : blocks).emplace_back());
  }
  if (!quiet.empty()) blocks.push_back(quiet_rows(section, std::move(quiet)));
  // A group of which all is hidden or pinned keeps its heading: it tells so.
  if (blocks.empty() && !choices_.name_filter.empty()) return;
  shorten_labels(section, blocks);
  put_in_order(choices_, section.heading.key, blocks);
  std::vector<TimelineRow> members;
  for (auto& block : blocks) std::move(block.begin(), block.end(), std::back_inserter(members));
  arrange_counters(section.heading.key, choices_, members);

  TimelineRow heading = section.heading;
  heading.count = count_text(section);
  for (const TimelineRow& row : members) {
    if ((row.kind == RowKind::slices || row.kind == RowKind::bundle) && row.depth == 0) {
      heading.lanes.insert(heading.lanes.end(), row.lanes.begin(), row.lanes.end());
    }
    if (!heading.open) heading.alerts += row.alerts;
  }
  const bool open = heading.open;
  rows_.push_back(std::move(heading));
  if (open) std::move(members.begin(), members.end(), std::back_inserter(rows_));
}

std::string RowComposer::count_text(const RowSection& section) const {
  if (!choices_.name_filter.empty()) return fmt::format("{} of {}", section.matching, section.heading.members.size());
  if (section.used != section.top_rows) return fmt::format("{} of {}", section.used, section.top_rows);
  const std::string_view unit = section.top_rows == 1 ? section.group->one : section.group->many;
  return fmt::format("{} {}", format_count(section.top_rows), unit);
}

SubLaneSizes sub_lane_sizes(std::size_t lanes, RowSize row_size) noexcept {
  constexpr float kMargins = size::kTwoSubLanes - 2 * size::kSubLane;
  SubLaneSizes single{size::kLane, size::kLane, size::kSlice};
  SubLaneSizes several{0, size::kSubLane, size::kSubSlice};
  if (row_size == RowSize::small) {
    single = {14, 14, 11};
    several = {0, 8, 7};
  } else if (row_size == RowSize::tall) {
    single = {36, 36, 32};
    several = {0, size::kLane, size::kLane - 1};
  }
  if (lanes <= 1) return single;
  several.row = several.step * static_cast<float>(lanes) + kMargins;
  return several;
}

std::vector<TimelineRow> compose_rows(const Snapshot& snapshot, const MemoryUsage* memory, const RowChoices& choices,
                                      RowCount* count, const DerivedCounters& derived) {
  return RowComposer(snapshot, memory, choices, derived).run(count);
}

}  // namespace accelscope::app
