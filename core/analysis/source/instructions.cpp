#include "core/analysis/source/instructions.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>

#include "core/analysis/source/event_part.h"
#include "core/analysis/time/work_kind.h"
#include "core/analysis/vendors/vendor.h"
#include "core/model/source_location.h"
#include "core/scan/column_values.h"
#include "core/scan/event_mask.h"
#include "core/scan/wait_names.h"
#include "core/scan/window_scan.h"

namespace accelscope {
namespace {

struct PlaceKey {
  TrackNumber track = 0;
  StringId name = 0;
  std::int64_t place = 0;
  bool has_place = false;
  bool operator==(const PlaceKey&) const = default;
};
struct PlaceHash {
  std::size_t operator()(const PlaceKey& key) const noexcept {
    std::uint64_t hash = (std::uint64_t{key.track} << 32 | key.name) * 0x9e3779b97f4a7c15U;
    hash ^= static_cast<std::uint64_t>(key.place) * 0xbf58476d1ce4e5b9U;
    return static_cast<std::size_t>(hash ^ hash >> 31);
  }
};
struct PlaceCost {
  EventId first = kNoEvent;
  std::int64_t first_ns = 0;
  StringId location = 0;
  std::uint64_t count = 0;
  double busy_ns = 0, wait_ns = 0;
  std::uint64_t bytes = 0;

  void add(const PlaceCost& other) noexcept {
    if (other.first < first) {
      first = other.first;
      first_ns = other.first_ns;
      location = other.location;
    }
    count += other.count;
    busy_ns += other.busy_ns;
    wait_ns += other.wait_ns;
    bytes += other.bytes;
  }
};
using PlaceCosts = std::unordered_map<PlaceKey, PlaceCost, PlaceHash>;

struct InstructionColumns {
  std::optional<std::size_t> place, location;
  std::vector<std::size_t> waits, bytes;

  explicit InstructionColumns(const Schema& schema) {
    for (const Vendor& vendor : vendors()) {
      const auto column = vendor.place_column.empty() ? std::nullopt : schema.find(vendor.place_column);
      if (column && !is_text(schema.columns[*column].type)) place = column;
    }
    location = schema.find(Role::source_location);
    if (location && schema.columns[*location].type != ColumnType::string) location.reset();
    for (std::size_t i = 0; i < schema.columns.size(); ++i) {
      if (is_text(schema.columns[i].type)) continue;
      if (schema.columns[i].role == Role::wait_ns) waits.push_back(i);
      if (schema.columns[i].role == Role::bytes) bytes.push_back(i);
    }
  }
};

// The sum of columns of one role over one event; what is below 0 counts as nothing.
std::uint64_t sum_of(const std::vector<NumberBlock>& columns, std::uint32_t i) {
  std::uint64_t sum = 0;
  for (const NumberBlock& column : columns) {
    const auto amount = static_cast<std::uint64_t>(std::max<std::int64_t>(column[i], 0));
    if (__builtin_add_overflow(sum, amount, &sum)) return ~std::uint64_t{0};
  }
  return sum;
}

class InstructionLister {
 public:
  InstructionLister(const QueryContext& query, const TimeRange& range, std::string_view location)
      : query_(query), snapshot_(*query.snapshot), range_(range), location_(location) {
    first_ns_ = std::max(range.begin_ns, snapshot_.begin_ns);
  }

  Result<InstructionListing> run() {
    std::vector<PlaceCosts> workers(query_.pool.concurrency());
    const Result<void> scanned = scan_chunks(
        query_, lanes(), range_, [&](const ScannedChunk& chunk, std::size_t worker) { add(chunk, workers[worker]); });
    if (!scanned) return scanned.error();
    PlaceCosts all = std::move(workers.front());
    for (std::size_t i = 1; i < workers.size(); ++i) {
      for (const auto& [key, cost] : workers[i]) all[key].add(cost);
    }
    InstructionListing listing = ordered(all);
    if (const Result<void> read = read_operands(listing); !read) return read.error();
    return listing;
  }

