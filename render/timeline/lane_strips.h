// The strips of the lanes that are on screen. Workers make them; the thread that draws never does. It gets the strip of
// this view as soon as it is there, and meanwhile the last one, moved to where this view sees it, with the coarse tree
// where that one does not reach: nothing vanishes, and nothing is waited for.
//
//   strips.begin_frame(windows, snapshot, view);       // after windows.begin_frame()
//   const LaneStrip& strip = strips.strip({lane_index, shade, keeps});
//   strips.end_frame();                                // asks for what was missing; before windows.end_frame()
//   if (!strips.settled()) ui.request_frame();
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/base/worker_pool.h"
#include "core/lod/lane_window.h"
#include "render/timeline/lane_strip.h"

namespace accelscope::render {

class LaneStrips {
 public:
  struct Wanted {
    std::uint32_t lane = 0;  // index into Snapshot::lanes
    LaneShade shade = {};
    std::shared_ptr<const void> keeps = nullptr;  // what the shade refers to
  };

  explicit LaneStrips(WorkerPool& pool);  // which must outlive it
  ~LaneStrips();
  LaneStrips(const LaneStrips&) = delete;
  LaneStrips& operator=(const LaneStrips&) = delete;

  void begin_frame(lod::LaneWindows& windows, std::shared_ptr<const Snapshot> snapshot, const TimeView& view);
  // What to draw now. Stays until the next frame asks for the lane again, or has not for long.
  [[nodiscard]] const LaneStrip& strip(const Wanted& wanted);
  void end_frame();

  // Everything that this frame got was the strip of its view, and complete.
  [[nodiscard]] bool settled() const noexcept { return settled_; }
  void wait_until_made() const;  // for tests and measurements, never for a frame

 private:
  struct Batch;
  struct Lane;
  struct MadeFrom;
  [[nodiscard]] const LaneStrip& stand_in(Lane& lane, const Wanted& wanted);

  lod::LaneWindows* windows_ = nullptr;  // of this frame, as are the next two
  std::shared_ptr<const Snapshot> snapshot_;
  TimeView view_;
  std::uint64_t frame_ = 0;
  bool settled_ = true;
  std::unordered_map<LaneNumber, std::unique_ptr<Lane>> lanes_;
  std::vector<std::pair<Lane*, Wanted>> missing_;  // of this frame
  LaneStripBuilder coarse_;
  WorkerPool& pool_;
};

// Builds strips for summaries (collapsed groups, the overview) on several threads: the caller works too and returns
// when all are built. For work of a millisecond or so; nothing in it waits for disk or locks. Lanes that are drawn
// themselves come from LaneStrips.

// Different tasks have different lanes.
struct StripTask {
  const LaneSnapshot* lane = nullptr;
  lod::LaneDetail* detail = nullptr;
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
