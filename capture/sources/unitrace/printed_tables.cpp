#include "capture/sources/unitrace/printed_tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "capture/sources/base/csv_table.h"
#include "core/base/text.h"

namespace accelscope::capture::sources::unitrace {
namespace {

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

}  // namespace

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
  kept_bytes_ += line.size() + std::min(cells.size(), wanted) * sizeof(std::string);
  if (!fits || kept_bytes_ > kMostTableBytes) {
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

}  // namespace accelscope::capture::sources::unitrace
