// Many plain rectangles with little work for each: they are given to the list some hundred at a time.
#pragma once

#include <array>
#include <cstddef>

#include "imgui.h"
#include "render/base/theme.h"

namespace accelscope::app::panels {

class RectBatch {
 public:
  explicit RectBatch(ImDrawList& list) : list_(list) {}
  ~RectBatch() { flush(); }
  RectBatch(const RectBatch&) = delete;
  RectBatch& operator=(const RectBatch&) = delete;

  void add(float x0, float y0, float x1, float y1, render::Pixel colour) {
    if (count_ == waiting_.size()) flush();
    waiting_[count_++] = {{x0, y0}, {x1, y1}, colour};
  }

 private:
  struct Waiting {
    ImVec2 from, to;
    render::Pixel colour;
  };
  void flush() {
    if (count_ == 0) return;
    constexpr int kIndices = 6, kCorners = 4;
    list_.PrimReserve(static_cast<int>(count_) * kIndices, static_cast<int>(count_) * kCorners);
    for (std::size_t i = 0; i < count_; ++i) list_.PrimRect(waiting_[i].from, waiting_[i].to, waiting_[i].colour);
    count_ = 0;
  }

  ImDrawList& list_;
  std::array<Waiting, 512> waiting_;
  std::size_t count_ = 0;
};

}  // namespace accelscope::app::panels
