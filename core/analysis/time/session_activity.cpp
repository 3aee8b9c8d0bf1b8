#include "core/analysis/time/session_activity.h"

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "core/analysis/neuron/facts/setup_names.h"
#include "core/analysis/time/activity.h"

namespace accelscope {

Result<std::optional<TimeRange>> find_active_stretch(const QueryContext& query) {
  constexpr std::array<std::string_view, 4> kEngines = {"engine", "stream", "cc_core", "collective"};
  std::vector<std::string_view> setup(neuron::kSetupOpcodes.begin(), neuron::kSetupOpcodes.end());
  setup.emplace_back(neuron::kTableLoadOpcode);
  const std::array<std::span<const std::string_view>, 3> choices = {kEngines, neuron::kWorkTrackKinds, {}};
  for (const std::span<const std::string_view> kinds : choices) {
    auto stretch = active_stretch(query, {.track_kinds = kinds, .setup_names = setup});
    if (!stretch || stretch->has_value()) return stretch;
  }
  return std::optional<TimeRange>();
}

}  // namespace accelscope
