#include "render/timeline/strip_crew.h"

#include <algorithm>

namespace accelscope::render {
namespace {

constexpr std::size_t kWorthSharing = 12;  // lanes; fewer are built sooner than a thread wakes up
constexpr std::size_t kLanesPerTurn = 4;

}  // namespace

void StripCrew::build(std::span<const StripTask> tasks, const TimeView& view) {
  const auto build_some = [&](std::size_t turn, std::size_t worker) {
    const std::size_t end = std::min(tasks.size(), (turn + 1) * kLanesPerTurn);
    for (std::size_t i = turn * kLanesPerTurn; i < end; ++i) {
      builders_[worker].build(*tasks[i].lane, tasks[i].detail, view, *tasks[i].strip, tasks[i].shade);
    }
  };
  const std::size_t turns = (tasks.size() + kLanesPerTurn - 1) / kLanesPerTurn;
  if (tasks.size() < kWorthSharing) {
    for (std::size_t turn = 0; turn < turns; ++turn) build_some(turn, 0);
    return;
  }
  builders_.resize(pool_.concurrency());
  TaskControl control;
  pool_.for_each(turns, control, build_some, Priority::drawing);
}

}  // namespace accelscope::render
