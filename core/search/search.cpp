#include "core/search/search.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <span>

#include "core/scan/event_mask.h"
#include "core/search/event_matcher.h"

namespace accelscope {

struct EventSearch::Implementation {
  // What the search knows of one lane.
  struct LaneHits {
    std::uint64_t hits = 0;
    std::vector<char> possible;  // by chunk: whether it may hold a hit
  };

  // Chunks that may hold a hit of the range.
  [[nodiscard]] std::vector<ChunkRequest> requests_in(const TimeRange& range) const;

  std::shared_ptr<const Snapshot> snapshot;
  std::shared_ptr<const EventMask> mask;  // null: every event may be a hit
  EventMatcher matcher;
  std::vector<LaneHits> lanes;  // by lane index
  std::uint64_t total = 0;
  std::map<std::uint32_t, StringMap> strings;  // by scope: local string ids -> the session's

  Result<void> count(const QueryContext& context);
  void count_from_totals(std::uint32_t lane_index, std::vector<ChunkRequest>& to_decode);
  // The first hit at or after `from` (the last one before it, if !forward) in one lane, not beyond `best`.
  Result<void> find_in_lane(EventReader& reader, std::uint32_t lane_index, SearchPosition from, bool forward,
                            std::optional<SearchPosition>& best) const;
  Result<std::optional<SearchPosition>> step(EventReader& reader, SearchPosition from, bool forward) const;
};

void EventSearch::Implementation::count_from_totals(std::uint32_t lane_index, std::vector<ChunkRequest>& to_decode) {
  const LaneSnapshot& lane = snapshot->lanes[lane_index];
  LaneHits& known = lanes[lane_index];
  const NameTotals& totals = lane.data->totals;
  const StringTest& names = *matcher.names();
  const auto chunks_of = [](std::size_t level) { return std::size_t{1} << (2 * level); };
  static_assert(NameTotals::kFanout == 4);
  const auto kept = [&](std::size_t level, std::size_t index) { return totals.stretch(level, index).kept; };
  // Goes down as long as all children keep totals: the finer the stretch, the shorter a later step.
  const auto visit = [&](auto&& self, std::size_t level, std::size_t index) -> void {
    const std::size_t first = index * chunks_of(level);
    bool go_down = level > 0;
    if (kept(level, index)) {
      const NameTotals::Stretch stretch = totals.stretch(level, index);
      for (std::size_t i = 0; go_down && i < NameTotals::kFanout; ++i) {
        go_down = kept(level - 1, index * NameTotals::kFanout + i);
      }
      if (!go_down) {
        std::uint64_t found = 0;
        for (const NameTotal& of_name : std::span(stretch.totals, stretch.size)) {
          if (names.keeps(of_name.name)) found += of_name.count;
        }
        known.hits += found;
        if (found > 0)
          std::fill_n(known.possible.begin() + static_cast<std::ptrdiff_t>(first), chunks_of(level), char{1});
        return;
      }
    }
    if (level == 0) {
      to_decode.push_back({lane_index, static_cast<std::uint32_t>(index), {}});
      return;
    }
    for (std::size_t i = 0; i < NameTotals::kFanout; ++i) self(self, level - 1, index * NameTotals::kFanout + i);
  };
  std::size_t begin = 0;  // chunks before it are counted
  for (std::size_t level = NameTotals::kLevels; level-- > 0;) {
    for (std::size_t index = begin / chunks_of(level); index < lane.totals.stretches[level]; ++index) {
      visit(visit, level, index);
      begin = (index + 1) * chunks_of(level);
    }
  }
  for (std::size_t chunk = begin; chunk < lane.chunk_count; ++chunk) {
    to_decode.push_back({lane_index, static_cast<std::uint32_t>(chunk), {}});
  }
}

Result<void> EventSearch::Implementation::count(const QueryContext& context) {
  std::vector<std::vector<ChunkRequest>> to_decode(lanes.size());
  context.pool.for_each(lanes.size(), context.control, [&](std::size_t index, std::size_t) {
    LaneHits& known = lanes[index];
    const auto lane_index = static_cast<std::uint32_t>(index);
    const LanePredicate* predicate = matcher.of_lane(lane_index);
    if (predicate == nullptr || predicate->nothing()) return;
    const LaneSnapshot& lane = snapshot->lanes[index];
    known.possible.assign(lane.chunk_count, 0);
    const bool whole_chunks = !mask && matcher.names_only();  // totals know nothing of a mask
    if (whole_chunks && matcher.any_name()) {
      known.hits = lane.event_count;
      known.possible.assign(lane.chunk_count, 1);
    } else if (whole_chunks) {
      count_from_totals(lane_index, to_decode[index]);
    } else {
      const ChunkSpan span = predicate->chunks();
      for (std::uint32_t chunk = span.first; chunk < span.last; ++chunk) {
        if (predicate->part(chunk).any) to_decode[index].push_back({lane_index, chunk, {}});
      }
    }
  });
  std::vector<ChunkRequest> requests;
  for (const auto& of_lane : to_decode) requests.insert(requests.end(), of_lane.begin(), of_lane.end());
  std::vector<std::vector<std::uint64_t>> counts(context.pool.concurrency(),
                                                 std::vector<std::uint64_t>(lanes.size(), 0));
  const Result<void> scanned = scan_chunks(context, requests, [&](const ScannedChunk& chunk, std::size_t worker) {
    ChunkHits hits(matcher, chunk);
    if (!hits.possible()) return;
    std::uint64_t found = 0;
    for (std::uint32_t block = 0; block < chunk.view.block_count(); ++block) {
      found += static_cast<std::uint64_t>(std::popcount(hits.of(block)));
    }
    if (found == 0) return;
    counts[worker][chunk.lane_index] += found;
    lanes[chunk.lane_index].possible[chunk.chunk_index] = 1;
  });
  if (!scanned) return scanned.error();
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    for (const auto& of_worker : counts) lanes[lane].hits += of_worker[lane];
    total += lanes[lane].hits;
  }
  return {};
}

