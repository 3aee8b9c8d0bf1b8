#include <cassert>

#include "app/session_tab.h"

namespace accelscope::app {

namespace {
constexpr std::size_t kMostViews = 256;  // a long session must not keep every wheel turn of the day
}

void ViewHistory::push(const ViewRange& view) {
  if (!views_.empty()) {
    if (views_[position_] == view) return;
    views_.resize(position_ + 1);
  }
  views_.push_back(view);
  if (views_.size() > kMostViews) views_.erase(views_.begin());
  position_ = views_.size() - 1;
}

ViewRange ViewHistory::back() {
  assert(can_go_back());
  return views_[--position_];
}

ViewRange ViewHistory::forward() {
  assert(can_go_forward());
  return views_[++position_];
}

}  // namespace accelscope::app
