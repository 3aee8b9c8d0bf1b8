// Traces as Tracy saves them (.tracy), of Tracy 0.9 to 0.14 and tt-metal's variants, packed by LZ4 or zstd; also packed
// once more as a whole. Tables: those of read/tables.h, and dependency. Times are ns since the trace's start, ticks of
// a clock of its own.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "capture/json/byte_source.h"
#include "capture/sources/base/source.h"

namespace accelscope::capture::sources::tracy {

[[nodiscard]] int probe_tracy(std::string_view head, const std::string& path);

// The whole trace, as far as it can be read; what could not is in the quality report. Fails if it is no such trace, is
// of a version that is not known, was cancelled, or the sink fails.
Result<void> import_tracy(const std::string& path, const ImportOptions& options, EventSink& sink);
// The same for bytes from anywhere; `name` is what messages call them.
Result<void> import_tracy(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                          const ImportOptions& options, EventSink& sink);

}  // namespace accelscope::capture::sources::tracy