 private:
  [[nodiscard]] LaneIndices lanes() const {
    const WorkKinds kinds(snapshot_);
    LaneIndices lanes;
    for (std::uint32_t lane = 0; lane < snapshot_.lanes.size(); ++lane) {
      const LaneSnapshot& each = snapshot_.lanes[lane];
      if (each.data->kind != EventKind::slice || each.event_count == 0) continue;
      if (kinds.of_lane(lane) == WorkKind::compute || (each.schema && InstructionColumns(*each.schema).place))
        lanes.push_back(lane);
    }
    return lanes;
  }

  [[nodiscard]] bool is_wanted(StringId location) const {
    if (location_.empty()) return true;
    std::string_view path, wanted_path;
    std::uint32_t line = 0, wanted_line = 0;
    return parse_source_location(location_, wanted_path, wanted_line) &&
           parse_source_location(snapshot_.strings->text(location), path, line) && line == wanted_line &&
           path == wanted_path;
  }

  void add(const ScannedChunk& chunk, PlaceCosts& costs) const {
    const Schema& schema = *chunk.lane.schema;
    const InstructionColumns columns(schema);
    const WaitNames waits(&schema, *snapshot_.strings);
    NumberBlock places;
    std::vector<NumberBlock> waited(columns.waits.size()), moved(columns.bytes.size());
    const auto read = [&schema](const ScannedBlock& block, const std::vector<std::size_t>& from,
                                std::vector<NumberBlock>& numbers) {
      for (std::size_t k = 0; k < from.size(); ++k)
        numbers[k].read(block.reader, from[k], schema.columns[from[k]].type);
    };
    std::unordered_map<StringId, bool> wanted;
    chunk.for_each_block([&](const ScannedBlock& block) {
      BlockValues locations, place_values;
      if (columns.location) locations = block.reader.column(*columns.location, ColumnType::string);
      if (!location_.empty() && locations.valid == 0) return;
      if (columns.place) {
        place_values = block.reader.column(*columns.place, schema.columns[*columns.place].type);
        places.read(block.reader, *columns.place, schema.columns[*columns.place].type);
      }
      read(block, columns.waits, waited);
      read(block, columns.bytes, moved);
      const BlockTimes& times = block.ticks();
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        const StringId location = locations.has(i) ? static_cast<StringId>(locations.values[i]) : 0;
        if (!location_.empty()) {
          const auto [known, is_new] = wanted.try_emplace(location, false);
          if (is_new) known->second = is_wanted(location);
          if (!known->second) continue;
        }
        PlaceKey key{chunk.lane.track, block.name(i)};
        if (place_values.has(i)) {
          key.place = places[i];
          key.has_place = true;
        }
        PlaceCost one{block.id(i), block.begin_ns(i), location, 1};
        const double time_ns =
            chunk.ns_per_tick * static_cast<double>(chunk.range.shared(times.begins[i], times.ends[i]));
        const bool waiting = waits.contains(key.name);
        (waiting ? one.wait_ns : one.busy_ns) = time_ns;
        const std::uint64_t before_ns = waiting ? 0 : sum_of(waited, i);
        if (before_ns > 0) {
          const auto most_ns = static_cast<std::uint64_t>(longest_wait_ns(chunk, block, i, first_ns_));
          one.wait_ns += static_cast<double>(std::min(before_ns, most_ns));
        }
        one.bytes = part_of_amount(sum_of(moved, i), share_inside(range_, block.begin_ns(i), block.end_ns(i)));
        costs[key].add(one);
      }
    });
  }

