// Trees of Triton's profiler Proton (.hatchet).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "capture/json/byte_source.h"
#include "capture/sources/base/source.h"

namespace accelscope::capture::sources::proton {

[[nodiscard]] int probe_hatchet(std::string_view head, const std::string& path);
Result<void> import_hatchet(const std::string& path, const ImportOptions& options, EventSink& sink);
Result<void> import_hatchet(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                            const ImportOptions& options, EventSink& sink);

}  // namespace accelscope::capture::sources::proton
