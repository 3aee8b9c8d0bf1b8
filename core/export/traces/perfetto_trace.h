// A session as a Perfetto trace (protobuf): tracks under their hosts and devices in the session's order, slices with
// names, categories (the event's table) and arguments (its columns, exact), counters, and dependencies as flows. Tracks
// whose lanes are levels of a stack are one track; lanes that overlap in other ways are sibling tracks that Perfetto
// draws as one.
#pragma once

#include "core/export/base/export_format.h"

namespace accelscope {

[[nodiscard]] Result<ExportReport> write_perfetto(const ExportRequest& request, ExportOutput& output);

}  // namespace accelscope
