#include <doctest/doctest.h>

#include "app/view/selection.h"

namespace accelscope::app::view {
namespace {

constexpr SessionSpan kSession{0, 1e6};

TEST_CASE("zooming in and out about a point brings the same view back") {
  session::ViewRange view{100'000, 500'000};
  for (int i = 0; i < 20; ++i) view = zoomed(view, 333'333, 1.25, kSession);
  for (int i = 0; i < 20; ++i) view = zoomed(view, 333'333, 1 / 1.25, kSession);
  CHECK(view.begin_ns == doctest::Approx(100'000));
  CHECK(view.end_ns == doctest::Approx(500'000));
}

TEST_CASE("no zoom goes below a few nanoseconds or far beyond the session") {
  session::ViewRange view{100, 1000};
  for (int i = 0; i < 100; ++i) view = zoomed(view, 500, 2, kSession);
  CHECK(view.span_ns() == doctest::Approx(kLeastSpanNs));
  for (int i = 0; i < 100; ++i) view = zoomed(view, 500, 0.5, kSession);
  CHECK(view.span_ns() == doctest::Approx(1.1e6));
}

TEST_CASE("panning never loses the session out of sight") {
  session::ViewRange view{400'000, 500'000};
  view = panned(view, 1e12, kSession);
  CHECK(view.begin_ns < kSession.end_ns);
  view = panned(view, -1e12, kSession);
  CHECK(view.end_ns > kSession.begin_ns);
  CHECK(view.span_ns() == doctest::Approx(100'000));
}

TEST_CASE("an event in sight leaves the view alone, one outside is brought to its middle") {
  const session::ViewRange view{100'000, 200'000};
  CHECK(with_in_sight(view, 150'000, 160'000, kSession) == view);
  const session::ViewRange moved = with_in_sight(view, 500'000, 510'000, kSession);
  CHECK(moved.span_ns() == doctest::Approx(view.span_ns()));
  CHECK((moved.begin_ns + moved.end_ns) / 2 == doctest::Approx(505'000));
  CHECK(with_in_sight(view, 0, 900'000, kSession).span_ns() > 900'000);
}

}  // namespace
}  // namespace accelscope::app::view
