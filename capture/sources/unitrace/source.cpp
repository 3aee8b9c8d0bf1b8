// What unitrace prints: lines of commands with their times, and tables of figures.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "capture/sources/base/csv_table.h"
#include "capture/sources/base/importers.h"
#include "capture/sources/base/line_blocks.h"
#include "capture/sources/base/sinks.h"
#include "capture/sources/tracks/gpu_tables.h"
#include "capture/sources/tracks/unordered_session.h"
#include "capture/sources/unitrace/command_name.h"
#include "core/base/text.h"

namespace accelscope::capture::sources::unitrace {
namespace {

// The tables that unitrace prints at the end of a run: a heading between equals signs, a line with the names of the
// columns, and rows up to an empty line. Names of kernels hold commas, so rows are cut from their ends.
class PrintedTables {
 public:
  // A line of the file; false: it is of no table.
  [[nodiscard]] bool take(std::string_view line);
  // A row without time for each row, a track for each table, and figures for lines of totals.
  void write(tracks::UnorderedSession& session) const;
  [[nodiscard]] std::uint64_t rows() const noexcept;
  [[nodiscard]] std::uint64_t bad_rows() const noexcept;
  // Lines under headings of tables that are not known here, by heading.
  [[nodiscard]] const std::map<std::string, std::uint64_t>& unread() const noexcept { return unread_; }

 private:
  struct PrintedTable {
    std::string name;
    std::string heading;  // the nearest one above
    std::vector<std::string> columns;
    std::vector<std::vector<std::string>> rows;
    std::uint64_t bad_rows = 0;
  };
  struct Total {
    std::string name;
    double value = 0;
  };
  [[nodiscard]] bool take_row(std::string_view line);
  [[nodiscard]] bool take_unknown();

  std::string heading_;
  std::string part_;  // "L0 Backend"
  std::vector<PrintedTable> tables_;
  std::vector<Total> totals_;
  std::size_t at_ = SIZE_MAX;  // the table whose rows come
  std::map<std::string, std::uint64_t> unread_;
  std::size_t retained_bytes_ = 0;
};

constexpr std::size_t kMostTableBytes = 64U << 20;
constexpr std::size_t kMostTableColumns = 200;  // it prints a dozen
constexpr std::size_t kMostTables = 200;

// "Device Timing Summary" of "=== Device Timing Summary ===", whatever the number of signs; "" of other lines.
[[nodiscard]] std::string_view heading_of(std::string_view line) {
  line = trimmed(line);
  if (!line.starts_with("==") || !line.ends_with("==") || line.size() < 6) return {};
  const std::size_t begin = line.find_first_not_of('=');
  const std::size_t end = line.find_last_not_of('=');
  return begin == std::string_view::npos ? std::string_view{} : trimmed(line.substr(begin, end - begin + 1));
}

// "device_timing_summary": a name for SQL.
[[nodiscard]] std::string table_name(std::string_view heading) {
  std::string name;
  for (const char character : heading) {
    const char lower = lower_case(character);
    const bool plain = (lower >= 'a' && lower <= 'z') || is_digit(lower);
    if (plain) name += lower;
    if (!plain && !name.empty() && name.back() != '_') name += '_';
  }
  while (name.ends_with('_')) name.pop_back();
  return name.empty() ? "table" : name;
}

[[nodiscard]] std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = text.find_first_not_of(' '); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = text.find_first_not_of(' ', end);
  }
  return words;
}

// Whether the commas between the first cell and so many further ones lie in brackets, as those of names do: of
// arguments and template arguments. A row of another table would end up in the name else, where a file lost what was
// between.
[[nodiscard]] bool commas_are_inside(const std::vector<std::string>& cells, std::size_t further) {
  std::size_t depth = 0;
  for (std::size_t i = 0; i < further; ++i) {
    for (const char character : cells[i]) {
      if (std::string_view("([{<").find(character) != std::string_view::npos) ++depth;
      if (std::string_view(")]}>").find(character) != std::string_view::npos && depth > 0) --depth;
    }
    if (depth == 0) return false;
  }
  return true;
}

