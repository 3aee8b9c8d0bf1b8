#include "core/analysis/iterations/event_sequence.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "core/base/text.h"

namespace accelscope::analysis {
namespace {

struct NumberedName {
  std::string pattern;
  std::uint64_t number = 0;
};

// Its last run of digits; nothing without one, or where it is no number of 64 bits.
std::optional<NumberedName> numbered_name(std::string_view name) {
  std::size_t end = name.size();
  while (end > 0 && !is_digit(name[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && is_digit(name[begin - 1])) --begin;
  if (begin == end) return std::nullopt;
  NumberedName found{std::string(name.substr(0, begin)) + "*" + std::string(name.substr(end)), 0};
  const auto read = std::from_chars(name.data() + begin, name.data() + end, found.number);
  if (read.ec != std::errc()) return std::nullopt;
  return found;
}

void drop_missing(EventSequence& sequence) {
  std::size_t retained = 0;
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    if (sequence.tokens[i] == EventSequence::kNothing) continue;
    sequence.tokens[retained] = sequence.tokens[i];
    sequence.begins_ns[retained] = sequence.begins_ns[i];
    sequence.ends_ns[retained++] = sequence.ends_ns[i];
  }
  sequence.tokens.resize(retained);
  sequence.begins_ns.resize(retained);
  sequence.ends_ns.resize(retained);
}

struct NumberedGroup {
  std::vector<std::uint32_t> tokens;   // in the order of their events
  std::vector<std::uint64_t> numbers;  // theirs
};

bool rises_evenly(const std::vector<std::uint64_t>& numbers) {
  const std::uint64_t step = numbers[1] - numbers[0];
  if (numbers[1] <= numbers[0]) return false;
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    if (numbers[i] - numbers[i - 1] != step) return false;
  }
  return true;
}

// Tokens are given in the order of first events, so those of single events stand in the order of these.
void join_numbered(EventSequence& sequence, const std::vector<std::uint32_t>& counts, const StringPool& strings) {
  constexpr std::size_t kLeastNumbered = 3;
  std::map<std::string, NumberedGroup> groups;
  for (std::uint32_t token = 0; token < counts.size(); ++token) {
    if (counts[token] != 1) continue;
    const auto found = numbered_name(strings.text(sequence.names[token].name));
    if (!found) continue;
    NumberedGroup& group = groups[found->pattern];
    group.tokens.push_back(token);
    group.numbers.push_back(found->number);
  }
  std::vector<std::uint32_t> becomes(counts.size());
  for (std::uint32_t token = 0; token < counts.size(); ++token) becomes[token] = token;
  bool any = false;
  for (const auto& [pattern, group] : groups) {
    if (group.tokens.size() < kLeastNumbered) continue;
    any = true;
    SequenceName& joined = sequence.names[group.tokens.front()];
    joined.numbered = pattern;
    joined.counts_up = rises_evenly(group.numbers);
    for (const std::uint32_t token : group.tokens) becomes[token] = group.tokens.front();
  }
  if (!any) return;
  for (std::uint32_t& token : sequence.tokens) token = becomes[token];
}

}  // namespace

void number_names(EventSequence& sequence, const StringPool* strings) {
  drop_missing(sequence);
  std::uint32_t most = 0;
  for (const std::uint32_t name : sequence.tokens) most = std::max(most, name);
  std::vector<std::uint32_t> token_of(std::size_t{most} + 1, EventSequence::kNothing), counts;
  for (std::uint32_t& name : sequence.tokens) {
    std::uint32_t& token = token_of[name];
    if (token == EventSequence::kNothing) {
      token = static_cast<std::uint32_t>(counts.size());
      counts.push_back(0);
      sequence.names.push_back({name, "", false});
    }
    ++counts[token];
    name = token;
  }
  if (strings != nullptr) join_numbered(sequence, counts, *strings);
}

std::string numbered_pattern(std::string_view name) {
  auto found = numbered_name(name);
  return found ? std::move(found->pattern) : std::string();
}

NamePlaces::NamePlaces(const EventSequence& sequence)
    : firsts_(sequence.names.size() + 1), places_(sequence.tokens.size()) {
  for (const std::uint32_t token : sequence.tokens) ++firsts_[token + 1];
  for (std::size_t i = 1; i < firsts_.size(); ++i) firsts_[i] += firsts_[i - 1];
  std::vector<std::uint32_t> next(firsts_.begin(), firsts_.end());
  for (std::uint32_t i = 0; i < sequence.tokens.size(); ++i) places_[next[sequence.tokens[i]]++] = i;
}

std::span<const std::uint32_t> NamePlaces::within(std::size_t token, std::uint32_t begin,
                                                  std::uint32_t end) const noexcept {
  const auto all = of(token);
  const auto first = std::lower_bound(all.begin(), all.end(), begin);
  const auto last = std::lower_bound(first, all.end(), end);
  return all.subspan(static_cast<std::size_t>(first - all.begin()), static_cast<std::size_t>(last - first));
}

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
  auto read = TRY(read_ids(query, lanes, range, role));
  std::vector<EventSequence>& sequences = read;
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
  const auto read = TRY(read_ids(query, lanes, range, Role::none));
  struct Place {
    std::int64_t begin_ns = 0;
    std::uint32_t lane = 0, row = 0;
  };
  std::vector<Place> places;
  for (std::uint32_t lane = 0; lane < read.size(); ++lane) {
    const EventSequence& each = read[lane];
    if (places.size() + each.size() >= kMostLaneEvents) return EventSequence();
    for (std::uint32_t row = 0; row < each.size(); ++row) {
      if (each.tokens[row] != EventSequence::kNothing) places.push_back({each.begins_ns[row], lane, row});
    }
  }
  std::ranges::stable_sort(places, {}, &Place::begin_ns);
  if (query.control.cancelled()) return cancelled_error();
  EventSequence joined;
  joined.tokens.reserve(places.size());
  joined.begins_ns.reserve(places.size());
  joined.ends_ns.reserve(places.size());
  for (const Place& place : places) {
    const EventSequence& from = read[place.lane];
    joined.tokens.push_back(from.tokens[place.row]);
    joined.begins_ns.push_back(place.begin_ns);
    joined.ends_ns.push_back(from.ends_ns[place.row]);
  }
  if (joined.size() > 0) number_names(joined, query.snapshot->strings.get());
  return joined;
}

}  // namespace accelscope::analysis
