#include "render/widgets/table.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "render/icons.h"
#include "render/widgets/layout.h"
#include "render/widgets/menu.h"
#include "render/widgets/popup.h"

namespace accelscope::render {
namespace {

constexpr float kSmallestColumn = 36, kSmallestFlexible = 80, kBarText = 60, kIndent = 16, kCaret = 14, kSwatchGap = 8;

struct Span {
  float from = 0;  // pixels from the left edge of the content
  float width = 0;
};

std::string joined(std::string_view name, std::string_view part, std::size_t index) {
  return std::string(name) + '.' + std::string(part) + '.' + std::to_string(index);
}

// Fixed columns take their width, the others share what is left.
std::vector<Span> lay_out(const Ui& ui, std::span<const TableColumn> columns, const TableState& state, float width) {
  const auto wanted = [&](std::size_t index) {
    const bool dragged = index < state.widths.size() && state.widths[index] > 0;
    return dragged ? state.widths[index] : columns[index].width;
  };
  float fixed = 0;
  std::size_t flexible = 0;
  for (std::size_t index = 0; index < columns.size(); ++index) {
    if (wanted(index) > 0) {
      fixed += ui.px(wanted(index));
    } else {
      ++flexible;
    }
  }
  const float share = flexible == 0 ? 0 : std::floor((width - fixed) / static_cast<float>(flexible));
  std::vector<Span> spans;
  float x = 0;
  for (std::size_t index = 0; index < columns.size(); ++index) {
    const float own = wanted(index) > 0 ? ui.px(wanted(index)) : std::max(ui.px(kSmallestFlexible), share);
    spans.push_back({x, own});
    x += own;
  }
  if (flexible == 0 && !spans.empty() && x < width) spans.back().width += width - x;  // rows reach the edge
  return spans;
}

float total_width(const std::vector<Span>& spans) { return spans.empty() ? 0 : spans.back().from + spans.back().width; }

class TableDrawing {
 public:
  TableDrawing(Ui& ui, std::string_view name, std::span<const TableColumn> columns, std::size_t rows,
               const TableContent& content, TableState& state, const TableOptions& options)
      : ui_(ui), name_(name), columns_(columns), rows_(rows), content_(content), state_(state), options_(options) {}

  TableResult draw(Rect area);

 private:
  void draw_head(const Rect& head, float scroll_x);
  void resize_column(std::size_t index, const Rect& cell);
  void draw_rows(const Rect& area);
  void draw_row(const Rect& row, std::size_t index);
  void draw_cell(const Rect& cell, std::size_t row, std::size_t column);
  void draw_bar(Rect& cell, const TableCell& content) const;
  void move_with_keys(float visible_rows);
  void show_menu();
  void copy(std::size_t what);

