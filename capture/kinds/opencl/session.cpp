#include "capture/kinds/opencl/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace accelscope::capture::kinds::opencl {
namespace {

// Of the tightest bracket, or a few us: what calls take that are not disturbed.
constexpr std::int64_t kTightTimes = 4;
constexpr std::int64_t kTightNs = 10'000;

}  // namespace

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

// Strictly rising, and no two so close together that they say little of the clock's rate.
void DeviceClock::join(const std::vector<Bracket>& brackets, Clock& clock) const {
  clock.anchors.clear();
  for (const Bracket& bracket : brackets) {
    const ClockAnchor anchor = bracket.anchor();
    if (!clock.anchors.empty()) {
      const ClockAnchor& last = clock.anchors.back();
      if (anchor.ticks <= last.ticks || anchor.ns <= last.ns) continue;
      if (clock.anchors.size() == 1 && anchor.ns - last.ns < spacing_ns_ / 2) continue;
    }
    clock.anchors.push_back(anchor);
  }
}

bool DeviceClock::update(Clock& clock) {
  if (!changed_) return false;
  changed_ = false;
  std::vector<Bracket> all = anchors_;
  if (stretch_) all.push_back(*stretch_);
  std::int64_t tightest = all.front().width();
  for (const Bracket& bracket : all) tightest = std::min(tightest, bracket.width());
  // A thread may lose its processor within a call. Wide brackets count where the line through the others misses them.
  const auto is_tight = [&](const Bracket& bracket) { return bracket.width() <= kTightTimes * tightest + kTightNs; };
  std::vector<Bracket> used;
  std::copy_if(all.begin(), all.end(), std::back_inserter(used), is_tight);
  join(used, clock);
  const ClockMap line(clock);
  const auto is_missed = [&](const Bracket& bracket) {
    const std::int64_t ns = line.to_ns(bracket.ticks);
    return ns < bracket.before_ns || ns > bracket.after_ns;
  };
  used.clear();
  std::copy_if(all.begin(), all.end(), std::back_inserter(used),
               [&](const Bracket& bracket) { return is_tight(bracket) || is_missed(bracket); });
  join(used, clock);
  std::int64_t widest = 0;
  for (const Bracket& bracket : used) widest = std::max(widest, bracket.width());
  clock.residual_ns = static_cast<double>(widest) / 2;  // the true time lies within the bracket
  ++clock.version;
  return true;
}

OpenclSession::OpenclSession(SessionWriter& session_writer, bool with_calls)
    : writer(session_writer), keeps_calls(with_calls), tables(session_writer, kOpenclTables) {
  tables.define_all();
}

SessionDevice& OpenclSession::device(const std::string& name, std::size_t nth, std::uint64_t memory_bytes) {
  const std::string full_name = nth == 0 ? name : fmt::format("{} #{}", name, nth + 1);
  for (const std::unique_ptr<SessionDevice>& known : devices_) {
    if (known->name == full_name) return *known;
  }
  devices_.push_back(std::make_unique<SessionDevice>());
  SessionDevice& device = *devices_.back();
  device.name = full_name;
  device.clock.name = full_name;
  device.clock.number = writer.add_clock(device.clock);
  if (memory_bytes != 0)
    writer.set_meta(fmt::format("capacity.{} device memory", full_name), std::to_string(memory_bytes));
  return device;
}

void OpenclSession::update_clocks(std::int64_t now_ns) {
  for (const std::unique_ptr<SessionDevice>& device : devices_) {
    const bool is_due = device->clock.anchors.empty() || now_ns - device->updated_ns >= kClockIntervalNs;
    if (!is_due || !device->brackets.update(device->clock)) continue;
    device->updated_ns = now_ns;
    device->map = ClockMap(device->clock);
    writer.update_clock(device->clock);
  }
}

std::string OpenclSession::add_source(const std::string& text) {
  const auto [place, is_new] = sources_.try_emplace(text, fmt::format("opencl/program-{}.cl", sources_.size() + 1));
  if (is_new) writer.add_source_file(place->second, text);
  return place->second;
}

}  // namespace accelscope::capture::kinds::opencl
