// A session as Parquet: a folder with a file for each of its tables and one of the dependencies, for data frames and
// databases that read columns. Numbers keep their 64 bits, what an event does not have is null.
#pragma once

#include "core/export/base/export_format.h"

namespace accelscope {

[[nodiscard]] Result<ExportReport> write_parquet(const ExportRequest& request, ExportOutput& output);

}  // namespace accelscope
