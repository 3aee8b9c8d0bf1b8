#include "core/analysis/selection/summary_index.h"

#include <algorithm>
#include <atomic>
#include <optional>

namespace accelscope::analysis {
namespace {

using Chunk = SummaryIndex::Chunk;
using Part = SummaryIndex::Part;

constexpr std::uint32_t kFanout = SummaryIndex::kFanout;
constexpr std::size_t kGroupLevels = 3;  // of 1, 4 and 16 chunks
static_assert(SummaryIndex::kChunksPerGroup == kFanout * kFanout);

// The finest that is kept may take a byte per event, each level above it half as much.
[[nodiscard]] std::uint64_t most_bytes(std::uint64_t events, unsigned levels_below) noexcept {
  static_assert(SummaryIndex::kMostBytesPerEvent == 2);
  return levels_below < 32 ? events >> levels_below : 0;
}

// The sums of a stretch on their way up, and how many finer levels are kept.
struct Made {
  SummaryStretch sums;
  unsigned levels_below = 0;
};

// What one thread needs.
struct Worker {
  SummaryTally tally;
  StretchPacker packer;

  [[nodiscard]] std::unique_ptr<const PackedStretch> pack(Made& made) {
    auto packed = packer.pack(made.sums, most_bytes(made.sums.totals.events, made.levels_below), made.levels_below);
    if (packed) ++made.levels_below;
    return packed;
  }
};

// A chunk that was just read.
struct Read {
  std::shared_ptr<Chunk> chunk;
  std::shared_ptr<const PackedStretch> packed;
  std::optional<Made> made;  // nothing of a chunk that has texts
};

Read read_chunk(const ScannedChunk& scanned, const StringPool& strings, Worker& worker) {
  Read read;
  read.chunk = std::make_shared<Chunk>();
  const std::uint32_t blocks = scanned.view.block_count();
  std::vector<Made> parts;
  BlockTimes times;
  for (std::uint32_t first = 0; first < blocks; first += SummaryIndex::kBlocksPerPart) {
    const std::uint32_t last = std::min(blocks, first + SummaryIndex::kBlocksPerPart);
    Part part;
    scanned.view.times(first, times);
    part.begin_ticks = times.begins[0];
    scanned.view.times(last - 1, times);
    part.end_ticks = times.ends[scanned.view.block_size(last - 1) - 1];
    worker.tally.add(scanned, strings, first, last);
    const bool has_texts = worker.tally.has_texts();
    worker.tally.clear_texts();
    parts.push_back({worker.tally.take()});
    if (!has_texts) part.sums = worker.pack(parts.back());
    read.chunk->has_texts |= has_texts;
    read.chunk->parts.push_back(std::move(part));
  }
  if (read.chunk->has_texts) return read;
  read.made.emplace();
  for (const Made& part : parts) {
    worker.tally.add(part.sums);
    read.made->levels_below = std::max(read.made->levels_below, part.levels_below);
  }
  read.made->sums = worker.tally.take();
  read.packed = worker.pack(*read.made);
  return read;
}

// A lane while its index is being made. Groups are finished by whoever reads the last of their chunks, so that entries
// that are not packed are in memory for a few groups only.
struct Growing {
  std::vector<Read> read;                           // by chunk; what this build read
  std::vector<std::atomic<std::uint32_t>> missing;  // by group, chunks to read
  bool one_rate = true;                             // else stretches of several chunks mean nothing
  std::array<std::size_t, kGroupLevels> known{};    // by level, stretches of the index before
  Growing(std::size_t chunks, bool rate)
      : read(chunks),
        missing((chunks + SummaryIndex::kChunksPerGroup - 1) / SummaryIndex::kChunksPerGroup),
        one_rate(rate) {}
};

class GroupFinish {
 public:
  GroupFinish(SummaryIndex::Lane& lane, Growing& growing, Worker& worker)
      : lane_(lane), growing_(growing), worker_(worker) {}

