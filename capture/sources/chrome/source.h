// Chrome JSON traces (the "Trace Event Format"), above all those of PyTorch's profiler: an object with "traceEvents" or
// a bare array of events, closed or not, plain or packed with gzip or zstd. Tables and columns: read/tables.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "capture/json/byte_source.h"
#include "capture/sources/base/source.h"

namespace accelscope::capture::sources::chrome {

[[nodiscard]] int probe_chrome_json(std::string_view head, const std::string& path);

// Of PyTorch's profiler: the rank of "distributedInfo".
[[nodiscard]] std::optional<std::uint32_t> rank_in_chrome_json(std::string_view head);

// The whole file, as far as it can be read; what could not is in the quality report. Fails only if it is no JSON at
// all, holds no events, or the sink fails.
Result<void> import_chrome_json(const std::string& path, const ImportOptions& options, EventSink& sink);

struct ChromeReading {
  std::size_t window_bytes = 1U << 20;  // a window and what is made of it fit into a core's cache
  unsigned threads = 0;                 // 0: as many as the machine has, at most 4
};
// The same for bytes from anywhere; `name` is what messages call them.
Result<void> import_chrome_json(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                                const ImportOptions& options, EventSink& sink, const ChromeReading& reading = {});

}  // namespace accelscope::capture::sources::chrome
