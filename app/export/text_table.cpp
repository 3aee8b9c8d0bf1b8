#include "app/export/text_table.h"

#include <algorithm>
#include <ostream>
#include <utility>

#include "core/base/plain_text.h"

namespace accelscope::app {

std::size_t display_width(std::string_view text) noexcept {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

std::string table_line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                       const std::vector<CellAlign>& alignment) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::size_t width = display_width(cells[i]);
    const std::string padding(widths[i] > width ? widths[i] - width : 0, ' ');
    if (i > 0) line += "  ";
    line += alignment[i] == CellAlign::right ? padding + cells[i] : cells[i] + padding;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

void TextTable::row(std::vector<std::string> cells) {
  cells.resize(std::min(cells.size(), columns_.size()));
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i] = plain_text(cells[i]);  // names come from files
    widths_[i] = std::max(widths_[i], std::min(display_width(cells[i]), kWidest));
  }
  entries_.push_back({"", std::move(cells)});
}

void TextTable::line(std::string text) { entries_.push_back({std::move(text), {}}); }

void TextTable::print(std::ostream& out) const {
  for (const Entry& entry : entries_) {
    if (entry.cells.empty()) {
      out << entry.text << '\n';
    } else {
      out << indent_ << table_line(entry.cells, widths_, columns_) << '\n';
    }
  }
}

}  // namespace accelscope::app
