#include "core/scan/event_mask.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "core/scan/event_matcher.h"

namespace accelscope {
namespace {

// Needs none of the chunk's bytes.
void set_all(std::vector<std::uint64_t>& words, const ChunkPlace& chunk) {
  for (std::uint32_t first = 0; first < chunk.count; first += kBlockEvents) {
    words[chunk.first_leaf + first / kBlockEvents] = bits_between(0, std::min(kBlockEvents, chunk.count - first));
  }
}

std::uint32_t leaves_of(const LaneSnapshot& lane) {
  if (lane.chunk_count == 0) return 0;
  const ChunkPlace& last = lane.chunk(lane.chunk_count - 1);
  return last.first_leaf + (last.count + kBlockEvents - 1) / kBlockEvents;
}

}  // namespace

std::uint64_t EventMask::passing(std::uint32_t lane_index, std::size_t level, std::size_t node) const noexcept {
  if (level == 0) return static_cast<std::uint64_t>(std::popcount(bits(lane_index, static_cast<std::uint32_t>(node))));
  if (lane_index >= lanes_.size() || level > lanes_[lane_index].sums.size()) return 0;
  const std::vector<std::uint32_t>& sums = lanes_[lane_index].sums[level - 1];
  return node < sums.size() ? sums[node] : 0;
}

std::uint32_t EventMask::passing_in(std::uint32_t lane_index, const ChunkPlace& chunk) const noexcept {
  const std::uint32_t leaves = (chunk.count + kBlockEvents - 1) / kBlockEvents;
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < leaves; ++i) {
    count += static_cast<std::uint32_t>(std::popcount(bits(lane_index, chunk.first_leaf + i)));
  }
  return count;
}

bool EventMask::passes(const LaneSnapshot& lane, std::uint32_t lane_index, std::uint64_t ordinal) const noexcept {
  const std::uint32_t chunk = lane.chunk_of_ordinal(ordinal);
  if (chunk >= lane.chunk_count) return false;
  const std::uint64_t row = ordinal - lane.chunk(chunk).first_ordinal;
  const auto leaf = lane.chunk(chunk).first_leaf + static_cast<std::uint32_t>(row / kBlockEvents);
  return (bits(lane_index, leaf) >> (row % kBlockEvents) & 1) != 0;
}

bool EventMask::passes(const Snapshot& snapshot, EventId event) const noexcept {
  for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
    if (snapshot.lanes[i].number() == lane_of(event)) return passes(snapshot.lanes[i], i, ordinal_of(event));
  }
  return false;
}

std::size_t EventMask::memory_bytes() const noexcept {
  std::size_t bytes = sizeof(*this);
  for (const Lane& lane : lanes_) {
    bytes += lane.words.capacity() * sizeof(std::uint64_t);
    for (const auto& level : lane.sums) bytes += level.capacity() * sizeof(std::uint32_t);
  }
  return bytes;
}

void EventMask::sum_up(Lane& lane, const LaneSnapshot& snapshot) {
  lane.sums.clear();
  std::vector<std::uint32_t> below(lane.words.size());
  for (std::size_t i = 0; i < below.size(); ++i) below[i] = static_cast<std::uint32_t>(std::popcount(lane.words[i]));
  lane.count = std::accumulate(below.begin(), below.end(), std::uint64_t{0});
  for (std::size_t level = 1; level < kTreeLevels && snapshot.tree.nodes[level] > 0; ++level) {
    std::vector<std::uint32_t> sums(snapshot.tree.nodes[level]);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const auto first = below.begin() + static_cast<std::ptrdiff_t>(i * kTreeFanout);
      sums[i] = std::accumulate(first, first + kTreeFanout, std::uint32_t{0});
    }
    lane.sums.push_back(sums);
    below = std::move(sums);
  }
}

