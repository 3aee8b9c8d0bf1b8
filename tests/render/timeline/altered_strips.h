// Every lane of a session as strips of pixels, from far and near: of a session that somebody altered nothing may be
// drawn outside of its strip.
#pragma once

#include <algorithm>
#include <memory>

#include "core/lod/lane_window.h"
#include "render/timeline/counter_strip.h"
#include "render/timeline/lane_strip.h"

namespace accelscope::test {

// How many pixels were lit, of whatever kind.
inline std::uint64_t draw_strips(const std::shared_ptr<const Store>& store) {
  using namespace render;  // NOLINT: in here alone
  const std::shared_ptr<const Snapshot> snapshot = store->snapshot();
  const auto begin = static_cast<double>(snapshot->begin_ns);
  const double span = std::max(1.0, static_cast<double>(snapshot->end_ns) - begin);
  WorkerPool pool(1);
  lod::LaneWindows windows(pool);
  LaneStripBuilder builder;
  std::uint64_t lit = 0;
  for (const double share : {1.0, 0.1, 0.004}) {
    const TimeView view{begin + span * 0.3, begin + span * (0.3 + 0.7 * share), 300};
    for (int frame = 0; frame < 2; ++frame) {
      windows.begin_frame(store, snapshot);
      for (const LaneSnapshot& lane : snapshot->lanes) {
        if (lane.data->kind == EventKind::counter) {
          CounterStrip strip;
          build_counter_strip(lane, &windows.lane(lane), view, strip);
          lit += strip.any ? strip.last.size() : 0;
          continue;
        }
        LaneStrip strip;
        builder.build_coarse(lane, view, strip);
        builder.build(lane, &windows.lane(lane), view, strip);
        lit += strip.texels.size() + strip.slices.size();
      }
      windows.end_frame();
      windows.wait_until_settled();
    }
  }
  return lit;
}

}  // namespace accelscope::test
