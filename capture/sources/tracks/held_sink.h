// Stands between the writer and the session while a file is read: chunks wait here, in memory up to a limit and then in
// a temporary file, until it is known what their tracks are called and whether their events came in order. Definitions
// other than tracks and lanes pass through.
#pragma once

#include <vector>

#include "capture/sources/base/event_sorter.h"
#include "core/chunk/event_sink.h"

namespace accelscope::capture::sources::tracks {

class HeldSink final : public ForwardingSink {
 public:
  struct HeldLane {
    Lane lane;
    std::vector<std::size_t> chunks;  // in the spill
    bool dropped = false;
  };

  HeldSink(EventSink& receiver, ChunkSpill& spill) : ForwardingSink(receiver), spill_(spill) {}

  Result<void> define(const Definition& definition) override;
  Result<void> append(SealedChunk chunk) override;

  // By number; those of one track in the order of their depth.
  [[nodiscard]] const std::vector<HeldLane>& lanes() const noexcept { return lanes_; }
  [[nodiscard]] ChunkSpill& spill() noexcept { return spill_; }
  // Its chunks were taken and are written anew elsewhere.
  void drop_lane(LaneNumber lane) { lanes_[lane].dropped = true; }
  // Hands every lane and chunk on. The tracks must be defined by now.
  Result<void> release();

 private:
  ChunkSpill& spill_;
  std::vector<HeldLane> lanes_;
};

}  // namespace accelscope::capture::sources::tracks