bool PrintedTables::take(std::string_view line) {
  if (const std::string_view heading = heading_of(line); !heading.empty()) {
    (line.find("===") != std::string_view::npos ? heading_ : part_) = heading;
    // Some headings have no larger one.
    if (line.find("===") != std::string_view::npos) part_.clear();
    at_ = SIZE_MAX;
    return true;
  }
  if (heading_.empty() && part_.empty()) return false;
  if (trimmed(line).empty()) {
    at_ = SIZE_MAX;
    return true;
  }
  // "Total Execution Time (ns):    5579618203"
  if (const std::size_t colon = line.find("(ns):"); colon != std::string_view::npos && at_ == SIZE_MAX) {
    const auto value = csv_real(line.substr(colon + 5));
    if (!value) return take_unknown();
    totals_.push_back({std::string(trimmed(line.substr(0, colon))), *value});
    return true;
  }
  if (at_ != SIZE_MAX) return take_row(line);
  std::vector<std::string> cells;
  if (!split_csv(line, ',', cells) || cells.size() < 2 || cells.size() > kMostTableColumns ||
      (cells.front() != "Kernel" && cells.front() != "Function")) {
    return take_unknown();
  }
  std::string name = table_name(heading_.empty() || part_.ends_with("Metrics") ? part_ : heading_);
  const auto known = std::find_if(tables_.begin(), tables_.end(), [&](const PrintedTable& table) {
    return table.name == name && table.columns == cells;
  });
  if (known == tables_.end() && tables_.size() == kMostTables) return take_unknown();
  at_ = static_cast<std::size_t>(known - tables_.begin());
  if (known == tables_.end())
    tables_.push_back({std::move(name), part_.empty() ? heading_ : part_, std::move(cells), {}});
  return true;
}

// What follows the tables is a program's own.
bool PrintedTables::take_unknown() {
  const std::string& heading = part_.empty() ? heading_ : part_;
  const bool read =
      std::any_of(tables_.begin(), tables_.end(), [&](const PrintedTable& table) { return table.heading == heading; });
  if (read || (unread_.size() == kMostTables && !unread_.contains(heading))) return false;
  ++unread_[heading];
  return true;
}

bool PrintedTables::take_row(std::string_view line) {
  PrintedTable& table = tables_[at_];
  std::vector<std::string> cells;
  const std::size_t wanted = table.columns.size();
  const bool fits = split_csv(line, ',', cells);
  retained_bytes_ += line.size() + std::min(cells.size(), wanted) * sizeof(std::string);
  if (!fits || retained_bytes_ > kMostTableBytes) {
    ++table.bad_rows;
    return true;
  }
  if (cells.size() < wanted) {
    // Some tables have commas in their header only.
    std::vector<std::string> words = words_of(cells.back());
    cells.pop_back();
    if (cells.size() + words.size() < wanted) {
      ++table.bad_rows;
      return true;
    }
    cells.insert(cells.end(), words.begin(), words.end());
  }
  // What is too much are commas of the name.
  const std::size_t further = cells.size() - wanted;
  if (further > 0 && !commas_are_inside(cells, further)) {
    ++table.bad_rows;
    return true;
  }
  for (std::size_t i = 1; i <= further; ++i) cells[0].append(", ").append(cells[i]);
  cells.erase(cells.begin() + 1, cells.begin() + 1 + static_cast<std::ptrdiff_t>(further));
  table.rows.push_back(std::move(cells));
  return true;
}

std::uint64_t PrintedTables::bad_rows() const noexcept {
  std::uint64_t count = 0;
  for (const PrintedTable& table : tables_) count += table.bad_rows;
  return count;
}

std::uint64_t PrintedTables::rows() const noexcept {
  std::uint64_t count = 0;
  for (const PrintedTable& table : tables_) count += table.rows.size();
  return count;
}