  [[nodiscard]] InstructionListing ordered(const PlaceCosts& costs) const {
    InstructionListing listing;
    std::map<TrackNumber, std::size_t> rank;
    for (std::size_t i = 0; i < snapshot_.tracks.size(); ++i) rank[snapshot_.tracks[i].track->number] = i;
    for (const auto& [key, cost] : costs) {
      InstructionCost row{.track = key.track, .name = key.name, .location = cost.location};
      if (key.has_place) row.place = key.place;
      row.first = cost.first;
      row.first_ns = cost.first_ns;
      row.count = cost.count;
      row.busy_ns = std::llround(cost.busy_ns);
      row.wait_ns = std::llround(cost.wait_ns);
      row.bytes = cost.bytes;
      listing.rows.push_back(std::move(row));
    }
    if (listing.rows.size() > InstructionListing::kMost) {
      const auto end = listing.rows.begin() + InstructionListing::kMost;
      std::nth_element(listing.rows.begin(), end, listing.rows.end(),
                       [](const InstructionCost& a, const InstructionCost& b) {
                         return std::tuple(b.busy_ns + b.wait_ns, a.first) < std::tuple(a.busy_ns + a.wait_ns, b.first);
                       });
      listing.left_out = listing.rows.size() - InstructionListing::kMost;
      listing.rows.resize(InstructionListing::kMost);
    }
    const auto place_of = [&](const InstructionCost& row) {
      return std::tuple(rank[row.track], row.place.has_value() ? 0 : 1, row.place.value_or(row.first_ns), row.first);
    };
    std::sort(listing.rows.begin(), listing.rows.end(),
              [&](const InstructionCost& a, const InstructionCost& b) { return place_of(a) < place_of(b); });
    return listing;
  }

  // Of the first event of each row: one in many, so the rows are read where they lie.
  Result<void> read_operands(InstructionListing& listing) const {
    std::vector<std::pair<EventId, InstructionCost*>> wanted;
    for (InstructionCost& row : listing.rows) wanted.emplace_back(row.first, &row);
    std::sort(wanted.begin(), wanted.end());
    const auto from = [&](EventId id) {
      return std::lower_bound(wanted.begin(), wanted.end(), std::pair<EventId, InstructionCost*>{id, nullptr});
    };
    std::vector<ChunkRequest> requests;
    for (std::uint32_t i = 0; i < snapshot_.lanes.size(); ++i) {
      const LaneSnapshot& lane = snapshot_.lanes[i];
      if (!lane.schema || !lane.schema->find(Role::operands)) continue;
      for (std::uint32_t chunk = 0; chunk < lane.chunk_count; ++chunk) {
        const ChunkPlace& place = lane.data->chunks[chunk];
        const auto first = from(make_event_id(lane.number(), place.first_ordinal));
        if (first != wanted.end() && first->first < make_event_id(lane.number(), place.first_ordinal + place.count))
          requests.push_back({i, chunk, {}});
      }
    }
    return scan_chunks(query_, requests, [&](const ScannedChunk& chunk, std::size_t) {
      const std::size_t column = *chunk.lane.schema->find(Role::operands);
      const ColumnType type = chunk.lane.schema->columns[column].type;
      if (column >= chunk.view.column_count() || !is_text(type)) return;
      const EventId first = chunk.event_id(0), end = chunk.event_id(chunk.view.count());
      for (auto row = from(first); row != wanted.end() && row->first < end; ++row) {
        const auto index = static_cast<std::uint32_t>(row->first - first);
        if (!chunk.view.has_value(column, index)) continue;
        row->second->operands =
            type == ColumnType::text
                ? std::string(chunk.view.text(column, index))
                : std::string(snapshot_.strings->text(chunk.session_string(chunk.view.stored(column, index))));
      }
    });
  }

  const QueryContext& query_;
  const Snapshot& snapshot_;
  TimeRange range_;
  std::int64_t first_ns_ = 0;  // of the range and the session
  std::string location_;
};

}  // namespace

Result<InstructionListing> instruction_listing(const QueryContext& query, const TimeRange& range,
                                               std::string_view location) {
  return InstructionLister(query, range, location).run();
}

}  // namespace accelscope
