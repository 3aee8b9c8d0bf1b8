// What unitrace prints: lines of commands with their times, and tables of figures.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "capture/json/byte_source.h"
#include "capture/sources/base/source.h"

namespace accelscope::capture::sources::unitrace {

[[nodiscard]] int probe_unitrace(std::string_view head, const std::string& path);
Result<void> import_unitrace(const std::string& path, const ImportOptions& options, EventSink& sink);
Result<void> import_unitrace(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                             const ImportOptions& options, EventSink& sink);

}  // namespace accelscope::capture::sources::unitrace
