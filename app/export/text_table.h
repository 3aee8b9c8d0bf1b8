// Tables of text for people: columns as wide as what they hold, in characters rather than bytes, two blanks apart, so
// that they never touch; nothing is cut. A cell wider than kWidest sticks out of its column. Lines of their own may
// stand between the rows.
//
//   TextTable table({CellAlign::left, CellAlign::right});
//   table.row({"name", "count"});
//   table.line("a heading");
//   table.print(out);
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace accelscope::app {

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

}  // namespace accelscope::app
