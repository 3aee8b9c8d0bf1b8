#include "core/analysis/iterations/lane_events.h"

namespace accelscope {

namespace {

// role: none takes the names.
Result<std::vector<EventSequence>> read_lanes(const QueryContext& query, const LaneIndices& lanes,
                                              const TimeRange& range, Role role) {
  const Snapshot& snapshot = *query.snapshot;
  struct Goal {
    EventSequence* sequence = nullptr;
    std::uint64_t first = 0;  // ordinal
  };
  std::vector<EventSequence> sequences(lanes.size());
  std::vector<Goal> goals(snapshot.lanes.size());
  LaneIndices read;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const LaneSnapshot& lane = snapshot.lanes[lanes[i]];
    const ChunkSpan span = lane.event_count == 0 ? ChunkSpan{} : chunks_in(lane, tick_range(lane, range));
    if (span.first >= span.last) continue;
    const ChunkPlace& last = lane.chunk(span.last - 1);
    const std::uint64_t first = lane.chunk(span.first).first_ordinal;
    const std::uint64_t count = last.first_ordinal + last.count - first;
    if (count >= kMostLaneEvents) continue;
    sequences[i].tokens.assign(count, EventSequence::kNothing);
    sequences[i].begins_ns.resize(count);
    sequences[i].ends_ns.resize(count);
    goals[lanes[i]] = {&sequences[i], first};
    read.push_back(lanes[i]);
  }
  const auto scanned = scan_chunks(query, read, range, [&](const ScannedChunk& chunk, std::size_t) {
    const Goal& goal = goals[chunk.lane_index];
    chunk.for_each_block([&](const ScannedBlock& block) {
      BlockValues values;
      if (role != Role::none) values = block.reader.column(*chunk.lane.schema->find(role), ColumnType::string);
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        if (role != Role::none && !values.has(i)) continue;
        const std::size_t to = static_cast<std::size_t>(chunk.place.first_ordinal + block.row(i) - goal.first);
        goal.sequence->tokens[to] = role == Role::none ? block.name(i) : static_cast<StringId>(values.values[i]);
        goal.sequence->begins_ns[to] = block.begin_ns(i);
        goal.sequence->ends_ns[to] = block.end_ns(i);
      }
    });
  });
  if (!scanned) return scanned.error();
  query.pool.for_each(sequences.size(), query.control, [&](std::size_t i, std::size_t) {
    if (sequences[i].size() > 0) number_names(sequences[i], role == Role::none ? snapshot.strings.get() : nullptr);
  });
  if (query.control.cancelled()) return cancelled_error();
  return sequences;
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

}  // namespace accelscope