void PrintedTables::write(tracks::UnorderedSession& session) const {
  tracks::EventValues values;
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> rows;  // of the tables of a name: all, read
  for (const PrintedTable& table : tables_) {
    Schema schema;
    schema.name = table.name;
    schema.kind = EventKind::table;
    schema.name_column = table.columns.front();
    for (std::size_t i = 1; i < table.columns.size(); ++i) {
      const auto all = [&](auto reads) {
        return std::all_of(table.rows.begin(), table.rows.end(),
                           [&](const auto& cells) { return cells[i].empty() || reads(cells[i]).has_value(); });
      };
      Column column;
      column.name = table.columns[i];
      column.type = all(csv_integer) ? ColumnType::int64 : all(csv_real) ? ColumnType::float64 : ColumnType::string;
      const std::size_t bracket = column.name.find_last_of("([");
      if (bracket != std::string::npos && column.type != ColumnType::string) {
        column.unit = column.name.substr(bracket + 1, column.name.size() - bracket - 2);
      }
      schema.columns.push_back(std::move(column));
    }
    Track track;
    track.name = table.name;
    track.kind = "table";
    track.device = "unitrace";
    const std::uint32_t row = session.add_track(session.add_table(schema), std::move(track));
    for (const std::vector<std::string>& cells : table.rows) {
      values.clear();
      for (std::size_t i = 1; i < cells.size(); ++i) {
        if (cells[i].empty()) continue;
        if (schema.columns[i - 1].type == ColumnType::int64) {
          values.integer(i - 1, *csv_integer(cells[i]));
        } else if (schema.columns[i - 1].type == ColumnType::float64) {
          values.real(i - 1, *csv_real(cells[i]));
        } else {
          values.string(i - 1, session.intern(cells[i]));
        }
      }
      session.write(row, 0, 0, session.intern(cells.front()), values);
    }
    auto& [all, read] = rows[table.name];
    all += table.rows.size() + table.bad_rows;
    read += table.rows.size();
  }
  for (const auto& [name, counts] : rows) set_row_counts(session.writer(), name, counts.first, counts.second);
  if (!totals_.empty()) set_row_counts(session.writer(), "total", totals_.size(), totals_.size());
  for (const Total& total : totals_) {
    Metric metric;
    metric.name = total.name;
    metric.group = "Time";
    metric.value = total.value;
    metric.unit = "ns";
    session.writer().add_metric(std::move(metric));
  }
}

using namespace columns;
using tracks::GpuTable;
using tracks::KernelColumns;
using tracks::TransferColumns;
using tracks::UnorderedSession;

constexpr std::int64_t kLargestStamp = std::int64_t{1} << 62;
constexpr std::size_t kMostUnread = 1'000;  // values of other names

constexpr ColumnSpec kCommandColumns[] = {
    {"append", kInt, "ns", kTiming, "Append", "When it was put into its list, on the file's own clock."},
    {"submit", kInt, "ns", kTiming, "Submit", "When it was handed to the device, on the file's own clock."},
    {"thread", kInt, "", kIds, "Thread", "The thread that asked for it."},
    {"simd", kInt, "", kLaunch, "SIMD width", "Work items that an instruction does at once."},
};
constexpr std::size_t kCommandColumnCount = std::size(kCommandColumns);
constexpr std::size_t kAppend = 0, kSubmit = 1, kThread = 2, kSimd = 3;

// A line: whose command it is, its name, and its times by what the file calls them.
struct CommandLine {
  std::int64_t thread = 0;
  std::uint64_t device = 0;
  std::string_view name;
  std::optional<std::int64_t> append, submit, start, end;
  std::vector<std::string_view> unread;  // what else it says, by name
};