Result<std::shared_ptr<const EventMask>> event_mask(const QueryContext& query, const EventFilter& filter,
                                                    const EventMask* previous) {
  const Snapshot& snapshot = *query.snapshot;
  LaneIndices lanes;
  for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
    if (filter.has_track(snapshot.lanes[i].track)) lanes.push_back(i);
  }
  struct Term {
    EventMatcher matcher;
    bool excluded;
  };
  std::vector<Term> terms;
  for (const FilterTerm& term : filter.terms) {
    const Result<SearchQuery> parsed = parse_search(term.search);
    if (!parsed) return parsed.error();
    Result<EventMatcher> matcher = EventMatcher::prepare(query, *parsed, lanes);
    if (!matcher) return matcher.error();
    terms.push_back({std::move(matcher).value(), term.excluded});
  }

  auto mask = std::make_shared<EventMask>();
  mask->filter_ = filter;
  mask->filter_.range.reset();
  mask->snapshot_version_ = snapshot.version;
  mask->lanes_.resize(snapshot.lanes.size());
  const bool goes_on = previous != nullptr && previous->filter_ == mask->filter_;
  std::vector<ChunkRequest> requests;
  for (const std::uint32_t index : lanes) {
    const LaneSnapshot& lane = snapshot.lanes[index];
    EventMask::Lane& bits = mask->lanes_[index];
    if (goes_on && index < previous->lanes_.size()) {
      bits.words = previous->lanes_[index].words;
      bits.chunk_count = previous->lanes_[index].chunk_count;
    }
    const std::uint32_t last = lane.chunk_count;
    bits.words.resize(leaves_of(lane), 0);
    for (std::uint32_t chunk = bits.chunk_count; chunk < last; ++chunk) {
      if (terms.empty()) {
        set_all(bits.words, lane.chunk(chunk));
      } else {
        requests.push_back({index, chunk, {}});
      }
    }
    bits.chunk_count = last;
  }
  QueryContext unmasked = query;
  unmasked.mask = nullptr;
  const Result<void> scanned = scan_chunks(unmasked, requests, [&](const ScannedChunk& chunk, std::size_t) {
    std::vector<const Term*> tested;  // those that are not settled for the whole chunk
    for (const Term& term : terms) {
      if (term.matcher.possible(chunk)) {
        tested.push_back(&term);
      } else if (!term.excluded) {
        return;
      }
    }
    std::vector<std::uint64_t>& words = mask->lanes_[chunk.lane_index].words;
    chunk.for_each_block([&](const ScannedBlock& block) {
      std::uint64_t bits = bits_between(block.first, block.last);
      for (const Term* term : tested) {
        const std::uint64_t hits = term->matcher.hits(chunk, block);
        bits &= term->excluded ? ~hits : hits;
      }
      words[chunk.place.first_leaf + block.block] = bits;
    });
  });
  if (!scanned) return scanned.error();
  for (const std::uint32_t index : lanes) {
    mask->sum_up(mask->lanes_[index], snapshot.lanes[index]);
    mask->total_ += mask->lanes_[index].count;
  }
  return std::shared_ptr<const EventMask>(std::move(mask));
}

Result<std::shared_ptr<const EventMask>> mask_where(
    const QueryContext& query, const LaneIndices& lanes, const TimeRange& range,
    const std::function<std::uint64_t(const ScannedChunk&, const ScannedBlock&, std::size_t worker)>& bits) {
  const Snapshot& snapshot = *query.snapshot;
  auto mask = std::make_shared<EventMask>();
  mask->snapshot_version_ = snapshot.version;
  mask->lanes_.resize(snapshot.lanes.size());
  for (const std::uint32_t index : lanes) {
    mask->lanes_[index].words.resize(leaves_of(snapshot.lanes[index]), 0);
    mask->lanes_[index].chunk_count = snapshot.lanes[index].chunk_count;
  }
  const Result<void> scanned = scan_chunks(query, lanes, range, [&](const ScannedChunk& chunk, std::size_t worker) {
    std::vector<std::uint64_t>& words = mask->lanes_[chunk.lane_index].words;
    chunk.for_each_block([&](const ScannedBlock& block) {
      words[chunk.place.first_leaf + block.block] |= bits(chunk, block, worker) & bits_between(block.first, block.last);
    });
  });
  if (!scanned) return scanned.error();
  for (const std::uint32_t index : lanes) {
    mask->sum_up(mask->lanes_[index], snapshot.lanes[index]);
    mask->total_ += mask->lanes_[index].count;
  }
  return std::shared_ptr<const EventMask>(std::move(mask));
}

}  // namespace accelscope
