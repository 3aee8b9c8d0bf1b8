// tt-metal's device log, profile_log_device.csv, of every shape that the tool has written since 2023, plain or packed
// with gzip or zstd. Tables and columns: read/schemas.h.
//
// Every RISC processor of a core is a track of the chip's; zones are nested in it as its code nests them. A chip's
// cycles are the ticks of its clock, which begins with its first row.
#pragma once

#include <memory>
#include <string>

#include "capture/json/byte_source.h"
#include "capture/sources/base/source.h"

namespace accelscope::capture::sources::tt_metal {

[[nodiscard]] int probe_device_log(std::string_view head, const std::string& path);

// The whole file, as far as it can be read; what could not is in the quality report. Fails only if it is no device
// log, was cancelled, or the sink fails.
Result<void> import_device_log(const std::string& path, const ImportOptions& options, EventSink& sink);

// The same for bytes from anywhere; `name` is what messages call them.
Result<void> import_device_log(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                               const ImportOptions& options, EventSink& sink);

}  // namespace accelscope::capture::sources::tt_metal
