#include "app/content/hierarchy/measures.h"

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

}  // namespace accelscope::app
