#include "core/analysis/source/source_lines.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <map>
#include <unordered_map>

#include "core/analysis/source/event_costs.h"
#include "core/analysis/source/host_calls.h"
#include "core/base/capped.h"
#include "core/scan/aggregate.h"
#include "core/scan/column_values.h"

namespace accelscope::analysis {
namespace {

struct Cost {
  std::uint64_t event_count = 0;
  std::int64_t busy_ns = 0;
  std::int64_t wait_ns = 0;
  std::uint64_t bytes = 0;
  std::int64_t host_ns = 0;

  auto measures() noexcept { return std::tie(event_count, busy_ns, wait_ns, bytes, host_ns); }
};

// The costs by location that one thread found. Locations in the dictionary are found by their number.
struct CostsByLocation {
  std::vector<std::uint32_t> place_of_string;  // session string id -> index into costs, + 1
  std::vector<std::pair<StringId, Cost>> costs;
  std::unordered_map<std::string, Cost> of_texts;

  void merge(CostsByLocation&& from) {
    for (const auto& [location, cost] : from.costs) merge_part(of(location), cost);
    merge_part(of_texts, std::move(from.of_texts));
  }

  Cost& of(StringId location) {
    if (place_of_string.size() <= location) place_of_string.resize(location + 1, 0);
    std::uint32_t& place = place_of_string[location];
    if (place == 0) {
      costs.emplace_back(location, Cost{});
      place = static_cast<std::uint32_t>(costs.size());
    }
    return costs[place - 1].second;
  }
};

// Which columns of a schema matter here.
struct Columns {
  std::size_t location = 0;
  ColumnType location_type = ColumnType::string;

  static std::optional<Columns> of(const Schema& schema) {
    const std::optional<std::size_t> location = schema.find(Role::source_location);
    if (!location || !is_text(schema.columns[*location].type)) return std::nullopt;
    Columns columns;
    columns.location = *location;
    columns.location_type = schema.columns[*location].type;
    return columns;
  }
};

// What lies within each other has its time from HostCalls.
void add_chunk(const ScannedChunk& chunk, const Snapshot& snapshot, const TimeRange& range, const WorkKinds& kinds,
               CostsByLocation& costs) {
  const Schema& schema = *chunk.lane.schema;
  const std::optional<Columns> columns = Columns::of(schema);
  if (!columns || columns->location >= chunk.view.column_count()) return;
  const bool on_host = kinds.of_lane(chunk.lane_index) == WorkKind::host;
  const bool nested = (on_host || kinds.has_zones(chunk.lane_index)) && columns->location_type == ColumnType::string;
  EventCosts of_events(schema, snapshot, range);
  chunk.for_each_block([&](const ScannedBlock& block) {
    const BlockValues locations = block.reader.column(columns->location, columns->location_type);
    if (locations.valid == 0) return;
    of_events.read(block);
    for (std::uint32_t i = block.first; i < block.last; ++i) {
      if (!locations.has(i)) continue;
      Cost& cost = columns->location_type == ColumnType::text
                       ? costs.of_texts[std::string(chunk.view.text(columns->location, block.row(i)))]
                       : costs.of(static_cast<StringId>(locations.values[i]));
      ++cost.event_count;
      const EventCost one = of_events.of(chunk, block, i);
      cost.bytes += one.bytes;
      if (nested) continue;
      cost.busy_ns = capped_sum(cost.busy_ns, one.busy_ns);
      cost.wait_ns = capped_sum(cost.wait_ns, one.wait_ns);
      if (on_host) cost.host_ns = capped_sum(cost.host_ns, capped_sum(one.busy_ns, one.wait_ns));
    }
  });
}

bool line_before(const SourceLine& a, const SourceLine& b) noexcept {
  return a.path != b.path ? a.path < b.path : a.line < b.line;
}

SourceLines collect(const CostsByLocation& costs, const StringPool& strings) {
  SourceLines result;
  std::map<std::pair<std::string_view, std::uint32_t>, Cost> by_line;
  const auto add = [&](std::string_view location, const Cost& cost) {
    std::string_view path;
    std::uint32_t line = 0;
    if (parse_source_location(location, path, line)) {
      merge_part(by_line[{path, line}], cost);
    } else if (!location.empty()) {
      result.unplaced += cost.event_count;
    }
  };
  for (const auto& [id, cost] : costs.costs) add(strings.text(id), cost);
  for (const auto& [text, cost] : costs.of_texts) add(text, cost);
  result.lines.reserve(by_line.size());
  for (const auto& [place, cost] : by_line) {
    result.lines.push_back({std::string(place.first), place.second, cost.event_count, cost.busy_ns, cost.wait_ns,
                            cost.bytes, cost.host_ns});
  }
  return result;
}

// The self time of the lines of a host's threads, or of zones on devices.
Result<void> add_self_times(const QueryContext& query, const TimeRange& range, const WorkKinds& kinds, bool on_host,
                            CostsByLocation& costs) {
  const Snapshot& snapshot = *query.snapshot;
  LaneIndices lanes;
  bool has_lines = false;
  for (std::uint32_t lane = 0; lane < snapshot.lanes.size(); ++lane) {
    const bool nests = on_host ? kinds.of_lane(lane) == WorkKind::host : kinds.has_zones(lane);
    if (!nests || snapshot.lanes[lane].event_count == 0) continue;
    lanes.push_back(lane);
    has_lines = has_lines || snapshot.lanes[lane].schema->find(Role::source_location).has_value();
  }
  if (!has_lines) return {};
  const TimeRange clipped{std::max(range.begin_ns, snapshot.begin_ns), std::min(range.end_ns, snapshot.end_ns)};
  const auto times = TRY(host_times(query, lanes, clipped, kinds));
  for (const auto& [location, time] : times.lines) {
    Cost& cost = costs.of(location);
    cost.busy_ns = capped_sum(cost.busy_ns, time.busy_ns);
    cost.wait_ns = capped_sum(cost.wait_ns, time.wait_ns);
    if (on_host) cost.host_ns = capped_sum(cost.host_ns, capped_sum(time.busy_ns, time.wait_ns));
  }
  return {};
}

}  // namespace

std::span<const SourceLine> SourceLines::of_file(std::string_view path) const noexcept {
  const auto first = std::ranges::lower_bound(lines, path, {}, &SourceLine::path);
  const auto last = std::upper_bound(first, lines.end(), path,
                                     [](std::string_view p, const SourceLine& line) { return p < line.path; });
  return {first, last};
}

const SourceLine* SourceLines::find(std::string_view path, std::uint32_t line) const noexcept {
  const std::span<const SourceLine> file = of_file(path);
  const auto found = std::ranges::lower_bound(file, line, {}, &SourceLine::line);
  return found != file.end() && found->line == line ? &*found : nullptr;
}

Result<std::shared_ptr<const SourceLines>> source_lines(const QueryContext& query, const TimeRange& range) {
  const Snapshot& snapshot = *query.snapshot;
  const WorkKinds kinds(snapshot);
  auto costs =
      gather(query, lanes_with_role(snapshot, Role::source_location), range, CostsByLocation{},
             [&](const ScannedChunk& chunk, CostsByLocation& part) { add_chunk(chunk, snapshot, range, kinds, part); });
  if (!costs) return costs.error();
  for (const bool on_host : {true, false}) {
    TRY(add_self_times(query, range, kinds, on_host, *costs));
  }
  auto result = std::make_shared<SourceLines>(collect(*costs, *snapshot.strings));
  std::ranges::sort(result->lines, line_before);
  result->snapshot_version = snapshot.version;
  result->range = range;
  return std::shared_ptr<const SourceLines>(result);
}

namespace {

// Which events of a block name one line.
class LineTest {
 public:
  LineTest(const Snapshot& snapshot, std::string_view path, std::uint32_t line)
      : snapshot_(snapshot), path_(path), line_(line) {}