  void run(std::size_t group) {
    const std::size_t first = group * SummaryIndex::kChunksPerGroup;
    const std::size_t last = std::min<std::size_t>(first + SummaryIndex::kChunksPerGroup, lane_.chunks.size());
    for (std::size_t c = first; c < last; ++c) {
      if (!growing_.read[c].chunk) continue;
      lane_.chunks[c] = growing_.read[c].chunk;
      lane_.levels[0][c] = growing_.read[c].packed;
    }
    if (growing_.one_rate) {
      std::array<std::optional<Made>, kFanout> fours;
      for (std::size_t i = 0; i < kFanout; ++i) {
        const std::size_t index = group * kFanout + i;
        if (index < lane_.levels[1].size()) fours[i] = four(index, group);
      }
      if (is_new(2, group)) {
        std::optional<Made> made = merged(fours);
        if (made) lane_.levels[2][group] = worker_.pack(*made);
      }
    }
    for (std::size_t c = first; c < last; ++c) growing_.read[c] = {};
  }

 private:
  [[nodiscard]] bool is_new(std::size_t level, std::size_t index) const {
    return index >= growing_.known[level] && index < lane_.levels[level].size();
  }
  // Four chunks; packed if that is new. Only where someone needs it.
  std::optional<Made> four(std::size_t index, std::size_t group) {
    if (!is_new(1, index) && !is_new(2, group)) return {};
    if (const auto& retained = lane_.levels[1][index]; retained) return unpacked(*retained);
    std::array<std::optional<Made>, kFanout> chunks;
    for (std::size_t c = 0; c < kFanout; ++c) chunks[c] = chunk(index * kFanout + c);
    std::optional<Made> made = merged(chunks);
    if (made && is_new(1, index)) lane_.levels[1][index] = worker_.pack(*made);
    return made;
  }
  std::optional<Made> chunk(std::size_t index) {
    if (growing_.read[index].made) return std::move(growing_.read[index].made);
    if (const auto& retained = lane_.levels[0][index]; retained) return unpacked(*retained);
    return {};
  }
  [[nodiscard]] Made unpacked(const PackedStretch& packed) {
    worker_.tally.add(packed);
    return {worker_.tally.take(), packed.levels_below() + 1};
  }
  // Nothing where one of them is missing.
  std::optional<Made> merged(std::array<std::optional<Made>, kFanout>& children) {
    if (!std::ranges::all_of(children, [](const auto& child) { return child.has_value(); })) return {};
    Made made;
    for (const std::optional<Made>& child : children) {
      worker_.tally.add(child->sums);
      made.levels_below = std::max(made.levels_below, child->levels_below);
    }
    made.sums = worker_.tally.take();
    return made;
  }

