// Perfetto's own traces (protobuf): what programs write with its SDK, PyTorch, rocprofv3, neuron-profile and others;
// plain, or packed with gzip or zstd. Recognised by their bytes. Tables: those of Chrome JSON traces (kernel, memcpy,
// runtime_call, cpu_op ...; "event" for every other category), "instant", "counter", and "process", "thread",
// "track_descriptor", "gpu" of what the trace says of them. Times are ns of the trace's clock.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "capture/json/byte_source.h"
#include "capture/sources/base/source.h"

namespace accelscope::capture::sources::perfetto {

[[nodiscard]] int probe_perfetto(std::string_view head, const std::string& path);

// The whole file, as far as it can be read; what could not is in the quality report. Fails only if it holds no packet,
// was cancelled, or the sink fails.
Result<void> import_perfetto(const std::string& path, const ImportOptions& options, EventSink& sink);
// The same for bytes from anywhere, which are gone through twice: the beginning, then all of them. `name` is what
// messages call them.
using OpenBytes = std::function<Result<std::unique_ptr<json::ByteSource>>()>;
Result<void> import_perfetto(const OpenBytes& open, const std::string& name, const ImportOptions& options,
                             EventSink& sink);

}  // namespace accelscope::capture::sources::perfetto
