#include "app/rows/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <unordered_map>
#include <utility>

#include "app/persist/persist.h"
#include "app/rows/groups.h"
#include "core/analysis/time/work_kind.h"
#include "core/base/format.h"
#include "core/base/text.h"
#include "core/names/name_forms.h"
#include "core/scan/chunk_scan.h"
#include "render/base/theme.h"

namespace accelscope::app::rows {

namespace size = render::size;

// How the rows are put together: sections, each a group of one device, and what opens and names them.

// A group of one device while its rows are put together.
struct RowSection {
  TimelineRow heading;
  const RowGroup* group = nullptr;
  std::string words;  // what the name filter knows its rows by
  std::string device;
  int phase = 0;  // as TrackPlace has it
  std::size_t group_index = 0;
  std::vector<const TrackPlace*> tracks;
  DerivedCounters derived;
  bool pools = false;
  bool bundles = false;         // its rows are threads or cores: few of them are opened
  bool of_profiler = false;     // what it did itself is nobody's work
  std::size_t top_rows = 0;     // those that stand by themselves
  float height = 0;             // units, as it is by default
  std::size_t used = 0;         // top rows with events
  std::set<TrackNumber> quiet;  // of many rows those that do next to nothing: one row stands for them
  std::size_t matching = 0;     // members that the filter leaves
};

[[nodiscard]] TimelineRow track_row(const TrackPlace& place, std::string key, RowSize row_size,
                                    std::size_t most_levels);

[[nodiscard]] std::string heading_label(const RowSection& section, const std::string& full);
[[nodiscard]] std::string label_below(const std::string& above, const std::string& name);
void shorten_labels(const RowSection& section, std::vector<RowBlock>& blocks);

class RowComposer {
 public:
  RowComposer(const Snapshot& snapshot, const analysis::MemoryUsage* memory, const RowChoices& choices,
              const DerivedCounters& derived)
      : snapshot_(snapshot),
        memory_(memory),
        choices_(choices),
        derived_(derived),
        names_(snapshot),
        places_(placed_tracks(snapshot)) {
    if (!choices.only.empty()) keep_only(places_, choices.only);
    if (choices.minimal) keep_essential(places_);
    if (choices.platform) arrange_as_platform(snapshot, places_);
  }

  std::vector<TimelineRow> run(RowCount* count);

 private:
  [[nodiscard]] std::string key_of(const TrackPlace& place) const {
    return row_key(names_, place.track->track->number);
  }
  [[nodiscard]] bool is_hidden(const std::string& key) const { return choices_.hidden.count(key) > 0; }
  [[nodiscard]] bool is_pinned(const std::string& key) const {
    return std::ranges::find(choices_.pinned, key) != choices_.pinned.end();
  }
  [[nodiscard]] bool is_open(const std::string& key, bool by_default) const {
    const auto chosen = choices_.open.find(key);
    return chosen == choices_.open.end() ? by_default : chosen->second;
  }
  [[nodiscard]] bool matches(const RowSection& section, std::string_view label) const {
    if (choices_.name_filter.empty()) return true;
    return matches_words(section.words + std::string(label), choices_.name_filter);
  }
  // Levels that a track may show.
  [[nodiscard]] std::size_t most_levels(const RowSection& section) const {
    const bool limited = is_layer_group(section.heading.group) && choices_.layer_depth > 0;
    return limited ? choices_.layer_depth : std::numeric_limits<std::size_t>::max();
  }
  // Itself or one below it.
  [[nodiscard]] bool any_matches(const RowSection& section, const TrackSnapshot& track, int depth = 0) const {
    if (matches(section, track.track->name)) return true;
    const auto below = children_.find(track.track->number);
    if (below == children_.end() || depth >= kDeepest) return false;
    return std::ranges::any_of(below->second,
                               [&](const TrackPlace* child) { return any_matches(section, *child->track, depth + 1); });
  }

