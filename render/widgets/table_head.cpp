// The head of a table: sorting, widths, the filter's field, and the menus of its head and rows.
#include <imgui.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <utility>

#include "core/base/format.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/menu.h"
#include "render/widgets/popup.h"
#include "render/widgets/table_drawing.h"
#include "render/widgets/text_input.h"

namespace accelscope::render {
namespace {

constexpr float kSmallestColumn = 36;
constexpr std::size_t kCopies = 3;  // items of the menu that copy

const std::string& copied_text(const TableCell& cell) { return cell.exact.empty() ? cell.text : cell.exact; }

// "source.lines" -> "source-lines.csv"
std::string file_name_of(std::string_view table, TableForm form) {
  std::string name(table);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '.' || c == '_'; }, '-');
  return name + (form == TableForm::json ? ".json" : ".csv");
}

constexpr std::array<std::pair<const char*, TableForm>, 2> kExports = {
    {{"csv", TableForm::csv}, {"json", TableForm::json}}};

void add_exports(std::vector<MenuItem>& items) {
  items.push_back({.id = "csv", .label = "Export CSV...", .icon = icon::kSave});
  items.push_back({.id = "json", .label = "Export JSON..."});
}

// The form that a choice in a menu means; nothing: it is another item.
[[nodiscard]] std::optional<TableForm> export_of(std::string_view chosen) {
  for (const auto& [id, form] : kExports) {
    if (chosen == id) return form;
  }
  return std::nullopt;
}

}  // namespace

void TableDrawing::resize_column(std::size_t index, const Rect& cell) {
  const Rect grip{cell.x1 - ui_.px(4), cell.y0, cell.x1 + ui_.px(3), cell.y1};
  const std::string name = part("resize", index);
  const Interaction at = interact(ui_, name, grip);
  if (at.hovered || at.held) set_cursor(Cursor::resize_horizontal);
  float& width_at_press = ui_.remembered(name + "#width");
  float& mouse_at_press = ui_.remembered(name + "#mouse");
  if (at.pressed) {
    width_at_press = spans_[index].width / ui_.scale();
    mouse_at_press = ui_.input().mouse.x;
  }
  if (at.double_clicked) {
    if (index < state_.widths.size()) state_.widths[index] = 0;
  } else if (at.held && ui_.input().mouse.x != mouse_at_press) {
    state_.widths.resize(columns_.size());
    const float moved = (ui_.input().mouse.x - mouse_at_press) / ui_.scale();
    state_.widths[index] = std::max(kSmallestColumn, width_at_press + moved);
  }
}

void TableDrawing::draw_head(const Rect& head, float scroll_x) {
  fill(ui_, head, ui_.colour(Colour::bg3));
  ImGui::PushClipRect(ImVec2(head.x0, head.y0), ImVec2(head.x1, head.y1), true);
  for (std::size_t index = 0; index < columns_.size(); ++index) {
    if (is_hidden(index)) continue;
    const TableColumn& column = columns_[index];
    const float x = head.x0 + spans_[index].from - scroll_x;
    const Rect cell{x, head.y0, x + spans_[index].width, head.y1};
    const Interaction at =
        interact(ui_, part("head", index), cell, {.disabled = !column.sortable, .below_others = true});
    const bool sorted = state_.sort_column == static_cast<int>(index);
    if (at.right_clicked) {
      ui_.remembered(std::string(name_) + "#head") = static_cast<float>(index);
      open_menu(ui_, std::string(name_) + ".columns");
    }
    if (at.clicked && column.sortable) {
      state_.descending = sorted ? !state_.descending : column.align == Align::right;
      state_.sort_column = static_cast<int>(index);
      result_.sort_changed = true;
    }
    const bool narrow = cell.width() < ui_.px(2 * size::kCellPadding + 12);
    Rect inside = cell.inset(narrow ? 0 : ui_.px(size::kCellPadding), 0);
    const bool lit = sorted || (at.hovered && column.sortable);
    const TextOptions text{
        .style = TextStyle::small, .colour = lit ? Colour::text1 : Colour::text2, .align = column.align};
    const char* caret = state_.descending ? icon::kCaretDown : icon::kCaretUp;
    if (sorted && column.align != Align::right) {
      const float title = std::min(text_width(ui_, text.style, column.title), inside.width() - ui_.px(14));
      const Rect after{inside.x0 + title + ui_.px(4), inside.y0, inside.x0 + title + ui_.px(14), inside.y1};
      draw_icon(ui_, after, caret, ui_.colour(Colour::accent), TextStyle::icon12);
      inside.x1 = after.x0;
    } else if (sorted) {
      const float title = std::min(text_width(ui_, text.style, column.title), inside.width() - ui_.px(14));
      const Rect before{inside.x1 - title - ui_.px(14), inside.y0, inside.x1 - title - ui_.px(4), inside.y1};
      draw_icon(ui_, before, caret, ui_.colour(Colour::accent), TextStyle::icon12);
    }
    draw_text(ui_, inside, column.title, text);
    if (index + 1 < columns_.size()) {
      vertical_line(ui_, cell.x1 - ui_.px(1), cell.y0 + ui_.px(6), cell.y1 - ui_.px(6), ui_.colour(Colour::line2));
    }
    if (!column.tooltip.empty()) tooltip(ui_, at, cell, column.tooltip);
    resize_column(index, cell);
  }
  ImGui::PopClipRect();
  const Rect corner{head.x1 - ui_.px(kTableFunnel), head.y0, head.x1, head.y1};
  fill(ui_, corner, ui_.colour(Colour::bg3));
  const ButtonOptions funnel{.icon_colour = state_.filter.empty() ? Pixel() : ui_.colour(Colour::accent),
                             .shortcut = "Ctrl+Shift+F"};
  if (icon_button(ui_, std::string(name_) + ".filter", corner, icon::kFilter, "Only rows that contain a text",
                  funnel)) {
    state_.filter_open ? close_filter() : open_filter();
  }
  horizontal_line(ui_, head.x0, head.x1, head.y1 - ui_.px(1), ui_.colour(Colour::line2));
}

