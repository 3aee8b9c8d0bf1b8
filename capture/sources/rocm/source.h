// What ROCm's profilers write. Each format is a folder below this one; here is how files of them are recognised and
// read.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "capture/json/byte_source.h"
#include "capture/sources/base/source.h"

namespace accelscope::capture::sources::rocm {

[[nodiscard]] int probe_rocpd(std::string_view head, const std::string& path);
Result<void> import_rocpd(const std::string& path, const ImportOptions& options, EventSink& sink);
[[nodiscard]] std::string run_of_rocpd(const std::string& path);

// "node1/908" of "node1/908_results.db", "node1/908_results.json" and "node1/908_kernel_trace.csv".
[[nodiscard]] std::string output_of_rocprofv3(const std::string& path);

[[nodiscard]] int probe_rpd(std::string_view head, const std::string& path);
Result<void> import_rpd(const std::string& path, const ImportOptions& options, EventSink& sink);

[[nodiscard]] int probe_rocprof_compute(std::string_view head, const std::string& path);
Result<void> import_rocprof_compute(const std::string& path, const ImportOptions& options, EventSink& sink);

[[nodiscard]] int probe_rocprofv3_json(std::string_view head, const std::string& path);
Result<void> import_rocprofv3_json(const std::string& path, const ImportOptions& options, EventSink& sink);
[[nodiscard]] std::string run_of_rocprofv3_json(const std::string& path);
// The same for bytes from anywhere; `name` is what messages call them.
Result<void> import_rocprofv3_json(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                                   const ImportOptions& options, EventSink& sink);

[[nodiscard]] int probe_rocprofv3_csv(std::string_view head, const std::string& path);
Result<void> import_rocprofv3_csv(const std::string& path, const ImportOptions& options, EventSink& sink);
[[nodiscard]] std::string run_of_rocprofv3_csv(const std::string& path);
Result<void> import_rocprofv3_csv(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                                  const ImportOptions& options, EventSink& sink);

// Of rocprof, the profiler before rocprofv3: its table of kernels, and its database.
[[nodiscard]] int probe_rocprof_csv(std::string_view head, const std::string& path);
Result<void> import_rocprof_csv(const std::string& path, const ImportOptions& options, EventSink& sink);
[[nodiscard]] int probe_rocprof_database(std::string_view head, const std::string& path);
Result<void> import_rocprof_database(const std::string& path, const ImportOptions& options, EventSink& sink);
[[nodiscard]] std::string output_of_rocprof(const std::string& path);  // "out/results" of "out/results.csv"

}  // namespace accelscope::capture::sources::rocm
