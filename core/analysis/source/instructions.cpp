#include "core/analysis/source/instructions.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>

#include "core/analysis/source/event_costs.h"
#include "core/analysis/time/work_kind.h"
#include "core/analysis/vendors/vendor.h"
#include "core/base/capped.h"
#include "core/model/source_location.h"
#include "core/scan/column_values.h"
#include "core/scan/event_mask.h"
#include "core/scan/group_by.h"

namespace accelscope::analysis {
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
  std::uint64_t count = 0;
  std::int64_t busy_ns = 0, wait_ns = 0;
  std::uint64_t bytes = 0;

  void add(const PlaceCost& other) noexcept {
    if (other.first < first) {
      first = other.first;
      first_ns = other.first_ns;
    }
    count += other.count;
    busy_ns = capped_sum(busy_ns, other.busy_ns);
    wait_ns = capped_sum(wait_ns, other.wait_ns);
    bytes += other.bytes;
  }
};
using PlaceCosts = std::unordered_map<PlaceKey, PlaceCost, PlaceHash>;

struct InstructionColumns {
  std::optional<std::size_t> place, location;

  explicit InstructionColumns(const Schema& schema) {
    for (const Vendor& vendor : vendors()) {
      const auto column = vendor.place_column.empty() ? std::nullopt : schema.find(vendor.place_column);
      if (column && !is_text(schema.columns[*column].type)) place = column;
    }
    location = schema.find(Role::source_location);
    if (location && !is_text(schema.columns[*location].type)) location.reset();
  }
};

// What one thread has of each place; others where there are more than it may tell apart.
struct PlacesMet {
  PlaceCosts costs;
  const PlaceCosts* known = nullptr;  // given: only these
  bool met_others = false;
  auto measures() { return std::tie(costs, met_others); }

  void add(const PlaceKey& key, const PlaceCost& one) {
    if (const auto found = costs.find(key); found != costs.end()) {
      found->second.add(one);
    } else if (known != nullptr ? known->contains(key) : costs.size() < InstructionListing::kMostMet) {
      costs.emplace(key, one);
    } else {
      met_others = true;
    }
  }
};

class InstructionLister {
 public:
  InstructionLister(const QueryContext& query, const TimeRange& range, std::string_view location)
      : query_(query), snapshot_(*query.snapshot), range_(range), location_(location) {}

  Result<InstructionListing> run() {
    auto all = read_costs(nullptr);
    if (!all) return all.error();
    InstructionListing listing = ordered(all->costs);
    if (all->met_others) {
      // What each thread met of a place may not be all of it: those that are kept are read once more by themselves.
      PlaceCosts retained;
      for (const InstructionCost& row : listing.rows)
        retained.try_emplace({row.track, row.name, row.place.value_or(0), row.place.has_value()});
      all = read_costs(&retained);
      if (!all) return all.error();
      const std::uint64_t left_out = listing.left_out;
      listing = ordered(all->costs);
      listing.left_out = left_out;
      listing.counts_all = false;
    }
    TRY(read_texts(listing));
    return listing;
  }

 private:
  Result<PlacesMet> read_costs(const PlaceCosts* known) const {
    return gather(query_, lanes(), range_, PlacesMet{{}, known, false},
                  [&](const ScannedChunk& chunk, PlacesMet& met) { add(chunk, met); });
  }

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

  [[nodiscard]] bool is_wanted(std::string_view location) const {
    std::string_view path, wanted_path;
    std::uint32_t line = 0, wanted_line = 0;
    return parse_source_location(location_, wanted_path, wanted_line) && parse_source_location(location, path, line) &&
           line == wanted_line && path == wanted_path;
  }

  // Those of a block that name the place that is wanted.
  [[nodiscard]] std::uint64_t wanted_of(const ScannedChunk& chunk, const ScannedBlock& block,
                                        const InstructionColumns& columns,
                                        std::unordered_map<StringId, bool>& known) const {
    if (location_.empty()) return ~std::uint64_t{0};
    if (!columns.location || *columns.location >= chunk.view.column_count()) return 0;
    const ColumnType type = chunk.lane.schema->columns[*columns.location].type;
    const BlockValues locations = block.reader.column(*columns.location, type);
    std::uint64_t bits = 0;
    for (std::uint32_t i = block.first; i < block.last; ++i) {
      if (!locations.has(i)) continue;
      bool here = false;
      if (type == ColumnType::text) {
        here = is_wanted(chunk.view.text(*columns.location, block.row(i)));
      } else {
        const auto id = static_cast<StringId>(locations.values[i]);
        const auto [entry, is_new] = known.try_emplace(id, false);
        if (is_new) entry->second = is_wanted(snapshot_.strings->text(id));
        here = entry->second;
      }
      bits |= std::uint64_t{here} << i;
    }
    return bits;
  }

