#include "app/view/motion.h"

#include <algorithm>

namespace accelscope::app {
namespace {

// Not wider than the session with its margin, not narrower than a few ns, and overlapping the session.
[[nodiscard]] ViewRange held(ViewRange view, const SessionSpan& session) {
  const double length = std::max(session.end_ns - session.begin_ns, kLeastSpanNs);
  const double margin = length * kFitMargin;
  const double span = std::clamp(view.span_ns(), kLeastSpanNs, length + 2 * margin);
  // A view may show nothing but one edge of the session, no more: half of it stays inside.
  const double lowest = session.begin_ns - std::max(margin, span / 2);
  const double highest = session.end_ns + std::max(margin, span / 2) - span;
  const double begin = std::clamp(view.begin_ns, lowest, std::max(lowest, highest));
  return {begin, begin + span};
}

}  // namespace

SessionSpan session_span(const Snapshot& snapshot) {
  // Session time begins at zero, also where nothing happens before the work; but not where times count from 1970.
  constexpr double kLongestIdle = 10'000;  // times the length of what happens
  const auto first = static_cast<double>(snapshot.begin_ns);
  const auto end = static_cast<double>(snapshot.end_ns);
  const double begin = first > (end - first) * kLongestIdle ? first : std::min(first, 0.0);
  return {begin, std::max(end, begin + kLeastSpanNs)};
}

ViewRange zoomed(const ViewRange& view, double at_ns, double factor, const SessionSpan& session) {
  const double longest = (session.end_ns - session.begin_ns) * (1 + 2 * kFitMargin);
  const double span = std::clamp(view.span_ns() / factor, kLeastSpanNs, std::max(longest, kLeastSpanNs));
  const double share = (at_ns - view.begin_ns) / view.span_ns();
  const double begin = at_ns - share * span;
  return held({begin, begin + span}, session);
}

ViewRange panned(const ViewRange& view, double by_ns, const SessionSpan& session) {
  return held({view.begin_ns + by_ns, view.end_ns + by_ns}, session);
}

ViewRange fitted(double begin_ns, double end_ns, const SessionSpan& session, double margin) {
  const double length = std::max(end_ns - begin_ns, kLeastSpanNs);
  return held({begin_ns - length * margin, begin_ns + length * (1 + margin)}, session);
}

ViewRange with_in_sight(const ViewRange& view, double begin_ns, double end_ns, const SessionSpan& session) {
  const double span = view.span_ns();
  if (end_ns - begin_ns > span * (1 - 2 * kFitMargin)) return fitted(begin_ns, end_ns, session, 1.0);
  const double margin = span * kFitMargin;
  if (begin_ns >= view.begin_ns + margin && end_ns <= view.end_ns - margin) return view;
  const double middle = (begin_ns + end_ns) / 2;
  return held({middle - span / 2, middle + span / 2}, session);
}

}  // namespace accelscope::app
