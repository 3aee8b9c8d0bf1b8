#include "core/analysis/figures/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>

#include "core/analysis/figures/range_activity.h"
#include "core/analysis/figures/session_terms.h"
#include "core/analysis/figures/terminology.h"
#include "core/analysis/memory/usage.h"
#include "core/analysis/neuron/summary.h"
#include "core/analysis/peaks/peaks.h"
#include "core/analysis/time/covered_time.h"
#include "core/analysis/time/session_activity.h"
#include "core/base/capped.h"
#include "core/lod/range_statistics.h"
#include "core/model/track_kinds.h"
#include "core/scan/chunk_cache.h"
#include "core/scan/column_values.h"
#include "core/scan/event_mask.h"
#include "core/scan/group_by.h"
#include "core/scan/lane_positions.h"
#include "core/scan/wait_names.h"
#include "core/search/filter_mask.h"

namespace accelscope::analysis {
namespace {

constexpr std::string_view kUngrouped = "summary";

struct Ranked {
  SessionMetric metric;
  std::size_t device = 0;
  std::size_t group = 0;
  std::size_t term = 0;
};

class MetricList {
 public:
  explicit MetricList(bool whole) : whole_(whole) {}

  void add(SessionMetric metric, double slack = 0) {
    const FigureTerm* term = find_term(metric.name);
    // The vendor's file leaves some of its figures without a group of their own.
    if (metric.group.empty() || (metric.group == kUngrouped && term != nullptr)) {
      metric.group = metric_group(metric.name);
    }
    if (term != nullptr) {
      if (metric.unit.empty() && !metric.vendor) metric.unit = term->unit;
      metric.exact = term->exact;
      if (metric.value || !term->exact) metric.how = term->how;
    }
    if (metric.value && *metric.value != 0) {
      metric.margin = std::max(kExactMargin, slack / std::abs(*metric.value));
    }
    // General figures come table by table, as they are made; the others as the terminology has them.
    std::size_t place = metric.group == "general" ? ranked_.size() : figure_terms().size();
    if (term != nullptr && metric.group != "general") place = static_cast<std::size_t>(term - figure_terms().data());
    const std::size_t device = place_of(metric.device);
    const std::size_t group = rank_of_group(metric.group);
    ranked_.push_back({std::move(metric), device, group, place});
  }

  // The vendor's metrics of a device with our figures beside them, then our further ones.
  void add_device(const std::vector<const Metric*>& stated, DeviceFigures of_device) {
    Figures& figures = of_device.figures;
    for (const Metric* each : stated) {
      const Metric& vendor = *each;
      const auto ours = figures.find(vendor.name);
      if (!whole_ && ours == figures.end()) continue;
      SessionMetric metric = from_vendor(vendor);
      metric.device = of_device.device;
      double slack = 0;
      if (ours != figures.end()) {
        metric.value = ours->second.value;
        metric.unfiltered = ours->second.unfiltered;
        slack = ours->second.slack;
        figures.erase(ours);
      }
      add(std::move(metric), slack);
    }
    for (const auto& [name, figure] : figures) {
      SessionMetric metric;
      metric.name = name;
      metric.value = figure.value;
      metric.unfiltered = figure.unfiltered;
      metric.device = of_device.device;
      add(std::move(metric), figure.slack);
    }
  }

  void add_stated_only(const Metric& vendor) {
    if (whole_) add(from_vendor(vendor));
  }

  std::vector<SessionMetric> take() {
    std::ranges::stable_sort(ranked_, [](const Ranked& a, const Ranked& b) {
      return std::tie(a.device, a.group, a.metric.group, a.term, a.metric.name) <
             std::tie(b.device, b.group, b.metric.group, b.term, b.metric.name);
    });
    std::vector<SessionMetric> metrics;
    std::transform(ranked_.begin(), ranked_.end(), std::back_inserter(metrics),
                   [](Ranked& ranked) { return std::move(ranked.metric); });
    return metrics;
  }

