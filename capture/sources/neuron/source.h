// Neuron Profile JSON: what `neuron-profile view --output-format json` (and summary-json) writes for device and system
// profiles, plain or packed with gzip or zstd. Tables, columns and tracks: read/schemas.h.
#pragma once

#include <memory>
#include <string>

#include "capture/json/byte_source.h"
#include "capture/sources/base/source.h"

namespace accelscope::capture::sources::neuron {

[[nodiscard]] int probe_neuron_json(std::string_view head, const std::string& path);

// The whole file, as far as it can be read; what could not is in the quality report. Fails only if it is no JSON at
// all, holds no table, or the sink fails.
Result<void> import_neuron_json(const std::string& path, const ImportOptions& options, EventSink& sink);

// The same for bytes from anywhere; `name` is what messages call them.
Result<void> import_neuron_json(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                                const ImportOptions& options, EventSink& sink);

}  // namespace accelscope::capture::sources::neuron
