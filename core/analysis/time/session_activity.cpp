#include "core/analysis/time/session_activity.h"

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "core/analysis/time/activity.h"
#include "core/analysis/vendors/vendor.h"
#include "core/model/track_kinds.h"

namespace accelscope {

Result<std::optional<TimeRange>> find_active_stretch(const QueryContext& query) {
  std::vector<std::string_view> setup;
  for (const Vendor& vendor : vendors()) {
    setup.insert(setup.end(), vendor.setup_names.begin(), vendor.setup_names.end());
    if (!vendor.load_name.empty()) setup.push_back(vendor.load_name);
  }
  // What moves data for an engine begins before it works.
  std::vector<std::string_view> engines, works;
  for (const TrackKind& kind : kTrackKinds) {
    if (!is_device_work(kind.work)) continue;
    works.push_back(kind.name);
    if (kind.work != WorkKind::transfer) engines.push_back(kind.name);
  }
  const std::array<std::span<const std::string_view>, 3> choices = {engines, works, {}};
  for (const std::span<const std::string_view> kinds : choices) {
    auto stretch = active_stretch(query, {.track_kinds = kinds, .setup_names = setup});
    if (!stretch || stretch->has_value()) return stretch;
  }
  return std::optional<TimeRange>();
}

}  // namespace accelscope
