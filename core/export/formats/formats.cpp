#include "core/export/formats/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/export/base/writers.h"
#include "core/export/json_tables.h"
#include "core/export/neuron/neuron_json.h"

namespace accelscope::exporting {
namespace {

Result<ExportReport> write_json(const ExportRequest& request, ExportOutput& output) {
  if (!neuron::is_neuron_session(*request.query.snapshot)) {
    return Error{"the session has no tables of a Neuron profile, which JSON tables are made of"};
  }
  JsonExport json{request.query, {}, request.range, request.progress};
  json.forms = neuron::json_forms(*request.query.snapshot);
  const auto written = export_json(json, [&](std::string_view text) { return output.write(text); });
  if (!written) return written.error();
  return ExportReport{written->rows, written->bytes, written->losses()};
}

constexpr std::array kFormats = {
    ExportFormat{.name = "json",
                 .title = "JSON tables",
                 .suffix = ".json",
                 .summary = "of Neuron profiles every table with all its columns, as the vendor writes them",
                 .applies = neuron::is_neuron_session,
                 .write = write_json},
    ExportFormat{.name = "perfetto",
                 .title = "Perfetto trace",
                 .suffix = ".pftrace",
                 .summary = "tracks, slices with arguments and counters for ui.perfetto.dev",
                 .binary = true,
                 .needs_times = true,
                 .write = write_perfetto},
    ExportFormat{.name = "chrome",
                 .title = "Chrome JSON trace",
                 .suffix = ".trace.json",
                 .summary = "the same for every viewer and script that reads the Trace Event Format",
                 .needs_times = true,
                 .write = write_chrome},
    ExportFormat{.name = "speedscope",
                 .title = "speedscope profile",
                 .suffix = ".speedscope.json",
                 .summary = "stacks over time, a profile for each track, for speedscope.app",
                 .needs_times = true,
                 .write = write_speedscope},
    ExportFormat{.name = "collapsed",
                 .title = "Collapsed stacks",
                 .suffix = ".collapsed.txt",
                 .summary = "a line for each stack with the ns it took itself, for flame graphs",
                 .needs_times = true,
                 .write = write_collapsed},
    ExportFormat{.name = "csv",
                 .title = "CSV",
                 .suffix = ".csv",
                 .summary = "all events in one file; where a folder is named, a file for each table",
                 .shape = ExportShape::either,
                 .write = write_csv},
    ExportFormat{.name = "parquet",
                 .title = "Parquet",
                 .suffix = ".parquet",
                 .summary = "a folder with a file for each table, for data frames",
                 .shape = ExportShape::folder,
                 .binary = true,
                 .write = write_parquet},
    ExportFormat{.name = "vtune-csv",
                 .title = "VTune external intervals",
                 .suffix = ".csv",
                 .summary = "tasks by threads for VTune; let the name end with -hostname-HOST.csv",
                 .needs_times = true,
                 .write = write_vtune_csv},
    ExportFormat{.name = "ops-csv",
                 .title = "tt-metal operations report",
                 .suffix = ".ops.csv",
                 .summary = "a row for each operation with the headers that tt-metal's tools document",
                 .applies = tenstorrent::has_operations,
                 .write = tenstorrent::write_ops_csv},
    ExportFormat{.name = "rearranged-csv",
                 .title = "tt-metal time stamps by core",
                 .suffix = ".rearranged.csv",
                 .summary = "a row for each core with the begins and ends of its zones in cycles",
                 .applies = tenstorrent::has_zones,
                 .write = tenstorrent::write_rearranged_csv},
};

}  // namespace

std::span<const ExportFormat> export_formats() noexcept { return kFormats; }

Result<void> check_export(const ExportFormat& format, const Snapshot& snapshot) {
  if (!format.needs_times) return {};
  bool has_rows = false;
  for (const LaneSnapshot& lane : snapshot.lanes) {
    if (lane.event_count == 0) continue;
    if (lane.data->kind != EventKind::table) return {};
    has_rows = true;
  }
  if (!has_rows) return {};
  return Error{
      fmt::format("the session has tables without times, which {} has no place for; write csv, parquet, db, "
                  "html or markdown, or print one with --table",
                  format.name)};
}

const ExportFormat* find_export_format(std::string_view name) noexcept {
  const auto found = std::ranges::find_if(kFormats, [&](const ExportFormat& f) { return f.name == name; });
  return found == kFormats.end() ? nullptr : &*found;
}

}  // namespace accelscope::exporting
