#include "app/content/hierarchy/measures.h"

#include <fmt/format.h>

#include "core/base/format.h"

namespace accelscope::app {
namespace {

struct Step {
  double divisor;
  std::string_view unit;
};
constexpr std::array kFlopSteps = std::to_array<Step>(
    {{1e15, "PFLOP"}, {1e12, "TFLOP"}, {1e9, "GFLOP"}, {1e6, "MFLOP"}, {1e3, "kFLOP"}, {1, "FLOP"}});
constexpr std::array kByteSteps = std::to_array<Step>(
    {{1099511627776.0, "TiB"}, {1073741824.0, "GiB"}, {1048576.0, "MiB"}, {1024.0, "KiB"}, {1, "B"}});

template <typename Steps>
MeasureScale fitting_step(const Steps& steps, double value) noexcept {
  for (const Step& step : steps) {
    if (value >= step.divisor) return {step.divisor, step.unit};
  }
  return {steps.back().divisor, steps.back().unit};
}

}  // namespace

MeasureScale scale_of(LayerMeasure measure, double largest) noexcept {
  if (measure == LayerMeasure::flops) return fitting_step(kFlopSteps, largest);
  if (measure == LayerMeasure::bytes) return fitting_step(kByteSteps, largest);
  return {};
}

std::string measure_text(LayerMeasure measure, double value) {
  if (measure == LayerMeasure::events) return format_count(static_cast<std::uint64_t>(value));
  const MeasureScale scale = scale_of(measure, value);
  if (scale.unit.empty()) return format_duration(value);
  return fmt::format("{} {}", format_number(value / scale.divisor), scale.unit);
}

}  // namespace accelscope::app
