// A session as a Chrome JSON trace (the "Trace Event Format"), for every viewer and script that reads such: slices with
// their columns as arguments, moments, counters and dependencies as flows. Hosts and devices are processes and tracks
// threads, by their names. An import of the file gives the same events, arguments and dependencies again.
#pragma once

#include "core/export/base/export_format.h"

namespace accelscope {

// The key of the trace's object that says that it was written here: flows then name the event at either end by its
// name, begin and length ("args" of "s" and "f"), and there are no others than these.
inline constexpr std::string_view kOwnChromeKey = "accelscope";

// The category of moments that are allocations. The metadata "thread_words" of their thread says which argument is
// what.
inline constexpr std::string_view kOwnChromeAllocation = "accelscope allocation";

[[nodiscard]] Result<ExportReport> write_chrome(const ExportRequest& request, ExportOutput& output);

}  // namespace accelscope