 private:
  // The session itself, then devices in the order in which they are first seen.
  std::size_t place_of(const std::string& device) {
    const auto known = std::find(devices_.begin(), devices_.end(), device);
    const auto place = static_cast<std::size_t>(known - devices_.begin());
    if (known == devices_.end()) devices_.push_back(device);
    return place;
  }

  [[nodiscard]] SessionMetric from_vendor(const Metric& vendor) const {
    SessionMetric metric;
    metric.name = vendor.name;
    metric.group = vendor.group;
    metric.unit = vendor.unit;
    metric.device = vendor.device;
    if (!whole_) return metric;
    metric.vendor_text = vendor.text;
    if (vendor.text.empty()) metric.vendor = vendor.value;
    return metric;
  }

  bool whole_;
  std::vector<std::string> devices_ = {""};
  std::vector<Ranked> ranked_;
};

}  // namespace

Result<std::vector<SessionMetric>> session_metrics(const QueryContext& query, const TimeRange& range,
                                                   const MemoryUsage* memory) {
  const Snapshot& snapshot = *query.snapshot;
  const TrackDevices devices(snapshot);
  std::vector<DeviceFigures> computed = TRY(vendor_figures(query, devices, range));
  std::vector<SessionMetric> general = TRY(general_metrics(query, devices, range, memory));

  MetricList list(range == TimeRange{} && !query.mask);
  std::vector<std::string> cores;
  for (const DeviceFigures& core : computed) cores.push_back(core.device);
  std::vector<std::vector<const Metric*>> stated(cores.size());
  for (const Metric& vendor : snapshot.metrics) {
    if (const auto core = device_of(vendor, cores)) {
      stated[*core].push_back(&vendor);
    } else {
      list.add_stated_only(vendor);
    }
  }
  for (std::size_t i = 0; i < cores.size(); ++i) list.add_device(stated[i], std::move(computed[i]));
  for (SessionMetric& metric : general) list.add(std::move(metric));
  return list.take();
}

std::optional<double> shown_value(const SessionMetric& metric) noexcept {
  if (metric.vendor && metric.name == terms::kVendorTotal) return metric.vendor;
  return metric.value ? metric.value : metric.vendor;
}

std::optional<double> metric_value(const std::vector<SessionMetric>& metrics, std::string_view name) {
  const SessionMetric* found = nullptr;
  for (const SessionMetric& each : metrics) {
    if (each.name == name && (found == nullptr || (each.device.empty() && !found->device.empty()))) found = &each;
  }
  return found == nullptr ? std::nullopt : shown_value(*found);
}

std::optional<double> input_reads(const std::vector<SessionMetric>& metrics) {
  const auto read = metric_value(metrics, "hbm_read_bytes");
  const auto input = metric_value(metrics, "inputs_and_weights_size_bytes");
  return read && input && *input > 0 ? std::optional(*read / *input) : std::nullopt;
}

std::optional<double> relative_difference(const SessionMetric& metric) noexcept {
  if (!metric.value || !metric.vendor) return std::nullopt;
  if (*metric.vendor == 0) return *metric.value == 0 ? std::optional<double>(0) : std::nullopt;
  return (*metric.value - *metric.vendor) / *metric.vendor;
}

MetricCheck check(const SessionMetric& metric) noexcept {
  if (!metric.value) return metric.exact ? MetricCheck::only_vendor : MetricCheck::not_made;
  if (!metric.vendor) return MetricCheck::only_ours;
  const double larger = std::max(std::abs(*metric.value), std::abs(*metric.vendor));
  const bool near = std::abs(*metric.value - *metric.vendor) <= metric.margin * larger;
  return near ? MetricCheck::agrees : MetricCheck::differs;
}

std::string_view name_of(MetricCheck check) noexcept {
  switch (check) {
    case MetricCheck::agrees:
      return "agrees";
    case MetricCheck::differs:
      return "differs";
    case MetricCheck::only_ours:
      return "only ours";
    case MetricCheck::only_vendor:
      return "only the file's";
    case MetricCheck::not_made:
      return "cannot be recomputed";
  }
  return "";
}

bool is_flagged(const SessionMetric& metric) noexcept {
  if (!metric.value || !metric.vendor) return false;
  const std::optional<double> difference = relative_difference(metric);
  return !difference || std::abs(*difference) > kNotableDifference;
}

namespace {

// The events of one table on one device.
struct Group {
  std::size_t device = 0;
  std::string table;
  LaneIndices lanes;
  bool has_bytes = false, has_flops = false;