Result<EventSearch> EventSearch::run(const QueryContext& context, const SearchQuery& query, const LaneIndices& lanes) {
  auto search = std::make_unique<Implementation>();
  search->snapshot = context.snapshot;
  search->mask = context.mask;
  search->lanes.resize(context.snapshot->lanes.size());
  for (const std::uint32_t lane : lanes) {
    const std::uint32_t scope = scope_of(context.snapshot->lanes[lane].number());
    if (!search->strings.contains(scope))
      search->strings.emplace(scope, StringMap(context.snapshot->strings->scope_map(scope)));
  }
  Result<EventMatcher> matcher = EventMatcher::prepare(context, query, lanes);
  if (!matcher) return matcher.error();
  search->matcher = std::move(matcher).value();
  if (const Result<void> counted = search->count(context); !counted) return counted.error();
  return EventSearch(std::move(search));
}

Result<void> EventSearch::Implementation::find_in_lane(EventReader& reader, std::uint32_t lane_index,
                                                       SearchPosition from, bool forward,
                                                       std::optional<SearchPosition>& best) const {
  const LaneHits& known = lanes[lane_index];
  if (known.hits == 0) return {};
  const LaneSnapshot& lane = snapshot->lanes[lane_index];
  const auto accept = [&](const SearchPosition& position) {
    if (forward ? position <= from : position >= from) return false;
    if (!best || (forward ? position < *best : position > *best)) best = position;
    return true;
  };
  // Events that begin before this tick lie before `from`, and those that do not lie at or after it.
  const std::int64_t ticks = lane.clock->to_ticks(from.begin_ns);
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  const std::int64_t ticks_after = from.begin_ns == kEnd ? kEnd : lane.clock->to_ticks(from.begin_ns + 1);
  const std::uint32_t start = forward ? chunks_before(lane, ticks) : chunks_before(lane, ticks_after);
  const StringMap& lane_strings = strings.find(scope_of(lane.number()))->second;
  BlockReader blocks;
  for (std::uint32_t i = start == 0 ? 0 : start - 1; i < lane.chunk_count; forward ? ++i : --i) {
    const ChunkPlace& place = lane.chunk(i);
    if (best && (forward ? lane.clock->to_ns(place.begin_ticks) > best->begin_ns
                         : lane.clock->to_ns(place.end_ticks) < best->begin_ns)) {
      return {};
    }
    if (known.possible[i] == 0) continue;
    const auto loaded = reader.chunk(lane, i);
    if (!loaded) return loaded.error();
    blocks.open(lane, lane_strings, place, (*loaded)->view);
    const ScannedChunk chunk{lane, lane_index, i, place, (*loaded)->view, blocks, {}, 0, lane_strings, 1.0, nullptr};
    ChunkHits hits(matcher, chunk);
    if (!hits.possible()) continue;
    const std::uint32_t count = chunk.view.block_count();
    const std::uint32_t row = rows_before(chunk.view, forward ? ticks : ticks_after);
    const std::uint32_t first = std::min(row == 0 ? 0 : (row - (forward ? 0 : 1)) / kBlockEvents, count - 1);
    for (std::uint32_t b = first; b < count; forward ? ++b : --b) {
      std::uint64_t found = hits.of(b);
      while (found != 0) {
        const int bit = forward ? std::countr_zero(found) : 63 - std::countl_zero(found);
        found &= ~(std::uint64_t{1} << bit);
        const auto in_block = static_cast<std::uint32_t>(bit);
        if (accept({blocks.begins_ns()[in_block], blocks.id(in_block)})) return {};
      }
    }
  }
  return {};
}