  std::uint64_t operator()(const ScannedChunk& chunk, const ScannedBlock& block) {
    if (chunk.lane.schema.get() != schema_) {
      schema_ = chunk.lane.schema.get();
      columns_ = Columns::of(*schema_);
    }
    if (!columns_ || columns_->location >= chunk.view.column_count()) return 0;
    const BlockValues locations = block.reader.column(columns_->location, columns_->location_type);
    const bool of_text = columns_->location_type == ColumnType::text;
    std::uint64_t bits = 0;
    for (std::uint32_t i = block.first; i < block.last; ++i) {
      if (!locations.has(i)) continue;
      const bool here = of_text ? names_it(chunk.view.text(columns_->location, block.row(i)))
                                : is_known(static_cast<StringId>(locations.values[i]));
      bits |= std::uint64_t{here} << i;
    }
    return bits;
  }

 private:
  [[nodiscard]] bool names_it(std::string_view location) const {
    std::string_view path;
    std::uint32_t line = 0;
    return parse_source_location(location, path, line) && line == line_ && path == path_;
  }
  bool is_known(StringId location) {
    const auto [entry, is_new] = known_.try_emplace(location, false);
    if (is_new) entry->second = names_it(snapshot_.strings->text(location));
    return entry->second;
  }

  const Snapshot& snapshot_;
  std::string_view path_;
  std::uint32_t line_ = 0;
  const Schema* schema_ = nullptr;
  std::optional<Columns> columns_;
  std::unordered_map<StringId, bool> known_;
};

}  // namespace

Result<LineEvents> events_of_line(const QueryContext& query, std::string_view path, std::uint32_t line,
                                  const TimeRange& range, std::size_t limit) {
  struct Part {
    LineTest test;
    Best<std::pair<std::int64_t, EventId>> first;
    Extent extent;
  };
  const Snapshot& snapshot = *query.snapshot;
  WorkerParts parts(query, [&] { return Part{LineTest(snapshot, path, line), {}, {}}; });
  auto mask = mask_where(query, lanes_with_role(snapshot, Role::source_location), range,
                         [&](const ScannedChunk& chunk, const ScannedBlock& block, std::size_t worker) {
                           Part& part = parts.of(worker);
                           const std::uint64_t bits = part.test(chunk, block);
                           for (std::uint64_t left = bits; left != 0; left &= left - 1) {
                             const auto i = static_cast<std::uint32_t>(std::countr_zero(left));
                             part.extent.add(block.begin_ns(i), block.end_ns(i));
                             part.first.add({block.begin_ns(i), block.id(i)}, limit);
                           }
                           return bits;
                         });
  if (!mask) return mask.error();
  LineEvents events;
  events.mask = std::move(*mask);
  events.total = events.mask->total();
  Extent extent;
  std::vector<std::pair<std::int64_t, EventId>> all;
  parts.for_each([&](const Part& part) {
    merge_part(all, part.first.values());
    extent.add(part.extent);
  });
  if (events.total > 0) events.stretch = extent.range;
  std::ranges::sort(all);
  all.resize(std::min(all.size(), limit));
  for (const auto& [ns, id] : all) events.events.push_back(id);
  return events;
}

}  // namespace accelscope::analysis
