// How a view moves: zoom about a point, pan, fit. Pure; the limits keep a view between a few nanoseconds and a little
// more than the session, and never lose the session out of sight.
#pragma once

#include "app/session/tab.h"

namespace accelscope::app {

inline constexpr double kLeastSpanNs = 4;
inline constexpr double kWheelZoom = 1.25;  // a notch of the wheel
inline constexpr double kKeyZoom = 1.5;
inline constexpr double kKeyPan = 0.2;      // of the view
inline constexpr double kFitMargin = 0.05;  // on both sides of what is fitted

// The session's stretch of time that views are held to.
struct SessionSpan {
  double begin_ns = 0;
  double end_ns = 1;
};
[[nodiscard]] SessionSpan session_span(const Snapshot& snapshot);

// factor > 1 shows less. The time `at_ns` keeps its place.
[[nodiscard]] ViewRange zoomed(const ViewRange& view, double at_ns, double factor, const SessionSpan& session);
[[nodiscard]] ViewRange panned(const ViewRange& view, double by_ns, const SessionSpan& session);
[[nodiscard]] ViewRange fitted(double begin_ns, double end_ns, const SessionSpan& session, double margin = kFitMargin);
// The view, moved as little as needed so that the stretch is seen, with its span kept if the stretch fits.
[[nodiscard]] ViewRange with_in_sight(const ViewRange& view, double begin_ns, double end_ns,
                                      const SessionSpan& session);

}  // namespace accelscope::app
