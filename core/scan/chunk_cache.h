// A chunk with its bytes, and the last few that were read, for those who jump from event to event.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "core/chunk/chunk_view.h"
#include "core/store/store.h"

namespace accelscope {

struct LoadedChunk {
  Bytes bytes;
  ChunkView view;
};

[[nodiscard]] Result<LoadedChunk> load_chunk(const Store& store, const LaneSnapshot& lane, std::uint32_t chunk);

// For any number of threads.
class ChunkCache {
 public:
  explicit ChunkCache(std::size_t retained) : retained_(retained) {}
  [[nodiscard]] Result<std::shared_ptr<const LoadedChunk>> load(const Store& store, const LaneSnapshot& lane,
                                                                std::uint32_t chunk);

 private:
  struct Entry {
    LaneNumber lane;
    std::uint32_t chunk;
    std::uint64_t used;
    std::shared_ptr<const LoadedChunk> loaded;
  };
  [[nodiscard]] std::shared_ptr<const LoadedChunk> find(LaneNumber lane, std::uint32_t chunk);
  void keep(LaneNumber lane, std::uint32_t chunk, std::shared_ptr<const LoadedChunk> loaded);

  const std::size_t retained_;
  std::mutex mutex_;
  std::vector<Entry> entries_;
  std::uint64_t uses_ = 0;
};

}  // namespace accelscope
