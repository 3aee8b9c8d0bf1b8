// What tracy-csvexport writes of a Tracy trace, plain or packed with gzip or zstd: every zone (-u) with the samples of
// plots (-p), every zone of GPUs (-g), messages (-m), or statistics of the places in the source. Also the variants with
// further columns that tt-metal makes of it (tracy_ops_times.csv, tracy_ops_data.csv). Tables: tracy_zone, tracy_plot,
// tracy_gpu_zone, tracy_message, tracy_statistics. Times are ns since the trace's start, ticks of a clock of its own.
#pragma once

#include <memory>
#include <string>

#include "capture/json/byte_source.h"
#include "capture/sources/base/source.h"

namespace accelscope::capture::sources::tracy_csv {

[[nodiscard]] int probe_tracy_csv(std::string_view head, const std::string& path);

// The whole file, as far as it can be read; what could not is in the quality report. Fails only if it is no such
// table, was cancelled, or the sink fails.
Result<void> import_tracy_csv(const std::string& path, const ImportOptions& options, EventSink& sink);
// The same for bytes from anywhere; `name` is what messages call them.
Result<void> import_tracy_csv(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                              const ImportOptions& options, EventSink& sink);

}  // namespace accelscope::capture::sources::tracy_csv
