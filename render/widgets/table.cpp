#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "render/base/icons.h"
#include "render/widgets/layout.h"
#include "render/widgets/menu.h"
#include "render/widgets/popup.h"
#include "render/widgets/table_drawing.h"
namespace accelscope::render {
namespace {

constexpr float kSmallestFlexible = 80, kBarText = 60, kIndent = 16, kCaret = 14, kSwatchGap = 8;

// Fixed columns take their width, the others share what is left.
std::vector<ColumnSpan> lay_out(const Ui& ui, std::span<const TableColumn> columns, const TableState& state,
                                float width) {
  const auto hidden = [&](std::size_t index) { return index < state.hidden.size() && state.hidden[index]; };
  const auto wanted = [&](std::size_t index) {
    const bool dragged = index < state.widths.size() && state.widths[index] > 0;
    const float needed = index < state.needed.size() ? state.needed[index] : 0;
    if (dragged || columns[index].width <= 0) return dragged ? state.widths[index] : 0.0F;
    return std::max(columns[index].width, needed);
  };
  float fixed = 0;
  std::size_t flexible = 0;
  for (std::size_t index = 0; index < columns.size(); ++index) {
    if (hidden(index)) continue;
    if (wanted(index) > 0) {
      fixed += ui.px(wanted(index));
    } else {
      ++flexible;
    }
  }
  const float share = flexible == 0 ? 0 : std::floor((width - fixed) / static_cast<float>(flexible));
  std::vector<ColumnSpan> spans;
  float x = 0;
  std::size_t last = 0;  // that is shown
  for (std::size_t index = 0; index < columns.size(); ++index) {
    float own = 0;
    if (!hidden(index)) {
      own = wanted(index) > 0 ? ui.px(wanted(index)) : std::max(ui.px(kSmallestFlexible), share);
      last = index;
    }
    spans.push_back({x, own});
    x += own;
  }
  if (flexible == 0 && !spans.empty() && x < width) {  // rows reach the edge
    spans[last].width += width - x;
    for (std::size_t index = last + 1; index < spans.size(); ++index) spans[index].from = width;
  }
  return spans;
}

bool is_number(std::string_view text) {
  constexpr std::string_view kSigns[] = {"-", "+", "−", "±", "≈", "⌀ "};
  for (const std::string_view sign : kSigns) {
    if (text.starts_with(sign)) text.remove_prefix(sign.size());
  }
  return !text.empty() && text.front() >= '0' && text.front() <= '9';
}

float total_width(const std::vector<ColumnSpan>& spans) {
  return spans.empty() ? 0 : spans.back().from + spans.back().width;
}

}  // namespace

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

// A share as a column that stands on the row.
void TableDrawing::draw_level(const Rect& cell, const TableCell& content) const {
  Rect box = cell.inset(ui_.px(1), ui_.px(2));
  fill(ui_, box, ui_.colour(Colour::bg4));
  const auto share = static_cast<float>(std::clamp(content.level, 0.0, 1.0));
  if (share <= 0) return;
  box.y0 = box.y1 - std::max(ui_.px(1), std::round(box.height() * share));
  fill(ui_, box, content.bar_colour != 0 ? content.bar_colour : ui_.colour(Colour::accent));
}

// Behind letters of a text at the left.
void TableDrawing::draw_mark(const Rect& inside, const TableCell& content) const {
  const std::string_view text = content.text;
  const float from = inside.x0 + text_width(ui_, content.style, text.substr(0, content.mark_begin));
  const float to = from + text_width(ui_, content.style, text.substr(content.mark_begin, content.mark_length));
  if (from >= inside.x1) return;
  Rect mark = Rect{from, inside.y0, std::min(to, inside.x1), inside.y1}.inset(0, ui_.px(2));
  fill(ui_, mark, ui_.colour(Colour::accent_bg));
  horizontal_line(ui_, mark.x0, mark.x1, mark.y1 - ui_.px(1), ui_.colour(Colour::accent));
}

void TableDrawing::draw_cell(const Rect& cell, std::size_t row, std::size_t column, const Interaction& hand) {
  const TableCell content = content_(row, column);
  double rested = hand.hovered_for;
  if (content.level >= 0) {
    draw_level(cell, content);
    if (result_.hovered == row && cell.contains(ui_.input().mouse) && !content.exact.empty())
      tooltip(ui_, {.hovered = true, .hovered_for = rested}, cell, content.exact);
    return;
  }
  Rect inside = cell.inset(ui_.px(size::kCellPadding), 0);
  inside.cut_left(static_cast<float>(content.indent) * ui_.px(kIndent));
  const std::string cell_name = part("cell", row) + '.' + std::to_string(column);
  if (content.leaf) inside.cut_left(ui_.px(kCaret));
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
      rested = at.hovered_for;
      set_cursor(Cursor::hand);
      const float baseline = words.centre().y + ui_.fonts().baseline_offset(content.style);
      horizontal_line(ui_, words.x0, words.x1, baseline + ui_.px(2), ui_.colour(Colour::accent));
    }
    if (at.clicked) result_.clicked_link = row;
  }
  if (align == Align::right && content.bar < 0 && is_number(content.text)) make_room(cell, inside, column, content);
  if (content.mark_length > 0) draw_mark(inside, content);
  const float used = draw_text(ui_, inside, content.text,
                               {.style = content.style, .colour = colour, .align = align, .fit = content.fit});
  if (!content.detail.empty()) {
    Rect behind = inside;
    behind.cut_left(used + ui_.px(12));
    draw_text(ui_, behind, content.detail, {.style = content.style, .colour = Colour::text2});
  }
  if (result_.hovered != row || !cell.contains(ui_.input().mouse)) return;
  const bool cut = text_width(ui_, content.style, content.text) > inside.width() + 0.5F;
  const std::string& whole = !content.exact.empty() ? content.exact : content.text;
  const bool says_more = whole != content.text || cut;
  if (says_more) tooltip(ui_, {.hovered = true, .hovered_for = rested}, cell, whole);
}

