// What sessions are written as: one function for each format, each in a room of its own. core/export/formats offers
// them.
#pragma once

#include "core/export/base/export_format.h"

namespace accelscope::exporting {

// A session as CSV by RFC 4180 with lines that end in LF: a file for each table in a folder, or one file of all events
// with the columns of all tables. What an event does not have is empty; an empty text is "".
[[nodiscard]] Result<ExportReport> write_csv(const ExportRequest& request, ExportOutput& output);

// A session as Parquet: a folder with a file for each of its tables and one of the dependencies, for data frames and
// databases that read columns. Numbers keep their 64 bits, what an event does not have is null.
[[nodiscard]] Result<ExportReport> write_parquet(const ExportRequest& request, ExportOutput& output);

// A session as a Chrome JSON trace (the "Trace Event Format"), for every viewer and script that reads such: slices with
// their columns as arguments, moments, counters and dependencies as flows. Hosts and devices are processes and tracks
// threads, by their names. An import of the file gives the same events, arguments and dependencies again.

// The key of the trace's object that says that it was written here: flows then name the event at either end by its
// name, begin and length ("args" of "s" and "f"), and there are no others than these.
inline constexpr std::string_view kOwnChromeKey = "accelscope";

// The category of moments that are allocations. The metadata "thread_words" of their thread says which argument is
// what.
inline constexpr std::string_view kOwnChromeAllocation = "accelscope allocation";

[[nodiscard]] Result<ExportReport> write_chrome(const ExportRequest& request, ExportOutput& output);

// A session as a Perfetto trace (protobuf): tracks under their hosts and devices in the session's order, slices with
// names, categories (the event's table) and arguments (its columns, exact), counters, and dependencies as flows. Tracks
// whose lanes are levels of a stack are one track; lanes that overlap in other ways are sibling tracks that Perfetto
// draws as one.

[[nodiscard]] Result<ExportReport> write_perfetto(const ExportRequest& request, ExportOutput& output);

// A session as collapsed stacks: a line for each stack that occurs, "host;thread;outer;inner 1204", with the ns that
// its innermost frame took itself. The first frames are the host or device and the track. Of tracks whose lanes are
// levels of a stack these are the frames; other events have their layer or their recorded stack above them. Of events
// that a range cuts only what lies in it counts.
[[nodiscard]] Result<ExportReport> write_collapsed(const ExportRequest& request, ExportOutput& output);

// A session as a speedscope file (JSON, https://www.speedscope.app/file-format-schema.json): an evented profile in ns
// for each track with intervals, or for each lane of a track whose lanes are no stack.
[[nodiscard]] Result<ExportReport> write_speedscope(const ExportRequest& request, ExportOutput& output);

// The table of intervals that VTune takes as external data: name,start_tsc.CLOCK,end_tsc,pid,tid. VTune finds the host
// in the file's name, so that it should end with "-hostname-HOST.csv".
//
// Events with a length are tasks of their rows: of a thread whose name tells its number by that, of others by the row's
// number in the session. The clock is UTC where the session knows when it began, else the ns of its own clock, as
// CLOCK_MONOTONIC_RAW. VTune's format has no quotes: commas, quotes and line ends in names become blanks.
[[nodiscard]] Result<ExportReport> write_vtune_csv(const ExportRequest& request, ExportOutput& output);

// "2013-08-28 01:02:03.000400000" of ns since 1970.
[[nodiscard]] std::string utc_text(std::int64_t unix_ns);

}  // namespace accelscope::exporting

namespace accelscope::exporting::tenstorrent {

// An operations report as tt-metal's own tools write it, with the headers that those tools document: of a session that
// was read from such a report every cell of it, of one that was read from a device log what its zones tell of each run.
//
// Of a log: GLOBAL CALL COUNT is the run host ID. The firmware's and the kernels' durations reach from the first begin
// of a zone *-FW (*-KERNEL) on any core and processor to the last end; those of a processor are over its own zones
// alone; per core minimum, maximum and average are over the spans of the cores; OP TO OP LATENCY is from the end of the
// run before on the same chip, 0 for the first. Everything that only the host knows stays empty, and the report says
// so.
[[nodiscard]] bool has_operations(const Snapshot& snapshot);  // of a report, or zones of a log
[[nodiscard]] Result<ExportReport> write_ops_csv(const ExportRequest& request, ExportOutput& output);

// A row for each core and its time stamps beside each other: a column for the begin and the end of every zone of each
// processor, in cycles, as often as it came. Beyond kMostStampColumns further ones are left out and counted.
inline constexpr std::size_t kMostStampColumns = 4'096;
[[nodiscard]] bool has_zones(const Snapshot& snapshot);
[[nodiscard]] Result<ExportReport> write_rearranged_csv(const ExportRequest& request, ExportOutput& output);

}  // namespace accelscope::exporting::tenstorrent