  // Itself and all below it, in the order of rows.
  template <typename Visit>
  void visit(const TrackSnapshot& track, const Visit& at, int depth = 0) const {
    at(track);
    const auto below = children_.find(track.track->number);
    if (below == children_.end() || depth >= kDeepest) return;
    for (const TrackPlace* child : below->second) visit(*child->track, at, depth + 1);
  }
  [[nodiscard]] bool has_events(const TrackSnapshot& track) const {
    bool any = false;
    visit(track, [&](const TrackSnapshot& each) {
      any = any ||
            std::ranges::any_of(each.lanes, [&](std::uint32_t lane) { return snapshot_.lanes[lane].event_count > 0; });
    });
    return any;
  }
  [[nodiscard]] bool is_bundle(const TrackSnapshot& track) const {
    return is_container(track) && children_.contains(track.track->number);
  }

  void close_large_sections();
  void close_before_fold();
  void open_bundles();

  void make_sections();
  void add_derived();
  [[nodiscard]] RowSection& counter_section(const std::string& device);
  [[nodiscard]] RowSection& queue_section(const std::string& device);
  void name(RowSection& section) const;
  void measure(RowSection& section);
  void find_quiet(RowSection& section) const;
  [[nodiscard]] RowBlock quiet_rows(const RowSection& section, std::vector<RowBlock> blocks) const;
  void add_pinned();
  [[nodiscard]] std::vector<RowSection*> ordered_sections();
  void add_section(RowSection& section);
  [[nodiscard]] std::vector<TimelineRow> pool_rows(const RowSection& section) const;
  void add_track(const RowSection& section, const TrackPlace& place, int depth, std::vector<TimelineRow>& rows) const;
  [[nodiscard]] std::string count_text(const RowSection& section) const;

  static constexpr int kDeepest = 8;  // sources may nest tracks in a circle