void TableDrawing::open_filter() {
  state_.filter_open = true;
  state_.focus_filter = true;
  ui_.request_frame();
}

void TableDrawing::close_filter() {
  state_.filter_open = false;
  state_.filter.clear();
}

void TableDrawing::draw_filter(Rect row) {
  fill(ui_, row, ui_.colour(Colour::bg3));
  const std::string name = std::string(name_) + ".filter";
  row.cut_right(ui_.px(2));
  const float side = ui_.px(size::kTableRow);
  const bool closed =
      icon_button(ui_, name + ".close", row.cut_right(side).middle(side), icon::kClose, "Show all rows (Esc)");
  if (filtered()) {
    const std::string count = format_count(shown()) + " of " + format_count(rows_);
    const Rect place = row.cut_right(text_width(ui_, TextStyle::small, count) + ui_.px(8));
    draw_text(ui_, place, count, {.style = TextStyle::small, .colour = Colour::text2});
  }
  const Rect field = row.inset(ui_.px(2), ui_.px(1));
  const TextInputResult typed = text_input(ui_, name + ".text", field, state_.filter,
                                           {.placeholder = "Rows that contain",
                                            .icon = icon::kFilter,
                                            .focus_now = std::exchange(state_.focus_filter, false)});
  if (closed || typed.cancelled) close_filter();
}

// What is under way goes on with the next frame.
void TableDrawing::filter_rows() {
  if (options_.finds_rows || state_.filter.empty()) return;
  const bool done = state_.matching.update({state_.filter, rows_, state_.sort_column, state_.descending, state_.hidden},
                                           [&](std::size_t row, std::string_view text) {
                                             for (std::size_t column = 0; column < columns_.size(); ++column) {
                                               const bool hidden =
                                                   column < state_.hidden.size() && state_.hidden[column];
                                               if (hidden) continue;
                                               const TableCell cell = content_(row, column);
                                               if (contains_text(cell.text, text) || contains_text(cell.detail, text))
                                                 return true;
                                             }
                                             return false;
                                           });
  if (!done) ui_.request_frame();
}

std::optional<std::size_t> TableDrawing::place_of(std::size_t row) const {
  if (!filtered()) return row;
  const std::vector<std::uint32_t>& rows = *found();
  const auto found = std::lower_bound(rows.begin(), rows.end(), row);
  if (found == rows.end() || *found != row) return std::nullopt;
  return static_cast<std::size_t>(found - rows.begin());
}

std::vector<std::size_t> TableDrawing::shown_columns() const {
  std::vector<std::size_t> places;
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    if (!is_hidden(column)) places.push_back(column);
  }
  return places;
}

std::string TableDrawing::shown_text(TableForm form) const {
  const std::vector<std::size_t> places = shown_columns();
  std::vector<TableColumn> columns;
  for (const std::size_t column : places) columns.push_back(columns_[column]);
  return table_in_form(
      columns, shown(), [&](std::size_t row, std::size_t column) { return content_(row_at(row), places[column]); },
      form);
}

std::function<std::string()> TableDrawing::detached_text(TableForm form) const {
  std::vector<std::uint32_t> rows = filtered() ? *found() : std::vector<std::uint32_t>(rows_);
  if (!filtered()) std::iota(rows.begin(), rows.end(), 0U);
  const std::vector<std::size_t> places = shown_columns();
  std::vector<TableColumn> columns;
  for (const std::size_t column : places) columns.push_back(columns_[column]);
  return [columns, places, rows = std::move(rows), content = options_.detached(), form] {
    const TableContent shown = [&](std::size_t row, std::size_t column) { return content(rows[row], places[column]); };
    return table_in_form(columns, rows.size(), shown, form);
  };
}

