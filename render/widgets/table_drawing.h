// The parts of a table, shared by the files that draw it. Private to them.
#pragma once

#include "render/widgets/table.h"

namespace accelscope::render {

// Where a column lies.
struct ColumnSpan {
  float from = 0;  // pixels from the left edge of the content
  float width = 0;
};

enum class TableForm : std::uint8_t { tabs, csv, json };
// A table for the clipboard or a file. JSON is an array of objects by the columns' names; what reads as a number is
// one, exact to its last digit, and an empty cell is null.
[[nodiscard]] std::string table_in_form(std::span<const TableColumn> columns, std::size_t rows,
                                        const TableContent& content, TableForm form);

inline constexpr float kTableFunnel = 20;  // right of the columns: the funnel, the scroll bar

class TableDrawing {
 public:
  TableDrawing(Ui& ui, std::string_view name, std::span<const TableColumn> columns, std::size_t rows,
               const TableContent& content, TableState& state, const TableOptions& options)
      : ui_(ui), name_(name), columns_(columns), rows_(rows), content_(content), state_(state), options_(options) {}

  TableResult draw(Rect area);

 private:
  void draw_head(const Rect& head, float scroll_x);
  void resize_column(std::size_t index, const Rect& cell);
  void widen_column(std::size_t index, const Interaction& head);
  void draw_rows(const Rect& area);
  void draw_row(const Rect& row, std::size_t place);
  void draw_cell(const Rect& cell, std::size_t row, std::size_t column, const Interaction& response);
  void draw_bar(Rect& cell, const TableCell& content) const;
  void draw_level(const Rect& cell, const TableCell& content) const;
  void draw_mark(const Rect& inside, const TableCell& content) const;
  void make_room(const Rect& cell, const Rect& inside, std::size_t column, const TableCell& content);
  void move_with_keys(float visible_rows);
  void move_in_row();
  void open_row_menu(std::size_t row, std::size_t column);
  void note_part(std::size_t row, const std::string& name, const Rect& rect, bool& pressed);
  void show_menu();
  void show_head_menu();
  void open_filter();
  void close_filter();
  void draw_filter(Rect row);
  void filter_rows();
  // The rows that are shown; null: all.
  [[nodiscard]] const std::vector<std::uint32_t>* found() const noexcept {
    if (options_.finds_rows) return options_.found_rows;
    return state_.filter.empty() ? nullptr : &state_.matching.rows();
  }
  [[nodiscard]] bool filtered() const noexcept { return found() != nullptr; }
  [[nodiscard]] std::size_t shown() const noexcept { return filtered() ? found()->size() : rows_; }
  [[nodiscard]] std::size_t row_at(std::size_t place) const { return filtered() ? (*found())[place] : place; }
  [[nodiscard]] std::optional<std::size_t> place_of(std::size_t row) const;  // nothing: not shown
  [[nodiscard]] bool is_hidden(std::size_t column) const { return spans_[column].width <= 0; }
  [[nodiscard]] std::string shown_text(TableForm form) const;
  [[nodiscard]] std::vector<std::size_t> shown_columns() const;  // from left to right
  void set_width(std::size_t column, float units);
  [[nodiscard]] float fitting_width(std::size_t column) const;  // units
  void move_column(std::size_t column, int step);
  bool change_column(std::size_t column, std::string_view choice);  // false: the choice is another one
  // What makes the text of the rows that are shown, on a worker.
  [[nodiscard]] std::function<std::string()> detached_text(TableForm form) const;
  void export_as(TableForm form) const;
  void copy_table() const;
  void copy(std::size_t what);
  [[nodiscard]] std::string row_text(std::size_t row) const;

  // "table.row.3"
  [[nodiscard]] std::string part(std::string_view kind, std::size_t index) const {
    return std::string(name_) + '.' + std::string(kind) + '.' + std::to_string(index);
  }

  Ui& ui_;
  std::string_view name_;
  std::span<const TableColumn> columns_;
  std::size_t rows_;
  const TableContent& content_;
  TableState& state_;
  const TableOptions& options_;
  std::vector<ColumnSpan> spans_;
  FocusStop keyboard_;
  std::vector<std::string> parts_;  // carets and links of the row of the cursor, as drawn in this frame
  TableResult result_;
};

}  // namespace accelscope::render
