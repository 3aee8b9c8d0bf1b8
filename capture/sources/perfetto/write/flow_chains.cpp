#include "capture/sources/perfetto/write/flow_chains.h"

#include <algorithm>
#include <tuple>

namespace accelscope::capture::sources::perfetto {

void FlowChains::add(const FlowPoint& point, const tracks::WrittenEvent& event) {
  if (point.role == FlowRole::submits) {
    return session_.add_flow(tracks::FlowSide::source, submission_key(point.id), point.id, event);
  }
  if (point.role == FlowRole::waits) {
    return session_.add_flow(tracks::FlowSide::target, wait_key(point.id), point.id, event, session_.intern("wait"));
  }
  points_.push_back({point, points_.size(), event});
}

void FlowChains::join() {
  std::sort(points_.begin(), points_.end(), [](const Point& a, const Point& b) {
    return std::tie(a.flow.key, a.flow.ns, a.serial) < std::tie(b.flow.key, b.flow.ns, b.serial);
  });
  const StringId name = points_.empty() ? 0 : session_.intern("flow");
  std::uint64_t step = 0;
  const Point* last = nullptr;  // of the chain at hand
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const Point& point = points_[i];
    if (i > 0 && points_[i - 1].flow.key != point.flow.key) last = nullptr;
    const FlowRole role = point.flow.role;
    if (role == FlowRole::begin || (last == nullptr && role == FlowRole::pass)) {
      last = &point;
      continue;
    }
    if (last == nullptr) {
      ++without_begin_;
      continue;
    }
    const std::uint64_t key = tracks::flow_key(0xF10, ++step);
    session_.add_flow(tracks::FlowSide::source, key, point.flow.id, last->event, name);
    session_.add_flow(tracks::FlowSide::target, key, point.flow.id, point.event, name);
    if (role == FlowRole::terminate) last = nullptr;
    if (role == FlowRole::pass || role == FlowRole::step) last = &point;
  }
  points_ = {};
}

}  // namespace accelscope::capture::sources::perfetto
