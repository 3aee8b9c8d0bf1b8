// An operations report as tt-metal's own tools write it, with the headers that those tools document: of a session that
// was read from such a report every cell of it, of one that was read from a device log what its zones tell of each run.
//
// Of a log: GLOBAL CALL COUNT is the run host ID. The firmware's and the kernels' durations reach from the first begin
// of a zone *-FW (*-KERNEL) on any core and processor to the last end; those of a processor are over its own zones
// alone; per core minimum, maximum and average are over the spans of the cores; OP TO OP LATENCY is from the end of the
// run before on the same chip, 0 for the first. Everything that only the host knows stays empty, and the report says
// so.
#pragma once

#include "core/export/base/export_format.h"

namespace accelscope::tenstorrent {

[[nodiscard]] bool has_operations(const Snapshot& snapshot);  // of a report, or zones of a log
[[nodiscard]] Result<ExportReport> write_ops_csv(const ExportRequest& request, ExportOutput& output);

// A row for each core and its time stamps beside each other: a column for the begin and the end of every zone of each
// processor, in cycles, as often as it came. Beyond kMostStampColumns further ones are left out and counted.
inline constexpr std::size_t kMostStampColumns = 4'096;
[[nodiscard]] bool has_zones(const Snapshot& snapshot);
[[nodiscard]] Result<ExportReport> write_rearranged_csv(const ExportRequest& request, ExportOutput& output);

}  // namespace accelscope::tenstorrent
