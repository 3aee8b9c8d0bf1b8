// An immutable picture of a store's index: what the UI draws from and what queries run on while new chunks come
// in. Cheap to take (a few words per lane), safe to keep on any thread for as long as wanted. Event values are
// not in it: read chunks through Store::read_chunk or the readers of core/scan.
#pragma once

#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/index/lane_tree.h"
#include "core/index/name_totals.h"
#include "core/model/clock.h"
#include "core/model/definitions.h"
#include "core/store/string_pool.h"

namespace accelscope {

// Where a chunk of a lane lies and what it covers.
struct ChunkPlace {
  std::int64_t row = 0;  // of the store's chunk table
  std::uint64_t first_ordinal = 0;
  std::uint32_t first_leaf = 0;  // its block b is leaf first_leaf + b
  std::uint32_t count = 0;
  std::int64_t begin_ticks = 0;
  std::int64_t end_ticks = 0;
};

// What the ingest thread appends to; snapshots read below their counts.
struct LaneData {
  Lane lane;
  EventKind kind = EventKind::slice;
  AppendOnlyArray<ChunkPlace> chunks;
  LaneTree<SliceNode> slices;      // every kind but counter
  LaneTree<CounterNode> counters;  // kind counter
  NameTotals totals;
};

struct LaneSnapshot {
  std::shared_ptr<const LaneData> data;
  std::shared_ptr<const Schema> schema;
  std::shared_ptr<const ClockMap> clock;
  TrackNumber track = 0;
  std::uint32_t chunk_count = 0;
  std::uint64_t event_count = 0;
  TreeCounts tree;
  std::int64_t begin_ticks = 0;  // of its first event; needs event_count > 0
  std::int64_t end_ticks = 0;    // of its last event
  NameTotals::Counts totals;
  std::uint64_t index_bytes = 0;  // memory of its places, tree and totals

  [[nodiscard]] LaneNumber number() const noexcept { return data->lane.number; }
  [[nodiscard]] const ChunkPlace& chunk(std::size_t index) const noexcept { return data->chunks[index]; }
  // Index of the chunk that holds the ordinal or leaf; chunk_count if none does.
  [[nodiscard]] std::uint32_t chunk_of_ordinal(std::uint64_t ordinal) const noexcept;
  [[nodiscard]] std::uint32_t chunk_of_leaf(std::uint32_t leaf) const noexcept;
  // First chunk that ends at or after the tick; chunk_count if none.
  [[nodiscard]] std::uint32_t first_chunk_ending_after(std::int64_t ticks) const noexcept;
};

struct TrackSnapshot {
  std::shared_ptr<const Track> track;
  std::shared_ptr<const Schema> schema;
  std::vector<std::uint32_t> lanes;  // indices into Snapshot::lanes, by depth
};

// Where the lane or track of a number lies in a snapshot's lists.
struct NumberPlaces {
  std::unordered_map<LaneNumber, std::uint32_t> lanes;
  std::unordered_map<TrackNumber, std::uint32_t> tracks;
};

struct Snapshot {
  std::uint64_t version = 0;
  std::vector<LaneSnapshot> lanes;
  std::vector<TrackSnapshot> tracks;  // in the order of their definition
  std::vector<std::shared_ptr<const Schema>> schemas;
  std::vector<std::shared_ptr<const Clock>> clocks;
  std::vector<std::shared_ptr<const SourceFile>> sources;
  std::vector<MetaEntry> meta;
  std::vector<QualityEntry> quality;
  std::vector<Metric> metrics;
  std::shared_ptr<const StringPool> strings;
  std::shared_ptr<const NumberPlaces> places;  // one for all snapshots until a lane or track is added
  std::uint64_t event_count = 0;
  std::int64_t begin_ns = 0;  // of the earliest event; 0 if there is none
  std::int64_t end_ns = 0;    // of the latest event

  [[nodiscard]] const LaneSnapshot* find_lane(LaneNumber number) const noexcept;
  [[nodiscard]] const TrackSnapshot* find_track(TrackNumber number) const noexcept;
  [[nodiscard]] std::string_view meta_value(std::string_view key) const noexcept;  // "" if absent
};

}  // namespace accelscope
