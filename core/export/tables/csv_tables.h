// A session as CSV by RFC 4180 with lines that end in LF: a file for each table in a folder, or one file of all events
// with the columns of all tables. What an event does not have is empty; an empty text is "".
#pragma once

#include "core/export/base/export_format.h"

namespace accelscope {

[[nodiscard]] Result<ExportReport> write_csv(const ExportRequest& request, ExportOutput& output);

}  // namespace accelscope
