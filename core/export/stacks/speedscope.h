// A session as a speedscope file (JSON, https://www.speedscope.app/file-format-schema.json): an evented profile in ns
// for each track with intervals, or for each lane of a track whose lanes are no stack.
#pragma once

#include "core/export/base/export_format.h"

namespace accelscope {

[[nodiscard]] Result<ExportReport> write_speedscope(const ExportRequest& request, ExportOutput& output);

}  // namespace accelscope
