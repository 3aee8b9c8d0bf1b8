#pragma once

#include "core/export/base/export_format.h"

namespace accelscope {

// A session as a Chrome JSON trace (the "Trace Event Format"), for every viewer and script that reads such: slices with
// their columns as arguments, moments, counters and dependencies as flows. Hosts and devices are processes and tracks
// threads, by their names. An import of the file gives the same events, arguments and dependencies again.

// The key of the trace's object that says that it was written here: flows then name the event at either end by its
// name, begin and length ("args" of "s" and "f"), and there are no others than these.
inline constexpr std::string_view kOwnChromeKey = "accelscope";

// The category of moments that are allocations. The metadata "thread_words" of their thread says which argument is
// what.
inline constexpr std::string_view kOwnChromeAllocation = "accelscope allocation";

[[nodiscard]] Result<ExportReport> write_chrome(const ExportRequest& request, ExportOutput& output);

// A session as a Perfetto trace (protobuf): tracks under their hosts and devices in the session's order, slices with
// names, categories (the event's table) and arguments (its columns, exact), counters, and dependencies as flows. Tracks
// whose lanes are levels of a stack are one track; lanes that overlap in other ways are sibling tracks that Perfetto
// draws as one.

[[nodiscard]] Result<ExportReport> write_perfetto(const ExportRequest& request, ExportOutput& output);

}  // namespace accelscope
