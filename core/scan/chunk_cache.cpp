#include "core/scan/chunk_cache.h"

#include <algorithm>

namespace accelscope {

Result<LoadedChunk> load_chunk(const Store& store, const LaneSnapshot& lane, std::uint32_t chunk) {
  Bytes bytes = TRY(store.read_chunk(lane, chunk));
  ChunkView view = TRY(ChunkView::parse(bytes));
  // The view keeps pointers into the bytes, which stay where they are when the vector moves.
  return LoadedChunk{std::move(bytes), std::move(view)};
}

Result<std::shared_ptr<const LoadedChunk>> ChunkCache::load(const Store& store, const LaneSnapshot& lane,
                                                            std::uint32_t chunk) {
  if (auto known = find(lane.number(), chunk)) return known;
  LoadedChunk loaded = TRY(load_chunk(store, lane, chunk));
  auto shared = std::make_shared<const LoadedChunk>(std::move(loaded));
  keep(lane.number(), chunk, shared);
  return shared;
}

std::shared_ptr<const LoadedChunk> ChunkCache::find(LaneNumber lane, std::uint32_t chunk) {
  const std::scoped_lock lock(mutex_);
  for (Entry& entry : entries_) {
    if (entry.lane != lane || entry.chunk != chunk) continue;
    entry.used = ++uses_;
    return entry.loaded;
  }
  return nullptr;
}

void ChunkCache::keep(LaneNumber lane, std::uint32_t chunk, std::shared_ptr<const LoadedChunk> loaded) {
  const std::scoped_lock lock(mutex_);
  if (entries_.size() < retained_) {
    entries_.push_back({lane, chunk, ++uses_, std::move(loaded)});
    return;
  }
  const auto oldest = std::ranges::min_element(entries_, {}, &Entry::used);
  *oldest = {lane, chunk, ++uses_, std::move(loaded)};
}

}  // namespace accelscope
