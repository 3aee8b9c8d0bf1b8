// Lanes made by hand for tests of drawing: events or samples given one by one, their tree built as the store builds
// it, and windows that are there at once.
#pragma once

#include <memory>
#include <vector>

#include "core/lod/lane_window.h"
#include "core/store/snapshot.h"

namespace accelscope::test {

class ManualLane final : public lod::LaneDetail {
 public:
  explicit ManualLane(std::vector<lod::WindowEvent> events, ClockMap clock = {});
  explicit ManualLane(std::vector<lod::WindowSample> samples);

  [[nodiscard]] const LaneSnapshot& snapshot() const { return snapshot_; }
  [[nodiscard]] const std::vector<lod::WindowEvent>& events() const { return events_; }
  const lod::LaneWindow* find(std::uint32_t leaf, lod::WindowDetail detail) override;
  const lod::LaneWindow* ready(std::uint32_t leaf, lod::WindowDetail detail) const override;

 private:
  [[nodiscard]] lod::LaneWindow make_window(std::uint32_t first_leaf, lod::WindowDetail detail) const;
  void finish(EventKind kind, std::size_t count, ClockMap clock);

  std::vector<lod::WindowEvent> events_;
  std::vector<lod::WindowSample> samples_;
  std::shared_ptr<LaneData> data_ = std::make_shared<LaneData>();
  LaneSnapshot snapshot_;
  std::vector<lod::LaneWindow> windows_[2];
};

}  // namespace accelscope::test
