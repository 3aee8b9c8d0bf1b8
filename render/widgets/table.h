// A table of any number of rows: head with sorting and resizable columns, selection, hover, copy by right click. Only
// visible rows are asked for. The caller owns rows and their order; on sort_changed it sorts them by state.sort_column.
//   TableResult r = table(ui, "stats", area, kColumns, rows.size(), [&](size_t row, size_t column) { ... }, state);
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "render/draw.h"
#include "render/widgets/interact.h"

namespace accelscope::render {

struct TableColumn {
  std::string title;
  float width = 0;  // units; 0: shares what is left
  Align align = Align::left;
  bool sortable = true;
  std::string tooltip = {};  // what the column means
};

struct TableCell {
  std::string text;
  Colour colour = Colour::text1;
  TextStyle style = TextStyle::mono;
  Fit fit = Fit::ellipsis;
  Pixel swatch = 0;  // a slice's colour before the text
  const char* icon = nullptr;
  Colour icon_colour = Colour::text2;
  double bar = -1;                    // a share from 0 to 1, drawn as a bar; the text stands right of it
  Pixel bar_colour = 0;               // 0: accent
  bool link = false;                  // accent; a click is reported in clicked_link
  int indent = 0;                     // levels
  std::optional<bool> expanded = {};  // a caret before the text, open or closed
};

struct TableState {
  int sort_column = -1;
  bool descending = true;
  std::vector<float> widths = {};     // units, set by dragging; empty: as declared
  std::optional<std::size_t> cursor;  // the row that arrow keys move from
  bool focused = false;               // the table was clicked last
};

struct TableOptions {
  float row_height = size::kTableRow;
  float head_height = size::kTableHead;  // 0: no head
  bool stripes = true;                   // every second row a little lighter
  std::function<bool(std::size_t row)> selected = {};
  std::optional<std::size_t> show_row = {};  // scroll it into view
  std::span<const std::string> menu = {};    // further items of the right-click menu
};

struct TableResult {
  std::optional<std::size_t> hovered;
  std::optional<std::size_t> clicked;         // also by arrow keys
  std::optional<std::size_t> double_clicked;  // also by Enter
  std::optional<std::size_t> toggled;         // the caret of a row
  std::optional<std::size_t> clicked_link;    // row; link_column says where
  std::size_t link_column = 0;
  std::optional<std::size_t> right_clicked;
  std::optional<std::size_t> menu_choice;  // index into TableOptions::menu, for menu_row
  std::size_t menu_row = 0;
  bool sort_changed = false;
};

using TableContent = std::function<TableCell(std::size_t row, std::size_t column)>;

// Rows register as NAME.row.INDEX, heads as NAME.head.INDEX.
TableResult table(Ui& ui, std::string_view name, const Rect& area, std::span<const TableColumn> columns,
                  std::size_t rows, const TableContent& content, TableState& state, const TableOptions& options = {});

// The whole table as text: tab-separated for the clipboard, or comma-separated with quotes where needed.
[[nodiscard]] std::string table_text(std::span<const TableColumn> columns, std::size_t rows,
                                     const TableContent& content, char separator);

}  // namespace accelscope::render
