#include "render/timeline/ruler.h"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "core/base/format.h"

namespace accelscope::render {
namespace {

TEST_CASE("the ruler's unit follows its step, so that neighbours differ") {
  CHECK(format_tick(1'984'000, 1'000, Unit::ns) == "1,984 µs");
  CHECK(format_tick(1'984'500, 500, Unit::ns) == "1,984.5 µs");
  CHECK(format_tick(1'984'530, 10, Unit::ns) == "1,984,530 ns");
  CHECK(format_tick(1'900'000, 50'000, Unit::ns) == "1,900 µs");
  CHECK(format_tick(1'900'000, 100'000, Unit::ns) == "1.9 ms");
  CHECK(format_tick(-2'000, 1'000, Unit::ns) == "\u22122 µs");
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