  SummaryIndex::Lane& lane_;
  Growing& growing_;
  Worker& worker_;
};

// Levels above those of groups, from what is kept below them.
void add_high_levels(SummaryIndex::Lane& lane, Worker& worker) {
  for (std::size_t level = kGroupLevels; level < SummaryIndex::kLevels; ++level) {
    const SummaryIndex::Level& below = lane.levels[level - 1];
    SummaryIndex::Level& stretches = lane.levels[level];
    while ((stretches.size() + 1) * kFanout <= below.size()) {
      const auto children = std::span(below).subspan(stretches.size() * kFanout, kFanout);
      stretches.emplace_back();
      if (!std::ranges::all_of(children, [](const auto& child) { return child != nullptr; })) continue;
      Made made;
      for (const auto& child : children) {
        worker.tally.add(*child);
        made.levels_below = std::max(made.levels_below, child->levels_below() + 1);
      }
      made.sums = worker.tally.take();
      stretches.back() = worker.pack(made);
    }
  }
}

// All of the lane up to what is not kept, from the largest stretches that there are.
void add_head(SummaryIndex::Lane& lane, Worker& worker) {
  Made made;
  std::size_t stretches = 0;
  std::size_t chunk = 0;
  while (chunk < lane.chunks.size()) {
    std::size_t level = 0;
    std::size_t chunks = 1;  // of a stretch of the level
    while (level + 1 < SummaryIndex::kLevels && chunk / (chunks * kFanout) < lane.levels[level + 1].size()) {
      ++level;
      chunks *= kFanout;
    }
    const std::shared_ptr<const PackedStretch>& stretch = lane.levels[level][chunk / chunks];
    if (!stretch) break;
    worker.tally.add(*stretch);
    made.levels_below = std::max(made.levels_below, stretch->levels_below() + 1);
    chunk += chunks;
    ++stretches;
  }
  made.sums = worker.tally.take();
  lane.head = stretches > 1 ? worker.pack(made) : nullptr;
  lane.head_chunks = lane.head ? static_cast<std::uint32_t>(chunk) : 0;
}

// Gives the lane places for the chunks it has, and says which are to be read: new ones, and those that were not kept
// but are part of a stretch that becomes complete.
void plan_lane(std::uint32_t lane_index, const LaneSnapshot& source, SummaryIndex::Lane& lane, Growing& growing,
               std::size_t done, std::vector<ChunkRequest>& requests) {
  std::size_t complete = source.chunk_count;
  for (std::size_t level = 0; level < kGroupLevels; ++level, complete /= kFanout) {
    growing.known[level] = lane.levels[level].size();
    lane.levels[level].resize(std::max<std::size_t>(growing.known[level], complete));
  }
  const std::size_t open = std::min({done, growing.known[1] * kFanout, growing.known[2] * kFanout * kFanout});
  for (std::size_t c = open; c < source.chunk_count; ++c) {
    if (c < done) {
      const auto is_new = [&](std::size_t level, std::size_t chunks) {
        return c / chunks >= growing.known[level] && c / chunks < lane.levels[level].size();
      };
      const bool completes = is_new(1, kFanout) || is_new(2, SummaryIndex::kChunksPerGroup);
      const bool can_be = lane.chunks[c] != nullptr && !lane.chunks[c]->has_texts && lane.levels[0][c] == nullptr;
      if (!growing.one_rate || !completes || !can_be) continue;
    }
    requests.push_back({lane_index, static_cast<std::uint32_t>(c), TickRange{}});
    ++growing.missing[c / SummaryIndex::kChunksPerGroup];
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
    if (done == source.chunk_count) continue;
    growing[i] = std::make_unique<Growing>(source.chunk_count, source.clock->is_affine());
    plan_lane(i, source, lane, *growing[i], done, requests);
  }
  std::vector<Worker> workers(query.pool.concurrency());
  ScanReport unreadable;
  QueryContext whole{query.store, query.snapshot, query.pool, query.control, &unreadable};
  const Result<void> scanned = scan_chunks(whole, requests, [&](const ScannedChunk& chunk, std::size_t worker) {
    Growing& lane = *growing[chunk.lane_index];
    const std::size_t group = chunk.chunk_index / kChunksPerGroup;
    lane.read[chunk.chunk_index] = read_chunk(chunk, *snapshot.strings, workers[worker]);
    if (lane.missing[group].fetch_sub(1) == 1) {
      GroupFinish(index->lanes_[chunk.lane_index], lane, workers[worker]).run(group);
    }
  });
  if (!scanned) return scanned.error();
  for (std::size_t i = 0; i < growing.size(); ++i) {
    if (!growing[i]) continue;
    for (std::size_t group = 0; group < growing[i]->missing.size(); ++group) {
      // Chunks that could not be read were never counted off.
      if (growing[i]->missing[group] != 0) GroupFinish(index->lanes_[i], *growing[i], workers[0]).run(group);
    }
    if (!growing[i]->one_rate) continue;
    add_high_levels(index->lanes_[i], workers[0]);
    add_head(index->lanes_[i], workers[0]);
  }
  return std::shared_ptr<const SummaryIndex>(std::move(index));
}

std::uint64_t SummaryIndex::memory_bytes() const noexcept {
  std::uint64_t bytes = 0;
  for (const Lane& lane : lanes_) {
    bytes += sizeof(Lane) + lane.chunks.capacity() * sizeof(lane.chunks[0]);
    for (const auto& chunk : lane.chunks) {
      if (!chunk) continue;
      bytes += sizeof(Chunk) + chunk->parts.capacity() * sizeof(Part);
      for (const Part& part : chunk->parts) {
        if (part.sums) bytes += part.sums->memory_bytes();
      }
    }
    if (lane.head) bytes += lane.head->memory_bytes();
    for (const Level& level : lane.levels) {
      bytes += level.capacity() * sizeof(level[0]);
      for (const auto& stretch : level) {
        if (stretch) bytes += stretch->memory_bytes();
      }
    }
  }
  return bytes;
}

}  // namespace accelscope::analysis