  // From the lanes' trees: a lane's events do not overlap, so one lane covers the sum of its durations.
  std::uint64_t event_count = 0;
  std::int64_t lane_busy_ns = 0, lane_span_ns = 0;  // of the span
  bool masked = false;                              // the trees know nothing of that
  [[nodiscard]] bool needs_scan() const noexcept { return masked || lanes.size() > 1 || has_bytes || has_flops; }
};

// What one worker found out about a group.
struct GroupTally {
  CoveredTime busy, in_span;
  double bytes = 0, flops = 0;
  auto measures() { return std::tie(busy, in_span, bytes, flops); }
};

class ChunkTally {
 public:
  ChunkTally(const ScannedChunk& chunk, const StringPool& strings)
      : chunk_(chunk), schema_(*chunk.lane.schema), waits_(chunk.lane.schema.get(), strings) {
    for (std::size_t i = 0; i < schema_.columns.size(); ++i) {
      const Role role = schema_.columns[i].role;
      if (is_text(schema_.columns[i].type)) continue;
      if (role == Role::bytes || role == Role::flops) columns_.push_back({i, role == Role::flops, {}});
    }
  }

  void run(const ScanWindow& window, const TimeRange& range, const TimeRange& span, GroupTally& into) {
    chunk_.for_each_block([&](const ScannedBlock& block) {
      for (Column& column : columns_) {
        column.values.read(block.reader, column.index, schema_.columns[column.index].type);
      }
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        const std::int64_t begin = block.begin_ns(i);
        const std::int64_t end = block.end_ns(i);
        if (!waits_.contains(block.name(i))) {
          const std::int64_t from = std::max(begin, window.range.begin_ns), to = std::min(end, window.range.end_ns);
          into.busy.add(from, to);
          into.in_span.add(std::max(from, span.begin_ns), std::min(to, span.end_ns));
        }
        if (!window.owns(chunk_, block.ticks().begins[i])) continue;
        for (const Column& column : columns_) {
          const double amount = static_cast<double>(column.values[i]) * share_inside(range, begin, end);
          (column.is_flops ? into.flops : into.bytes) += amount;
        }
      }
    });
  }

 private:
  struct Column {
    std::size_t index;
    bool is_flops;
    NumberBlock values;
  };
  const ScannedChunk& chunk_;
  const Schema& schema_;
  WaitNames waits_;
  std::vector<Column> columns_;
};

std::vector<Group> find_groups(const Snapshot& snapshot, const TrackDevices& devices) {
  std::map<std::pair<std::size_t, std::string_view>, std::size_t> places;
  std::vector<Group> groups;
  for (std::size_t t = 0; t < snapshot.tracks.size(); ++t) {
    const TrackSnapshot& track = snapshot.tracks[t];
    if (!track.schema || track.schema->kind != EventKind::slice) continue;
    if (!track_kind_of(track.track->kind).executes()) continue;
    const std::size_t device = devices.of_track(t);
    const auto [place, is_new] = places.try_emplace({device, track.schema->name}, groups.size());
    if (is_new) groups.push_back({.device = device, .table = track.schema->name, .lanes = {}});
    Group& group = groups[place->second];
    group.lanes.insert(group.lanes.end(), track.lanes.begin(), track.lanes.end());
    group.has_bytes = group.has_bytes || track.schema->find(Role::bytes).has_value();
    group.has_flops = group.has_flops || track.schema->find(Role::flops).has_value();
  }
  std::ranges::stable_sort(groups, {}, &Group::device);
  return groups;
}

// How many of a lane's events begin before the tick; reads one chunk.
Result<std::uint64_t> events_before(const QueryContext& query, const LaneSnapshot& lane, std::int64_t ticks) {
  const std::uint32_t chunks = chunks_before(lane, ticks);
  if (chunks == 0) return std::uint64_t{0};
  const LoadedChunk loaded = TRY(load_chunk(query.store, lane, chunks - 1));
  return LanePositions(lane).before(chunks - 1) + rows_before(loaded.view, ticks);
}

Result<std::uint64_t> count_events(const QueryContext& query, const TimeRange& range) {
  std::uint64_t count = 0;
  for (std::uint32_t i = 0; i < query.snapshot->lanes.size(); ++i) {
    const LaneSnapshot& lane = query.snapshot->lanes[i];
    if (lane.data->kind == EventKind::table || lane.event_count == 0) continue;
    if (range == TimeRange{}) {
      count += lane.event_count;
    } else if (lane.data->kind == EventKind::counter) {
      const TickRange ticks = tick_range(lane, range);
      const auto first = events_before(query, lane, ticks.begin);
      const auto last = events_before(query, lane, std::max(ticks.begin, ticks.end));
      if (!first) return first.error();
      if (!last) return last.error();
      count += *last - *first;
    } else {
      const lod::LaneShare share = TRY(lod::lane_share(query.store, *query.snapshot, i, range));
      count += share.event_count;
    }
  }
  return count;
}

// "Device memory" -> "device_memory"
std::string figure_name(std::string_view text) {
  std::string name(text.empty() ? "memory" : text);
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == ' ' || c == '-' || c == '/') c = '_';
  }
  return name;
}

