// Traces that a profiling tool leaves behind when its program has ended: each becomes a part of the capture, at the
// time at which it was made.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/kinds/program/run.h"

namespace accelscope::capture::kinds::program {

struct ToolRun {
  std::string folder;         // in which the traces lie
  std::int64_t begin_ns = 0;  // of the program, in the capture's time
  std::int64_t end_ns = 0;
};

// The Chrome JSON traces of the folder, packed or not, in the order of their names.
[[nodiscard]] std::vector<std::string> find_tool_traces(const std::string& folder);

// Runs the program under a tool, then reads the traces that it has left in the folder; `none` says why there is none.
[[nodiscard]] Result<void> run_for_traces(const request::KindRun& run, EventSink& sink, ProgramRunOptions options,
                                          const system::ChildStart& start, const std::string& folder,
                                          const std::function<Error()>& none);

// Each in a scope of its own. One that says when it began lies there, others begin with the program, which is told.
// Files that cannot be read are told of too; also after a stop all of them are read. Fails if none can be read, or a
// sink fails.
[[nodiscard]] Result<void> import_tool_traces(const request::KindRun& run, const ToolRun& of, EventSink& told);

}  // namespace accelscope::capture::kinds::program