// A number that is cut says another one: its column is as wide as the widest that came into sight.
void TableDrawing::make_room(const Rect& cell, const Rect& inside, std::size_t column, const TableCell& content) {
  const float missing = text_width(ui_, content.style, content.text) - inside.width();
  if (missing <= 0) return;
  if (state_.needed.size() < columns_.size()) state_.needed.resize(columns_.size(), 0);
  const float needed = (cell.width() + std::ceil(missing) + 1) / ui_.scale();
  if (needed <= state_.needed[column]) return;
  state_.needed[column] = needed;
  ui_.request_frame();
}

void TableDrawing::draw_row(const Rect& row, std::size_t place) {
  const std::size_t index = row_at(place);
  const Interaction at = interact(ui_, part("row", index), row, {.below_others = true});
  const bool pointed = at.hovered || (ImGui::IsWindowHovered() && row.contains(ui_.input().mouse));
  const bool selected = options_.selected && options_.selected(index);
  if (selected) {
    fill(ui_, row, ui_.colour(Colour::accent_bg));
    fill(ui_, {row.x0, row.y0, row.x0 + ui_.px(size::kAccentLine), row.y1}, ui_.colour(Colour::accent));
  } else if (pointed) {
    fill(ui_, row, ui_.colour(Colour::bg3));
  } else if (place % 2 == 1) {
    fill(ui_, row, mix(ui_.colour(Colour::bg2), ui_.colour(Colour::bg3), 0.45F));
  }
  if (pointed) result_.hovered = index;
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    if (is_hidden(column)) continue;
    const float x = row.x0 + spans_[column].from;
    draw_cell({x, row.y0, x + spans_[column].width, row.y1}, index, column, at);
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
  while (column > 0 && is_hidden(column)) --column;
  ui_.remembered(std::string(name_) + "#row") = static_cast<float>(index);
  ui_.remembered(std::string(name_) + "#column") = static_cast<float>(column);
  open_menu(ui_, std::string(name_) + ".menu");
}

void TableDrawing::move_with_keys(float visible_rows) {
  if (!state_.focused || ui_.typing() || shown() == 0) return;
  const auto page = static_cast<long>(std::max(1.0F, visible_rows - 1));
  const std::pair<Key, long> steps[] = {{Key::up, -1}, {Key::down, 1}, {Key::page_up, -page}, {Key::page_down, page}};
  for (const auto& [key, step] : steps) {
    if (!ui_.pressed(key)) continue;
    const auto last = static_cast<long>(shown()) - 1;
    const std::optional<std::size_t> place = state_.cursor ? place_of(*state_.cursor) : std::nullopt;
    const long from = place ? static_cast<long>(*place) : (step > 0 ? -1 : last + 1);
    state_.cursor = row_at(static_cast<std::size_t>(std::clamp(from + step, 0L, last)));
    result_.clicked = state_.cursor;
  }
  if (state_.cursor && *state_.cursor < rows_ && ui_.pressed(Key::enter, {}, false)) {
    result_.double_clicked = state_.cursor;
  }
}

