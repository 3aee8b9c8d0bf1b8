#include "core/search/filter_mask.h"

#include <algorithm>
#include <deque>

#include "core/scan/block_reader.h"
#include "core/search/event_matcher.h"

namespace accelscope::search {
namespace {

// The leaf that a chunk begins with; for the one after the last, where the words end.
std::size_t first_leaf_of(const LaneSnapshot& lane, std::uint32_t chunk, std::size_t words) {
  return chunk < lane.chunk_count ? std::min<std::size_t>(lane.chunk(chunk).first_leaf, words) : words;
}

void clear(std::vector<std::uint64_t>& words, std::size_t first, std::size_t last) {
  if (first >= last) return;
  std::fill(words.begin() + static_cast<std::ptrdiff_t>(first), words.begin() + static_cast<std::ptrdiff_t>(last), 0);
}

// Needs none of the chunk's bytes.
void set_all(std::vector<std::uint64_t>& words, const ChunkPlace& chunk) {
  for (std::uint32_t first = 0; first < chunk.count; first += kBlockEvents) {
    words[chunk.first_leaf + first / kBlockEvents] = bits_between(0, std::min(kBlockEvents, chunk.count - first));
  }
}

}  // namespace

Result<std::shared_ptr<EventMask>> mask_of_terms(const QueryContext& query, const LaneIndices& lanes,
                                                 const std::vector<MatchTerm>& terms, const EventMask* previous) {
  const Snapshot& snapshot = *query.snapshot;
  struct TestedTerm {
    TestedTerm(const EventMatcher& matcher, const ScannedChunk& chunk, bool is_excluded)
        : hits(matcher, chunk), excluded(is_excluded) {}
    ChunkHits hits;
    bool excluded;
  };
  const auto may_match = [&](std::uint32_t lane, std::uint32_t chunk) {
    return std::ranges::all_of(terms, [&](const MatchTerm& term) {
      const LanePredicate* predicate = term.matcher.of_lane(lane);
      return term.excluded || (predicate != nullptr && !predicate->nothing() && predicate->part(chunk).any);
    });
  };
  auto mask = std::make_shared<EventMask>();
  mask->snapshot_version_ = snapshot.version;
  mask->lanes_.resize(snapshot.lanes.size());
  std::vector<ChunkRequest> requests;
  for (const std::uint32_t index : lanes) {
    const LaneSnapshot& lane = snapshot.lanes[index];
    EventMask::Lane& bits = mask->lanes_[index];
    if (previous != nullptr && index < previous->lanes_.size()) {
      bits.words = previous->lanes_[index].words;
      bits.chunk_count = previous->lanes_[index].chunk_count;
    }
    bits.words.resize(EventMask::leaves_of(lane), 0);
    for (std::uint32_t chunk = bits.chunk_count; chunk < lane.chunk_count; ++chunk) {
      if (terms.empty()) {
        set_all(bits.words, lane.chunk(chunk));
      } else if (may_match(index, chunk)) {
        requests.push_back({index, chunk, {}});
      }
    }
    bits.chunk_count = lane.chunk_count;
  }
  const QueryContext unmasked = query.unmasked();  // what of a mask matters is in the terms
  const Result<void> scanned = scan_chunks(unmasked, requests, [&](const ScannedChunk& chunk, std::size_t) {
    std::deque<TestedTerm> tested;  // those that are not settled for the whole chunk
    for (const MatchTerm& term : terms) {
      tested.emplace_back(term.matcher, chunk, term.excluded);
      if (tested.back().hits.possible()) continue;
      if (!term.excluded) return;
      tested.pop_back();
    }
    std::vector<std::uint64_t>& words = mask->lanes_[chunk.lane_index].words;
    chunk.for_each_block([&](const ScannedBlock& block) {
      std::uint64_t bits = bits_between(block.first, block.last);
      for (TestedTerm& term : tested) bits &= term.excluded ? ~term.hits.of(block) : term.hits.of(block);
      words[chunk.place.first_leaf + block.block] = bits;
    });
  });
  if (!scanned) return scanned.error();
  for (const std::uint32_t index : lanes) {
    mask->sum_up(mask->lanes_[index], snapshot.lanes[index]);
    mask->total_ += mask->lanes_[index].count;
  }
  return mask;
}

Result<std::shared_ptr<const EventMask>> event_mask(const QueryContext& query, const EventFilter& filter,
                                                    const EventMask* previous) {
  LaneIndices lanes;
  for (std::uint32_t i = 0; i < query.snapshot->lanes.size(); ++i) {
    if (filter.has_track(query.snapshot->lanes[i].track)) lanes.push_back(i);
  }
  const QueryContext unmasked = query.unmasked();
  std::vector<MatchTerm> terms;
  for (const FilterTerm& term : filter.terms) {
    const SearchQuery parsed = TRY(parse_search(term.search));
    EventMatcher matcher = TRY(EventMatcher::prepare(unmasked, parsed, lanes));
    terms.push_back({std::move(matcher), term.excluded});
  }
  EventFilter whole = filter;
  whole.range.reset();
  const bool goes_on = previous != nullptr && previous->filter_ == whole;
  auto mask = TRY(mask_of_terms(query, lanes, terms, goes_on ? previous : nullptr));
  mask->filter_ = std::move(whole);
  return std::shared_ptr<const EventMask>(std::move(mask));
}

Result<QueryContext> masked(const QueryContext& query, const EventFilter& filter,
                            const std::shared_ptr<const EventMask>& known) {
  QueryContext filtered = query;
  if (!filter.needs_mask()) return filtered;
  auto mask = TRY(known ? Result(known) : event_mask(query, filter));
  filtered.mask = std::move(mask);
  return filtered;
}

Result<std::shared_ptr<const EventMask>> filter_mask(const QueryContext& query, const EventFilter& filter,
                                                     const std::shared_ptr<const EventMask>& terms) {
  if (filter.empty()) return std::shared_ptr<const EventMask>();
  std::shared_ptr<const EventMask> whole = terms;
  if (!whole) {
    auto made = TRY(event_mask(query, filter));
    whole = std::move(made);
  }
  if (!filter.range) return whole;

  const Snapshot& snapshot = *query.snapshot;
  auto mask = std::make_shared<EventMask>(*whole);
  mask->filter_.range = filter.range;
  // Chunks inside the range stay as they are, those outside pass nothing; only the ones at its edges are read.
  std::vector<ChunkRequest> edges;
  for (std::uint32_t i = 0; i < mask->lanes_.size(); ++i) {
    const LaneSnapshot& lane = snapshot.lanes[i];
    std::vector<std::uint64_t>& words = mask->lanes_[i].words;
    if (lane.data->kind == EventKind::table || words.empty()) continue;
    const TickRange ticks = tick_range(lane, *filter.range);
    const ChunkSpan span = chunks_in(lane, ticks);
    clear(words, 0, first_leaf_of(lane, span.first, words.size()));
    clear(words, first_leaf_of(lane, span.last, words.size()), words.size());
    for (std::uint32_t chunk = span.first; chunk < span.last; ++chunk) {
      const ChunkPlace& place = lane.chunk(chunk);
      if (place.first_leaf < words.size() && !ticks.covers(place.begin_ticks, place.end_ticks)) {
        edges.push_back({i, chunk, ticks});
      }
    }
  }
  const QueryContext unmasked = query.unmasked();
  const Result<void> scanned = scan_chunks(unmasked, edges, [&](const ScannedChunk& chunk, std::size_t) {
    std::vector<std::uint64_t> inside(chunk.view.block_count());
    chunk.for_each_block(
        [&](const ScannedBlock& block) { inside[block.block] |= bits_between(block.first, block.last); });
    std::vector<std::uint64_t>& words = mask->lanes_[chunk.lane_index].words;
    for (std::size_t i = 0; i < inside.size() && chunk.place.first_leaf + i < words.size(); ++i) {
      words[chunk.place.first_leaf + i] &= inside[i];
    }
  });
  if (!scanned) return scanned.error();
  mask->total_ = 0;
  for (std::uint32_t i = 0; i < mask->lanes_.size(); ++i) {
    if (filter.has_track(snapshot.lanes[i].track)) mask->sum_up(mask->lanes_[i], snapshot.lanes[i]);
    mask->total_ += mask->lanes_[i].count;
  }
  return std::shared_ptr<const EventMask>(std::move(mask));
}

}  // namespace accelscope::search
