#include "core/analysis/selection/summary_index.h"

#include <algorithm>
#include <atomic>

namespace accelscope {
namespace {

using Chunk = SummaryIndex::Chunk;
using Part = SummaryIndex::Part;

// Drops the entries of a stretch where they would take more memory than its share.
void keep_if_small(SummaryStretch& stretch) {
  const std::uint64_t most = stretch.totals.events * (SummaryIndex::kMostBytesPerEvent / 2) / sizeof(SummaryEntry);
  if (stretch.kept && stretch.entries.size() <= most) return;
  stretch.kept = false;
  std::vector<SummaryEntry>().swap(stretch.entries);  // assigning an empty list would keep the memory
  stretch.offsets = {};
}

bool keeps_all(const Chunk& chunk) noexcept {
  return std::all_of(chunk.parts.begin(), chunk.parts.end(), [](const Part& part) { return part.sums.kept; });
}

std::shared_ptr<Chunk> add_up(const ScannedChunk& scanned, const StringPool& strings, SummaryTally& tally) {
  auto chunk = std::make_shared<Chunk>();
  const std::uint32_t blocks = scanned.view.block_count();
  BlockTimes times;
  for (std::uint32_t first = 0; first < blocks; first += SummaryIndex::kBlocksPerPart) {
    const std::uint32_t last = std::min(blocks, first + SummaryIndex::kBlocksPerPart);
    Part part;
    scanned.view.times(first, times);
    part.begin_ticks = times.begins[0];
    scanned.view.times(last - 1, times);
    part.end_ticks = times.ends[scanned.view.block_size(last - 1) - 1];
    tally.add(scanned, strings, first, last);
    const bool has_texts = tally.has_texts();
    tally.clear_texts();
    part.sums = tally.take();
    part.sums.kept = !has_texts;
    chunk->parts.push_back(std::move(part));
  }
  return chunk;
}

// A lane while its index is being made. Groups are merged by whoever reads the last of their chunks, so that the
// entries of parts that will not be kept are in memory for a few groups only.
struct Growing {
  std::vector<std::shared_ptr<Chunk>> read;         // by chunk; what this build read
  std::vector<std::atomic<std::uint32_t>> missing;  // by group, chunks to read
  explicit Growing(std::size_t chunks)
      : read(chunks), missing((chunks + SummaryIndex::kChunksPerGroup - 1) / SummaryIndex::kChunksPerGroup) {}
};

void finish_group(SummaryIndex::Lane& lane, Growing& growing, std::size_t group, bool one_rate, SummaryTally& tally) {
  const std::size_t first = group * SummaryIndex::kChunksPerGroup;
  const std::size_t last = std::min<std::size_t>(first + SummaryIndex::kChunksPerGroup, lane.chunks.size());
  bool whole = one_rate && group < lane.groups.size();
  for (std::size_t c = first; c < last; ++c) {
    if (growing.read[c]) lane.chunks[c] = growing.read[c];
    whole = whole && lane.chunks[c] && keeps_all(*lane.chunks[c]);
  }
  if (whole) {
    for (std::size_t c = first; c < last; ++c) {
      for (const Part& part : lane.chunks[c]->parts) tally.add(part.sums);
    }
    auto sums = std::make_shared<SummaryStretch>(tally.take());
    keep_if_small(*sums);
    sums->entries.shrink_to_fit();
    if (sums->kept) lane.groups[group] = std::move(sums);
  }
  for (std::size_t c = first; c < last; ++c) {
    if (!growing.read[c]) continue;
    for (Part& part : growing.read[c]->parts) keep_if_small(part.sums);
    growing.read[c].reset();
  }
}

}  // namespace

bool takes_part_in_summaries(EventKind kind) noexcept {
  return kind == EventKind::slice || kind == EventKind::instant || kind == EventKind::memory;
}

Result<std::shared_ptr<const SummaryIndex>> SummaryIndex::build(const QueryContext& query,
                                                                const std::shared_ptr<const SummaryIndex>& previous) {
  const Snapshot& snapshot = *query.snapshot;
  auto index = std::make_shared<SummaryIndex>();
  index->version_ = snapshot.version;
  index->lanes_.resize(snapshot.lanes.size());
  std::vector<std::unique_ptr<Growing>> growing(snapshot.lanes.size());
  std::vector<ChunkRequest> requests;
  for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
    const LaneSnapshot& source = snapshot.lanes[i];
    if (!takes_part_in_summaries(source.data->kind)) continue;
    Lane& lane = index->lanes_[i];
    const Lane* known = previous ? previous->lane(i, source.number()) : nullptr;
    if (known != nullptr) lane = *known;
    lane.number = source.number();
    const std::size_t done = std::min<std::size_t>(lane.chunks.size(), source.chunk_count);
    lane.chunks.resize(source.chunk_count);
    const std::size_t groups_done = lane.groups.size();
    lane.groups.resize(source.chunk_count / kChunksPerGroup);
    if (done == source.chunk_count) continue;
    growing[i] = std::make_unique<Growing>(source.chunk_count);
    // A group that becomes complete needs the entries of its first chunks once more where they were not kept.
    for (std::size_t c = groups_done * kChunksPerGroup; c < source.chunk_count; ++c) {
      const bool completes = c / kChunksPerGroup < lane.groups.size();
      if (c < done && (!completes || !lane.chunks[c] || keeps_all(*lane.chunks[c]))) continue;
      requests.push_back({i, static_cast<std::uint32_t>(c), TickRange{}});
      ++growing[i]->missing[c / kChunksPerGroup];
    }
  }
  std::vector<SummaryTally> tallies(query.pool.concurrency());
  ScanReport unreadable;
  QueryContext whole{query.store, query.snapshot, query.pool, query.control, &unreadable};
  const Result<void> scanned = scan_chunks(whole, requests, [&](const ScannedChunk& chunk, std::size_t worker) {
    Growing& lane = *growing[chunk.lane_index];
    const std::size_t group = chunk.chunk_index / kChunksPerGroup;
    lane.read[chunk.chunk_index] = add_up(chunk, *snapshot.strings, tallies[worker]);
    if (lane.missing[group].fetch_sub(1) == 1) {
      finish_group(index->lanes_[chunk.lane_index], lane, group, chunk.lane.clock->is_affine(), tallies[worker]);
    }
  });
  if (!scanned) return scanned.error();
  for (std::size_t i = 0; i < growing.size(); ++i) {
    for (std::size_t group = 0; growing[i] && group < growing[i]->missing.size(); ++group) {
      if (growing[i]->missing[group] != 0) finish_group(index->lanes_[i], *growing[i], group, false, tallies[0]);
    }
  }
  return std::shared_ptr<const SummaryIndex>(std::move(index));
}

std::uint64_t SummaryIndex::memory_bytes() const noexcept {
  std::uint64_t bytes = 0;
  const auto of_stretch = [](const SummaryStretch& stretch) {
    return stretch.entries.capacity() * sizeof(SummaryEntry);
  };
  for (const Lane& lane : lanes_) {
    bytes += sizeof(Lane) + (lane.chunks.capacity() + lane.groups.capacity()) * sizeof(void*) * 2;
    for (const auto& chunk : lane.chunks) {
      if (!chunk) continue;
      bytes += sizeof(Chunk) + chunk->parts.capacity() * sizeof(Part);
      for (const Part& part : chunk->parts) bytes += of_stretch(part.sums);
    }
    for (const auto& group : lane.groups) {
      if (group) bytes += sizeof(SummaryStretch) + of_stretch(*group);
    }
  }
  return bytes;
}

}  // namespace accelscope
