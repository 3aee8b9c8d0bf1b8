// Text that goes into and comes out of VTune: the table of external intervals that programs write for it, and the
// tables that its command line prints. The host is in the file's name, "phases-hostname-octagon53.csv".
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "capture/sources/base/csv_table.h"
#include "capture/sources/base/import_report.h"
#include "capture/sources/base/importers.h"
#include "capture/sources/base/line_blocks.h"
#include "capture/sources/base/sinks.h"
#include "capture/sources/tracks/unordered_session.h"
#include "core/base/text.h"
#include "core/model/column_spec.h"

namespace accelscope::capture::sources::vtune {
namespace {

using namespace columns;
using tracks::UnorderedSession;

constexpr std::string_view kIntervalHeader = "name,start_tsc.";
constexpr std::int64_t kLargestIntervalTime = std::int64_t{1} << 62;

constexpr ColumnSpec kIntervalColumns[] = {
    {"pid", kInt, "", kIds, "Process", "The process that it is of."},
    {"tid", kInt, "", kIds, "Thread", "The thread that it is of."},
};

constexpr std::size_t kProcessColumn = 0, kThreadColumn = 1;  // a frame is of no thread

enum class IntervalClock : std::uint8_t { ticks, nanoseconds, utc };

[[nodiscard]] IntervalClock clock_of(std::string_view name) noexcept {
  if (name == "UTC") return IntervalClock::utc;
  return name == "CLOCK_MONOTONIC_RAW" ? IntervalClock::nanoseconds : IntervalClock::ticks;
}

// "octagon53" of "phases-hostname-octagon53.csv".
[[nodiscard]] std::string host_of(const std::string& path) {
  constexpr std::string_view kWord = "-hostname-";
  const std::string name = file_name(path);
  const std::size_t at = name.find(kWord);
  if (at == std::string::npos) return {};
  const std::string host = name.substr(at + kWord.size());
  return host.substr(0, host.find(".csv"));
}

class IntervalImport {
 public:
  IntervalImport(const std::string& name, const ImportOptions& options, EventSink& sink)
      : name_(name), options_(options), session_(sink), host_(host_of(name)) {}

  Result<void> run(std::unique_ptr<json::ByteSource> bytes);

 private:
  void take(const CsvTable& table);
  [[nodiscard]] std::optional<std::int64_t> time_of(std::string_view cell) const;
  [[nodiscard]] std::uint32_t row_of(std::optional<std::int64_t> process, std::optional<std::int64_t> thread);

  std::string name_;
  const ImportOptions& options_;
  UnorderedSession session_;
  std::string host_;
  IntervalClock clock_ = IntervalClock::ticks;
  std::uint32_t tasks_ = kNone;
  std::uint32_t frames_ = kNone;
  std::map<std::pair<std::optional<std::int64_t>, std::optional<std::int64_t>>, std::uint32_t> rows_;
  tracks::EventValues values_;
  std::uint64_t bad_times_ = 0;
};

std::optional<std::int64_t> IntervalImport::time_of(std::string_view cell) const {
  const std::optional<std::int64_t> time = clock_ == IntervalClock::utc ? csv_utc_ns(cell) : csv_integer(cell);
  return time && *time >= 0 && *time < kLargestIntervalTime ? time : std::nullopt;
}

// Without a thread it is a frame.
std::uint32_t IntervalImport::row_of(std::optional<std::int64_t> process, std::optional<std::int64_t> thread) {
  const auto [row, added] = rows_.try_emplace({process, thread}, kNone);
  if (!added) return row->second;
  Track track;
  track.kind = thread ? "host_thread" : "layer";
  track.name = thread ? fmt::format("thread {}", *thread) : "frames";
  track.host = host_.empty() ? std::string("host") : host_;
  if (process) track.host += fmt::format(" process {}", *process);
  row->second = session_.add_track(thread ? tasks_ : frames_, std::move(track),
                                   {thread ? tracks::kHostRows : tracks::kMainThreadRows, thread.value_or(0)});
  return row->second;
}

void IntervalImport::take(const CsvTable& table) {
  const std::optional<std::int64_t> begin = time_of(table.cell(std::size_t{1}));
  const std::optional<std::int64_t> end = time_of(table.cell(std::size_t{2}));
  if (!begin || !end) {
    ++bad_times_;
    return;
  }
  const std::optional<std::int64_t> process = csv_integer(table.cell(std::size_t{3}));
  const std::optional<std::int64_t> thread = csv_integer(table.cell(std::size_t{4}));
  values_.clear();
  if (process) values_.integer(kProcessColumn, *process);
  if (thread) values_.integer(kThreadColumn, *thread);
  session_.write(row_of(process, thread), *begin, *end - *begin, session_.intern(table.cell(std::size_t{0})), values_);
}

Result<void> IntervalImport::run(std::unique_ptr<json::ByteSource> bytes) {
  CsvTable table = TRY(CsvTable::open(std::move(bytes), name_, {}));
  constexpr std::size_t kIntervalColumnCount = 5;
  const std::vector<std::string>& names = table.names();
  if (names.size() < kIntervalColumnCount || !names[1].starts_with("start_tsc.")) {
    return Error{name_ + ": its first line is not name,start_tsc.CLOCK,end_tsc,pid,tid"};
  }
  const std::string clock = names[1].substr(std::string_view("start_tsc.").size());
  clock_ = clock_of(clock);
  tasks_ = session_.add_table(
      make_schema({"task", EventKind::slice, "name", "What the program calls it."}, kIntervalColumns));
  frames_ = session_.add_table(make_schema({"frame", EventKind::slice, "name", "What the program calls it."},
                                           std::span(kIntervalColumns, kThreadColumn)));
  while (table.next()) {
    take(table);
    if (session_.cancelled()) return Error{fmt::format("{}: the import was cancelled", name_)};
    if (options_.progress) options_.progress(table.blocks().file_bytes_read(), table.blocks().file_bytes());
  }
  session_.writer().set_meta("source_format", "VTune external intervals");
  session_.writer().set_meta("clock", clock);
  set_row_counts(session_.writer(), "interval", table.rows() + table.bad_rows(), table.rows() - bad_times_);
  ImportReport& report = session_.report();
  report.note_unread("the table of intervals", {names.begin() + kIntervalColumnCount, names.end()});
  report.note("rows_skipped",
              fmt::format("lines that fit the file's header in no way were skipped, the first is line {}",
                          table.first_bad_line()),
              table.bad_rows());
  report.note("rows_skipped", "rows whose times are none, or negative, were skipped", bad_times_);
  report.add(table.blocks());
  if (table.rows() == 0) report.note("no_rows", "the file has a header but no intervals");
  if (clock_ == IntervalClock::ticks) {
    report.note(
        "frequency_missing",
        fmt::format("times are ticks of {}, whose frequency is not in the file: a tick is shown as 1 ns", clock));
  }
  UnorderedSession::Finish finish{.clock = clock, .path = name_};
  if (clock_ == IntervalClock::utc) finish.unix_ns = 0;
  return session_.finish(finish);
}

}  // namespace

int probe_intervals(std::string_view head, const std::string& /*path*/) {
  constexpr int kCertain = 97;
  return head.starts_with(kIntervalHeader) ? kCertain : 0;
}

Result<void> import_intervals(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                              const ImportOptions& options, EventSink& sink) {
  return IntervalImport(name, options, sink).run(std::move(bytes));
}

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
  std::size_t retained = 0;
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
      retained += line.size() + cells.size() * sizeof(std::string);
      if (!fits || retained > kMostReportBytes) {
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

}  // namespace accelscope::capture::sources::vtune
