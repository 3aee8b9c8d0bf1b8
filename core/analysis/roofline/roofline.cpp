#include "core/analysis/roofline/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "core/analysis/roofline/event_amounts.h"
#include "core/analysis/roofline/sampled_amounts.h"
#include "core/analysis/selection/summary_tally.h"
#include "core/analysis/time/covered_time.h"
#include "core/base/format.h"
#include "core/scan/event_mask.h"
#include "core/scan/group_by.h"
#include "core/scan/wait_names.h"

namespace accelscope::analysis {
namespace {

struct RoofGroup {
  std::uint64_t count = 0;
  double flops = 0;
  std::array<double, kMostRoofMemories> bytes{};
  CoveredTime busy;
  Extent extent;
  auto measures() { return std::tie(count, flops, bytes, busy, extent); }
  bool open = false;  // something was added since its last window was closed
};

// By the session's string; of texts that have no number, by a number of the worker's own above all strings.
struct RoofTally {
  std::unordered_map<std::uint64_t, RoofGroup> groups;
  std::vector<RoofGroup*> open;
  std::uint64_t without_key = 0;
  // Of the open window: when the device worked, and when the layers' rows were under way.
  std::vector<std::pair<std::int64_t, std::int64_t>> active;
  struct LayerRow {
    std::uint64_t key = 0;
    std::int64_t begin_ns = 0, end_ns = 0;
  };
  std::vector<LayerRow> layers;
  std::vector<SampledAmounts::Work> sampled;  // where amounts are those of counters

  RoofGroup& group(std::uint64_t key) {
    RoofGroup& found = groups[key];
    if (!found.open) {
      found.open = true;
      open.push_back(&found);
    }
    return found;
  }
  void add_time(std::uint64_t key, std::int64_t begin_ns, std::int64_t end_ns) {
    RoofGroup& found = group(key);
    found.busy.add(begin_ns, end_ns);
    found.extent.add(begin_ns, end_ns);
  }
  // A layer's row may span a run that idles for most of it: of its time counts that in which the device works.
  void add_layers() {
    std::ranges::sort(active);
    std::vector<std::pair<std::int64_t, std::int64_t>> stretches;
    for (const auto& each : active) {
      if (!stretches.empty() && each.first <= stretches.back().second) {
        stretches.back().second = std::max(stretches.back().second, each.second);
      } else {
        stretches.push_back(each);
      }
    }
    for (const LayerRow& row : layers) {
      auto at = std::ranges::upper_bound(stretches, row.begin_ns, {}, [](const auto& each) { return each.second; });
      for (; at != stretches.end() && at->first < row.end_ns; ++at)
        add_time(row.key, std::max(row.begin_ns, at->first), std::min(row.end_ns, at->second));
    }
    active.clear();
    layers.clear();
  }
  void close_window() {
    add_layers();
    for (RoofGroup* each : open) {
      each->busy.close_window();
      each->open = false;
    }
    open.clear();
  }
};

struct RoofWorker {
  std::vector<RoofTally> devices;
  std::unordered_map<std::string, std::uint64_t> texts;
  std::vector<const std::string*> text_of;

