// Tables for people, as text and as Markdown. In text columns are as wide as what they hold, in characters rather than
// bytes, two blanks apart, so that they never touch; nothing is cut. A cell wider than kWidest sticks out of its
// column. Lines of their own may stand between the rows.
//
//   TextTable table({CellAlign::left, CellAlign::right});
//   table.row({"name", "count"});
//   table.line("a heading");
//   table.print(out);
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/listing/base/listing.h"

namespace accelscope::listing {

enum class CellAlign : std::uint8_t { left, right };

// Characters of UTF-8.
[[nodiscard]] std::size_t display_width(std::string_view text) noexcept;
// With blanks to this width, two blanks before all but the first, none at the end.
[[nodiscard]] std::string table_line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                                     const std::vector<CellAlign>& alignment);

class TextTable {
 public:
  static constexpr std::size_t kWidest = 60;

  explicit TextTable(std::vector<CellAlign> columns, std::string indent = "")
      : columns_(std::move(columns)), indent_(std::move(indent)), widths_(columns_.size(), 0) {}

  void row(std::vector<std::string> cells);  // as many as there are columns, or fewer
  void line(std::string text);
  void print(std::ostream& out) const;
  // Its rows as a table of Markdown below the first of them, without lines of their own. `escape` makes a cell plain,
  // `around` stands beside the marks below the head.
  [[nodiscard]] std::string markdown(std::string (*escape)(std::string_view), std::string_view around = "") const;
  [[nodiscard]] std::size_t rows() const noexcept { return entries_.size(); }

 private:
  struct Entry {
    std::string text;  // of a line
    std::vector<std::string> cells;
  };
  std::vector<CellAlign> columns_;
  std::string indent_;
  std::vector<std::size_t> widths_;
  std::vector<Entry> entries_;
};

// Rows of a query as they are printed: a table for people, CSV by RFC 4180 with lines that end in LF, one JSON array of
// objects. All stream: a table takes its widths from the first kSampledRows rows, later values that are wider stick
// out. Long cells of a table are cut on a screen only.
//
//   NULL       NULL in a table, nothing in CSV, null in JSON
//   infinity   inf; 1e999 in JSON, which reads back as infinity
//   blobs      hexadecimal digits: x'00ff' in a table, "00ff" in CSV and JSON

inline constexpr std::size_t kSampledRows = 1000;

class QueryOutput : public SqlRowVisitor {
 public:
  // Of the columns that follow, as unit.h has them. People read values in the unit of their size, with the
  // digits that tell; programs get all of them.
  virtual void units(std::vector<std::string> of_columns) { (void)of_columns; }
  [[nodiscard]] virtual bool for_people() const noexcept { return false; }
  virtual void finish() = 0;  // after the last row
};

// format: table, csv or json. The latter two are data: their bytes go out as they are.
[[nodiscard]] constexpr bool is_data(std::string_view format) noexcept { return format == "csv" || format == "json"; }
[[nodiscard]] std::unique_ptr<QueryOutput> make_query_output(std::string_view format, std::ostream& out,
                                                             bool on_screen = false);

// Appends a cell of CSV by RFC 4180: in quotes where it holds a comma, a quote or a line end, or is empty and
// `quote_empty` is asked for.
void append_csv_cell(std::string& out, std::string_view text, bool quote_empty = false);

// All rows of a listing. Where asked for, the names of the first `most` rows are shortened to what tells them apart: a
// whole name may be longer than all the rest of its row.
void visit_listing(const Listing& listing, SqlRowVisitor& visitor, bool shortens, std::size_t most = SIZE_MAX);
// The same with units, for people with short names.
void print_listing(const Listing& listing, QueryOutput& output);

}  // namespace accelscope::listing
