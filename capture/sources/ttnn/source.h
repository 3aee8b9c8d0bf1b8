// Memory reports of TTNN (db.sqlite, what ttnn-visualizer opens): operations of a program, their tensors, and the
// buffers that lay in the device's memories behind each operation.
//
// The file tells how long an operation took and not when: they lie one after another, in the order of their numbers.
// A buffer that is listed behind several operations in a row is one allocation; it is made within the first of them and
// released within the one behind the last. Its bytes are those of one bank, which in L1 is one core's memory.
#pragma once

#include <string>
#include <string_view>

#include "capture/sources/base/source.h"

namespace accelscope::capture::sources::ttnn {

[[nodiscard]] int probe_memory_report(std::string_view head, const std::string& path);
Result<void> import_memory_report(const std::string& path, const ImportOptions& options, EventSink& sink);

}  // namespace accelscope::capture::sources::ttnn
