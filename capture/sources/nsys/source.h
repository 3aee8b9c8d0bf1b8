// Exports of Nsight Systems: the SQLite file that "nsys export --type sqlite" writes, and reports (.nsys-rep), which
// are the vendor's own affair: its tool converts them where it is installed. Where it is not, the error names the
// command to run elsewhere.
#pragma once

#include <string>
#include <string_view>

#include "capture/sources/base/source.h"

namespace accelscope::capture::sources::nsys {

// By the names of its tables.
[[nodiscard]] int probe_nsys(std::string_view head, const std::string& path);
Result<void> import_nsys(const std::string& path, const ImportOptions& options, EventSink& sink);

// By how the file begins, or its ending.
[[nodiscard]] int probe_nsys_report(std::string_view head, const std::string& path);
Result<void> import_nsys_report(const std::string& path, const ImportOptions& options, EventSink& sink);

}  // namespace accelscope::capture::sources::nsys
