// A table of any number of rows: head with sorting and resizable columns, selection, hover, copy by right click. Only
// visible rows are asked for. The caller owns rows and their order; on sort_changed it sorts them by state.sort_column.
// A right click on the head, or Shift+F10, chooses, sizes and moves columns; its funnel, or Ctrl+Shift+F, shows only
// rows with a cell that contains a text. Row numbers are always the caller's, filtered or not. A cell that is cut or
// has an exact form shows it on hover.
//   TableResult r = table(ui, "stats", area, kColumns, rows.size(), [&](size_t row, size_t column) { ... }, state);
#pragma once

#include <cstdint>

#include "render/widgets/widgets.h"

namespace accelscope::render {

struct TableColumn {
  std::string title;
  float width = 0;  // units; 0: shares what is left
  Align align = Align::left;
  bool sortable = true;
  std::string tooltip = {};     // what the column means
  std::string data_title = {};  // its title in exports where cells have data: "busy_ns"
};

struct TableCell {
  std::string text;
  Colour colour = Colour::text1;
  TextStyle style = TextStyle::mono;
  Fit fit = Fit::ellipsis;
  std::string detail = {};  // after the text, where there is room
  std::string exact = {};   // on hover, and what is copied of the cell: every digit, the whole path
  std::string data = {};    // in exports and copies of the table, for programs to read
  Pixel swatch = {};        // a slice's colour before the text
  const char* icon = nullptr;
  Colour icon_colour = Colour::text2;
  double bar = -1;                              // a share from 0 to 1, drawn as a bar; the text stands right of it
  Pixel bar_colour = {};                        // 0: accent
  double level = -1;                            // a share from 0 to 1 as a column in a box, in place of everything else
  std::size_t mark_begin = 0, mark_length = 0;  // bytes of the text that stand on accent_bg: what was looked for
  bool link = false;                            // accent; a click is reported in clicked_link
  int indent = 0;                               // levels
  std::optional<bool> expanded = {};            // a caret before the text, open or closed
  bool leaf = false;                            // as far in as with a caret
};

// Which rows contain a text, in any letter case. Tables of up to kAtOnce rows are looked through anew in every frame,
// as their cells may change; longer ones for kMostSeconds of each frame, until the text, the rows or their order
// change.
class TableFilter {
 public:
  static constexpr std::size_t kAtOnce = 500, kStep = 250;  // rows
  static constexpr double kMostSeconds = 0.001;
  struct Key {
    std::string text;
    std::size_t rows = 0;
    int sort_column = -1;
    bool descending = true;
    std::vector<bool> hidden = {};
    bool operator==(const Key&) const = default;
  };
  // contains: whether a row has the text, which comes in lower case. False: there is more to look through.
  bool update(const Key& key, const std::function<bool(std::size_t row, std::string_view text)>& contains);
  [[nodiscard]] const std::vector<std::uint32_t>& rows() const noexcept { return rows_; }  // ascending

 private:
  Key key_;
  std::string lower_;
  std::size_t looked_at_ = 0;
  std::vector<std::uint32_t> rows_;
};

struct TableState {
  int sort_column = -1;
  bool descending = true;
  std::vector<float> widths = {};       // units, set by dragging; empty: as declared
  std::vector<float> needed = {};       // units, of the widest number that was shown: numbers are never cut
  std::optional<std::size_t> cursor;    // the row that arrow keys move from
  bool all_chosen = false;              // Ctrl+A: Ctrl+C copies the table
  std::vector<bool> hidden = {};        // columns; empty: none
  std::vector<std::size_t> order = {};  // columns from left to right; empty: as declared
  std::string filter = {};              // only rows with a cell that contains it
  bool filter_open = false;             // its field is shown
  bool focus_filter = false;            // its field takes the keyboard with the next frame
  TableFilter matching = {};            // rows that contain the filter
};

struct TableOptions {
  float row_height = size::kTableRow;
  float head_height = size::kTableHead;  // 0: no head
  std::function<bool(std::size_t row)> selected = {};
  std::optional<std::size_t> show_row = {};  // scroll it into view
  std::optional<std::size_t> top_row = {};   // scroll so that it is where the topmost one was
  std::span<const std::string> menu = {};    // further items of the right-click menu
  bool can_export = true;                    // offers a file of the rows and columns that are shown
  // Tables of which the caller finds the rows that contain the filter's text, so that nobody waits for long ones.
  bool finds_rows = false;
  const std::vector<std::uint32_t>* found_rows = nullptr;  // ascending; null: all are shown
  // What the cells say, holding all it needs: exports and copies of long tables are made with it on a worker. Without
  // it they are made at once.
  std::function<std::function<TableCell(std::size_t row, std::size_t column)>()> detached = {};
};

struct TableResult {
  std::optional<std::size_t> hovered;
  std::optional<std::size_t> clicked;         // also by arrow keys
  std::optional<std::size_t> double_clicked;  // also by Enter
  std::optional<std::size_t> toggled;         // the caret of a row
  std::optional<std::size_t> clicked_link;
  std::optional<std::size_t> right_clicked;
  std::optional<std::size_t> menu_choice;  // index into TableOptions::menu, for menu_row
  std::size_t menu_row = 0;
  bool sort_changed = false;
  std::optional<std::size_t> top_row;  // the topmost that is seen
};

using TableContent = std::function<TableCell(std::size_t row, std::size_t column)>;

// Rows register as NAME.row.INDEX, heads as NAME.head.INDEX.
TableResult table(Ui& ui, std::string_view name, const Rect& area, std::span<const TableColumn> columns,
                  std::size_t rows, const TableContent& content, TableState& state, const TableOptions& options = {});

[[nodiscard]] bool contains_text(std::string_view text, std::string_view lower_part);
// The whole table as text: tab-separated for the clipboard, or comma-separated with quotes where needed.
[[nodiscard]] std::string table_text(std::span<const TableColumn> columns, std::size_t rows,
                                     const TableContent& content, char separator);

}  // namespace accelscope::render
