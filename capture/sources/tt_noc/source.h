// What tt-metal records of its chips' networks (noc_trace_dev<N>_*.json), and what tt-npe makes of it by simulation
// (the timeline that it writes for a visualizer).
//
// A trace is a list of records: begins and ends of kernels by core and processor, and what each processor asks of the
// network. They become the tables "zone" and "noc_event", on rows of cores called by their places, which the chip's
// grid shows as well. A barrier's two records become one event, which waits. A request has no end in the file: it is an
// instant. A timeline has transfers with begin and end ("noc_transfer"), the demand on every link ("link_demand"), and
// the networks' use over time (counters).
//
// Times are cycles. Traces do not tell a frequency: a cycle is shown as 1 ns, and the report says so; timelines name
// the chip, whose nominal clock is taken.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "capture/json/byte_source.h"
#include "capture/sources/base/source.h"

namespace accelscope::capture::sources::tt_noc {

[[nodiscard]] int probe_noc_trace(std::string_view head, const std::string& path);
[[nodiscard]] int probe_npe_timeline(std::string_view head, const std::string& path);
// The file's name may tell the device of a trace, "dev3"; else its records do.
Result<void> import_noc_trace(const std::string& path, const ImportOptions& options, EventSink& sink);
Result<void> import_noc_trace(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                              const ImportOptions& options, EventSink& sink);
Result<void> import_npe_timeline(const std::string& path, const ImportOptions& options, EventSink& sink);
Result<void> import_npe_timeline(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                                 const ImportOptions& options, EventSink& sink);

}  // namespace accelscope::capture::sources::tt_noc
