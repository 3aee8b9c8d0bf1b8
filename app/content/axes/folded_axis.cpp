#include "app/content/axes/folded_axis.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace accelscope::app {
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

}  // namespace accelscope::app