  static constexpr std::uint64_t kFirstText = std::uint64_t{1} << 32U;
  std::uint64_t number_of(std::string_view text) {
    const auto [place, is_new] = texts.try_emplace(std::string(text), kFirstText + text_of.size());
    if (is_new) text_of.push_back(&place->first);
    return place->second;
  }
  void merge(RoofWorker&& from) {
    for (std::size_t device = 0; device < devices.size(); ++device) {
      devices[device].without_key += from.devices[device].without_key;
      for (const auto& [key, group] : from.devices[device].groups)
        merge_part(devices[device].groups[key < kFirstText ? key : number_of(*from.text_of[key - kFirstText])], group);
    }
  }
};

// The memories of a device, and which of its paths touch each.
struct RoofMemories {
  std::vector<RoofMemory> all;
  std::vector<std::vector<std::size_t>> paths;  // by memory; empty: every path
};

[[nodiscard]] RoofMemories memories_of(const MemoryWords* words) {
  if (words == nullptr) return {{{"Device memory", "hbm"}}, {{}}};
  RoofMemories found;
  for (const MemoryBox& box : words->boxes) {
    if (box.kind != MemoryBox::Kind::memory || found.all.size() == kMostRoofMemories) continue;
    found.all.push_back({std::string(box.name), std::string(box.peak)});
    std::vector<std::size_t>& touching = found.paths.emplace_back();
    for (std::size_t path = 0; path < words->paths.size(); ++path) {
      if (words->paths[path].from == box.name || words->paths[path].to == box.name) touching.push_back(path);
    }
  }
  return found;
}

// Where an event's group stands in its lane.
struct RoofKey {
  bool is_name = false;
  std::optional<SummaryColumns::Text> column;
};

class RooflineScan {
 public:
  RooflineScan(const QueryContext& query, const TimeRange& range, RoofGrouping grouping)
      : query_(query), snapshot_(*query.snapshot), range_(range), grouping_(grouping), lanes_(snapshot_) {
    for (std::size_t device = 0; device < lanes_.device_count(); ++device)
      memories_.push_back(memories_of(lanes_.words(device)));
  }

  Result<std::shared_ptr<const Rooflines>> run() {
    samples_ = TRY(SampledAmounts::read(query_, range_, lanes_));
    // What a filter leaves out has its part of what was sampled.
    if (samples_.any()) mask_ = query_.mask.get();
    const auto found = gather_windows(
        samples_.any() ? query_.unmasked() : query_, lanes_.telling(), range_,
        RoofWorker{std::vector<RoofTally>(lanes_.device_count()), {}, {}},
        [this](const ScannedChunk& chunk, const ScanWindow& window, RoofWorker& worker) { add(chunk, window, worker); },
        [this](const ScanWindow& window, RoofWorker& worker) {
          for (std::size_t device = 0; device < worker.devices.size(); ++device) {
            RoofTally& tally = worker.devices[device];
            if (samples_.has(device)) add_sampled(device, window, tally);
            tally.close_window();
          }
        });
    if (!found) return found.error();
    auto made = std::make_shared<Rooflines>();
    made->grouping = grouping_;
    for (std::size_t device = 0; device < lanes_.device_count(); ++device)
      made->devices.push_back(line_of(device, *found));
    return std::shared_ptr<const Rooflines>(std::move(made));
  }

 private:
  void add(const ScannedChunk& chunk, const ScanWindow& window, RoofWorker& worker) {
    const DeviceLane& lane = lanes_.lane(chunk.lane_index);
    RoofTally& tally = worker.devices[lane.device];
    if (lane.tells == DeviceLane::Tells::amounts) return add_work(chunk, window, lane, worker, tally);
    if (lane.tells == DeviceLane::Tells::layer && grouping_ == RoofGrouping::layer)
      return add_layers(chunk, window, tally);
    if (lane.tells == DeviceLane::Tells::transfer && grouping_ != RoofGrouping::name)
      add_times(chunk, window, worker, tally);
  }

  [[nodiscard]] bool passes(const ScannedChunk& chunk, const ScannedBlock& block, std::uint32_t i) const {
    return mask_ == nullptr || mask_->passes(chunk.lane, chunk.lane_index, chunk.place.first_ordinal + block.row(i));
  }

  void add_sampled(std::size_t device, const ScanWindow& window, RoofTally& tally) const {
    TimeRange inside = {std::max(window.range.begin_ns, range_.begin_ns), std::min(window.range.end_ns, range_.end_ns)};
    samples_.share_out(device, inside, tally.sampled, [&](std::uint64_t key, double flops, double bytes) {
      RoofGroup& group = tally.group(key);
      group.flops += flops;
      group.bytes[0] += bytes;
    });
    tally.sampled.clear();
  }

