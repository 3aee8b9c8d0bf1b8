#include "capture/sources/tracy_csv/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/base/text.h"

namespace accelscope::capture::sources::tracy_csv {
namespace {

struct KnownColumn {
  std::string_view name;
  TracyColumn column;
};
constexpr KnownColumn kKnown[] = {
    {"name", TracyColumn::name},
    {"MessageName", TracyColumn::name},
    {"src_file", TracyColumn::file},
    {"src_line", TracyColumn::line},
    {"ns_since_start", TracyColumn::start},
    {"Time from start of program", TracyColumn::start},
    {"exec_time_ns", TracyColumn::duration},
    {"GPU execution time", TracyColumn::duration},
    {"thread", TracyColumn::thread},
};
constexpr std::string_view kStatistics[] = {"total_ns", "total_perc", "counts", "mean_ns",
                                            "min_ns",   "max_ns",     "std_ns"};

constexpr std::size_t kMostTracyColumns = 200;  // the tool writes a dozen

// The character behind the first name: the tool takes any with --sep.
[[nodiscard]] char separator_of(std::string_view header) noexcept {
  const std::size_t end = header.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_");
  return end == std::string_view::npos ? ',' : header[end];
}

[[nodiscard]] bool has(const TracyLayout& layout, std::string_view name) {
  return std::find(layout.names.begin(), layout.names.end(), name) != layout.names.end();
}

// A cell that begins with a quote goes on to the quote before a separator; two quotes stand for one.
[[nodiscard]] std::size_t take_cell(std::string_view line, std::size_t at, char separator, std::string& cell) {
  cell.clear();
  if (at < line.size() && line[at] == '"') {
    for (std::size_t i = at + 1; i < line.size(); ++i) {
      if (line[i] != '"') {
        cell += line[i];
      } else if (i + 1 < line.size() && line[i + 1] == '"') {
        cell += line[++i];
      } else if (i + 1 == line.size() || line[i + 1] == separator) {
        return i + 1;
      } else {
        break;
      }
    }
  }
  const std::size_t end = std::min(line.find(separator, at), line.size());
  cell = line.substr(at, end - at);
  return end;
}

[[nodiscard]] bool numbers_fit(const std::vector<std::string>& cells, const TracyLayout& layout, std::size_t shift) {
  for (std::size_t i = 0; i < layout.columns.size(); ++i) {
    if (!layout.is_number(i)) continue;
    const std::string& cell = cells[i + (i > 0 ? shift : 0)];
    double value = 0;
    // Rows of plots leave them empty, but for the time.
    if (cell.empty() && layout.columns[i] != TracyColumn::start) continue;
    if (!read_real_number(cell, value)) return false;
  }
  return true;
}

[[nodiscard]] std::string joined(const std::vector<std::string>& cells, std::size_t first, std::size_t last, char by) {
  std::string text = cells[first];
  for (std::size_t i = first + 1; i <= last; ++i) text.append(1, by).append(cells[i]);
  return text;
}

}  // namespace

std::size_t TracyLayout::place(TracyColumn column) const noexcept {
  const auto found = std::find(columns.begin(), columns.end(), column);
  return found == columns.end() ? kAbsent : static_cast<std::size_t>(found - columns.begin());
}

bool TracyLayout::is_number(std::size_t place) const noexcept {
  const TracyColumn column = columns[place];
  if (table == TracyTable::statistics) return column != TracyColumn::name && column != TracyColumn::file;
  return column != TracyColumn::name && column != TracyColumn::file && column != TracyColumn::other;
}

Result<TracyLayout> read_tracy_header(std::string_view line) {
  line = trimmed(line);
  TracyLayout layout;
  layout.separator = separator_of(line);
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t end = std::min(line.find(layout.separator, at), line.size());
    const std::string_view name = trimmed(line.substr(at, end - at));
    const auto known = std::find_if(std::begin(kKnown), std::end(kKnown),
                                    [&](const KnownColumn& column) { return column.name == name; });
    const bool is_new = known != std::end(kKnown) && layout.place(known->column) == TracyLayout::kAbsent;
    layout.names.emplace_back(name);
    layout.columns.push_back(is_new ? known->column : TracyColumn::other);
    at = end + 1;
    if (layout.names.size() > kMostTracyColumns) {
      return Error{fmt::format("its first line names more than {} columns", kMostTracyColumns)};
    }
  }
  if (layout.names.size() == 2 && has(layout, "MessageName") && has(layout, "total_ns")) {
    layout.table = TracyTable::messages;
    layout.columns[static_cast<std::size_t>(std::find(layout.names.begin(), layout.names.end(), "total_ns") -
                                            layout.names.begin())] = TracyColumn::start;
    return layout;
  }
  if (layout.columns.front() != TracyColumn::name) return Error{"its first line has no column name"};
  if (std::all_of(std::begin(kStatistics), std::end(kStatistics), [&](auto name) { return has(layout, name); })) {
    layout.table = TracyTable::statistics;
    return layout;
  }
  if (layout.place(TracyColumn::start) == TracyLayout::kAbsent ||
      layout.place(TracyColumn::duration) == TracyLayout::kAbsent) {
    return Error{"its first line names neither zones, messages nor statistics"};
  }
  layout.table = has(layout, "GPU execution time") ? TracyTable::gpu_zones : TracyTable::zones;
  return layout;
}

int probe_tracy_csv_text(std::string_view text) {
  constexpr int kCertain = 95;
  const std::size_t end = text.find('\n');
  return read_tracy_header(text.substr(0, std::min(end, text.size()))) ? kCertain : 0;
}

bool read_whole_number(std::string_view cell, std::int64_t& value) noexcept {
  cell = trimmed(cell);
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  return error == std::errc() && end == cell.data() + cell.size() && !cell.empty();
}

bool read_real_number(std::string_view cell, double& value) noexcept {
  cell = trimmed(cell);
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  return error == std::errc() && end == cell.data() + cell.size() && !cell.empty();
}

bool split_tracy_row(std::string_view line, const TracyLayout& layout, std::vector<std::string>& cells) {
  const std::size_t wanted = layout.columns.size();
  std::size_t count = 0;
  for (std::size_t at = 0;; ++at) {
    if (count == cells.size()) cells.emplace_back();
    at = take_cell(line, at, layout.separator, cells[count++]);
    if (at >= line.size()) break;
  }
  cells.resize(count);
  if (count < wanted) return false;
  const std::size_t more = count - wanted;
  // As much as can be belongs to the text at the row's end, the rest to its name.
  const bool text_at_end = !layout.is_number(wanted - 1);
  for (std::size_t in_name = text_at_end ? 0 : more; in_name <= more; ++in_name) {
    if (!numbers_fit(cells, layout, in_name)) continue;
    if (more == 0) return true;
    cells[wanted - 1 + in_name] = joined(cells, wanted - 1 + in_name, count - 1, layout.separator);
    cells[0] = joined(cells, 0, in_name, layout.separator);
    cells.erase(cells.begin() + 1, cells.begin() + 1 + static_cast<std::ptrdiff_t>(in_name));
    cells.resize(wanted);
    return true;
  }
  return false;
}

}  // namespace accelscope::capture::sources::tracy_csv
