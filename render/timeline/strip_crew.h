// Builds strips for summaries (collapsed groups, the overview) on several threads: the caller works too and returns
// when all are built. For work of a millisecond or so; nothing in it waits for disk or locks. Lanes that are drawn
// themselves come from LaneStrips.
#pragma once

#include <span>
#include <vector>

#include "core/base/worker_pool.h"
#include "render/timeline/lane_strip.h"

namespace accelscope::render {

// Different tasks have different lanes.
struct StripTask {
  const LaneSnapshot* lane = nullptr;
  LaneDetail* detail = nullptr;
  LaneStrip* strip = nullptr;
  const LaneShade* shade = nullptr;  // may be null
};

class StripCrew {
 public:
  explicit StripCrew(WorkerPool& pool) : pool_(pool), builders_(1) {}  // it must outlive it
  void build(std::span<const StripTask> tasks, const TimeView& view);

 private:
  WorkerPool& pool_;
  std::vector<LaneStripBuilder> builders_;
};

}  // namespace accelscope::render