  [[nodiscard]] RoofKey key_of(const ScannedChunk& chunk) {
    if (grouping_ == RoofGrouping::name) return {.is_name = true};
    const SummaryColumns columns(chunk.lane.schema.get());
    RoofKey key{.column = grouping_ == RoofGrouping::layer ? columns.layer : columns.line};
    if (key.column && key.column->column >= chunk.view.column_count()) key.column.reset();
    return key;
  }

  // Of a block that has been read; 0: it has none.
  [[nodiscard]] std::uint64_t value_of(const ScannedChunk& chunk, const RoofKey& key, const ScannedBlock& block,
                                       const BlockValues& values, std::uint32_t i, RoofWorker& worker) const {
    if (key.is_name) return block.name(i);
    if (!key.column || !values.has(i)) return 0;
    if (key.column->type == ColumnType::string) return values.values[i];
    const std::string_view text = chunk.view.text(key.column->column, static_cast<std::uint32_t>(values.values[i]));
    if (text.empty()) return 0;
    const StringId known = snapshot_.strings->find(text);
    return known != kNone ? known : worker.number_of(text);
  }

  static void add_time(RoofTally& tally, std::uint64_t key, const ScanWindow& window, std::int64_t begin,
                       std::int64_t end) {
    tally.add_time(key, std::max(begin, window.range.begin_ns), std::min(end, window.range.end_ns));
  }

  // Only layers' rows ask for it.
  void add_active(RoofTally& tally, const ScanWindow& window, std::int64_t begin, std::int64_t end) const {
    const std::int64_t from = std::max(begin, window.range.begin_ns), to = std::min(end, window.range.end_ns);
    if (grouping_ == RoofGrouping::layer && from < to) tally.active.emplace_back(from, to);
  }

  void add_work(const ScannedChunk& chunk, const ScanWindow& window, const DeviceLane& lane, RoofWorker& worker,
                RoofTally& tally) {
    EventAmounts amounts(chunk, lane, *snapshot_.strings);
    const WaitNames waits(chunk.lane.schema.get(), *snapshot_.strings);
    const RoofKey key = key_of(chunk);
    const RoofMemories& memories = memories_[lane.device];
    chunk.for_each_block([&](const ScannedBlock& block) {
      amounts.read(block.reader);
      const BlockValues values = key.column ? block.reader.column(key.column->column, key.column->type) : BlockValues{};
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        if (waits.contains(block.name(i))) continue;
        const bool is_sampled = samples_.has(lane.device) && !amounts.any(i);
        std::uint64_t* of_samples = nullptr;
        if (samples_.has(lane.device)) {
          of_samples = &tally.sampled
                            .emplace_back(SampledAmounts::Work{std::max(block.begin_ns(i), window.range.begin_ns),
                                                               std::min(block.end_ns(i), window.range.end_ns), 0})
                            .key;
        }
        if (!passes(chunk, block, i)) continue;
        // One of several of a name that tells nothing would only make the others slower than they are.
        if (grouping_ == RoofGrouping::name && lane.vendor == nullptr && !is_sampled && !amounts.any(i)) continue;
        const std::uint64_t value = value_of(chunk, key, block, values, i, worker);
        add_active(tally, window, block.begin_ns(i), block.end_ns(i));
        const bool owned = window.owns(chunk, block.ticks().begins[i]);
        if (value == 0) {
          if (owned && amounts.any(i)) ++tally.without_key;
          continue;
        }
        add_time(tally, value, window, block.begin_ns(i), block.end_ns(i));
        if (is_sampled) *of_samples = value;
        if (owned)
          add_amounts(tally.group(value), amounts, memories, i,
                      share_inside(range_, block.begin_ns(i), block.end_ns(i)));
      }
    });
  }

