#include "capture/kinds/opencl/device_clock.h"

#include <algorithm>

namespace accelscope::capture {

void DeviceClock::add(std::int64_t ticks, std::int64_t before_ns, std::int64_t after_ns) {
  const Bracket bracket{ticks, before_ns, std::max(before_ns, after_ns)};
  if (stretch_ && bracket.before_ns - stretch_begin_ns_ >= spacing_ns_) end_stretch();
  if (!stretch_) {
    // What is older than the last anchor has come too late to be one.
    if (!anchors_.empty() && bracket.before_ns < anchors_.back().after_ns + spacing_ns_ / 2) return;
    stretch_begin_ns_ = bracket.before_ns;
  } else if (bracket.width() >= stretch_->width() || bracket.before_ns < stretch_begin_ns_) {
    return;
  }
  stretch_ = bracket;
  changed_ = true;
}

void DeviceClock::end_stretch() {
  // A clock that was set back, or a bracket that is no use, would make the line fall.
  const ClockAnchor next = stretch_->anchor();
  if (anchors_.empty() || (next.ticks > anchors_.back().anchor().ticks && next.ns > anchors_.back().anchor().ns)) {
    anchors_.push_back(*stretch_);
  }
  stretch_.reset();
  if (anchors_.size() >= kMostAnchors) thin_out();
}

void DeviceClock::thin_out() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < anchors_.size(); i += 2) anchors_[kept++] = anchors_[i];
  anchors_.resize(kept);
  spacing_ns_ *= 2;
}

bool DeviceClock::update(Clock& clock) {
  if (!changed_) return false;
  changed_ = false;
  clock.anchors.clear();
  std::int64_t widest = 0;
  const auto add_anchor = [&](const Bracket& bracket) {
    const ClockAnchor anchor = bracket.anchor();
    if (!clock.anchors.empty() &&
        (anchor.ticks <= clock.anchors.back().ticks || anchor.ns <= clock.anchors.back().ns)) {
      return;
    }
    // Two anchors that are close together say little of the clock's rate.
    if (clock.anchors.size() == 1 && anchor.ns - clock.anchors.back().ns < spacing_ns_ / 2) return;
    clock.anchors.push_back(anchor);
    widest = std::max(widest, bracket.width());
  };
  for (const Bracket& bracket : anchors_) add_anchor(bracket);
  if (stretch_) add_anchor(*stretch_);
  clock.residual_ns = static_cast<double>(widest) / 2;  // the true time lies within the bracket
  ++clock.version;
  return true;
}

}  // namespace accelscope::capture
