#include "core/search/search.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <span>

#include "core/scan/event_mask.h"
#include "core/scan/group_by.h"
#include "core/search/event_matcher.h"

namespace accelscope::search {

struct EventSearch::Implementation {
  std::shared_ptr<const Snapshot> snapshot;
  std::shared_ptr<const EventMask> among;  // null: every event may be a hit
  LaneIndices lanes;
  std::vector<MatchTerm> terms;           // the one
  std::shared_ptr<const EventMask> mask;  // of the hits; null where they were only counted
  ByPlace<std::uint64_t> by_lane;
  std::uint64_t total = 0;

  [[nodiscard]] const EventMatcher& matcher() const noexcept { return terms.front().matcher; }
  Result<void> count_names(const QueryContext& context);
  std::uint64_t count_from_totals(std::uint32_t lane_index, std::vector<ChunkRequest>& to_decode) const;
};

// What the totals of the lane say; chunks that have none are left to be decoded.
std::uint64_t EventSearch::Implementation::count_from_totals(std::uint32_t lane_index,
                                                             std::vector<ChunkRequest>& to_decode) const {
  const LaneSnapshot& lane = snapshot->lanes[lane_index];
  const NameTotals& totals = lane.data->totals;
  const StringTest& names = *matcher().names();
  const auto chunks_of = [](std::size_t level) { return std::size_t{1} << (2 * level); };
  static_assert(NameTotals::kFanout == 4);
  std::uint64_t found = 0;
  const auto visit = [&](auto&& self, std::size_t level, std::size_t index) -> void {
    const NameTotals::Stretch stretch = totals.stretch(level, index);
    if (stretch.retained) {
      for (const NameTotal& of_name : std::span(stretch.totals, stretch.size)) {
        if (names.keeps(of_name.name)) found += of_name.count;
      }
    } else if (level == 0) {
      to_decode.push_back({lane_index, static_cast<std::uint32_t>(index), {}});
    } else {
      for (std::size_t i = 0; i < NameTotals::kFanout; ++i) self(self, level - 1, index * NameTotals::kFanout + i);
    }
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
  return found;
}

Result<void> EventSearch::Implementation::count_names(const QueryContext& context) {
  std::vector<std::vector<ChunkRequest>> to_decode(lanes.size());
  context.pool.for_each(lanes.size(), context.control, [&](std::size_t i, std::size_t) {
    const LanePredicate* predicate = matcher().of_lane(lanes[i]);
    if (predicate == nullptr || predicate->nothing()) return;
    by_lane[lanes[i]] =
        matcher().any_name() ? snapshot->lanes[lanes[i]].event_count : count_from_totals(lanes[i], to_decode[i]);
  });
  std::vector<ChunkRequest> requests;
  for (const auto& of_lane : to_decode) merge_part(requests, of_lane);
  const auto decoded =
      gather(context, requests, ByPlace<std::uint64_t>(by_lane.size()), [&](const ScannedChunk& chunk, auto& counts) {
        ChunkHits hits(matcher(), chunk);
        for (std::uint32_t block = 0; hits.possible() && block < chunk.view.block_count(); ++block) {
          counts[chunk.lane_index] += static_cast<std::uint64_t>(std::popcount(hits.of(block)));
        }
      });
  if (!decoded) return decoded.error();
  merge_part(by_lane, *decoded);
  return {};
}

Result<EventSearch> EventSearch::run(const QueryContext& context, const SearchQuery& query, const LaneIndices& lanes,
                                     const EventMask* previous) {
  auto search = std::make_unique<Implementation>();
  search->snapshot = context.snapshot;
  search->among = context.mask;
  search->lanes = lanes;
  search->by_lane.resize(context.snapshot->lanes.size());
  EventMatcher matcher = TRY(EventMatcher::prepare(context, query, lanes));
  search->terms.push_back({std::move(matcher), false});
  if (!search->among && search->matcher().names_only()) {  // totals know nothing of a mask
    TRY(search->count_names(context));
  } else {
    auto mask = TRY(mask_of_terms(context, lanes, search->terms, previous));
    search->mask = std::move(mask);
    for (const std::uint32_t lane : lanes) search->by_lane[lane] = search->mask->count(lane);
  }
  for (const std::uint64_t count : search->by_lane) search->total += count;
  return EventSearch(std::move(search));
}

Result<SearchHits> EventSearch::hits(const QueryContext& context, const EventMask* previous) const {
  const Implementation& search = *implementation_;
  if (search.mask) return SearchHits(search.snapshot, search.mask);
  auto mask = TRY(mask_of_terms(context, search.lanes, search.terms, previous));
  return SearchHits(search.snapshot, std::move(mask));
}

EventSearch::EventSearch(std::unique_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}
EventSearch::EventSearch(EventSearch&&) noexcept = default;
EventSearch& EventSearch::operator=(EventSearch&&) noexcept = default;
EventSearch::~EventSearch() = default;

std::uint64_t EventSearch::total() const noexcept { return implementation_->total; }
std::uint64_t EventSearch::hits_of_lane(std::uint32_t lane_index) const noexcept {
  return lane_index < implementation_->by_lane.size() ? implementation_->by_lane[lane_index] : 0;
}
bool EventSearch::matches_name(StringId name) const noexcept { return implementation_->matcher().matches_name(name); }
bool EventSearch::names_only() const noexcept {
  return implementation_->matcher().names_only() && implementation_->matcher().all_lanes();
}

Result<std::uint64_t> SearchHits::count_before(EventReader& reader, std::uint32_t lane_index,
                                               std::int64_t ticks) const {
  const LaneSnapshot& lane = snapshot_->lanes[lane_index];
  const std::uint32_t chunks = chunks_before(lane, ticks);
  if (chunks == 0) return 0;
  const ChunkPlace& last = lane.chunk(chunks - 1);
  const std::uint64_t before = mask_->passing_before(lane_index, last.first_leaf);
  const std::uint32_t inside = mask_->passing_in(lane_index, last);
  if (inside == 0 || last.end_ticks < ticks) return before + inside;
  const auto loaded = TRY(reader.chunk(lane, chunks - 1));
  const std::uint32_t row = rows_before(loaded->view, ticks);
  const std::uint32_t leaf = last.first_leaf + row / kBlockEvents;
  const std::uint64_t bits = mask_->bits(lane_index, leaf) & bits_between(0, row % kBlockEvents);
  return mask_->passing_before(lane_index, leaf) + static_cast<std::uint64_t>(std::popcount(bits));
}

Result<std::uint64_t> SearchHits::count_before(EventReader& reader, std::uint32_t lane_index,
                                               const SearchPosition& position, bool or_at) const {
  const LaneSnapshot& lane = snapshot_->lanes[lane_index];
  // Events that begin before the first tick lie before the position, those that do not begin before the second after
  // it.
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  const auto first = count_before(reader, lane_index, lane.clock->to_ticks(position.begin_ns));
  const auto last = position.begin_ns == kEnd
                        ? Result<std::uint64_t>(mask_->count(lane_index))
                        : count_before(reader, lane_index, lane.clock->to_ticks(position.begin_ns + 1));
  if (!first || !last || *first == *last || lane.number() > lane_of(position.event)) return first;
  if (lane.number() < lane_of(position.event)) return last;
  const std::uint64_t ordinal = ordinal_of(position.event);
  const std::uint32_t chunk = lane.chunk_of_ordinal(ordinal);
  if (chunk >= lane.chunk_count) return first;
  const std::uint64_t row = ordinal - lane.chunk(chunk).first_ordinal;
  const std::uint32_t leaf = lane.chunk(chunk).first_leaf + static_cast<std::uint32_t>(row / kBlockEvents);
  const auto bit = static_cast<std::uint32_t>(row % kBlockEvents) + (or_at ? 1 : 0);
  const std::uint64_t before =
      mask_->passing_before(lane_index, leaf) +
      static_cast<std::uint64_t>(std::popcount(mask_->bits(lane_index, leaf) & bits_between(0, bit)));
  return std::clamp(before, *first, *last);
}

Result<std::optional<SearchPosition>> SearchHits::step(EventReader& reader, SearchPosition from, bool forward) const {
  std::optional<SearchPosition> best;
  for (std::uint32_t index = 0; index < snapshot_->lanes.size(); ++index) {
    if (mask_->count(index) == 0) continue;
    const LaneSnapshot& lane = snapshot_->lanes[index];
    const auto before = TRY(count_before(reader, index, from, forward));
    if (forward ? before == mask_->count(index) : before == 0) continue;
    const EventMask::Place place = mask_->place_of(index, forward ? before : before - 1);
    const std::uint32_t number = lane.chunk_of_leaf(place.leaf);
    const ChunkPlace& chunk = lane.chunk(number);
    if (best && (forward ? lane.clock->to_ns(chunk.begin_ticks) > best->begin_ns
                         : lane.clock->to_ns(chunk.end_ticks) < best->begin_ns))
      continue;
    const auto loaded = TRY(reader.chunk(lane, number));
    const std::uint32_t row = (place.leaf - chunk.first_leaf) * kBlockEvents + place.bit;
    std::int64_t begin_ticks = 0, end_ticks = 0;
    loaded->view.event_times(row, begin_ticks, end_ticks);
    const SearchPosition hit{lane.clock->to_ns(begin_ticks), make_event_id(lane.number(), chunk.first_ordinal + row)};
    if (!best || (forward ? hit < *best : hit > *best)) best = hit;
  }
  return best;
}

Result<std::optional<SearchPosition>> SearchHits::next(EventReader& reader, SearchPosition from) const {
  return step(reader, from, true);
}

Result<std::optional<SearchPosition>> SearchHits::previous(EventReader& reader, SearchPosition from) const {
  return step(reader, from, false);
}

Result<SearchHits::Rank> SearchHits::rank(EventReader& reader, SearchPosition position) const {
  Rank rank{.before = 0, .is_hit = mask_->passes(*snapshot_, position.event)};
  for (std::uint32_t index = 0; index < snapshot_->lanes.size(); ++index) {
    if (mask_->count(index) == 0) continue;
    const auto before = TRY(count_before(reader, index, position, false));
    rank.before += before;
  }
  return rank;
}

Result<std::vector<SearchPosition>> SearchHits::list(const QueryContext& context, const TimeRange& range,
                                                     std::size_t limit) const {
  QueryContext masked = context;
  masked.mask = mask_;
  std::vector<ChunkRequest> requests = requests_in(masked, all_lanes(*snapshot_), range);
  std::erase_if(requests, [&](const ChunkRequest& each) {
    return mask_->passing_in(each.lane, snapshot_->lanes[each.lane].chunk(each.chunk)) == 0;
  });
  const auto begin_ns = [&](const ChunkRequest& request) {
    const LaneSnapshot& lane = snapshot_->lanes[request.lane];
    return lane.clock->to_ns(lane.chunk(request.chunk).begin_ticks);
  };
  std::ranges::sort(requests, [&](const ChunkRequest& a, const ChunkRequest& b) { return begin_ns(a) < begin_ns(b); });
  // Chunks in the order of their begin, some at a time, until no further one can begin before the last of the list.
  constexpr std::size_t kAtOnce = 64;
  std::vector<SearchPosition> hits;
  for (std::size_t first = 0; first < requests.size(); first += kAtOnce) {
    if (hits.size() >= limit && (limit == 0 || begin_ns(requests[first]) > hits.back().begin_ns)) break;
    const std::size_t last = std::min(requests.size(), first + kAtOnce);
    const std::vector<ChunkRequest> some(requests.begin() + static_cast<std::ptrdiff_t>(first),
                                         requests.begin() + static_cast<std::ptrdiff_t>(last));
    auto found =
        gather(masked, some, std::vector<SearchPosition>(), [limit](const ScannedChunk& chunk, auto& positions) {
          std::size_t of_chunk = 0;
          chunk.for_each_block([&](const ScannedBlock& block) {
            for (std::uint32_t i = block.first; i < block.last && of_chunk < limit; ++i, ++of_chunk) {
              positions.push_back({block.begin_ns(i), block.id(i)});
            }
          });
        });
    if (!found) return found.error();
    merge_part(hits, std::move(*found));
    std::ranges::sort(hits);
    if (hits.size() > limit) hits.resize(limit);
  }
  return hits;
}

}  // namespace accelscope::search
