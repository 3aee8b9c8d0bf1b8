#include "app/content/axes/axes.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/base/format.h"

namespace accelscope::app::content {
namespace {

constexpr double kMuch = 0.3;   // share of the session that must be idle to be folded
constexpr double kLong = 0.05;  // that one gap must have
constexpr double kEdge = 0.02;  // of what is not folded, that stays before and after it

}  // namespace

FoldedAxis::FoldedAxis(double begin_ns, double end_ns, int width, const std::vector<TimeRange>& idle,
                       const std::function<int(double idle_ns)>& stub_width) {
  int stubs = 0;
  double folded_ns = 0;
  for (const TimeRange& each : idle) {
    stubs += stub_width(static_cast<double>(each.length_ns()));
    folded_ns += static_cast<double>(each.length_ns());
  }
  const bool fold = stubs * 2 <= width && folded_ns < end_ns - begin_ns;
  const double ns_per_pixel = (end_ns - begin_ns - (fold ? folded_ns : 0)) / std::max(1, width - (fold ? stubs : 0));
  double reached = begin_ns, shown_ns = 0;
  int x = 0, folded_x = 0;
  const auto add = [&](bool folded, double to, int to_x) {
    if (to > reached) parts_.push_back({folded, reached, to, x, std::max(to_x, x + 1)});
    reached = to;
    x = std::max(x, to_x);
  };
  for (std::size_t i = 0; fold && i < idle.size(); ++i) {
    const auto from = static_cast<double>(idle[i].begin_ns), to = static_cast<double>(idle[i].end_ns);
    shown_ns += from - reached;
    add(false, from, static_cast<int>(std::lround(shown_ns / ns_per_pixel)) + folded_x);
    const int stub = stub_width(to - from);
    folded_x += stub;
    add(true, to, x + stub);
  }
  add(false, end_ns, width);
  if (parts_.empty()) parts_.push_back({false, begin_ns, begin_ns + 1, 0, std::max(1, width)});
}

double FoldedAxis::x(double ns) const noexcept {
  const auto part = std::find_if(parts_.begin(), parts_.end(), [&](const Part& each) { return ns < each.end_ns; });
  if (parts_.empty()) return 0;
  const Part& in = part == parts_.end() ? parts_.back() : *part;
  return in.x0 + in.view().x(ns);
}

double FoldedAxis::ns(double x) const noexcept {
  const auto part = std::find_if(parts_.begin(), parts_.end(), [&](const Part& each) { return x < each.x1; });
  if (parts_.empty()) return 0;
  const Part& in = part == parts_.end() ? parts_.back() : *part;
  return in.view().ns(x - in.x0);
}

std::vector<TimeRange> stretches_to_fold(double begin_ns, double end_ns, const std::optional<TimeRange>& work,
                                         const std::vector<TimeRange>& gaps) {
  double shown = end_ns - begin_ns;
  double lead = work ? std::max(0.0, static_cast<double>(work->begin_ns) - begin_ns) : 0;
  if (lead <= kMuch * shown) lead = 0;
  shown -= lead;
  std::vector<TimeRange> open, folded;  // gaps in the work, the longest first; those of them that are folded
  for (const TimeRange& gap : gaps) {
    if (!work || (gap.begin_ns >= work->begin_ns && gap.end_ns <= work->end_ns)) open.push_back(gap);
  }
  std::stable_sort(open.begin(), open.end(),
                   [](const TimeRange& a, const TimeRange& b) { return a.length_ns() > b.length_ns(); });
  // What is long beside the rest shows only once what is longer has gone.
  for (;;) {
    double length = 0;
    auto last = open.begin();
    for (; last != open.end() && static_cast<double>(last->length_ns()) > kLong * shown; ++last) {
      length += static_cast<double>(last->length_ns());
    }
    if (length <= kMuch * shown) break;
    folded.insert(folded.end(), open.begin(), last);
    open.erase(open.begin(), last);
    shown -= length;
  }
  std::vector<TimeRange> idle;
  const auto edge = static_cast<std::int64_t>(shown * kEdge);
  if (lead > 0 && work->begin_ns - edge > static_cast<std::int64_t>(begin_ns)) {
    idle.push_back({static_cast<std::int64_t>(begin_ns), work->begin_ns - edge});
  }
  for (const TimeRange& gap : folded) {
    if (gap.length_ns() > 2 * edge) idle.push_back({gap.begin_ns + edge, gap.end_ns - edge});
  }
  std::sort(idle.begin(), idle.end(), [](const TimeRange& a, const TimeRange& b) { return a.begin_ns < b.begin_ns; });
  return idle;
}

std::vector<TimeRange> bursts_of(const TimeRange& work, const std::vector<TimeRange>& folded) {
  std::vector<TimeRange> bursts;
  std::int64_t begin = work.begin_ns;
  for (const TimeRange& each : folded) {
    if (each.begin_ns <= work.begin_ns || each.end_ns >= work.end_ns) continue;
    bursts.push_back({begin, each.begin_ns});
    begin = each.end_ns;
  }
  bursts.push_back({begin, work.end_ns});
  return bursts;
}

namespace {

constexpr double kTickSlack = 1e-9;  // of a step or a value: what is lost in rounding

}  // namespace

ValueAxis::ValueAxis(double min, double max, analysis::BinScale scale)
    : scale_(scale), min_(min), max_(max > min ? max : min + 1) {}

void ValueAxis::include(double value) noexcept {
  if (!std::isfinite(value) || (scale_ == analysis::BinScale::log && !(value > 0))) return;
  if (empty()) {
    min_ = max_ = value;
  } else {
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
  }
}

void ValueAxis::widen(double factor) noexcept {
  if (empty()) return;
  min_ /= factor;
  max_ *= factor;
}

double ValueAxis::place(double value) const noexcept {
  if (scale_ == analysis::BinScale::log && value <= 0) return -1;
  if (!(max_ > min_)) return 0.5;
  if (scale_ == analysis::BinScale::linear) return (value - min_) / (max_ - min_);
  return std::log(value / min_) / std::log(max_ / min_);
}

double ValueAxis::value(double place) const noexcept {
  return scale_ == analysis::BinScale::linear ? min_ + place * (max_ - min_) : min_ * std::pow(max_ / min_, place);
}

std::vector<ValueTick> ValueAxis::even_ticks(std::size_t most, Unit unit) const {
  std::vector<ValueTick> ticks;
  const double step = round_step((max_ - min_) / static_cast<double>(most));
  for (double i = std::ceil(min_ / step - kTickSlack); i * step <= max_ * (1 + 1e-12); ++i)
    ticks.push_back({i * step, format_tick(i * step, step, unit)});
  return ticks;
}

std::vector<ValueTick> ValueAxis::decade_ticks(std::size_t most, Unit unit) const {
  std::vector<ValueTick> ticks;
  const double decades = std::log10(max_ / min_), room = static_cast<double>(most);
  const int each = decades * 3 <= room ? 3 : decades * 2 <= room ? 2 : 1;  // labelled ones of a decade
  const double every = std::max(1.0, std::ceil(decades / room));
  const auto is_labelled = [&](int digit, double decade) {
    if (digit == 1) return std::fmod(std::abs(decade), every) < 0.5;
    return (digit == 5 && each >= 2) || (digit == 2 && each == 3);
  };
  for (double decade = std::floor(std::log10(min_) + kTickSlack); std::pow(10, decade) <= max_; ++decade) {
    const double base = std::pow(10, decade);
    for (int digit = 1; digit <= 9; ++digit) {
      const double value = base * digit;
      const bool labelled = is_labelled(digit, decade);
      if (value < min_ * (1 - kTickSlack) || value > max_ * (1 + kTickSlack) || (!labelled && every > 1)) continue;
      // Far apart, each in the unit of its own size.
      const std::string text = unit == Unit::ns ? format_duration(value) : format_tick(value, base, unit);
      ticks.push_back({value, labelled ? text : std::string()});
    }
  }
  return ticks;
}

std::vector<ValueTick> ValueAxis::ticks(std::size_t most, Unit unit, TickSteps steps) const {
  if (empty() || most < 1) return {};
  if (scale_ == analysis::BinScale::linear || !(max_ > min_)) return even_ticks(most, unit);
  if (steps == TickSteps::doubling && std::log2(max_ / min_) <= static_cast<double>(most)) {
    std::vector<ValueTick> ticks;
    for (double power = std::ceil(std::log2(min_)); std::exp2(power) <= max_; ++power)
      ticks.push_back({std::exp2(power), format_tick(std::exp2(power), std::exp2(power), unit)});
    return ticks;
  }
  return std::log10(max_ / min_) < 1 ? even_ticks(most, unit) : decade_ticks(most, unit);
}

}  // namespace accelscope::app::content
