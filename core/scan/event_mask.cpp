#include "core/scan/event_mask.h"

#include <bit>
#include <numeric>

#include "core/scan/block_reader.h"

namespace accelscope {
std::uint32_t EventMask::leaves_of(const LaneSnapshot& lane) noexcept {
  if (lane.chunk_count == 0) return 0;
  const ChunkPlace& last = lane.chunk(lane.chunk_count - 1);
  return last.first_leaf + (last.count + kBlockEvents - 1) / kBlockEvents;
}

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

std::uint64_t EventMask::passing_before(std::uint32_t lane_index, std::uint32_t leaf) const noexcept {
  if (lane_index >= lanes_.size()) return 0;
  const Lane& lane = lanes_[lane_index];
  std::uint64_t count = 0;
  std::size_t end = std::min<std::size_t>(leaf, lane.words.size());  // of the nodes of a level before the leaf
  for (std::size_t level = 0;; ++level, end /= kTreeFanout) {
    // Those whose parent is no node, or holds the leaf, count for themselves.
    const std::size_t parents = level < lane.sums.size() ? std::min(end / kTreeFanout, lane.sums[level].size()) : 0;
    for (std::size_t node = parents * kTreeFanout; node < end; ++node) count += passing(lane_index, level, node);
    if (parents == 0) return count;
    end = parents * kTreeFanout;
  }
}

EventMask::Place EventMask::place_of(std::uint32_t lane_index, std::uint64_t number) const noexcept {
  const Lane& lane = lanes_[lane_index];
  std::size_t node = 0;
  for (std::size_t level = lane.sums.size();; --level, node *= kTreeFanout) {
    const std::size_t nodes = level == 0 ? lane.words.size() : lane.sums[level - 1].size();
    for (; node < nodes; ++node) {
      const std::uint64_t here = passing(lane_index, level, node);
      if (number < here) break;
      number -= here;
    }
    if (level == 0) break;
  }
  std::uint64_t word = lane.words[node];
  for (; number > 0; --number) word &= word - 1;
  return {static_cast<std::uint32_t>(node), static_cast<std::uint32_t>(std::countr_zero(word))};
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

Result<std::shared_ptr<const EventMask>> mask_where(
    const QueryContext& query, const LaneIndices& lanes, const TimeRange& range,
    const std::function<std::uint64_t(const ScannedChunk&, const ScannedBlock&, std::size_t worker)>& bits) {
  const Snapshot& snapshot = *query.snapshot;
  auto mask = std::make_shared<EventMask>();
  mask->snapshot_version_ = snapshot.version;
  mask->lanes_.resize(snapshot.lanes.size());
  for (const std::uint32_t index : lanes) {
    mask->lanes_[index].words.resize(EventMask::leaves_of(snapshot.lanes[index]), 0);
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

std::uint64_t count_passing(const Snapshot& snapshot, const EventMask* mask) noexcept {
  std::uint64_t count = 0;
  for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
    const LaneSnapshot& lane = snapshot.lanes[i];
    if (lane.data->kind != EventKind::table) count += mask != nullptr ? mask->count(i) : lane.event_count;
  }
  return count;
}

}  // namespace accelscope
