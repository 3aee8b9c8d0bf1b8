// Decodes one LaneWindow out of a lane's chunks. Used by the workers of LaneWindows; one decoder per thread, which
// keeps the last chunk, since neighbouring windows mostly lie in the same one.
#pragma once

#include <array>
#include <functional>
#include <memory>

#include "core/base/result.h"
#include "core/chunk/chunk_view.h"
#include "core/lod/lane_window.h"
#include "core/scan/block_reader.h"

namespace accelscope {

class WindowDecoder {
 public:
  using ReadChunk = std::function<Result<Bytes>(const LaneSnapshot& lane, std::uint32_t chunk_index)>;

  explicit WindowDecoder(ReadChunk read_chunk) : read_chunk_(std::move(read_chunk)) {}

  // first_leaf is a multiple of kWindowLeaves and below the lane's number of leaves.
  [[nodiscard]] Result<LaneWindow> decode(const LaneSnapshot& lane, const StringPool& strings, std::uint32_t first_leaf,
                                          WindowDetail detail);

 private:
  struct Name {
    std::uint64_t local = ~std::uint64_t{0};
    StringId session = 0;
    std::uint8_t slot = 0;
    bool waits = false;
  };
  Result<void> load(const LaneSnapshot& lane, std::uint32_t chunk_index);
  void add_events(const LaneSnapshot& lane, const StringPool& strings, LaneWindow& window);
  void add_samples(const LaneSnapshot& lane, std::uint32_t leaf, LaneWindow& window);
  const Name& name(const LaneSnapshot& lane, const StringPool& strings, std::uint64_t local);

  ReadChunk read_chunk_;
  std::shared_ptr<const LaneData> loaded_lane_;  // kept, so that no other lane comes to lie where it lay
  std::uint32_t loaded_chunk_ = 0;
  Bytes bytes_;
  ChunkView view_;
  BlockReader reader_;           // of the chunk
  std::array<Name, 256> names_;  // direct-mapped; the pool takes a lock for every look-up
};

// The node that stands for one event; a run of events is summed up by merge().
[[nodiscard]] SliceNode event_node(const WindowEvent& event) noexcept;

}  // namespace accelscope
