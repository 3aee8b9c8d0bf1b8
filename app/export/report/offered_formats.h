// All formats that a session is exported in: those of core/export/formats, and the reports, which need the listings of
// this storey. What the command line and File > Export offer.
#pragma once

#include <string_view>
#include <vector>

#include "core/export/base/export_format.h"

namespace accelscope::app {

[[nodiscard]] std::vector<const ExportFormat*> offered_formats();
[[nodiscard]] const ExportFormat* find_offered_format(std::string_view name);  // null: unknown

}  // namespace accelscope::app
