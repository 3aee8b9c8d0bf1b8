#include "core/analysis/iterations/lane_events.h"

#include <algorithm>

namespace accelscope {

namespace {

// Tokens are the ids of names yet. role: none takes the names.
Result<std::vector<EventSequence>> read_ids(const QueryContext& query, const LaneIndices& lanes, const TimeRange& range,
                                            Role role) {
  const Snapshot& snapshot = *query.snapshot;
  struct Goal {
    EventSequence* sequence = nullptr;
    std::vector<std::uint64_t> before;  // of the events read: those before each chunk from the first one on
    std::uint32_t first_chunk = 0;
  };
  std::vector<EventSequence> sequences(lanes.size());
  std::vector<Goal> goals(snapshot.lanes.size());
  LaneIndices read;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const LaneSnapshot& lane = snapshot.lanes[lanes[i]];
    const ChunkSpan span = lane.event_count == 0 ? ChunkSpan{} : chunks_in(lane, tick_range(lane, range));
    if (span.first >= span.last) continue;
    Goal goal{&sequences[i], {}, span.first};
    std::uint64_t count = 0;
    for (std::uint32_t chunk = span.first; chunk < span.last; ++chunk) {
      goal.before.push_back(count);
      count += lane.chunk(chunk).count;
    }
    if (count >= kMostLaneEvents) continue;
    sequences[i].tokens.assign(count, EventSequence::kNothing);
    sequences[i].begins_ns.resize(count);
    sequences[i].ends_ns.resize(count);
    goals[lanes[i]] = std::move(goal);
    read.push_back(lanes[i]);
  }
  const auto scanned = scan_chunks(query, read, range, [&](const ScannedChunk& chunk, std::size_t) {
    const Goal& goal = goals[chunk.lane_index];
    const std::uint64_t first = goal.before[chunk.chunk_index - goal.first_chunk];
    chunk.for_each_block([&](const ScannedBlock& block) {
      BlockValues values;
      if (role != Role::none) values = block.reader.column(*chunk.lane.schema->find(role), ColumnType::string);
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        if (role != Role::none && !values.has(i)) continue;
        const std::size_t to = static_cast<std::size_t>(first + block.row(i));
        goal.sequence->tokens[to] = role == Role::none ? block.name(i) : static_cast<StringId>(values.values[i]);
        goal.sequence->begins_ns[to] = block.begin_ns(i);
        goal.sequence->ends_ns[to] = block.end_ns(i);
      }
    });
  });
  if (!scanned) return scanned.error();
  return sequences;
}

Result<std::vector<EventSequence>> read_lanes(const QueryContext& query, const LaneIndices& lanes,
                                              const TimeRange& range, Role role) {
  auto read = read_ids(query, lanes, range, role);
  if (!read) return read.error();
  std::vector<EventSequence>& sequences = *read;
  query.pool.for_each(sequences.size(), query.control, [&](std::size_t i, std::size_t) {
    if (sequences[i].size() > 0)
      number_names(sequences[i], role == Role::none ? query.snapshot->strings.get() : nullptr);
  });
  if (query.control.cancelled()) return cancelled_error();
  return read;
}

}  // namespace

Result<std::vector<EventSequence>> read_sequences(const QueryContext& query, const LaneIndices& lanes,
                                                  const TimeRange& range) {
  return read_lanes(query, lanes, range, Role::none);
}

Result<std::vector<EventSequence>> read_sequences(const QueryContext& query, const LaneIndices& lanes,
                                                  const TimeRange& range, Role role) {
  return read_lanes(query, lanes, range, role);
}

Result<EventSequence> read_joined(const QueryContext& query, const LaneIndices& lanes, const TimeRange& range) {
  const auto read = read_ids(query, lanes, range, Role::none);
  if (!read) return read.error();
  struct Place {
    std::int64_t begin_ns = 0;
    std::uint32_t lane = 0, row = 0;
  };
  std::vector<Place> places;
  for (std::uint32_t lane = 0; lane < read->size(); ++lane) {
    const EventSequence& each = (*read)[lane];
    if (places.size() + each.size() >= kMostLaneEvents) return EventSequence();
    for (std::uint32_t row = 0; row < each.size(); ++row) {
      if (each.tokens[row] != EventSequence::kNothing) places.push_back({each.begins_ns[row], lane, row});
    }
  }
  std::stable_sort(places.begin(), places.end(),
                   [](const Place& a, const Place& b) { return a.begin_ns < b.begin_ns; });
  if (query.control.cancelled()) return cancelled_error();
  EventSequence joined;
  joined.tokens.reserve(places.size());
  joined.begins_ns.reserve(places.size());
  joined.ends_ns.reserve(places.size());
  for (const Place& place : places) {
    const EventSequence& from = (*read)[place.lane];
    joined.tokens.push_back(from.tokens[place.row]);
    joined.begins_ns.push_back(place.begin_ns);
    joined.ends_ns.push_back(from.ends_ns[place.row]);
  }
  if (joined.size() > 0) number_names(joined, query.snapshot->strings.get());
  return joined;
}

}  // namespace accelscope