  static void add_amounts(RoofGroup& group, const EventAmounts& amounts, const RoofMemories& memories, std::uint32_t i,
                          double share) {
    ++group.count;
    group.flops += amounts.flops(i) * share;
    for (std::size_t memory = 0; memory < memories.all.size(); ++memory) {
      double bytes = 0;
      if (memories.paths[memory].empty()) {
        for (std::size_t path = 0; path < amounts.path_count(); ++path) bytes += amounts.bytes(path, i);
      }
      for (const std::size_t path : memories.paths[memory]) bytes += amounts.bytes(path, i);
      group.bytes[memory] += bytes * share;
    }
  }

  // Transfers: their bytes are counted where they were set off.
  void add_times(const ScannedChunk& chunk, const ScanWindow& window, RoofWorker& worker, RoofTally& tally) {
    const RoofKey key = key_of(chunk);
    if (!key.column && grouping_ != RoofGrouping::layer) return;
    chunk.for_each_block([&](const ScannedBlock& block) {
      const BlockValues values = key.column ? block.reader.column(key.column->column, key.column->type) : BlockValues{};
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        const std::uint64_t value = value_of(chunk, key, block, values, i, worker);
        if (!passes(chunk, block, i)) continue;
        add_active(tally, window, block.begin_ns(i), block.end_ns(i));
        if (value != 0) add_time(tally, value, window, block.begin_ns(i), block.end_ns(i));
      }
    });
  }

  // A layer's row names its graph before the path, as its own column of layers does: "/sg00/layers.0/mlp" of "/sg00".
  void add_layers(const ScannedChunk& chunk, const ScanWindow& window, RoofTally& tally) {
    const auto graph = SummaryColumns(chunk.lane.schema.get()).layer;
    chunk.for_each_event([&](const ScannedBlock& block, std::uint32_t i) {
      if (!passes(chunk, block, i)) return;
      std::string_view path = snapshot_.strings->text(block.name(i));
      const std::string_view before =
          graph ? text_at(chunk, *snapshot_.strings, graph->column, graph->type, block.row(i)) : std::string_view();
      if (!before.empty() && path.size() > before.size() + 1 && path.starts_with(before) && path[before.size()] == '/')
        path.remove_prefix(before.size() + 1);
      const StringId key = snapshot_.strings->find(path);
      if (key == kNone) return;
      tally.layers.push_back(
          {key, std::max(block.begin_ns(i), window.range.begin_ns), std::min(block.end_ns(i), window.range.end_ns)});
    });
  }

  Roofline line_of(std::size_t device, const RoofWorker& found) {
    Roofline line{.device = lanes_.name(device), .memories = memories_[device].all};
    line.without_key = found.devices[device].without_key;
    line.is_sampled = samples_.has(device);
    for (const auto& [key, group] : found.devices[device].groups) {
      const bool moves = std::ranges::any_of(group.bytes, [](double bytes) { return bytes > 0; });
      if (group.flops <= 0 && !moves) continue;
      RoofPoint& point = line.points.emplace_back();
      point.text = key >= RoofWorker::kFirstText ? *found.text_of[key - RoofWorker::kFirstText]
                                                 : std::string(snapshot_.strings->text(static_cast<StringId>(key)));
      point.count = group.count;
      point.flops = group.flops;
      std::copy(group.bytes.begin(), group.bytes.end(), point.bytes.begin());
      point.busy_ns = group.busy.length_ns();
      const TimeRange& extent = group.extent.range;
      if (extent.begin_ns < extent.end_ns) point.stretch = extent;
    }
    std::ranges::sort(line.points, [](const RoofPoint& a, const RoofPoint& b) {
      return a.busy_ns != b.busy_ns ? a.busy_ns > b.busy_ns : a.text < b.text;
    });
    if (line.points.size() > Roofline::kMost) {
      line.left_out = line.points.size() - Roofline::kMost;
      line.points.resize(Roofline::kMost);
    }
    return line;
  }

