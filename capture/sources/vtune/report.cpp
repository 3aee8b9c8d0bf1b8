// Reports.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "capture/sources/base/csv_table.h"
#include "capture/sources/base/import_report.h"
#include "capture/sources/base/line_blocks.h"
#include "capture/sources/vtune/source.h"
#include "core/base/text.h"
#include "core/model/column_spec.h"

namespace accelscope::capture::sources::vtune {
namespace {

constexpr std::size_t kMostReportBytes = 256U << 20;
constexpr std::string_view kOutside = "[Outside any task]";

// What reports are of: their first column.
constexpr std::array<std::string_view, 18> kGroupings = {"Computing Task",
                                                         "Function",
                                                         "Source Function",
                                                         "Module",
                                                         "Thread",
                                                         "Process",
                                                         "Call Stack",
                                                         "Task Type",
                                                         "Frame Domain",
                                                         "Source File",
                                                         "Source Line",
                                                         "Sync Object",
                                                         "Barrier",
                                                         "Package",
                                                         "Source Computing Task",
                                                         "GPU Computing Task",
                                                         "Loop",
                                                         "Core"};
// What their figures are called, or begin with.
constexpr std::array<std::string_view, 14> kFigureWords = {
    "CPU Time",   "Computing Task", "Work Size", "Total Time",           "XVE",       "EU Array",     "GPU ",
    "Clockticks", "Task Time",      "Wait Time", "Instructions Retired", "Effective", "Elapsed Time", "Time"};

// Tabs unless the tool was told otherwise.
[[nodiscard]] char separator_of_report(std::string_view header) noexcept {
  for (const char candidate : {'\t', ';', ','}) {
    if (header.find(candidate) != std::string_view::npos) return candidate;
  }
  return ',';
}

// "GPU Memory Bandwidth, GB/sec:Read" is one name: what follows a comma and a blank goes on.
[[nodiscard]] std::vector<std::string> report_names(std::string_view header, char separator) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= header.size();) {
    const std::size_t end = std::min(header.find(separator, at), header.size());
    const std::string_view cell = header.substr(at, end - at);
    if (separator == ',' && !names.empty() && cell.starts_with(' ')) {
      names.back().append(",").append(cell);
    } else {
      std::string_view name = trimmed(cell);
      if (name.size() > 1 && name.front() == '"' && name.back() == '"') name = name.substr(1, name.size() - 2);
      names.emplace_back(name);
    }
    at = end + 1;
  }
  return names;
}

[[nodiscard]] bool is_report_header(const std::vector<std::string>& names) {
  if (names.size() < 2 || std::find_if(kGroupings.begin(), kGroupings.end(), [&](std::string_view grouping) {
                            return names.front().starts_with(grouping);
                          }) == kGroupings.end()) {
    return false;
  }
  return std::any_of(names.begin() + 1, names.end(), [](const std::string& name) {
    return std::any_of(kFigureWords.begin(), kFigureWords.end(),
                       [&](std::string_view word) { return name.starts_with(word); });
  });
}

[[nodiscard]] std::string_view unit_of_report(std::string_view name) noexcept {
  struct Unit {
    std::string_view word;
    std::string_view unit;
  };
  constexpr std::array kUnits = {Unit{"GB/sec", "GB/s"}, Unit{"(%)", "%"}, Unit{"Ratio", "%"}, Unit{"Time", "s"}};
  for (const Unit& unit : kUnits) {
    if (name.find(unit.word) != std::string_view::npos) return unit.unit;
  }
  return {};
}

struct ReportRows {
  std::vector<std::vector<std::string>> rows;
  std::uint64_t bad = 0;
  std::uint64_t outside = 0;
  std::string failure;
};

}  // namespace

int probe_report(std::string_view head, const std::string& /*path*/) {
  constexpr int kLikely = 60;
  const std::string_view header = trimmed(head.substr(0, std::min(head.find('\n'), head.size())));
  return is_report_header(report_names(header, separator_of_report(header))) ? kLikely : 0;
}

