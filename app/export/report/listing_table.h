// A listing as a table of a report: the columns for people, values with their units, the first rows.
#pragma once

#include "app/content/listings/base/listing.h"
#include "core/export/report/report.h"

namespace accelscope::app {

inline constexpr std::size_t kReportRows = 100;
inline constexpr std::size_t kReportCellBytes = 240;  // longer texts are cut in their middle

// Columns in which no row has a value are left out, as are those for programs only.
[[nodiscard]] ReportTable table_of_listing(const Listing& listing, std::size_t most_rows = kReportRows);

}  // namespace accelscope::app
