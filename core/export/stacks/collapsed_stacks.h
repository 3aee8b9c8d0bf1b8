// A session as collapsed stacks: a line for each stack that occurs, "host;thread;outer;inner 1204", with the ns that
// its innermost frame took itself. The first frames are the host or device and the track. Of tracks whose lanes are
// levels of a stack these are the frames; other events have their layer or their recorded stack above them. Of events
// that a range cuts only what lies in it counts.
#pragma once

#include "core/export/base/export_format.h"

namespace accelscope {

[[nodiscard]] Result<ExportReport> write_collapsed(const ExportRequest& request, ExportOutput& output);

}  // namespace accelscope