class GeneralMetrics {
 public:
  GeneralMetrics(const QueryContext& query, const TrackDevices& devices, const TimeRange& range,
                 const MemoryUsage* memory)
      : query_(query),
        devices_(devices),
        range_(range),
        memory_(memory),
        groups_(find_groups(*query.snapshot, devices)),
        times_(times_of_devices(query.snapshot, devices)) {}

  Result<std::vector<SessionMetric>> run() {
    const Snapshot& snapshot = *query_.snapshot;
    if (snapshot.event_count == 0 || range_.empty()) return std::move(metrics_);
    TRY(make_mask());
    const std::uint64_t count = TRY(passing_ ? count_passing(snapshot, passing_.get()) : count_events(query_, range_));
    add(terms::kTotal, "s", seconds_in_range({snapshot.begin_ns, snapshot.end_ns}), "");
    metrics_.back().unfiltered = true;
    add(terms::kEvents, "", static_cast<double>(count), "");
    TRY(add_terms());
    TRY(add_memory());
    TRY(scan_groups());
    for (std::size_t i = 0; i < groups_.size(); ++i) add_group(i);
    return std::move(metrics_);
  }

 private:
  void add(std::string_view name, std::string_view unit, double value, const std::string& device) {
    SessionMetric& metric = metrics_.emplace_back();
    metric.name = name;
    metric.unit = unit;
    metric.value = value;
    metric.device = device;
  }

  [[nodiscard]] static TimeRange both_in(const TimeRange& a, const TimeRange& b) noexcept {
    return {std::max(a.begin_ns, b.begin_ns), std::min(a.end_ns, b.end_ns)};
  }
  [[nodiscard]] static double seconds_of(const TimeRange& time) noexcept {
    return static_cast<double>(std::max<std::int64_t>(0, time.length_ns())) * 1e-9;
  }
  [[nodiscard]] TimeRange span_of(const Group& group) const noexcept {
    return spans_.empty() ? TimeRange{0, 0} : spans_[group.device];
  }
  [[nodiscard]] double seconds_in_range(const TimeRange& time) const noexcept {
    return seconds_of(both_in(range_, time));
  }

