#include "core/analysis/core_grid/grid_frames.h"

#include <algorithm>
#include <atomic>
#include <map>

#include "core/analysis/time/covered_time.h"
#include "core/scan/column_values.h"
#include "core/scan/wait_names.h"
#include "core/scan/window_scan.h"

namespace accelscope {
namespace {

// Several workers add to one table. What one worker adds to a place, one after another, is added at once.
template <typename T>
class PlaceSum {
 public:
  void add(T& place, T value) {
    if (&place != place_) {
      flush();
      place_ = &place;
    }
    sum_ += value;
  }
  void flush() {
    if (place_ != nullptr) std::atomic_ref(*place_).fetch_add(sum_, std::memory_order_relaxed);
    place_ = nullptr;
    sum_ = 0;
  }

 private:
  T* place_ = nullptr;
  T sum_ = 0;
};

// Finds frames of times that come in order, mostly, without a division.
class FrameFinder {
 public:
  explicit FrameFinder(const GridFrames& frames) {
    edges_.reserve(frames.count + 1);
    for (std::size_t frame = 0; frame <= frames.count; ++frame) edges_.push_back(frames.edge(frame));
  }
  [[nodiscard]] std::int64_t end_of(std::size_t frame) const noexcept { return edges_[frame + 1]; }
  [[nodiscard]] std::int64_t begin_of(std::size_t frame) const noexcept { return edges_[frame]; }
  [[nodiscard]] std::size_t at(std::int64_t ns) noexcept {  // the nearest one for times outside
    if (edges_[last_] <= ns && ns < edges_[last_ + 1]) return last_;
    const auto after = std::upper_bound(edges_.begin() + 1, edges_.end() - 1, ns);
    return last_ = static_cast<std::size_t>(after - edges_.begin()) - 1;
  }

 private:
  std::vector<std::int64_t> edges_;
  std::size_t last_ = 0;
};

// What the events of a table are to the measure.
struct TableRule {
  WaitNames waits;
  std::optional<std::size_t> column;  // whose values are added up
  ColumnType type = ColumnType::int64;
  bool intervals = false;  // their time counts
  bool takes_part = true;
  bool by_name = false;  // whether an event counts depends on its name
};

class FrameGatherer {
 public:
  FrameGatherer(GridFrames& frames, const std::map<const Schema*, TableRule>& rules, std::optional<StringId> zone)
      : frames_(frames), finder_(frames), rules_(rules), zone_(zone), parts_(frames.grid.parts.size()) {}

  void add(const ScannedChunk& chunk, const ScanWindow& window) {
    const auto part = static_cast<std::size_t>(frames_.grid.lane_parts[chunk.lane_index]);
    const TableRule& rule = rules_.at(chunk.lane.schema.get());
    if (!rule.takes_part) return;
    if (parts_[part].empty) touched_.push_back(part), parts_[part].empty = false;
    chunk.for_each_block([&](const ScannedBlock& block) { add_block(chunk, block, window, part, rule); });
  }

  // The stretches of each part, and of all parts of a cell together.
  void close() {
    std::sort(touched_.begin(), touched_.end());
    for (std::size_t i = 0; i < touched_.size();) {
      const std::size_t cell = frames_.grid.part_cells[touched_[i]];
      for (; i < touched_.size() && frames_.grid.part_cells[touched_[i]] == cell; ++i) {
        Part& part = parts_[touched_[i]];
        part.time.take_stretches([&](std::int64_t begin, std::int64_t end) {
          spread(frames_.parts, part_sum_, touched_[i], begin, end, static_cast<double>(end - begin));
          cell_time_.add(begin, end);
        });
        part.empty = true;
      }
      cell_time_.take_stretches([&](std::int64_t begin, std::int64_t end) {
        spread(frames_.cells, cell_sum_, cell, begin, end, static_cast<double>(end - begin));
      });
    }
    touched_.clear();
    part_sum_.flush();
    cell_sum_.flush();
    begun_.flush();
    entering_.flush();
  }

 private:
  struct Part {
    CoveredTime time;
    bool empty = true;
  };

  void add_block(const ScannedChunk& chunk, const ScannedBlock& block, const ScanWindow& window, std::size_t part,
                 const TableRule& rule) {
    const BlockValues values = rule.column ? block.reader.column(*rule.column, rule.type) : BlockValues{};
    for (std::uint32_t i = block.first; i < block.last; ++i) {
      if (rule.by_name && !counts(block.name(i), rule)) continue;
      const std::int64_t begin = block.begin_ns(i), end = block.end_ns(i);
      if (rule.intervals) {
        parts_[part].time.add(std::max(begin, std::max(window.range.begin_ns, frames_.range.begin_ns)),
                              std::min(end, std::min(window.range.end_ns, frames_.range.end_ns)));
      }
      if (!window.owns(chunk, block.ticks().begins[i])) continue;
      if (rule.column && values.has(i)) add_value(part, begin, end, real_number(rule.type, values.values[i]));
      count(part, begin, end);
    }
  }

