#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/output/output_file.h"
#include "app/terminal/command.h"
#include "app/terminal/filter_options.h"
#include "app/workspace/opening.h"
#include "core/analysis/figures/metrics.h"
#include "core/export/base/export_format.h"
#include "core/export/json_tables.h"
#include "core/store/store.h"

namespace accelscope::app::commands {

// A session's figures in the two forms of neuron-profile's `view`: text of one figure a line by group, and JSON
// {"n_<40 hex digits>": {figure: value}}. Both have a block for every device (core, rank) or compiled graph, and carry
// the vendor's value beside ours where both exist.
struct PrintedSummary {
  std::string title;
  std::string key;  // "n_" and 40 hex digits that name the contents
  std::vector<analysis::SessionMetric> metrics;
  std::vector<std::pair<std::string, std::uint64_t>> event_counts;  // by schema
  std::uint64_t event_count = 0;
  std::int64_t duration_ns = 0;
  std::string extent;   // both in words
  std::string verdict;  // what bounds it, its worst source line, what its data lack; "" of chosen events
  std::string filter;   // what of it is meant: "1,204 of 38,412 events pass"; "" for all
};

// With a filter the figures are ours alone, and of the events that pass, but for those that say they are not.
[[nodiscard]] Result<PrintedSummary> printed_summary(const Store& store, const std::string& title,
                                                     const terminal::SessionFilter& filter = {});

// The figure itself is the vendor's value where it states one, else ours. "accelscope" holds every figure that we
// compute and the session's own, so that scripts written for the vendor's tool go on working and can compare.
void write_summary_json(std::ostream& out, const std::vector<PrintedSummary>& summaries);

// Figures by group: name, vendor's value, ours, difference. '!' marks more than 1 %, "±" how far ours may lie beside
// the truth where that is more than 0.1 %. The last lines of a block say how many agree.
void write_summary_text(std::ostream& out, const std::vector<PrintedSummary>& summaries);

// `view --bundle F.tar`: what the tools of tt-metal write of a run, in one archive, under names with the time:
// statistics of zones as text and CSV, time stamps by core, the operations report, the report in the style of tt-perf,
// the figures and the data-quality report. What the session cannot give is left out and named.
struct BundleRequest {
  std::vector<std::string> inputs;  // of several one session is made
  workspace::OpenSessionOptions input_options;
  std::string bundle;
  terminal::FilterOptions filter;
  bool force = false;
};

[[nodiscard]] int view_bundle(const BundleRequest& request, const terminal::CommandRun& run);

// `view --output-format FORMAT` for the formats of core/export/formats: the session, a range or what passes a filter.
struct ExportViewRequest {
  std::vector<std::string> inputs;  // of several one session is made
  workspace::OpenSessionOptions input_options;
  const exporting::ExportFormat* format = nullptr;
  std::string output_file;  // "": named after the input
  terminal::FilterOptions filter;
  bool force = false;
};

// An exit code.
[[nodiscard]] int view_export(const ExportViewRequest& request, const terminal::CommandRun& run);

// `view --output-format json`: a session as the vendor's JSON tables, and a folder of results as one such file for each
// of its profiles.
struct JsonViewRequest {
  std::vector<std::string> inputs;
  workspace::OpenSessionOptions input_options;
  std::string output_file;  // "": the vendor's default name; a folder for several
  terminal::FilterOptions filter;
  bool force = false;
  bool memory_tracker = false;
};

// An exit code.
[[nodiscard]] int view_json(const JsonViewRequest& request, const terminal::CommandRun& run);

// All that passes the filter, as those tables.
[[nodiscard]] Result<exporting::JsonExportReport> write_json_tables(const Store& store,
                                                                    const terminal::SessionFilter& filter,
                                                                    output::OutputFile& output,
                                                                    const std::string& title,
                                                                    const terminal::CommandRun& run);

// What --enable-memory-tracker finds in this session, in a sentence.
[[nodiscard]] std::string memory_tracker_note(const Snapshot& snapshot);

// `view --table NAME`: one table of a session, as a panel shows it: a listing (core/listing), else a table of
// SQL.
struct TableViewRequest {
  std::vector<std::string> inputs;  // of several one session is made
  workspace::OpenSessionOptions input_options;
  std::string table;
  std::vector<std::string> by;     // of a listing that has a choice
  std::string value;               // likewise, what it measures
  terminal::FilterOptions filter;  // of a listing
  std::string format = "table";    // or csv, json
  std::string output_file;         // "": the standard output
  bool force = false;
};

// An exit code. An unknown table is an error that names those like it, and those that there are.
[[nodiscard]] int view_table(const TableViewRequest& request, const terminal::CommandRun& run);

}  // namespace accelscope::app::commands
