// The tables that tracy-csvexport's become.
#pragma once

#include "capture/sources/tracy_csv/layout.h"
#include "core/model/schema.h"

namespace accelscope::capture::sources::tracy_csv {

// First "source", then "thread" where the file has one, then the columns that are not known, in the file's order; of
// messages their text alone.
[[nodiscard]] Schema tracy_schema(const TracyLayout& layout);
[[nodiscard]] Schema tracy_plot_schema();

}  // namespace accelscope::capture::sources::tracy_csv
