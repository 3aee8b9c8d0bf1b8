#include "capture/sources/base/csv_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "core/base/text.h"

namespace accelscope::capture::sources {

bool split_csv(std::string_view row, char separator, std::vector<std::string>& cells) {
  std::size_t count = 0;
  std::size_t at = 0;
  for (;;) {
    if (count == cells.size()) cells.emplace_back();
    std::string& cell = cells[count++];
    cell.clear();
    // Tools put blanks before a quote.
    const std::size_t begin = std::min(row.find_first_not_of(" \t", at), row.size());
    if (begin < row.size() && row[begin] == '"') {
      std::size_t i = begin + 1;
      for (;; ++i) {
        if (i >= row.size()) return false;
        if (row[i] != '"') {
          cell += row[i];
        } else if (i + 1 < row.size() && row[i + 1] == '"') {
          cell += row[i++];
        } else {
          break;
        }
      }
      const std::size_t end = std::min(row.find(separator, i + 1), row.size());
      cell += trimmed(row.substr(i + 1, end - i - 1));  // what follows the quote belongs to the cell all the same
      at = end;
    } else {
      const std::size_t end = std::min(row.find(separator, at), row.size());
      cell = trimmed(row.substr(at, end - at));
      at = end;
    }
    if (at >= row.size()) break;
    ++at;
  }
  cells.resize(count);
  return true;
}

template <typename Number>
[[nodiscard]] static std::optional<Number> whole_cell(std::string_view cell) noexcept {
  cell = trimmed(cell);
  Number value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size() || cell.empty()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> csv_integer(std::string_view cell) noexcept { return whole_cell<std::int64_t>(cell); }
std::optional<double> csv_real(std::string_view cell) noexcept { return whole_cell<double>(cell); }

std::optional<std::int64_t> csv_utc_ns(std::string_view text) noexcept {
  text = trimmed(text);
  // "2013-08-28 01:02:03" and a fraction.
  constexpr std::string_view kShape = "dddd-dd-dd dd:dd:dd";
  if (text.size() < kShape.size()) return std::nullopt;
  int numbers[6] = {};
  std::size_t number = 0;
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    if (kShape[i] == 'd') {
      if (!is_digit(text[i])) return std::nullopt;
      numbers[number] = numbers[number] * 10 + (text[i] - '0');
    } else if (text[i] == kShape[i] || (kShape[i] == ' ' && text[i] == 'T')) {
      ++number;
    } else {
      return std::nullopt;
    }
  }
  const std::chrono::year_month_day day{std::chrono::year(numbers[0]),
                                        std::chrono::month(static_cast<unsigned>(numbers[1])),
                                        std::chrono::day(static_cast<unsigned>(numbers[2]))};
  constexpr int kFirstYear = 1970, kLastYear = 2200;
  if (!day.ok() || numbers[0] < kFirstYear || numbers[0] > kLastYear) return std::nullopt;
  const std::int64_t seconds = std::int64_t{std::chrono::sys_days(day).time_since_epoch().count()} * 86'400 +
                               numbers[3] * 3'600 + numbers[4] * 60 + numbers[5];
  std::int64_t fraction = 0;
  std::int64_t unit = 1'000'000'000;
  std::string_view rest = text.substr(kShape.size());
  if (!rest.empty() && rest.front() == '.') {
    rest.remove_prefix(1);
    for (; !rest.empty() && is_digit(rest.front()); rest.remove_prefix(1)) {
      unit /= 10;
      fraction += (rest.front() - '0') * unit;
    }
  }
  if (!rest.empty() && rest != "Z") return std::nullopt;
  return seconds * 1'000'000'000 + fraction;
}

CsvTable::CsvTable(std::unique_ptr<json::ByteSource> source, Options options)
    : options_(std::move(options)),
      blocks_(std::make_unique<LineBlocks>(std::move(source))),
      buffer_(std::make_unique<std::vector<char>>()) {}

Result<CsvTable> CsvTable::open(const std::string& path, Options options) {
  std::unique_ptr<json::ByteSource> source = TRY(json::ByteSource::open(path));
  return open(std::move(source), path, std::move(options));
}

Result<CsvTable> CsvTable::open(std::unique_ptr<json::ByteSource> source, const std::string& name, Options options) {
  CsvTable table(std::move(source), std::move(options));
  std::string_view line;
  while (table.before_.size() <= table.options_.lines_before_header && table.next_line(line)) {
    if (split_csv(line, table.options_.separator, table.names_) &&
        (table.options_.is_header == nullptr || table.options_.is_header(table.names_))) {
      return table;
    }
    table.before_.emplace_back(line);
  }
  if (!table.blocks_->failure().empty()) return Error{fmt::format("{}: {}", name, table.blocks_->failure())};
  if (table.line_ == 0) return Error{fmt::format("{}: the file is empty; was its writer stopped early?", name)};
  return Error{fmt::format("{}: no line with the names of its columns was found", name)};
}

std::optional<std::size_t> CsvTable::find(std::string_view name) const {
  auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) {
    const std::string lower = lower_case(name);
    found =
        std::find_if(names_.begin(), names_.end(), [&](const std::string& each) { return lower_case(each) == lower; });
  }
  if (found == names_.end()) return std::nullopt;
  const auto column = static_cast<std::size_t>(found - names_.begin());
  found_.resize(names_.size());
  found_[column] = true;
  return column;
}