  void add(const ScannedChunk& chunk, PlacesMet& places_met) const {
    const Schema& schema = *chunk.lane.schema;
    const InstructionColumns columns(schema);
    EventCosts costs(schema, snapshot_, range_);
    NumberBlock places;
    std::unordered_map<StringId, bool> known;
    chunk.for_each_block([&](const ScannedBlock& block) {
      const std::uint64_t wanted = wanted_of(chunk, block, columns, known);
      if (wanted == 0) return;
      BlockValues place_values;
      if (columns.place) {
        place_values = block.reader.column(*columns.place, schema.columns[*columns.place].type);
        places.read(block.reader, *columns.place, schema.columns[*columns.place].type);
      }
      costs.read(block);
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        if ((wanted >> i & 1) == 0) continue;
        PlaceKey key{chunk.lane.track, block.name(i)};
        if (place_values.has(i)) {
          key.place = places[i];
          key.has_place = true;
        }
        const EventCost cost = costs.of(chunk, block, i);
        places_met.add(key, {block.id(i), block.begin_ns(i), 1, cost.busy_ns, cost.wait_ns, cost.bytes});
      }
    });
  }

  [[nodiscard]] InstructionListing ordered(const PlaceCosts& costs) const {
    InstructionListing listing;
    std::map<TrackNumber, std::size_t> rank;
    for (std::size_t i = 0; i < snapshot_.tracks.size(); ++i) rank[snapshot_.tracks[i].track->number] = i;
    for (const auto& [key, cost] : costs) {
      InstructionCost row{.track = key.track, .name = key.name};
      if (key.has_place) row.place = key.place;
      row.first = cost.first;
      row.first_ns = cost.first_ns;
      row.count = cost.count;
      row.busy_ns = cost.busy_ns;
      row.wait_ns = cost.wait_ns;
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
    std::ranges::sort(listing.rows,
                      [&](const InstructionCost& a, const InstructionCost& b) { return place_of(a) < place_of(b); });
    return listing;
  }

  // Of the first event of each row: one in many, so the rows are read where they lie.
  Result<void> read_texts(InstructionListing& listing) const {
    std::vector<std::pair<EventId, InstructionCost*>> wanted;
    for (InstructionCost& row : listing.rows) wanted.emplace_back(row.first, &row);
    std::ranges::sort(wanted);
    const auto from = [&](EventId id) {
      return std::lower_bound(wanted.begin(), wanted.end(), std::pair<EventId, InstructionCost*>{id, nullptr});
    };
    std::vector<ChunkRequest> requests;
    for (std::uint32_t i = 0; i < snapshot_.lanes.size(); ++i) {
      const LaneSnapshot& lane = snapshot_.lanes[i];
      if (!lane.schema || (!lane.schema->find(Role::operands) && !lane.schema->find(Role::source_location))) continue;
      for (std::uint32_t chunk = 0; chunk < lane.chunk_count; ++chunk) {
        const ChunkPlace& place = lane.data->chunks[chunk];
        const auto first = from(make_event_id(lane.number(), place.first_ordinal));
        if (first != wanted.end() && first->first < make_event_id(lane.number(), place.first_ordinal + place.count))
          requests.push_back({i, chunk, {}});
      }
    }
    return scan_chunks(query_, requests, [&](const ScannedChunk& chunk, std::size_t) {
      const EventId first = chunk.event_id(0), end = chunk.event_id(chunk.view.count());
      for (auto row = from(first); row != wanted.end() && row->first < end; ++row) {
        const auto index = static_cast<std::uint32_t>(row->first - first);
        row->second->operands = text_at(chunk, Role::operands, index);
        row->second->location = text_at(chunk, Role::source_location, index);
      }
    });
  }
  [[nodiscard]] std::string text_at(const ScannedChunk& chunk, Role role, std::uint32_t row) const {
    const auto column = chunk.lane.schema->find(role);
    if (!column || *column >= chunk.view.column_count() || !chunk.view.has_value(*column, row)) return {};
    const ColumnType type = chunk.lane.schema->columns[*column].type;
    if (!is_text(type)) return {};
    if (type == ColumnType::text) return std::string(chunk.view.text(*column, row));
    return std::string(snapshot_.strings->text(chunk.session_string(chunk.view.stored(*column, row))));
  }

  const QueryContext& query_;
  const Snapshot& snapshot_;
  TimeRange range_;
  std::string location_;
};

}  // namespace

Result<InstructionListing> instruction_listing(const QueryContext& query, const TimeRange& range,
                                               std::string_view location) {
  return InstructionLister(query, range, location).run();
}

}  // namespace accelscope::analysis
