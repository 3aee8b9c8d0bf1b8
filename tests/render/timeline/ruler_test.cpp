#include "render/timeline/ruler.h"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

namespace accelscope::render {
namespace {

TEST_CASE("the ruler's unit follows its step, so that neighbours differ") {
  CHECK(ruler_label(1'984'000, 1'000) == "1,984 µs");
  CHECK(ruler_label(1'984'500, 500) == "1,984.5 µs");
  CHECK(ruler_label(1'984'530, 10) == "1,984,530 ns");
  CHECK(ruler_label(1'900'000, 50'000) == "1,900 µs");
  CHECK(ruler_label(1'900'000, 100'000) == "1.9 ms");
  CHECK(ruler_label(-2'000, 1'000) == "\u22122 µs");
}

TEST_CASE("at every zoom labels are far enough apart and all different") {
  for (double span = 5; span < 1e13; span *= 1.7) {
    const TimeView view{1e6, 1e6 + span, 1400};
    const Ruler ruler = make_ruler(view, 90);
    std::set<std::string> seen;
    double last = -1e9;
    for (const RulerTick& tick : ruler.ticks) {
      if (tick.label.empty()) continue;
      CHECK(tick.x - last >= 89.99);
      last = tick.x;
      CHECK(seen.insert(tick.label).second);
    }
    CHECK(ruler.ticks.size() < 300);
  }
}

}  // namespace
}  // namespace accelscope::render
