// Text that goes into and comes out of VTune: the table of external intervals that programs write for it, and the
// tables that its command line prints.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "capture/json/byte_source.h"
#include "capture/sources/base/source.h"

namespace accelscope::capture::sources::vtune {

[[nodiscard]] int probe_intervals(std::string_view head, const std::string& path);
[[nodiscard]] int probe_report(std::string_view head, const std::string& path);
// The host is in the file's name, "phases-hostname-octagon53.csv".
Result<void> import_intervals(const std::string& path, const ImportOptions& options, EventSink& sink);
Result<void> import_intervals(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                              const ImportOptions& options, EventSink& sink);
Result<void> import_report(const std::string& path, const ImportOptions& options, EventSink& sink);
Result<void> import_report(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                           const ImportOptions& options, EventSink& sink);

// ns since 1970 of "2013-08-28 01:02:03.0004"; nothing if it is no such time.
[[nodiscard]] std::optional<std::int64_t> unix_ns_of_utc(std::string_view text) noexcept;

}  // namespace accelscope::capture::sources::vtune
