// Lanes made by hand for tests of drawing: events or samples given one by one, their tree built as the store builds
// it, and windows that are there at once.
#pragma once

#include <memory>
#include <vector>

#include "core/lod/lane_window.h"
#include "core/store/snapshot.h"

namespace accelscope::test {

class ManualLane final : public LaneDetail {
 public:
  explicit ManualLane(std::vector<WindowEvent> events, ClockMap clock = {});
  explicit ManualLane(std::vector<WindowSample> samples);

  [[nodiscard]] const LaneSnapshot& snapshot() const { return snapshot_; }
  [[nodiscard]] const std::vector<WindowEvent>& events() const { return events_; }
  const LaneWindow* find(std::uint32_t leaf, WindowDetail detail) override;
  const LaneWindow* ready(std::uint32_t leaf, WindowDetail detail) const override;

 private:
  [[nodiscard]] LaneWindow make_window(std::uint32_t first_leaf, WindowDetail detail) const;
  void finish(EventKind kind, std::size_t count, ClockMap clock);

  std::vector<WindowEvent> events_;
  std::vector<WindowSample> samples_;
  std::shared_ptr<LaneData> data_ = std::make_shared<LaneData>();
  LaneSnapshot snapshot_;
  std::vector<LaneWindow> windows_[2];
};

}  // namespace accelscope::test
