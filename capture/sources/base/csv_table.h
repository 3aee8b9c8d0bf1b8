// Tables of text with a separator (RFC 4180, and what tools make of it), read row by row by the names of their columns.
// Cells in double quotes may hold separators, quotes (doubled) and line ends.
//
//   Result<CsvTable> table = CsvTable::open(path, {.is_header = [](cells) { ... }});
//   const auto start = table->find("Start_Timestamp");
//   while (table->next()) table->cell(*start) ...
//   report.note("rows_skipped", ..., table->bad_rows());
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/sources/base/line_blocks.h"
#include "core/base/result.h"

namespace accelscope::capture::sources {

// Cuts one row into cells, which are reused. False: a quote has no end, so that the row goes on in the next line.
[[nodiscard]] bool split_csv(std::string_view row, char separator, std::vector<std::string>& cells);

class CsvTable {
 public:
  struct Options {
    char separator = ',';
    // Whether a line is the one with the names of the columns; tools write words before it. Null: the first one is.
    std::function<bool(const std::vector<std::string>& cells)> is_header = nullptr;
    std::size_t lines_before_header = 64;  // at most
    std::size_t longest_row = 1U << 20;    // with line ends in quotes; longer ones are bad rows
  };

  // Fails where there is no such header; messages begin with `name`.
  [[nodiscard]] static Result<CsvTable> open(std::unique_ptr<json::ByteSource> source, const std::string& name,
                                             Options options);
  [[nodiscard]] static Result<CsvTable> open(const std::string& path, Options options);

  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }  // without blanks at the ends
  // In any case of its letters, if none has these very ones.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;
  // Those that find() was never asked for, which the reader does not know; and their cells of the row at hand, as
  // "name=value, name=value".
  [[nodiscard]] std::vector<std::string> unknown_columns() const;
  [[nodiscard]] std::string unknown_cells() const;
  [[nodiscard]] const std::vector<std::string>& lines_before() const noexcept { return before_; }  // of the header

  // False at the end. Rows without any cell are passed over; those with too few or too many cells count as bad, and are
  // passed over too, but for empty cells at the end.
  [[nodiscard]] bool next();
  [[nodiscard]] std::string_view cell(std::size_t column) const {
    return cells_[column];
  }  // without blanks at the ends
  [[nodiscard]] std::string_view cell(std::optional<std::size_t> column) const {
    return column ? cell(*column) : std::string_view{};
  }
  // Nothing if the cell is empty or no number of that kind.
  [[nodiscard]] std::optional<std::int64_t> integer(std::optional<std::size_t> column) const;
  [[nodiscard]] std::optional<double> real(std::optional<std::size_t> column) const;

  [[nodiscard]] std::uint64_t line() const noexcept { return line_; }  // the last one of the row at hand, from 1
  [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }
  // Lines, where a quote had no end.
  [[nodiscard]] std::uint64_t bad_rows() const noexcept { return bad_rows_ + blocks_->long_lines(); }
  [[nodiscard]] std::uint64_t first_bad_line() const noexcept { return first_bad_line_; }
  [[nodiscard]] const LineBlocks& blocks() const noexcept { return *blocks_; }  // for progress and what was unreadable

 private:
  CsvTable(std::unique_ptr<json::ByteSource> source, Options options);
  [[nodiscard]] bool next_line(std::string_view& line);
  [[nodiscard]] bool next_row();
  void count_bad(std::uint64_t lines);

  Options options_;
  std::unique_ptr<LineBlocks> blocks_;
  std::unique_ptr<std::vector<char>> buffer_;  // stays where it is when the table is moved
  std::string_view text_;                      // the rest of the block
  std::vector<std::string> names_;
  mutable std::vector<bool> found_;  // by column
  std::vector<std::string> before_;
  std::vector<std::string> cells_;
  std::string row_;
  std::uint64_t line_ = 0;
  std::uint64_t rows_ = 0;
  std::uint64_t bad_rows_ = 0;
  std::uint64_t first_bad_line_ = 0;
};

// Numbers as tools write them: blanks at the ends allowed, nothing else beside the number.
[[nodiscard]] std::optional<std::int64_t> csv_integer(std::string_view cell) noexcept;
[[nodiscard]] std::optional<double> csv_real(std::string_view cell) noexcept;
// ns since 1970 of "2013-08-28 01:02:03.0004"; nothing if it is no such time.
[[nodiscard]] std::optional<std::int64_t> csv_utc_ns(std::string_view cell) noexcept;

}  // namespace accelscope::capture::sources
