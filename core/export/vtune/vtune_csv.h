// The table of intervals that VTune takes as external data: name,start_tsc.CLOCK,end_tsc,pid,tid. VTune finds the host
// in the file's name, so that it should end with "-hostname-HOST.csv".
//
// Events with a length are tasks of their rows: of a thread whose name tells its number by that, of others by the row's
// number in the session. The clock is UTC where the session knows when it began, else the ns of its own clock, as
// CLOCK_MONOTONIC_RAW. VTune's format has no quotes: commas, quotes and line ends in names become blanks.
#pragma once

#include "core/export/base/export_format.h"

namespace accelscope {

[[nodiscard]] Result<ExportReport> write_vtune_csv(const ExportRequest& request, ExportOutput& output);

// "2013-08-28 01:02:03.000400000" of ns since 1970.
[[nodiscard]] std::string utc_text(std::int64_t unix_ns);

}  // namespace accelscope