  const Snapshot& snapshot_;
  const analysis::MemoryUsage* memory_;
  const RowChoices& choices_;
  const DerivedCounters& derived_;
  TrackNames names_;
  std::vector<TrackPlace> places_;
  std::unordered_map<TrackNumber, std::vector<const TrackPlace*>> children_;
  std::set<TrackNumber> opened_;  // bundles that are open unless the user says otherwise
  std::vector<RowSection> sections_;
  std::vector<TimelineRow> rows_;
  std::size_t all_ = 0;
  std::size_t matching_ = 0;
};

// What headings and rows are called, where their names say again what stands above them.

namespace {

constexpr std::size_t kLongLabel = 14;  // characters: beyond, a label leaves its value no room

// "util" of "NOC0 util", and of "util".
bool ends_with_word(std::string_view label, std::string_view end) {
  if (!label.ends_with(end)) return false;
  return label.size() == end.size() || label[label.size() - end.size() - 1] == ' ';
}

[[nodiscard]] const TimelineRow* find_row(const std::vector<TimelineRow>& rows, std::string_view key) {
  const auto row = std::ranges::find_if(rows, [key](const TimelineRow& each) { return each.key == key; });
  return row == rows.end() ? nullptr : &*row;
}

[[nodiscard]] bool are_siblings(const TimelineRow& a, const TimelineRow& b) {
  if (a.pinned != b.pinned) return false;
  return a.pinned ? a.depth == 0 && b.depth == 0 : a.parent == b.parent;
}

// Keys of those it can change places with, itself included, as they stand.
[[nodiscard]] std::vector<std::string> siblings_of(const std::vector<TimelineRow>& rows, const TimelineRow& row) {
  std::vector<std::string> keys;
  for (const TimelineRow& each : rows) {
    if (are_siblings(each, row)) keys.push_back(each.key);
  }
  return keys;
}

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

// "GPU 0" for the streams of the device "GPU 0", "GPU 0 Counters". Older sessions call it "gpu 0".
std::string heading_label(const RowSection& section, const std::string& full) {
  constexpr std::string_view kGpu = "GPU ", kOldGpu = "gpu ";
  const std::size_t known = section.device.rfind(kGpu);
  const std::size_t gpu = known == std::string::npos ? section.device.rfind(kOldGpu) : known;
  if (gpu == std::string::npos || !full.starts_with(section.device)) return full;
  const std::string title = section.device.substr(0, gpu) + "GPU " + section.device.substr(gpu + kGpu.size());
  return is_stream_group(section.group_index) ? title : title + full.substr(section.device.size());
}

// What the row above it does not say already: "BRISC" below "core 1,2", "Operators" below "pt_autograd_0".
std::string label_below(const std::string& above, const std::string& name) {
  if (above.empty() || name.size() <= above.size() || !name.starts_with(above)) return name;
  const std::size_t rest = name.find_first_not_of(" :,-/", above.size());
  if (rest == std::string::npos || rest == above.size()) return name;
  std::string label = name.substr(rest);
  return name[above.size()] == ' ' ? capitalised(std::move(label)) : label;
}

// Long labels of a group lose what its heading says and the words that those of one family share: "GPU 0 memory Total
// Reserved" and "GPU 0 memory Total Allocated" of "GPU 0 Counters".
void shorten_labels(const RowSection& section, std::vector<RowBlock>& blocks) {
  std::map<std::string, std::vector<TimelineRow*>> families;  // by their first word
  for (RowBlock& block : blocks) {
    TimelineRow& row = block.front();
    if (row.kind != RowKind::counter) continue;
    row.label = label_below(section.device, row.label);
    families[row.label.substr(0, row.label.find(' '))].push_back(&row);
  }
  for (auto& [word, rows] : families) {
    const bool any_long =
        std::ranges::any_of(rows, [](const TimelineRow* row) { return row->label.size() > kLongLabel; });
    if (!any_long) continue;
    std::vector<std::string> labels;
    for (const TimelineRow* row : rows) labels.push_back(row->label);
    labels = without_shared_words(labels);
    // What tells a family from others is said by no heading: "NOC0 util" beside "NOC1 util" and "util" of both.
    const bool taken = std::ranges::any_of(blocks, [&](const RowBlock& block) {
      const TimelineRow& other = block.front();
      return std::ranges::find(rows, &other) == rows.end() &&
             std::ranges::any_of(labels, [&](const std::string& label) { return ends_with_word(other.label, label); });
    });
    if (taken) continue;
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i]->label = labels[i];
  }
}

// Which groups, threads and cores are open until the user says otherwise.

void RowComposer::close_large_sections() {
  float height = 0;
  for (const RowSection& section : sections_) height += size::kGroupRow + (section.heading.open ? section.height : 0);
  const auto streams =
      std::ranges::find_if(sections_, [](const RowSection& each) { return is_stream_group(each.group_index); });
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
  const auto engines =
      std::ranges::find_if(sections_, [](const RowSection& section) { return is_engine_group(section.group_index); });
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

// The user's order of rows: keeping to it, and moving a row among those that belong to the same group or track.

void put_in_order(const RowChoices& choices, const std::string& parent, std::vector<RowBlock>& blocks) {
  const auto chosen = choices.order.find(parent);
  if (chosen == choices.order.end()) return;
  const std::vector<std::string>& keys = chosen->second;
  std::vector<std::pair<std::size_t, std::size_t>> places;  // after which of `keys`, place by default
  std::size_t after = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto own = std::ranges::find(keys, blocks[i].front().key);
    if (own != keys.end()) after = static_cast<std::size_t>(own - keys.begin()) + 1;
    places.emplace_back(after, i);
  }
  std::ranges::sort(places);
  std::vector<RowBlock> ordered;
  for (const auto& place : places) ordered.push_back(std::move(blocks[place.second]));
  blocks = std::move(ordered);
}

RowChoices with_row_moved(RowChoices choices, const std::vector<TimelineRow>& rows, std::string_view key,
                          std::string_view before) {
  const TimelineRow* row = find_row(rows, key);
  if (row == nullptr || key == before) return choices;
  std::vector<std::string> keys = siblings_of(rows, *row);
  auto to = std::ranges::find(keys, before);
  if (to == keys.end() && !before.empty()) return choices;
  const auto from = std::ranges::find(keys, key);
  if (from == keys.end()) return choices;
  if (from < to) {
    std::rotate(from, from + 1, to);
  } else {
    std::rotate(to, from, from + 1);
  }
  if (row->pinned) {
    choices.pinned = std::move(keys);
  } else {
    choices.order[row->parent] = std::move(keys);
  }
  return choices;
}

RowChoices with_row_stepped(RowChoices choices, const std::vector<TimelineRow>& rows, std::string_view key, int step) {
  const TimelineRow* row = find_row(rows, key);
  if (row == nullptr) return choices;
  const std::vector<std::string> keys = siblings_of(rows, *row);
  const auto at = std::ranges::find(keys, key) - keys.begin();
  const auto count = static_cast<std::ptrdiff_t>(keys.size());
  const std::ptrdiff_t before = step < 0 ? at - 1 : at + 2;
  if (before < 0 || before > count) return choices;
  const std::string_view target = before == count ? std::string_view() : keys[static_cast<std::size_t>(before)];
  return with_row_moved(std::move(choices), rows, key, target);
}

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
  const bool has_pools = memory_ != nullptr && !memory_->pools.empty() && !choices_.minimal && !choices_.platform;
  bool pools_placed = false;
  for (std::size_t first = 0; first < places_.size();) {
    const TrackPlace& start = places_[first];
    RowSection section;
    section.group = &row_group(start.group);
    section.heading.group = start.group;
    section.group_index = start.group;
    section.device = start.device;
    section.phase = start.phase;
    section.of_profiler = analysis::is_of_profiler(*start.track->track) && start.track->track->device.empty();
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
      !choices_.platform && std::ranges::any_of(sections_, [](const RowSection& each) { return each.phase > 0; });
  if (phases) {
    place = std::ranges::find_if(sections_, [](const RowSection& each) { return each.phase > counter_phase(); });
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

// Above all else of the device: what was launched and has not begun.
RowSection& RowComposer::queue_section(const std::string& device) {
  const auto place = std::ranges::find_if(sections_, [&](const RowSection& each) {
    return each.device == device && !is_host_group(each.group_index) && each.phase > 1;
  });
  if (place != sections_.end() && place->group_index == queue_group()) return *place;
  RowSection section;
  section.group = &row_group(queue_group());
  section.heading.group = section.group_index = queue_group();
  section.device = device;
  section.phase = 2;
  return *sections_.insert(place, std::move(section));
}

void RowComposer::add_derived() {
  for (const auto& counter : derived_) {
    const std::string device = device_name(counter->host, counter->device);
    const auto is_of_device = [&](const TrackPlace& place) { return place.device == device; };
    if (!choices_.only.empty() && std::ranges::none_of(places_, is_of_device)) continue;
    const bool of_queue = choices_.platform && counter->is_of_launches();
    (of_queue ? queue_section(device) : counter_section(device)).derived.push_back(counter);
  }
}

void RowComposer::name(RowSection& section) const {
  const bool several = of_several_devices(places_);
  TimelineRow& heading = section.heading;
  heading.kind = RowKind::group;
  const bool names_device = several && !section.device.empty() && !section.pools;
  const bool of_capture = !section.tracks.empty() && std::ranges::all_of(section.tracks, [](const TrackPlace* place) {
    return place->track->track->kind == "capture";
  });
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
    for (const analysis::PoolUsage& pool : memory_->pools) add("pool:" + pool.name, pool.name, kNone);
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
        analysis::DerivedCounter alone = *counter;
        alone.parent.clear();
        DerivedCounters family = {std::make_shared<analysis::DerivedCounter>(std::move(alone))};
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
      const bool taken = std::ranges::find(ordered, &section) != ordered.end();
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

std::vector<TimelineRow> compose_rows(const Snapshot& snapshot, const analysis::MemoryUsage* memory,
                                      const RowChoices& choices, RowCount* count, const DerivedCounters& derived) {
  return RowComposer(snapshot, memory, choices, derived).run(count);
}

}  // namespace accelscope::app::rows
