// PyTorch's memory snapshots (torch.cuda.memory._dump_snapshot): pickles, plain or packed with gzip or zstd, of any
// version that wrote segments. Tables: memory (every alloc and free, and the blocks that were there before),
// memory_segment, out_of_memory, memory_snapshot, user_annotation, counter. Times are ns since 1970; without times in
// the file an entry is a microsecond.
#pragma once

#include <memory>
#include <string>

#include "capture/json/byte_source.h"
#include "capture/sources/base/source.h"

namespace accelscope::capture::sources::torch_memory {

[[nodiscard]] int probe_torch_memory(std::string_view head, const std::string& path);

// The whole file, as far as it can be read; what could not is in the quality report. Fails only if it is no memory
// snapshot, holds what could run code, was cancelled, or the sink fails.
Result<void> import_torch_memory(const std::string& path, const ImportOptions& options, EventSink& sink);
// The same for bytes from anywhere; `name` is what messages call them.
Result<void> import_torch_memory(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                                 const ImportOptions& options, EventSink& sink);

}  // namespace accelscope::capture::sources::torch_memory