// Reports are small: a row for each function or task. They are read whole, for columns are of what all rows hold.
Result<void> import_report(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                           const ImportOptions& options, EventSink& sink) {
  LineBlocks blocks(std::move(bytes));
  std::vector<char> buffer;
  std::vector<std::string> names;
  ReportRows found;
  char separator = '\t';
  std::size_t kept = 0;
  for (std::string_view text = blocks.next(buffer); !text.empty(); text = blocks.next(buffer)) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (names.empty()) {
        separator = separator_of_report(line);
        names = report_names(line, separator);
        if (!is_report_header(names)) {
          return Error{
              name +
              ": its first line has no columns of a VTune report; print one with vtune -report hotspots -format csv"};
        }
        continue;
      }
      if (trimmed(line).empty()) continue;
      std::vector<std::string> cells;
      const bool fits = split_csv(line, separator, cells) && cells.size() <= names.size();
      cells.resize(std::min(cells.size(), kMostFileColumns + 1));
      kept += line.size() + cells.size() * sizeof(std::string);
      if (!fits || kept > kMostReportBytes) {
        ++found.bad;
      } else if (cells.front() == kOutside) {
        ++found.outside;
      } else {
        cells.resize(std::min(names.size(), kMostFileColumns + 1));
        found.rows.push_back(std::move(cells));
      }
    }
    if (options.progress) options.progress(blocks.file_bytes_read(), blocks.file_bytes());
  }
  if (names.empty()) return Error{fmt::format("{}: the file is empty; was its writer stopped early?", name)};

  ImportReport report;
  report.note_columns("report", std::span(names).subspan(1));
  names.resize(std::min(names.size(), kMostFileColumns + 1));
  Schema schema = make_schema({"report", EventKind::table, names.front(), "What the row is of."});
  std::vector<bool> whole(names.size(), true);
  std::vector<bool> number(names.size(), true);
  for (const std::vector<std::string>& cells : found.rows) {
    for (std::size_t i = 1; i < cells.size(); ++i) {
      if (cells[i].empty()) continue;
      whole[i] = whole[i] && csv_integer(cells[i]).has_value();
      number[i] = number[i] && csv_real(cells[i]).has_value();
    }
  }
  for (std::size_t i = 1; i < names.size(); ++i) {
    Column column;
    column.name = names[i];
    column.type = whole[i] ? ColumnType::int64 : number[i] ? ColumnType::float64 : ColumnType::string;
    if (number[i]) column.unit = unit_of_report(names[i]);
    schema.columns.push_back(std::move(column));
  }
  SessionWriter writer(sink);
  const SchemaNumber table = writer.add_schema(schema);
  const TrackNumber track = writer.add_track({.name = "Report", .kind = "table", .device = "VTune", .schema = table});
  for (const std::vector<std::string>& cells : found.rows) {
    if (writer.cancelled()) return Error{fmt::format("{}: the import was cancelled", name)};
    Row row = writer.begin_event(track, 0, 0, writer.intern(cells.front()));
    for (std::size_t i = 1; i < cells.size(); ++i) {
      if (cells[i].empty()) continue;
      if (whole[i]) {
        row.integer(i - 1, *csv_integer(cells[i]));
      } else if (number[i]) {
        row.real(i - 1, *csv_real(cells[i]));
      } else {
        row.string(i - 1, writer.intern(cells[i]));
      }
    }
  }
  writer.set_meta("source_format", "VTune report");
  const std::uint64_t bad = found.bad + blocks.long_lines();
  set_row_counts(writer, "report", found.rows.size() + found.outside + bad, found.rows.size());
  report.note("rows_skipped", "lines that fit the file's header in no way were skipped", bad);
  report.note("rows_left_out", "rows of time outside any task were left out: they are of no task", found.outside);
  report.add(blocks);
  if (found.rows.empty()) report.note("no_rows", "the report has a header but no rows");
  report.write(writer);
  return writer.finish();
}

Result<void> import_report(const std::string& path, const ImportOptions& options, EventSink& sink) {
  Result<std::unique_ptr<json::ByteSource>> source = json::ByteSource::open(path);
  if (!source) return source.error();
  return import_report(std::move(source).value(), path, options, sink);
}

}  // namespace accelscope::capture::sources::vtune