  [[nodiscard]] bool counts(StringId name, const TableRule& rule) const {
    if (zone_ && name != *zone_) return false;
    const GridMeasureKind kind = frames_.measure.kind;
    if (kind == GridMeasureKind::wait) return rule.waits.contains(name);
    return kind != GridMeasureKind::busy || zone_ || !rule.waits.contains(name);
  }

  void add_value(std::size_t part, std::int64_t begin, std::int64_t end, double value) {
    const TimeRange& range = frames_.range;
    const double inside = value * share_inside(range, begin, end);
    const std::int64_t first = std::max(begin, range.begin_ns), last = std::min(end, range.end_ns);
    spread(frames_.parts, part_sum_, part, first, last, inside);
    spread(frames_.cells, cell_sum_, frames_.grid.part_cells[part], first, last, inside);
  }

  // Evenly over [begin, end); all of it at once where that is empty.
  void spread(std::vector<double>& table, PlaceSum<double>& sum, std::size_t row, std::int64_t begin, std::int64_t end,
              double amount) {
    std::size_t frame = finder_.at(begin);
    double* const values = table.data() + row * frames_.count;
    if (end <= finder_.end_of(frame)) return sum.add(values[frame], amount);
    const double length = static_cast<double>(end - begin);
    for (std::int64_t from = begin; from < end && frame < frames_.count; ++frame) {
      const std::int64_t to = std::min(end, finder_.end_of(frame));
      const auto part = static_cast<double>(to - from);
      sum.add(values[frame], amount == length ? part : amount * (part / length));
      from = to;
    }
  }

  void count(std::size_t part, std::int64_t begin, std::int64_t end) {
    const std::size_t row = frames_.grid.part_cells[part] * frames_.count;
    const std::size_t first = finder_.at(begin);
    if (frames_.measure.kind == GridMeasureKind::events) part_sum_.add(frames_.parts[part * frames_.count + first], 1);
    if (begin >= frames_.range.begin_ns) {
      begun_.add(frames_.begun[row + first], 1);
    } else {
      entering_.add(frames_.entering[row], 1);
    }
    for (std::size_t frame = first + 1; frame < frames_.count && finder_.begin_of(frame) < end; ++frame)
      entering_.add(frames_.entering[row + frame], 1);
  }