  // What is defined of a session as a whole.
  Result<void> add_terms() {
    if (range_ != TimeRange{} || query_.mask) return {};
    const auto found = TRY(session_terms(query_));
    const auto seconds = [](std::int64_t ns) { return static_cast<double>(ns) * 1e-9; };
    if (found.stated_total_ns) add(terms::kStated, "s", *found.stated_total_ns * 1e-9, "");
    if (!found.work) return {};
    TRY(find_spans(found.span));
    add(terms::kWork, "s", seconds(found.work->length_ns()), "");
    add(terms::kSpan, "s", seconds(found.span.length_ns()), "");
    const auto activity = TRY(range_activity(query_, {}, nullptr));
    add(terms::kActive, "s", seconds(activity->active_ns), "");
    add(terms::kIdle, "s", seconds(std::max<std::int64_t>(0, found.session.length_ns() - activity->active_ns)), "");
    return {};
  }

  // A device's is that of the session which its host alone would be.
  Result<void> find_spans(const TimeRange& whole) {
    const std::vector<SessionPart> parts = session_parts(query_.snapshot);
    std::vector<TimeRange> of_parts;
    for (const SessionPart& part : parts) {
      const auto found = TRY(parts.size() > 1 ? session_terms(part_of(query_, part)) : SessionTerms{.span = whole});
      of_parts.push_back(found.span);
    }
    for (const auto part : part_numbers(parts, devices_)) spans_.push_back(part ? of_parts[*part] : whole);
    return {};
  }

  // The events of the range that pass the query's mask.
  Result<void> make_mask() {
    if (!query_.mask) return {};
    EventFilter filter = query_.mask->filter();
    if (range_ != TimeRange{}) filter.range = range_;
    auto mask = TRY(search::filter_mask(query_, filter, query_.mask));
    passing_ = std::move(mask);
    for (Group& group : groups_) group.masked = true;
    return {};
  }

  // Memory in use is a sum over all that came before, so it is of the session whatever passes.
  Result<void> add_memory() {
    if (lanes_of_kind(*query_.snapshot, EventKind::memory).empty()) return {};
    std::shared_ptr<const MemoryUsage> made;
    if (memory_ == nullptr) {
      const QueryContext unmasked = query_.unmasked();
      auto usage = TRY(memory_usage(unmasked));
      made = std::move(usage);
      memory_ = made.get();
    }
    for (std::uint32_t pool = 0; pool < memory_->pools.size(); ++pool) {
      add(figure_name(memory_->pools[pool].name) + "_peak_bytes", "B",
          static_cast<double>(memory_->peak(pool, range_).bytes), "");
      metrics_.back().unfiltered = true;
    }
    return {};
  }

