#include <cassert>

#include "app/session/view_state.h"

namespace accelscope::app {

namespace {
constexpr std::size_t kMostViews = 256;  // a long session must not keep every wheel turn of the day
}

void ViewHistory::push(const ViewState& state) {
  if (!states_.empty()) {
    if (states_[position_] == state) return;
    states_.resize(position_ + 1);
  }
  states_.push_back(state);
  if (states_.size() > kMostViews) states_.erase(states_.begin());
  position_ = states_.size() - 1;
}

const ViewState& ViewHistory::back() {
  assert(can_go_back());
  return states_[--position_];
}

const ViewState& ViewHistory::forward() {
  assert(can_go_forward());
  return states_[++position_];
}

}  // namespace accelscope::app