// Takes the number behind a word.
template <typename Number>
[[nodiscard]] bool take_number(std::string_view& text, std::string_view word, Number& number) {
  const std::size_t at = text.find(word);
  if (at == std::string_view::npos) return false;
  text.remove_prefix(at + word.size());
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

[[nodiscard]] std::optional<CommandLine> read_command(std::string_view line) {
  CommandLine found;
  if (!line.starts_with("Thread ") || !take_number(line, "Thread ", found.thread) ||
      !take_number(line, "Device ", found.device)) {
    return std::nullopt;
  }
  const std::size_t begin = line.find('"');
  const std::size_t end = line.rfind('"');
  if (begin == std::string_view::npos || end == begin) return std::nullopt;
  // " Queue 3 : " may stand before the name.
  const std::string_view further = trimmed(line.substr(0, std::min(begin, line.find(" :"))));
  if (!further.empty()) found.unread.push_back(further.substr(0, further.find(' ')));
  found.name = line.substr(begin + 1, end - begin - 1);
  line.remove_prefix(end + 1);
  const std::size_t unit = line.find("[ns]");
  if (unit == std::string_view::npos) return std::nullopt;
  line.remove_prefix(unit + 4);
  const std::array<std::pair<std::string_view, std::optional<std::int64_t>*>, 5> times = {{{"append", &found.append},
                                                                                           {"queued", &found.append},
                                                                                           {"submit", &found.submit},
                                                                                           {"start", &found.start},
                                                                                           {"end", &found.end}}};
  while (true) {
    line = trimmed(line);
    const std::size_t open = line.find('(');
    const std::size_t close = line.find(')', open);
    if (open == std::string_view::npos || close == std::string_view::npos) break;
    const std::optional<std::int64_t> value = csv_integer(line.substr(0, open));
    const std::string_view word = line.substr(open + 1, close - open - 1);
    bool known = false;
    for (const auto& [name, time] : times) {
      known = known || name == word;
      if (name == word && value && *value >= 0 && *value < kLargestStamp) *time = value;
    }
    if (!known) found.unread.push_back(word);
    line.remove_prefix(close + 1);
  }
  return found.start && found.end ? std::optional(found) : std::nullopt;
}

class UnitraceImport {
 public:
  UnitraceImport(const std::string& name, const ImportOptions& options, EventSink& sink)
      : name_(name), options_(options), session_(sink) {}

  Result<void> run(std::unique_ptr<json::ByteSource> bytes);

 private:
  void take(std::string_view line);
  void write(const CommandLine& line);
  [[nodiscard]] std::uint32_t row_of(const CommandLine& line, CommandKind kind);

  std::string name_;
  const ImportOptions& options_;
  UnorderedSession session_;
  PrintedTables printed_;
  std::array<std::uint32_t, 4> tables_ = {kNone, kNone, kNone, kNone};  // by CommandKind
  std::array<std::size_t, 4> common_ = {KernelColumns::count, TransferColumns::count, TransferColumns::count, 0};
  std::map<std::uint64_t, std::size_t> devices_;  // by handle: the order in which they come
  std::map<std::tuple<std::uint64_t, std::int64_t, CommandKind>, std::uint32_t> rows_;
  tracks::EventValues values_;
  std::uint64_t commands_ = 0;
  std::uint64_t broken_ = 0;
  std::set<std::string, std::less<>> unread_;
  std::uint64_t other_lines_ = 0;
};

std::uint32_t UnitraceImport::row_of(const CommandLine& line, CommandKind kind) {
  const auto [row, added] = rows_.try_emplace({line.device, line.thread, kind}, kNone);
  if (!added) return row->second;
  struct RowWords {
    const char* prefix;
    const char* kind;
  };
  constexpr std::array<RowWords, 4> kWords = {
      {{"", "stream"}, {"memcpy ", "dma_queue"}, {"memset ", "dma_queue"}, {"commands ", "barrier"}}};
  const RowWords& words = kWords[static_cast<std::size_t>(kind)];
  Track track;
  track.device =
      tracks::gpu_name(static_cast<std::int64_t>(devices_.try_emplace(line.device, devices_.size()).first->second));
  track.name = fmt::format("{}thread {}", words.prefix, line.thread);
  track.kind = words.kind;
  row->second = session_.add_track(tables_[static_cast<std::size_t>(kind)], std::move(track),
                                   {tracks::kDeviceRows, static_cast<std::int64_t>(kind)});
  return row->second;
}

void UnitraceImport::write(const CommandLine& line) {
  const CommandName name = read_command_name(line.name);
  const std::size_t own = common_[static_cast<std::size_t>(name.kind)];
  values_.clear();
  if (name.kind == CommandKind::kernel) {
    if (!name.groups.empty()) values_.string(KernelColumns::grid, session_.intern(name.groups));
    if (!name.group_size.empty()) values_.string(KernelColumns::block, session_.intern(name.group_size));
  } else if (name.bytes && name.kind != CommandKind::other) {
    values_.integer(TransferColumns::bytes, *name.bytes);
  }
  if (line.append) values_.integer(own + kAppend, *line.append);
  if (line.submit) values_.integer(own + kSubmit, *line.submit);
  values_.integer(own + kThread, line.thread);
  if (name.simd) values_.integer(own + kSimd, *name.simd);
  session_.write(row_of(line, name.kind), *line.start, *line.end - *line.start, session_.intern(name.name), values_);
  ++commands_;
  for (const std::string_view other : line.unread) {
    if (unread_.size() < kMostUnread && !unread_.contains(other)) unread_.emplace(other);
  }
}

void UnitraceImport::take(std::string_view line) {
  if (const std::optional<CommandLine> command = read_command(line)) return write(*command);
  if (line.starts_with("Thread ") && line.find(" Device ") != std::string_view::npos) {
    ++broken_;
  } else if (!printed_.take(line) && !trimmed(line).empty()) {
    ++other_lines_;
  }
}

Result<void> UnitraceImport::run(std::unique_ptr<json::ByteSource> bytes) {
  tables_[0] = session_.add_table(make_gpu_schema(GpuTable::kernel, kCommandColumns));
  tables_[1] = session_.add_table(make_gpu_schema(GpuTable::memcpy, kCommandColumns));
  tables_[2] = session_.add_table(make_gpu_schema(GpuTable::memset, kCommandColumns));
  tables_[3] = session_.add_table(make_schema({"device_command", EventKind::slice, "name", "What the device was told."},
                                              std::span(kCommandColumns, kCommandColumnCount)));
  LineBlocks blocks(std::move(bytes));
  std::vector<char> buffer;
  for (std::string_view text = blocks.next(buffer); !text.empty(); text = blocks.next(buffer)) {
    for_each_line(text, [&](std::string_view line) { take(line); });
    if (session_.cancelled()) return Error{fmt::format("{}: the import was cancelled", name_)};
    if (options_.progress) options_.progress(blocks.file_bytes_read(), blocks.file_bytes());
  }
  if (commands_ + printed_.rows() == 0)
    return Error{name_ + ": holds neither commands of a device nor tables of unitrace"};
  printed_.write(session_);
  session_.writer().set_meta("source_format", "unitrace text");
  if (commands_ + broken_ > 0) set_row_counts(session_.writer(), "commands", commands_ + broken_, commands_);
  ImportReport& report = session_.report();
  report.note("rows_skipped", "lines of commands that lack a time, or are cut, were skipped",
              broken_ + printed_.bad_rows() + blocks.long_lines());
  report.note_unread("lines of commands", {unread_.begin(), unread_.end()});
  for (const auto& [heading, lines] : printed_.unread()) {
    report.note("unknown_table",
                fmt::format("lines under the heading \"{}\" are of no table that is known here and "
                            "were not read",
                            heading.substr(0, 80)),
                lines);
  }
  report.note("rows_left_out",
              "lines that are neither commands nor tables, such as a program's own output, were left out",
              other_lines_);
  report.add(blocks);
  return session_.finish({.clock = "device", .path = name_});
}

}  // namespace

int probe_unitrace(std::string_view head, const std::string& /*path*/) {
  constexpr int kLikely = 85;
  const auto has = [&](std::string_view word) { return head.find(word) != std::string_view::npos; };
  const bool commands = has("Thread ") && has(" Device ") && has("[ns]") && has("(start)") && has("(end)");
  const bool tables = has("=== ") && (has("Timing Summary ===") || has("= Kernel Properties =")) && has("Time (ns)");
  return commands || tables ? kLikely : 0;
}

Result<void> import_unitrace(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                             const ImportOptions& options, EventSink& sink) {
  return UnitraceImport(name, options, sink).run(std::move(bytes));
}

}  // namespace accelscope::capture::sources::unitrace
