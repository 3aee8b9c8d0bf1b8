// Every event of a session that opened, however damaged its file is.
#pragma once

#include "core/chunk/chunk_view.h"
#include "core/store/store.h"

namespace accelscope::test {

inline void read_everything(const Store& store) {
  const auto snapshot = store.snapshot();
  for (const LaneSnapshot& lane : snapshot->lanes) {
    for (std::uint32_t chunk = 0; chunk < lane.chunk_count; ++chunk) {
      const Result<Bytes> bytes = store.read_chunk(lane, chunk);
      if (!bytes) continue;
      const Result<ChunkView> view = ChunkView::parse(*bytes);
      if (!view) continue;
      BlockTimes times;
      for (std::uint32_t block = 0; block < view->block_count(); ++block) view->times(block, times);
    }
  }
}

}  // namespace accelscope::test