  const QueryContext& query_;
  const Snapshot& snapshot_;
  TimeRange range_;
  RoofGrouping grouping_;
  DeviceLanes lanes_;
  std::vector<RoofMemories> memories_;  // by device
  SampledAmounts samples_;
  const EventMask* mask_ = nullptr;  // that is asked for each event
};

}  // namespace

Roofline::Unplaced Roofline::unplaced(std::size_t memory) const {
  Unplaced all;
  for (const RoofPoint& point : points) {  // the busiest come first
    if (point.flops <= 0 && point.bytes[memory] > 0 && all.without_flops++ == 0) all.flops_example = point.text;
    if (point.flops > 0 && point.bytes[memory] <= 0 && all.without_bytes++ == 0) all.bytes_example = point.text;
  }
  return all;
}

RoofGrouping usual_grouping(const Snapshot& snapshot) {
  const DeviceLanes lanes(snapshot);
  bool has_layers = false, has_lines = false;
  for (const std::uint32_t lane : lanes.telling()) {
    if (lanes.lane(lane).tells != DeviceLane::Tells::amounts || snapshot.lanes[lane].event_count == 0) continue;
    const SummaryColumns columns(snapshot.lanes[lane].schema.get());
    has_layers = has_layers || columns.layer;
    has_lines = has_lines || columns.line;
  }
  return has_layers ? RoofGrouping::layer : has_lines ? RoofGrouping::line : RoofGrouping::name;
}

Result<std::shared_ptr<const Rooflines>> device_rooflines(const QueryContext& query, const TimeRange& range,
                                                          RoofGrouping grouping) {
  return RooflineScan(query, range, grouping).run();
}

double transfer_share(const TransferSize& size) noexcept {
  return size.mean_bytes > 0 ? size.mean_bytes / (size.mean_bytes + size.cost_bytes) : 1;
}

std::vector<RoofCeiling> roof_ceilings(const PeakList& peaks, const RoofMemory& memory, const TransferSize& transfers) {
  using Kind = RoofCeiling::Kind;
  std::vector<RoofCeiling> all;
  const Peak* best = peaks.best_compute();
  const auto type_of = [](const Peak& peak) {
    const std::size_t blank = peak.title.rfind(' ');
    return peak.title.substr(blank == std::string::npos ? 0 : blank + 1);
  };
  if (best != nullptr) all.push_back({Kind::roof, true, type_of(*best), *best->value});
  const std::optional<double> bandwidth = peaks.value(memory.peak);
  if (bandwidth) all.push_back({Kind::roof, false, memory.name, *bandwidth});
  const bool is_fed_by_mover = memory.peak == "hbm";
  const std::optional<double> mover = is_fed_by_mover ? peaks.value("dma") : std::nullopt;
  if (mover && (!bandwidth || *mover < *bandwidth)) all.push_back({Kind::limit, false, "DMA engines", *mover});
  constexpr double kMuch = 0.97;  // what costs less than this is not worth a line
  const double share = transfer_share(transfers);
  const std::optional<double> fed = mover ? mover : bandwidth;
  if (is_fed_by_mover && fed && share < kMuch) {
    all.push_back({Kind::limit, false,
                   fmt::format("{}, {} {}", transfers.mover, format_bytes(transfers.mean_bytes), transfers.word),
                   *fed * share});
  }
  for (const Peak& each : peaks.all) {
    if (&each != best && each.is_compute() && each.value)
      all.push_back({Kind::other, true, type_of(each), *each.value});
  }
  return all;
}

std::optional<double> roof_at(const std::vector<RoofCeiling>& ceilings, double intensity) noexcept {
  std::optional<double> least;
  for (const RoofCeiling& each : ceilings) {
    if (each.kind != RoofCeiling::Kind::roof) continue;
    const double allowed = each.is_compute ? each.value : each.value * intensity;
    least = least ? std::min(*least, allowed) : allowed;
  }
  return least;
}

}  // namespace accelscope::analysis