  Result<void> scan_groups() {
    LaneIndices lanes;
    std::vector<std::size_t> group_of_lane(query_.snapshot->lanes.size(), 0);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      Group& group = groups_[g];
      for (const std::uint32_t lane : group.lanes) {
        if (passing_) {
          group.event_count += passing_->count(lane);
        } else {
          const lod::LaneShare share = TRY(lod::lane_share(query_.store, *query_.snapshot, lane, range_));
          group.event_count += share.event_count;
          group.lane_busy_ns = capped_sum(group.lane_busy_ns, share.busy_ns);
          if (!group.needs_scan() && !span_of(group).empty()) {
            const lod::LaneShare in_span = TRY(lod::lane_share(query_.store, *query_.snapshot, lane, span_of(group)));
            group.lane_span_ns = capped_sum(group.lane_span_ns, in_span.busy_ns);
          }
        }
        group_of_lane[lane] = g;
        if (group.needs_scan()) lanes.push_back(lane);
      }
    }
    auto found = gather_windows(
        query_, lanes, range_, ByPlace<GroupTally>(groups_.size()),
        [&](const ScannedChunk& chunk, const ScanWindow& window, auto& tallies) {
          const std::size_t g = group_of_lane[chunk.lane_index];
          ChunkTally(chunk, *query_.snapshot->strings).run(window, range_, span_of(groups_[g]), tallies[g]);
        },
        [](const ScanWindow&, auto& tallies) {
          for (GroupTally& tally : tallies) {
            tally.busy.close_window();
            tally.in_span.close_window();
          }
        });
    if (!found) return found.error();
    tallies_ = std::move(*found);
    return {};
  }

  void add_group(std::size_t index) {
    const Group& group = groups_[index];
    const GroupTally& all = tallies_[index];
    const std::string& device = devices_.label(group.device);
    const auto busy_ns = static_cast<double>(group.needs_scan() ? all.busy.length_ns() : group.lane_busy_ns);
    add(group.table + "_busy_time", "s", busy_ns * 1e-9, device);
    // Of the time in which the device's host took part.
    const TimeRange span = span_of(group);
    const std::int64_t in_span_ns = group.needs_scan() ? all.in_span.length_ns() : group.lane_span_ns;
    const double worked_s = span.empty() ? busy_ns * 1e-9 : static_cast<double>(in_span_ns) * 1e-9;
    const double of_s = span.empty() ? seconds_in_range(times_[group.device]) : seconds_of(span);
    if (of_s > 0) add(group.table + "_busy_share", "share", worked_s / of_s, device);
    add(group.table + "_event_count", "", static_cast<double>(group.event_count), device);
    // Tables that have room for work whose sources tell none of it: no figure is other than 0.
    const bool untold = group.has_flops && all.flops <= 0;
    if (group.has_bytes && !(untold && all.bytes <= 0)) add(group.table + "_moved_bytes", "B", all.bytes, device);
    if (group.has_flops && !untold) add(group.table + "_work_flops", "flop", all.flops, device);
  }

  const QueryContext& query_;
  const TrackDevices& devices_;
  const TimeRange range_;
  const MemoryUsage* memory_;
  std::vector<Group> groups_;
  std::shared_ptr<const EventMask> passing_;  // null: all events of the range
  std::vector<TimeRange> times_;              // by device: in which its host took part
  std::vector<TimeRange> spans_;              // by device, where the figures are of the whole session
  ByPlace<GroupTally> tallies_;               // by group
  std::vector<SessionMetric> metrics_;
};

}  // namespace

Result<std::vector<SessionMetric>> general_metrics(const QueryContext& query, const TrackDevices& devices,
                                                   const TimeRange& range, const MemoryUsage* memory) {
  return GeneralMetrics(query, devices, range, memory).run();
}

namespace {

struct VendorFigures {
  Result<std::vector<DeviceFigures>> (*summary)(const QueryContext& query, const TrackDevices& devices,
                                                const TimeRange& range);
  std::string_view flops, other_flops;           // names of figures: all, and those that only move data about
  std::array<std::string_view, 2> memory_bytes;  // read and written
  std::string_view active;                       // in seconds
};

constexpr std::array<VendorFigures, 1> kVendors = {{{neuron::summary,
                                                     "hardware_flops",
                                                     "transpose_flops",
                                                     {"hbm_read_bytes", "hbm_write_bytes"},
                                                     "total_active_time"}}};

}  // namespace

Result<std::vector<DeviceFigures>> vendor_figures(const QueryContext& query, const TrackDevices& devices,
                                                  const TimeRange& range) {
  std::vector<DeviceFigures> all;
  for (const VendorFigures& vendor : kVendors) {
    auto figures = TRY(vendor.summary(query, devices, range));
    std::move(figures.begin(), figures.end(), std::back_inserter(all));
  }
  return all;
}

DevicePeaks device_peaks(const Snapshot& snapshot, const std::string& device) {
  const PeakList list = peaks_of_device(snapshot, device);
  const auto stated = [&](std::string_view what) {
    const Peak* peak = list.find(what);
    return peak != nullptr && peak->origin == PeakOrigin::file ? peak->value.value_or(0) : 0.0;
  };
  return {stated("bf16"), stated("hbm")};
}

DeviceWork device_work(const Figures& figures) {
  const auto value = [&](std::string_view name) {
    const auto found = figures.find(name);
    return found == figures.end() ? 0.0 : found->second.value;
  };
  DeviceWork work;
  for (const VendorFigures& vendor : kVendors) {
    work.flops += value(vendor.flops) - value(vendor.other_flops);
    for (const std::string_view name : vendor.memory_bytes) work.memory_bytes += value(name);
    work.active_ns += value(vendor.active) * 1e9;
  }
  return work;
}

}  // namespace accelscope::analysis