std::vector<std::string> CsvTable::unknown_columns() const {
  std::vector<std::string> unknown;
  for (std::size_t column = 0; column < names_.size(); ++column) {
    if (column >= found_.size() || !found_[column]) unknown.push_back(names_[column]);
  }
  return unknown;
}

std::string CsvTable::unknown_cells() const {
  std::string cells;
  for (std::size_t column = 0; column < names_.size(); ++column) {
    if ((column < found_.size() && found_[column]) || cell(column).empty()) continue;
    if (!cells.empty()) cells += ", ";
    cells += names_[column];
    cells += '=';
    cells += cell(column);
  }
  return cells;
}

bool CsvTable::next_line(std::string_view& line) {
  if (text_.empty()) text_ = blocks_->next(*buffer_);
  if (text_.empty()) return false;
  const std::size_t end = std::min(text_.find('\n'), text_.size());
  line = text_.substr(0, end);
  text_.remove_prefix(std::min(end + 1, text_.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  ++line_;
  return true;
}

void CsvTable::count_bad(std::uint64_t lines) {
  if (bad_rows_ == 0) first_bad_line_ = line_ - lines + 1;
  bad_rows_ += lines;
}

// Whether a row that goes on within quotes ends with this line, as split_csv() has it.
[[nodiscard]] static bool closes_quotes(std::string_view line, char separator) noexcept {
  bool quoted = true;
  for (std::size_t at = 0;;) {
    while (quoted) {
      at = line.find('"', at);
      if (at == std::string_view::npos) return false;
      quoted = line.substr(at + 1).starts_with('"');
      at += quoted ? 2 : 1;
    }
    at = line.find(separator, at);
    if (at == std::string_view::npos) return true;
    const std::size_t begin = line.find_first_not_of(" \t", ++at);
    quoted = begin != std::string_view::npos && line[begin] == '"';
    if (quoted) at = begin + 1;
  }
}

bool CsvTable::next_row() {
  std::string_view line;
  while (next_line(line)) {
    if (trimmed(line).empty()) continue;
    if (split_csv(line, options_.separator, cells_)) return true;
    // A quote goes on in the next lines.
    const std::uint64_t begun = line_;
    row_ = line;
    bool whole = false;
    while (!whole && row_.size() <= options_.longest_row && next_line(line)) {
      row_.append(1, '\n').append(line);
      whole = closes_quotes(line, options_.separator) && split_csv(row_, options_.separator, cells_);
    }
    if (whole) return true;
    count_bad(line_ - begun + 1);
  }
  return false;
}

bool CsvTable::next() {
  while (next_row()) {
    const bool too_many = cells_.size() > names_.size() &&
                          !std::all_of(cells_.begin() + static_cast<std::ptrdiff_t>(names_.size()), cells_.end(),
                                       [](const std::string& cell) { return cell.empty(); });
    if (cells_.size() < names_.size() || too_many) {
      count_bad(1);
      continue;
    }
    ++rows_;
    return true;
  }
  return false;
}

std::optional<std::int64_t> CsvTable::integer(std::optional<std::size_t> column) const {
  return column ? csv_integer(cells_[*column]) : std::nullopt;
}

std::optional<double> CsvTable::real(std::optional<std::size_t> column) const {
  return column ? csv_real(cells_[*column]) : std::nullopt;
}

}  // namespace accelscope::capture::sources