void TableDrawing::draw_rows(const Rect& area) {
  const float row_height = ui_.px(options_.row_height);
  ScrollArea scroll(ui_, std::string(name_) + ".rows", area, static_cast<float>(shown()) * row_height,
                    total_width(spans_) > area.width() + 0.5F ? total_width(spans_) : 0);
  if (const auto top = options_.top_row ? place_of(*options_.top_row) : std::nullopt) {
    const float above_top = std::max(0.0F, scroll.visible().y0 - scroll.content().y0);
    scroll.move(static_cast<float>(*top) * row_height - std::floor(above_top / row_height) * row_height);
  }
  const Rect content = scroll.content();
  ui_.remembered(std::string(name_) + "#scroll_x") = area.x0 - content.x0;  // the head follows with the next frame
  const auto rect_at = [&](std::size_t place) {
    const float y = content.y0 + static_cast<float>(place) * row_height;
    return Rect{content.x0, y, content.x1, y + row_height};
  };
  const std::optional<std::size_t> before = state_.cursor;
  move_with_keys(scroll.visible().height() / row_height);
  const auto show = [&](std::optional<std::size_t> row) {
    const std::optional<std::size_t> place = row && *row < rows_ ? place_of(*row) : std::nullopt;
    if (place) scroll.show(rect_at(*place));
  };
  if (state_.cursor != before) show(state_.cursor);
  show(options_.show_row);
  if (shown() == 0) {
    draw_text(ui_, content.inset(ui_.px(size::kPanelPadding), 0), filtered() ? "No row contains it" : "",
              {.colour = Colour::text3, .align = Align::centre});
    return;
  }
  const float above = std::max(0.0F, (scroll.visible().y0 - content.y0) / row_height);
  const float below = std::max(0.0F, (scroll.visible().y1 - content.y0) / row_height);
  const auto last = std::min(shown(), static_cast<std::size_t>(below) + 1);
  for (auto index = static_cast<std::size_t>(above); index < last; ++index) draw_row(rect_at(index), index);
  if (static_cast<std::size_t>(above) < last) result_.top_row = row_at(static_cast<std::size_t>(above));
}

TableResult TableDrawing::draw(Rect area) {
  const Rect whole = area;
  const float head_height = options_.head_height > 0 ? ui_.px(options_.head_height) : 0;
  const bool pressed = ui_.pressed(Key::f, {.ctrl = true, .shift = true}, false);
  if (head_height > 0 && state_.focused && pressed) open_filter();
  const Rect filter = area.cut_top(state_.filter_open ? ui_.px(size::kSmallControl + 2) : 0);
  const Rect head = area.cut_top(head_height);
  filter_rows();
  const bool scrolls = static_cast<float>(shown()) * ui_.px(options_.row_height) > area.height();
  const float right =
      head_height > 0 ? ui_.px(kTableFunnel) : 0;  // free of titles and numbers: the funnel, the scroll bar
  spans_ = lay_out(ui_, columns_, state_, area.width() - std::max(right, scrolls ? ui_.px(10) : 0));
  if (state_.filter_open) draw_filter(filter);
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left) && !whole.contains(ui_.input().mouse)) state_.focused = false;
  if (state_.cursor && *state_.cursor >= rows_) state_.cursor.reset();
  if (head_height > 0) draw_head(head, ui_.remembered(std::string(name_) + "#scroll_x"));
  draw_rows(area);
  show_menu();
  show_head_menu();
  return result_;
}

TableResult table(Ui& ui, std::string_view name, const Rect& area, std::span<const TableColumn> columns,
                  std::size_t rows, const TableContent& content, TableState& state, const TableOptions& options) {
  return TableDrawing(ui, name, columns, rows, content, state, options).draw(area);
}

}  // namespace accelscope::render
