// A session, or what passes a filter, as files of an export format (core/export/formats): what the command line and
// File > Export write. Files and folders appear under their names when they are complete; of what was not finished
// nothing stays.
#pragma once

#include <iosfwd>
#include <string>

#include "app/output/output_file.h"
#include "core/export/base/export_format.h"
#include "core/scan/event_mask.h"
#include "core/store/snapshot.h"

namespace accelscope::app::output {

// Whether a format writes a folder to this path: it always does, or it can and the path is a folder, ends with a slash
// or has no suffix.
[[nodiscard]] bool exports_folder(const exporting::ExportFormat& format, const std::string& path);

// The name that an export gets where the user gives none: "kernel.pftrace", or the folder "kernel-parquet".
[[nodiscard]] std::string default_export(const std::string& input, const exporting::ExportFormat& format);

// Why the export may not be written there; nothing to say if it may. What is in a folder is never removed; files of the
// names of tables are replaced, if that was asked for.
[[nodiscard]] Result<void> may_export(const exporting::ExportFormat& format, const std::string& path, bool replace,
                                      const std::vector<std::string>& inputs);

// `standard` is what "-" stands for.
[[nodiscard]] Result<exporting::ExportReport> write_export(const exporting::ExportFormat& format,
                                                           const exporting::ExportRequest& request,
                                                           const std::string& path, std::ostream& standard);

// "Wrote 1,204 events to x.pftrace", and what it could not hold, a sentence each.
[[nodiscard]] std::string export_said(const exporting::ExportReport& report, const std::string& path);

// The data-quality report of a session as text and as JSON: what was skipped, estimated, dropped or missing.

[[nodiscard]] std::string quality_json(const Snapshot& snapshot);  // an array of objects
// One row per schema with its events, then the findings, most severe first.
void print_quality_report(std::ostream& out, const Snapshot& snapshot);

// "1,204 events over 5.3 ms"; of a session of tables without times what these hold.
[[nodiscard]] std::string extent_text(const Snapshot& snapshot, std::uint64_t events, std::int64_t duration_ns);
[[nodiscard]] std::string extent_text(const Snapshot& snapshot);  // of all of it

// Events by schema name, in the order of definition, and what the source says about its rows (meta "source.rows.*").
struct TableCount {
  std::string name;
  std::uint64_t events = 0;
  std::string source_rows;  // "" if the source does not say
  std::string source_read;  // how many of them were read, where they are not all events of the table
};
[[nodiscard]] std::vector<TableCount> table_counts(const Snapshot& snapshot, const EventMask* mask = nullptr);

// For a report without findings: that nothing was skipped is said only where what was read adds up to what the file
// holds.
[[nodiscard]] std::string no_findings(const Snapshot& snapshot);

// The events that pass a filter, as a file: by its suffix .json for the tables of the session under the vendor's field
// names, else CSV, one line per event.

// What was written, in a sentence. The file appears under its name when it is complete.
[[nodiscard]] Result<std::string> write_filtered(const QueryContext& query, const EventFilter& filter,
                                                 const std::string& path);

}  // namespace accelscope::app::output