void TableDrawing::export_as(TableForm form) const {
  if (!options_.detached) {
    ui_.offer_file({file_name_of(name_, form), [text = shown_text(form)] { return text; }});
  } else {
    ui_.offer_file({file_name_of(name_, form), detached_text(form)});
  }
}

void TableDrawing::copy_table() const {
  constexpr std::size_t kMostAtOnce = 500;  // rows; it takes microseconds for each cell
  if (options_.detached && shown() > kMostAtOnce) return ui_.copy_made(detached_text(TableForm::tabs));
  ui_.copy_to_clipboard(shown_text(TableForm::tabs));
}

void TableDrawing::copy(std::size_t what) {
  const auto row = static_cast<std::size_t>(ui_.remembered(std::string(name_) + "#row"));
  const auto column = static_cast<std::size_t>(ui_.remembered(std::string(name_) + "#column"));
  if (row >= rows_ || column >= columns_.size()) return;
  if (what == 2) return copy_table();
  std::string text;
  if (what == 0) {
    text = copied_text(content_(row, column));
  } else {
    for (std::size_t index = 0; index < columns_.size(); ++index) {
      if (!is_hidden(index)) text += (text.empty() ? "" : "\t") + copied_text(content_(row, index));
    }
  }
  ui_.copy_to_clipboard(text);
}

void TableDrawing::show_menu() {
  std::vector<MenuItem> items = {{.id = "0", .label = "Copy cell", .icon = icon::kCopy},
                                 {.id = "1", .label = "Copy row"},
                                 {.id = "2", .label = "Copy table"}};
  if (options_.can_export && ui_.can_offer_file()) add_exports(items);
  for (std::size_t index = 0; index < options_.menu.size(); ++index) {
    items.push_back({.id = std::to_string(kCopies + index), .label = options_.menu[index], .line_above = index == 0});
  }
  const auto chosen = popup_menu(ui_, std::string(name_) + ".menu", items);
  if (!chosen) return;
  if (const std::optional<TableForm> form = export_of(*chosen)) {
    export_as(*form);
    return;
  }
  const auto index = static_cast<std::size_t>(std::stoul(*chosen));
  if (index < kCopies) {
    copy(index);
    return;
  }
  const auto row = static_cast<std::size_t>(ui_.remembered(std::string(name_) + "#row"));
  if (row >= rows_) return;  // it has gone while the menu was open
  result_.menu_choice = index - kCopies;
  result_.menu_row = row;
}

void TableDrawing::show_head_menu() {
  std::vector<MenuItem> items;
  const auto head = static_cast<std::size_t>(ui_.remembered(std::string(name_) + "#head"));
  const bool can_look_up = ui_.can_look_up() && head < columns_.size() && !columns_[head].title.empty();
  const auto left = static_cast<std::size_t>(
      std::count_if(spans_.begin(), spans_.end(), [](const ColumnSpan& s) { return s.width > 0; }));
  for (std::size_t index = 0; index < columns_.size(); ++index) {
    const bool hidden = is_hidden(index);
    items.push_back({.id = std::to_string(index),
                     .label = columns_[index].title.empty() ? "(no title)" : columns_[index].title,
                     .enabled = hidden || left > 1,
                     .checked = !hidden});
  }
  items.push_back({.id = "all", .label = "All columns, as wide as at first", .line_above = true});
  if (can_look_up)
    items.push_back({.id = "look_up", .label = "Look up \"" + columns_[head].title + "\"", .icon = icon::kInfo});
  items.push_back({.id = "filter", .label = "Filter rows", .shortcut = "Ctrl+Shift+F", .icon = icon::kFilter});
  items.push_back({.id = "copy", .label = "Copy table", .icon = icon::kCopy});
  if (options_.can_export && ui_.can_offer_file()) add_exports(items);
  const auto chosen = popup_menu(ui_, std::string(name_) + ".columns", items);
  if (!chosen) return;
  if (*chosen == "look_up") {
    ui_.look_up({columns_[head].data_title, columns_[head].title, columns_[head].tooltip});
  } else if (*chosen == "all") {
    state_.hidden.clear();
    state_.widths.clear();
  } else if (*chosen == "filter") {
    open_filter();
  } else if (*chosen == "copy") {
    copy_table();
  } else if (const std::optional<TableForm> form = export_of(*chosen)) {
    export_as(*form);
  } else {
    const auto column = static_cast<std::size_t>(std::stoul(*chosen));
    state_.hidden.resize(columns_.size());
    state_.hidden[column] = !state_.hidden[column];
  }
}

}  // namespace accelscope::render
