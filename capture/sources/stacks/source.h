// Call stacks of sampled programs, as text: what perf script prints, and collapsed stacks.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "capture/json/byte_source.h"
#include "capture/sources/base/source.h"

namespace accelscope::capture::sources::stacks {

[[nodiscard]] int probe_perf_script(std::string_view head, const std::string& path);
[[nodiscard]] int probe_collapsed(std::string_view head, const std::string& path);
Result<void> import_perf_script(const std::string& path, const ImportOptions& options, EventSink& sink);
Result<void> import_perf_script(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                                const ImportOptions& options, EventSink& sink);
Result<void> import_collapsed(const std::string& path, const ImportOptions& options, EventSink& sink);
Result<void> import_collapsed(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                              const ImportOptions& options, EventSink& sink);

}  // namespace accelscope::capture::sources::stacks