  Ui& ui_;
  std::string_view name_;
  std::span<const TableColumn> columns_;
  std::size_t rows_;
  const TableContent& content_;
  TableState& state_;
  const TableOptions& options_;
  std::vector<Span> spans_;
  TableResult result_;
};

void TableDrawing::resize_column(std::size_t index, const Rect& cell) {
  const Rect grip{cell.x1 - ui_.px(4), cell.y0, cell.x1 + ui_.px(3), cell.y1};
  const std::string name = joined(name_, "resize", index);
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
    const TableColumn& column = columns_[index];
    const float x = head.x0 + spans_[index].from - scroll_x;
    const Rect cell{x, head.y0, x + spans_[index].width, head.y1};
    const Interaction at =
        interact(ui_, joined(name_, "head", index), cell, {.disabled = !column.sortable, .below_others = true});
    const bool sorted = state_.sort_column == static_cast<int>(index);
    if (at.clicked && column.sortable) {
      state_.descending = sorted ? !state_.descending : column.align == Align::right;
      state_.sort_column = static_cast<int>(index);
      result_.sort_changed = true;
    }
    Rect inside = cell.inset(ui_.px(size::kCellPadding), 0);
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
  horizontal_line(ui_, head.x0, head.x1, head.y1 - ui_.px(1), ui_.colour(Colour::line2));
}

// A share as a bar on a track; the number stands in a column of its own at the right.
void TableDrawing::draw_bar(Rect& cell, const TableCell& content) const {
  const float text = content.text.empty() ? 0 : std::min(ui_.px(kBarText), cell.width() * 0.7F);
  Rect track = Rect{cell.x0, cell.y0, cell.x1 - text, cell.y1}.middle(ui_.px(8));
  cell.x0 = track.x1;
  fill(ui_, track, ui_.colour(Colour::bg4));
  const auto share = static_cast<float>(std::clamp(content.bar, 0.0, 1.0));
  float length = std::round(track.width() * share);
  if (share > 0) length = std::max(length, ui_.px(1));
  track.x1 = track.x0 + length;
  fill(ui_, track, content.bar_colour != 0 ? content.bar_colour : ui_.colour(Colour::accent));
}

void TableDrawing::draw_cell(const Rect& cell, std::size_t row, std::size_t column) {
  const TableCell content = content_(row, column);
  Rect inside = cell.inset(ui_.px(size::kCellPadding), 0);
  inside.cut_left(static_cast<float>(content.indent) * ui_.px(kIndent));
  const std::string cell_name = joined(name_, "cell", row) + '.' + std::to_string(column);
  if (content.expanded.has_value()) {
    const Rect caret = inside.cut_left(ui_.px(kCaret));
    const Interaction at = interact(ui_, cell_name + ".caret", caret);
    if (at.clicked) result_.toggled = row;
    draw_icon(ui_, {caret.x0, caret.y0, caret.x0 + ui_.px(10), caret.y1},
              *content.expanded ? icon::kCaretDown : icon::kCaretRight,
              ui_.colour(at.hovered ? Colour::text1 : Colour::text2));
  }
  if (content.swatch != 0) inside.cut_left(draw_swatch(ui_, inside, content.swatch) + ui_.px(kSwatchGap));
  if (content.icon != nullptr) {
    draw_icon(ui_, inside.cut_left(ui_.px(14)), content.icon, ui_.colour(content.icon_colour));
    inside.cut_left(ui_.px(6));
  }
  Align align = columns_[column].align;
  if (content.bar >= 0) {
    draw_bar(inside, content);
    align = Align::right;
  }
  Colour colour = content.colour;
  if (content.link) {
    colour = Colour::accent;
    const float width = std::min(text_width(ui_, content.style, content.text), inside.width());
    Rect words = inside;
    (align == Align::right ? words.x0 : words.x1) = align == Align::right ? inside.x1 - width : inside.x0 + width;
    const Interaction at = interact(ui_, cell_name, words);
    if (at.hovered) {
      set_cursor(Cursor::hand);
      const float baseline = words.centre().y + ui_.fonts().baseline_offset(content.style);
      horizontal_line(ui_, words.x0, words.x1, baseline + ui_.px(2), ui_.colour(Colour::accent));
    }
    if (at.clicked) {
      result_.clicked_link = row;
      result_.link_column = column;
    }
  }
  draw_text(ui_, inside, content.text, {.style = content.style, .colour = colour, .align = align, .fit = content.fit});
}

void TableDrawing::draw_row(const Rect& row, std::size_t index) {
  const Interaction at = interact(ui_, joined(name_, "row", index), row, {.below_others = true});
  const bool pointed = at.hovered || (ImGui::IsWindowHovered() && row.contains(ui_.input().mouse));
  const bool selected = options_.selected && options_.selected(index);
  if (selected) {
    fill(ui_, row, ui_.colour(Colour::accent_bg));
    fill(ui_, {row.x0, row.y0, row.x0 + ui_.px(size::kAccentLine), row.y1}, ui_.colour(Colour::accent));
  } else if (pointed) {
    fill(ui_, row, ui_.colour(Colour::bg3));
  } else if (options_.stripes && index % 2 == 1) {
    fill(ui_, row, mix(ui_.colour(Colour::bg2), ui_.colour(Colour::bg3), 0.45F));
  }
  if (pointed) result_.hovered = index;
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    const float x = row.x0 + spans_[column].from;
    draw_cell({x, row.y0, x + spans_[column].width, row.y1}, index, column);
  }
  if (at.clicked || at.right_clicked) {
    state_.cursor = index;
    state_.focused = true;
    ui_.request_frame();
  }
  if (at.clicked && result_.toggled != index) result_.clicked = index;
  if (at.double_clicked) result_.double_clicked = index;
  if (!at.right_clicked) return;
  result_.right_clicked = index;
  std::size_t column = 0;
  while (column + 1 < columns_.size() && ui_.input().mouse.x >= row.x0 + spans_[column + 1].from) ++column;
  ui_.remembered(std::string(name_) + "#row") = static_cast<float>(index);
  ui_.remembered(std::string(name_) + "#column") = static_cast<float>(column);
  open_menu(ui_, std::string(name_) + ".menu");
}

void TableDrawing::move_with_keys(float visible_rows) {
  if (!state_.focused || ui_.typing() || rows_ == 0) return;
  const auto page = static_cast<long>(std::max(1.0F, visible_rows - 1));
  const std::pair<Key, long> steps[] = {{Key::up, -1}, {Key::down, 1}, {Key::page_up, -page}, {Key::page_down, page}};
  for (const auto& [key, step] : steps) {
    if (!ui_.pressed(key)) continue;
    const auto last = static_cast<long>(rows_) - 1;
    const long from = state_.cursor ? static_cast<long>(*state_.cursor) : (step > 0 ? -1 : last + 1);
    state_.cursor = static_cast<std::size_t>(std::clamp(from + step, 0L, last));
    result_.clicked = state_.cursor;
  }
  if (state_.cursor && *state_.cursor < rows_ && ui_.pressed(Key::enter, {}, false)) {
    result_.double_clicked = state_.cursor;
  }
}

void TableDrawing::draw_rows(const Rect& area) {
  const float row_height = ui_.px(options_.row_height);
  ScrollArea scroll(ui_, std::string(name_) + ".rows", area, static_cast<float>(rows_) * row_height,
                    total_width(spans_) > area.width() + 0.5F ? total_width(spans_) : 0);
  const Rect content = scroll.content();
  ui_.remembered(std::string(name_) + "#scroll_x") = area.x0 - content.x0;  // the head follows with the next frame
  const auto row_at = [&](std::size_t index) {
    const float y = content.y0 + static_cast<float>(index) * row_height;
    return Rect{content.x0, y, content.x1, y + row_height};
  };
  const std::optional<std::size_t> before = state_.cursor;
  move_with_keys(scroll.visible().height() / row_height);
  if (state_.cursor != before && state_.cursor) scroll.show(row_at(*state_.cursor));
  if (options_.show_row && *options_.show_row < rows_) scroll.show(row_at(*options_.show_row));
  if (rows_ == 0) return;
  const float above = std::max(0.0F, (scroll.visible().y0 - content.y0) / row_height);
  const float below = std::max(0.0F, (scroll.visible().y1 - content.y0) / row_height);
  const auto last = std::min(rows_, static_cast<std::size_t>(below) + 1);
  for (auto index = static_cast<std::size_t>(above); index < last; ++index) draw_row(row_at(index), index);
}

void TableDrawing::copy(std::size_t what) {
  const auto row = static_cast<std::size_t>(ui_.remembered(std::string(name_) + "#row"));
  const auto column = static_cast<std::size_t>(ui_.remembered(std::string(name_) + "#column"));
  if (row >= rows_ || column >= columns_.size()) return;
  std::string text;
  if (what == 0) {
    text = content_(row, column).text;
  } else if (what == 1) {
    for (std::size_t index = 0; index < columns_.size(); ++index) {
      text += (index > 0 ? "\t" : "") + content_(row, index).text;
    }
  } else {
    text = table_text(columns_, rows_, content_, '\t');
  }
  ui_.copy_to_clipboard(text);
}

void TableDrawing::show_menu() {
  std::vector<MenuItem> items = {{.id = "0", .label = "Copy cell", .icon = icon::kCopy},
                                 {.id = "1", .label = "Copy row"},
                                 {.id = "2", .label = "Copy table"}};
  constexpr std::size_t kOwn = 3;
  for (std::size_t index = 0; index < options_.menu.size(); ++index) {
    items.push_back({.id = std::to_string(kOwn + index), .label = options_.menu[index], .line_above = index == 0});
  }
  const auto chosen = popup_menu(ui_, std::string(name_) + ".menu", items);
  if (!chosen) return;
  const auto index = static_cast<std::size_t>(std::stoul(*chosen));
  if (index < kOwn) {
    copy(index);
    return;
  }
  result_.menu_choice = index - kOwn;
  result_.menu_row = static_cast<std::size_t>(ui_.remembered(std::string(name_) + "#row"));
}

TableResult TableDrawing::draw(Rect area) {
  const Rect whole = area;
  const float head_height = options_.head_height > 0 ? ui_.px(options_.head_height) : 0;
  const Rect head = area.cut_top(head_height);
  const bool scrolls = static_cast<float>(rows_) * ui_.px(options_.row_height) > area.height();
  spans_ = lay_out(ui_, columns_, state_, area.width() - (scrolls ? ui_.px(10) : 0));
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left) && !whole.contains(ui_.input().mouse)) state_.focused = false;
  if (state_.cursor && *state_.cursor >= rows_) state_.cursor.reset();
  if (head_height > 0) draw_head(head, ui_.remembered(std::string(name_) + "#scroll_x"));
  draw_rows(area);
  show_menu();
  return result_;
}

std::string quoted(const std::string& text, char separator) {
  if (text.find_first_of(std::string("\"\n\r") + separator) == std::string::npos) return text;
  if (separator == '\t') {  // the clipboard's convention has no quotes: white space stands in
    std::string plain = text;
    std::replace_if(
        plain.begin(), plain.end(), [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
    return plain;
  }
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + '"';
}

}  // namespace

TableResult table(Ui& ui, std::string_view name, const Rect& area, std::span<const TableColumn> columns,
                  std::size_t rows, const TableContent& content, TableState& state, const TableOptions& options) {
  return TableDrawing(ui, name, columns, rows, content, state, options).draw(area);
}

std::string table_text(std::span<const TableColumn> columns, std::size_t rows, const TableContent& content,
                       char separator) {
  std::string text;
  for (std::size_t index = 0; index < columns.size(); ++index) {
    if (index > 0) text += separator;
    text += quoted(columns[index].title, separator);
  }
  text += '\n';
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t index = 0; index < columns.size(); ++index) {
      if (index > 0) text += separator;
      text += quoted(content(row, index).text, separator);
    }
    text += '\n';
  }
  return text;
}

}  // namespace accelscope::render