Result<std::optional<SearchPosition>> EventSearch::Implementation::step(EventReader& reader, SearchPosition from,
                                                                        bool forward) const {
  std::optional<SearchPosition> best;
  for (std::uint32_t lane = 0; lane < lanes.size(); ++lane) {
    if (const Result<void> found = find_in_lane(reader, lane, from, forward, best); !found) return found.error();
  }
  return best;
}

Result<std::optional<SearchPosition>> EventSearch::next(EventReader& reader, SearchPosition from) const {
  return implementation_->step(reader, from, true);
}

Result<std::optional<SearchPosition>> EventSearch::previous(EventReader& reader, SearchPosition from) const {
  return implementation_->step(reader, from, false);
}

std::vector<ChunkRequest> EventSearch::Implementation::requests_in(const TimeRange& range) const {
  std::vector<ChunkRequest> requests;
  for (std::uint32_t lane_index = 0; lane_index < lanes.size(); ++lane_index) {
    if (lanes[lane_index].hits == 0) continue;
    const LaneSnapshot& lane = snapshot->lanes[lane_index];
    const TickRange ticks = tick_range(lane, range);
    const ChunkSpan span = chunks_in(lane, ticks);
    for (std::uint32_t chunk = span.first; chunk < span.last; ++chunk) {
      if (lanes[lane_index].possible[chunk] != 0) requests.push_back({lane_index, chunk, ticks});
    }
  }
  return requests;
}