  GridFrames& frames_;
  FrameFinder finder_;
  const std::map<const Schema*, TableRule>& rules_;
  std::optional<StringId> zone_;
  std::vector<Part> parts_;
  std::vector<std::size_t> touched_;  // parts with events in this window
  CoveredTime cell_time_;
  PlaceSum<double> part_sum_, cell_sum_;
  PlaceSum<std::uint32_t> begun_, entering_;
};

TableRule rule_of(const Schema& schema, const GridMeasure& measure, const Snapshot& snapshot) {
  TableRule rule;
  rule.waits = WaitNames(&schema, *snapshot.strings);
  rule.by_name = !measure.zone.empty() || measure.kind == GridMeasureKind::wait ||
                 (measure.kind == GridMeasureKind::busy && !schema.wait_names.empty());
  if (schema.kind == EventKind::table || schema.kind == EventKind::flow || schema.kind == EventKind::memory) {
    rule.takes_part = false;
  } else if (measure.is_time()) {
    rule.intervals = schema.kind == EventKind::slice;
    // What an instant has summed up is no busy time of its core, unless it is asked for by name.
    if (measure.kind == GridMeasureKind::wait || !measure.zone.empty()) rule.column = summed_time_column(schema);
    rule.takes_part = rule.intervals || rule.column.has_value();
  } else if (measure.kind == GridMeasureKind::column) {
    if (schema.name == measure.table) rule.column = schema.find(measure.column);
    rule.takes_part = rule.column.has_value();
  }
  if (rule.column) rule.type = schema.columns[*rule.column].type;
  return rule;
}

TimeRange clipped_to(const Snapshot& snapshot, const EventFilter& filter) {
  const TimeRange wanted = filter.range.value_or(TimeRange{});
  return {std::max(wanted.begin_ns, snapshot.begin_ns), std::min(wanted.end_ns, snapshot.end_ns)};
}

}  // namespace

std::int64_t GridFrames::edge(std::size_t frame) const noexcept {
  const auto n = static_cast<std::int64_t>(frame), all = static_cast<std::int64_t>(std::max<std::size_t>(1, count));
  const std::int64_t length = range.length_ns();
  return range.begin_ns + length / all * n + length % all * n / all;
}

std::size_t GridFrames::frame_at(std::int64_t ns) const noexcept {
  if (count == 0 || ns <= range.begin_ns) return 0;
  const double share = static_cast<double>(ns - range.begin_ns) / static_cast<double>(range.length_ns());
  std::size_t frame = std::min(count - 1, static_cast<std::size_t>(share * static_cast<double>(count)));
  while (frame > 0 && edge(frame) > ns) --frame;
  while (frame + 1 < count && edge(frame + 1) <= ns) ++frame;
  return frame;
}

bool GridFrames::is_measured(std::size_t cell) const noexcept {
  if (measure.part.empty()) return true;
  const auto first = grid.parts.begin() + static_cast<std::ptrdiff_t>(grid.cells[cell].first_part);
  return std::any_of(first, first + static_cast<std::ptrdiff_t>(grid.cells[cell].part_count),
                     [&](const GridPart& part) { return part.name == measure.part; });
}

double GridFrames::of_cell(std::size_t cell, std::size_t first, std::size_t last) const noexcept {
  if (measure.kind == GridMeasureKind::events) return static_cast<double>(events(cell, first, last));
  double sum = 0;
  for (std::size_t frame = first; frame < last; ++frame) sum += cells[cell * count + frame];
  return sum;
}

double GridFrames::of_part(std::size_t part, std::size_t first, std::size_t last) const noexcept {
  double sum = 0;
  for (std::size_t frame = first; frame < last; ++frame) sum += parts[part * count + frame];
  return sum;
}

std::uint64_t GridFrames::events(std::size_t cell, std::size_t first, std::size_t last) const noexcept {
  if (first >= last) return 0;
  std::uint64_t sum = entering[cell * count + first];
  for (std::size_t frame = first; frame < last; ++frame) sum += begun[cell * count + frame];
  return sum;
}

Result<std::shared_ptr<const GridFrames>> core_grid_frames(const QueryContext& query, const EventFilter& filter,
                                                           const GridMeasure& measure, std::size_t frames) {
  const Snapshot& snapshot = *query.snapshot;
  auto made = std::make_shared<GridFrames>();
  made->grid = core_grid_of(snapshot);
  made->measure = measure;
  made->range = clipped_to(snapshot, filter);
  const bool at_end = !filter.range || filter.range->end_ns > snapshot.end_ns;
  // Where all events are instants of one time, there is one frame for them.
  if (made->range.empty() && at_end && made->range.begin_ns == snapshot.end_ns && snapshot.event_count > 0)
    ++made->range.end_ns;
  made->count = std::min(frames, static_cast<std::size_t>(made->range.length_ns()));
  if (made->count == 0 || made->grid.empty()) return std::shared_ptr<const GridFrames>(made);
  made->cells.resize(made->grid.cells.size() * made->count);
  made->parts.resize(made->grid.parts.size() * made->count);
  made->begun.resize(made->cells.size());
  made->entering.resize(made->cells.size());

  std::map<const Schema*, TableRule> rules;
  LaneIndices lanes;
  for (const GridPart& part : made->grid.parts) {
    if (!measure.part.empty() && part.name != measure.part) continue;
    for (const std::uint32_t lane : part.lanes) {
      const LaneSnapshot& each = snapshot.lanes[lane];
      if (each.event_count == 0 || !each.schema || !filter.has_track(each.track)) continue;
      const auto rule = rules.try_emplace(each.schema.get(), rule_of(*each.schema, measure, snapshot)).first;
      if (rule->second.takes_part) lanes.push_back(lane);
    }
  }
  std::optional<StringId> zone;
  if (!measure.zone.empty()) zone = snapshot.strings->find(measure.zone);
  std::vector<FrameGatherer> workers(query.pool.concurrency(), FrameGatherer(*made, rules, zone));
  // The last event of all may be an instant at the very end.
  const TimeRange scanned{made->range.begin_ns, at_end ? snapshot.end_ns + 1 : made->range.end_ns};
  const Result<void> done =
      scan_windows(query, lanes, scanned,
                   {.chunk = [&](const ScannedChunk& chunk, const ScanWindow& window,
                                 std::size_t worker) { workers[worker].add(chunk, window); },
                    .end = [&](const ScanWindow&, std::size_t worker) { workers[worker].close(); }});
  if (!done) return done.error();
  if (measure.kind == GridMeasureKind::events) {
    for (std::size_t i = 0; i < made->cells.size(); ++i) made->cells[i] = made->begun[i];
  }
  return std::shared_ptr<const GridFrames>(made);
}

}  // namespace accelscope
