#include <algorithm>

#include "core/scan/event_mask.h"
#include "core/scan/event_matcher.h"

namespace accelscope {
namespace {

// The leaf that a chunk begins with; for the one after the last, where the words end.
std::size_t first_leaf_of(const LaneSnapshot& lane, std::uint32_t chunk, std::size_t words) {
  return chunk < lane.chunk_count ? std::min<std::size_t>(lane.chunk(chunk).first_leaf, words) : words;
}

void clear(std::vector<std::uint64_t>& words, std::size_t first, std::size_t last) {
  if (first >= last) return;
  std::fill(words.begin() + static_cast<std::ptrdiff_t>(first), words.begin() + static_cast<std::ptrdiff_t>(last), 0);
}

}  // namespace

Result<std::shared_ptr<const EventMask>> filter_mask(const QueryContext& query, const EventFilter& filter,
                                                     const std::shared_ptr<const EventMask>& terms) {
  if (filter.empty()) return std::shared_ptr<const EventMask>();
  std::shared_ptr<const EventMask> whole = terms;
  if (!whole) {
    auto made = event_mask(query, filter);
    if (!made) return made.error();
    whole = std::move(*made);
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
  QueryContext unmasked = query;
  unmasked.mask = nullptr;
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

std::uint64_t count_passing(const Snapshot& snapshot, const EventMask* mask) noexcept {
  std::uint64_t count = 0;
  for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
    const LaneSnapshot& lane = snapshot.lanes[i];
    if (lane.data->kind != EventKind::table) count += mask != nullptr ? mask->count(i) : lane.event_count;
  }
  return count;
}

}  // namespace accelscope