Result<EventSearch::Rank> EventSearch::rank(const QueryContext& context, SearchPosition position) const {
  const Implementation& search = *implementation_;
  TimeRange until;
  if (position.begin_ns < until.end_ns) until.end_ns = position.begin_ns + 1;
  std::vector<Rank> ranks(context.pool.concurrency());
  const Result<void> scanned =
      scan_chunks(context, search.requests_in(until), [&](const ScannedChunk& chunk, std::size_t worker) {
        ChunkHits hits(search.matcher, chunk);
        if (!hits.possible()) return;
        Rank& rank = ranks[worker];
        chunk.for_each_block([&](const ScannedBlock& block) {
          for (std::uint64_t found = hits.of(block); found != 0; found &= found - 1) {
            const auto bit = static_cast<std::uint32_t>(std::countr_zero(found));
            const SearchPosition hit{block.begin_ns(bit), block.id(bit)};
            rank.before += hit < position ? 1 : 0;
            rank.is_hit = rank.is_hit || hit == position;
          }
        });
      });
  if (!scanned) return scanned.error();
  Rank all;
  for (const Rank& rank : ranks) {
    all.before += rank.before;
    all.is_hit = all.is_hit || rank.is_hit;
  }
  return all;
}

Result<std::vector<SearchPosition>> EventSearch::list(const QueryContext& context, const TimeRange& range,
                                                      std::size_t limit) const {
  const Implementation& search = *implementation_;
  const Snapshot& snapshot = *search.snapshot;
  std::vector<ChunkRequest> requests = search.requests_in(range);
  const auto begin_ns = [&](const ChunkRequest& request) {
    const LaneSnapshot& lane = snapshot.lanes[request.lane];
    return lane.clock->to_ns(lane.chunk(request.chunk).begin_ticks);
  };
  std::sort(requests.begin(), requests.end(),
            [&](const ChunkRequest& a, const ChunkRequest& b) { return begin_ns(a) < begin_ns(b); });
  // Chunks in the order of their begin, some at a time, until no further one can begin before the last of the list.
  constexpr std::size_t kAtOnce = 64;
  std::vector<SearchPosition> hits;
  for (std::size_t first = 0; first < requests.size(); first += kAtOnce) {
    if (hits.size() >= limit && (limit == 0 || begin_ns(requests[first]) > hits.back().begin_ns)) break;
    const std::size_t last = std::min(requests.size(), first + kAtOnce);
    std::vector<std::vector<SearchPosition>> found(context.pool.concurrency());
    const std::vector<ChunkRequest> some(requests.begin() + static_cast<std::ptrdiff_t>(first),
                                         requests.begin() + static_cast<std::ptrdiff_t>(last));
    const Result<void> scanned = scan_chunks(context, some, [&](const ScannedChunk& chunk, std::size_t worker) {
      ChunkHits hits_of_chunk(search.matcher, chunk);
      if (!hits_of_chunk.possible()) return;
      std::size_t of_chunk = 0;
      chunk.for_each_block([&](const ScannedBlock& block) {
        for (std::uint64_t mask = hits_of_chunk.of(block); mask != 0 && of_chunk < limit;
             mask &= mask - 1, ++of_chunk) {
          const auto bit = static_cast<std::uint32_t>(std::countr_zero(mask));
          found[worker].push_back({block.begin_ns(bit), block.id(bit)});
        }
      });
    });
    if (!scanned) return scanned.error();
    for (const auto& of_worker : found) hits.insert(hits.end(), of_worker.begin(), of_worker.end());
    std::sort(hits.begin(), hits.end());
    if (hits.size() > limit) hits.resize(limit);
  }
  return hits;
}

EventSearch::EventSearch(std::unique_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}
EventSearch::EventSearch(EventSearch&&) noexcept = default;
EventSearch& EventSearch::operator=(EventSearch&&) noexcept = default;
EventSearch::~EventSearch() = default;

std::uint64_t EventSearch::total() const noexcept { return implementation_->total; }
std::uint64_t EventSearch::hits_of_lane(std::uint32_t lane_index) const noexcept {
  return lane_index < implementation_->lanes.size() ? implementation_->lanes[lane_index].hits : 0;
}
bool EventSearch::matches_name(StringId name) const noexcept { return implementation_->matcher.matches_name(name); }
bool EventSearch::names_only() const noexcept {
  return implementation_->matcher.names_only() && implementation_->matcher.all_lanes();
}

}  // namespace accelscope
