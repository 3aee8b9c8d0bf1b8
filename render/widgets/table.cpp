#include <imgui.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numeric>

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/listing/base/write.h"
#include "render/widgets/table_drawing.h"
#include "render/widgets/widgets.h"

namespace accelscope::render {

// Tables as text, and which of their rows contain one.

namespace {

std::string quoted(const std::string& text, char separator) {
  if (text.find_first_of(std::string("\"\n\r") + separator) == std::string::npos) return text;
  if (separator == '\t') {  // the clipboard's convention has no quotes: white space stands in
    std::string plain = text;
    std::replace_if(
        plain.begin(), plain.end(), [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
    return plain;
  }
  std::string result;
  listing::append_csv_cell(result, text);
  return result;
}

// -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)?, as JSON has numbers.
bool is_json_number(std::string_view text) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t from = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at > from;
  };
  const auto take = [&](std::string_view any) {
    const bool here = at < text.size() && any.find(text[at]) != std::string_view::npos;
    at += here ? 1 : 0;
    return here;
  };
  (void)take("-");
  if (!take("0") && !digits()) return false;
  if (take(".") && !digits()) return false;
  if (take("eE")) {
    (void)take("+-");
    if (!digits()) return false;
  }
  return at == text.size();
}

std::string json_of_table(std::span<const TableColumn> columns, std::size_t rows, const TableContent& content) {
  JsonWriter json(JsonLayout::rows);
  json.begin_array();
  for (std::size_t row = 0; row < rows; ++row) {
    json.begin_object();
    for (std::size_t index = 0; index < columns.size(); ++index) {
      const TableColumn& column = columns[index];
      const TableCell cell = content(row, index);
      const std::string& text = cell.data.empty() ? cell.text : cell.data;
      json.add(column.data_title.empty() ? column.title : column.data_title, text.empty() ? JsonValue()
                                                                             : is_json_number(text)
                                                                                 ? JsonValue::raw(text)
                                                                                 : text);
    }
    json.end();
  }
  return json.done() + '\n';
}

constexpr float kSmallestFlexible = 80, kBarText = 60, kIndent = 16, kCaret = 14, kSwatchGap = 8;

// From left to right, each once, whatever the order was made for.
std::vector<std::size_t> ordered_columns(const TableState& state, std::size_t count) {
  std::vector<std::size_t> order;
  const auto add = [&](std::size_t column) {
    if (column < count && std::ranges::find(order, column) == order.end()) order.push_back(column);
  };
  for (const std::size_t column : state.order) add(column);
  for (std::size_t column = 0; column < count; ++column) add(column);
  return order;
}

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
  std::vector<ColumnSpan> spans(columns.size());
  float x = 0;
  std::size_t last = 0;  // that is shown
  for (const std::size_t index : ordered_columns(state, columns.size())) {
    float own = 0;
    if (!hidden(index)) {
      own = wanted(index) > 0 ? ui.px(wanted(index)) : std::max(ui.px(kSmallestFlexible), share);
      last = index;
    }
    spans[index] = {x, own};
    x += own;
  }
  if (flexible == 0 && !spans.empty() && x < width) spans[last].width += width - x;  // rows reach the edge
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
  float width = 0;
  for (const ColumnSpan& span : spans) width = std::max(width, span.from + span.width);
  return width;
}

constexpr float kSmallestColumn = 36;
constexpr std::size_t kCopies = 3;          // items of the menu that copy
constexpr std::size_t kMostTyped = 20'000;  // rows among which typed letters look
constexpr float kColumnStep = 16;           // units that a key widens a column by

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

bool contains_text(std::string_view text, std::string_view lower_part) {
  return lower_case(text).find(lower_part) != std::string::npos;
}

bool TableFilter::update(const Key& key, const std::function<bool(std::size_t row, std::string_view text)>& contains) {
  if (key.rows <= kAtOnce || key != key_) {
    key_ = key;
    lower_ = lower_case(key.text);
    looked_at_ = 0;
    rows_.clear();
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto is_time_over = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() >= kMostSeconds;
  };
  do {
    const std::size_t end = std::min(key.rows, looked_at_ + (key.rows <= kAtOnce ? kAtOnce : kStep));
    for (; looked_at_ < end; ++looked_at_) {
      if (contains(looked_at_, lower_)) rows_.push_back(static_cast<std::uint32_t>(looked_at_));
    }
  } while (looked_at_ < key.rows && !is_time_over());
  return looked_at_ == key.rows;
}

std::string table_text(std::span<const TableColumn> columns, std::size_t rows, const TableContent& content,
                       char separator) {
  std::string text;
  for (std::size_t index = 0; index < columns.size(); ++index) {
    if (index > 0) text += separator;
    const TableColumn& column = columns[index];
    text += quoted(column.data_title.empty() ? column.title : column.data_title, separator);
  }
  text += '\n';
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t index = 0; index < columns.size(); ++index) {
      if (index > 0) text += separator;
      const TableCell cell = content(row, index);
      text += quoted(cell.data.empty() ? cell.text : cell.data, separator);
    }
    text += '\n';
  }
  return text;
}

std::string table_in_form(std::span<const TableColumn> columns, std::size_t rows, const TableContent& content,
                          TableForm form) {
  if (form == TableForm::json) return json_of_table(columns, rows, content);
  return table_text(columns, rows, content, form == TableForm::csv ? ',' : '\t');
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

void TableDrawing::draw_cell(const Rect& cell, std::size_t row, std::size_t column, const Interaction& response) {
  const TableCell content = content_(row, column);
  double rested = response.hovered_for;
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
    const Interaction at =
        interact(ui_, cell_name + ".caret", caret,
                 {.no_focus = true, .label = *content.expanded ? "Close" : "Open"});  // a key of the table
    bool pressed = at.clicked;
    note_part(row, cell_name + ".caret", caret, pressed);
    if (pressed) result_.toggled = row;
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
    const Interaction at = interact(ui_, cell_name, words, {.no_focus = true});  // a key of the table
    if (at.hovered) {
      rested = at.hovered_for;
      set_cursor(Cursor::response);
      const float baseline = words.centre().y + ui_.fonts().baseline_offset(content.style);
      horizontal_line(ui_, words.x0, words.x1, baseline + ui_.px(2), ui_.colour(Colour::accent));
    }
    bool pressed = at.clicked;
    note_part(row, cell_name, words, pressed);
    if (pressed) result_.clicked_link = row;
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
  const bool adds_content = whole != content.text || cut;
  if (adds_content) tooltip(ui_, {.hovered = true, .hovered_for = rested}, cell, whole);
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
  const Interaction at = interact(ui_, part("row", index), row, {.below_others = true, .no_focus = true});
  if (at.pressed || at.right_clicked) focus_is_at(ui_, name_);
  const bool at_cursor = keyboard_.here && state_.cursor == index;
  if (at_cursor && ui_.keyboard_focus().part.empty()) ui_.keyboard_focus().part = part("row", index);
  const bool pointed = at.hovered || (ImGui::IsWindowHovered() && row.contains(ui_.input().mouse));
  const bool selected = state_.all_chosen || (options_.selected ? options_.selected(index) : state_.cursor == index);
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
    state_.all_chosen = false;
    ui_.keyboard_focus().part.clear();
    ui_.request_frame();
  }
  if (at_cursor && keyboard_.ring && ui_.keyboard_focus().part == part("row", index)) draw_ring(ui_, row.inset(1, 1));
  if (at.clicked && result_.toggled != index) result_.clicked = index;
  if (at.double_clicked) result_.double_clicked = index;
  if (!at.right_clicked) return;
  const std::vector<std::size_t> places = shown_columns();
  const auto column = std::ranges::find_if(
      places, [&](std::size_t each) { return ui_.input().mouse.x < row.x0 + spans_[each].from + spans_[each].width; });
  if (!places.empty()) open_row_menu(index, column == places.end() ? places.back() : *column);
}

void TableDrawing::open_row_menu(std::size_t row, std::size_t column) {
  result_.right_clicked = row;
  ui_.remembered(std::string(name_) + "#row") = static_cast<float>(row);
  ui_.remembered(std::string(name_) + "#column") = static_cast<float>(column);
  open_menu(ui_, std::string(name_) + ".menu");
}

// A caret or link of the row of the cursor, which Left and Right go through and Enter and Space press.
void TableDrawing::note_part(std::size_t row, const std::string& name, const Rect& rect, bool& pressed) {
  if (!keyboard_.here || state_.cursor != row) return;
  parts_.push_back(name);
  if (ui_.keyboard_focus().part != name) return;
  if (keyboard_.ring) draw_ring(ui_, rect.inset(-ui_.px(2), ui_.px(2)));
  const bool idle = !ui_.typing() && !ui_.keyboard_focus().moved;
  pressed = pressed || (idle && (ui_.pressed(Key::enter, {}, false) || ui_.pressed(Key::space, {}, false)));
}

void TableDrawing::move_in_row() {
  if (!keyboard_.here || ui_.typing() || !state_.cursor) return;
  std::string& at = ui_.keyboard_focus().part;
  parts_.insert(parts_.begin(), part("row", *state_.cursor));
  const auto now = std::ranges::find(parts_, at);
  if (now == parts_.end()) {
    at = parts_.front();
  } else if (ui_.pressed(Key::right) && now + 1 != parts_.end()) {
    at = *(now + 1);
  } else if (ui_.pressed(Key::left) && now != parts_.begin()) {
    at = *(now - 1);
  } else {
    return;
  }
  ui_.request_frame();
}

void TableDrawing::move_with_keys(float visible_rows) {
  if (!keyboard_.here || ui_.typing() || ui_.keyboard_focus().moved || shown() == 0) return;
  const auto page = static_cast<long>(std::max(1.0F, visible_rows - 1));
  const auto last = static_cast<long>(shown()) - 1;
  const std::optional<std::size_t> place = state_.cursor ? place_of(*state_.cursor) : std::nullopt;
  const long now = place ? static_cast<long>(*place) : -1;
  const auto go_to = [&](long to) {
    state_.cursor = row_at(static_cast<std::size_t>(std::clamp(to, 0L, last)));
    state_.all_chosen = false;
    ui_.keyboard_focus().part = part("row", *state_.cursor);
    result_.clicked = state_.cursor;
  };
  const std::pair<Key, long> steps[] = {{Key::up, -1},          {Key::down, 1},         {Key::page_up, -page},
                                        {Key::page_down, page}, {Key::home, -last - 1}, {Key::end, last + 1}};
  for (const auto& [key, step] : steps) {
    if (!ui_.pressed(key)) continue;
    const long from = now >= 0 || step > 0 ? now : last + 1;
    go_to(from + step);
  }
  const std::string text = ui_.input().text;
  if (keyboard_.ring && !text.empty() && text != " " && !ui_.keys_go_elsewhere()) {
    std::string& typed = ui_.type_ahead(name_);
    typed += text;
    const auto from = static_cast<std::size_t>(std::max(0L, typed.size() == text.size() ? now + 1 : now));
    const std::size_t count = std::min(shown(), kMostTyped);
    const auto found = find_typed(count, from % count, typed, [&](std::size_t at) {
      for (const std::size_t column : shown_columns()) {
        if (const std::string& cell = content_(row_at(at), column).text; !cell.empty()) return cell;
      }
      return std::string();
    });
    if (found) go_to(static_cast<long>(*found));
  }
  if (ui_.pressed(Key::a, {.ctrl = true}, false)) state_.all_chosen = true;
  if (ui_.pressed(Key::c, {.ctrl = true}, false)) {
    if (state_.all_chosen || !state_.cursor) {
      copy_table();
    } else {
      ui_.copy_to_clipboard(row_text(*state_.cursor));
    }
  }
  if (!state_.cursor || *state_.cursor >= rows_) return;
  if (keyboard_.menu && !shown_columns().empty()) return open_row_menu(*state_.cursor, shown_columns().front());
  if (ui_.keyboard_focus().part != part("row", *state_.cursor)) return;
  if (ui_.pressed(Key::enter, {}, false)) result_.double_clicked = state_.cursor;
  if (keyboard_.ring && ui_.pressed(Key::space, {}, false)) result_.clicked = state_.cursor;
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
  // The keyboard is at the row of the cursor, or where it will be.
  const std::optional<std::size_t> cursor = state_.cursor ? place_of(*state_.cursor) : std::nullopt;
  const Rect seen = scroll.visible();
  const Rect whole = cursor ? rect_at(*cursor).intersected(seen) : Rect{};
  keyboard_ = focus_stop(ui_, name_, whole.empty() ? seen.inset(1, 1) : whole, FocusStopKind::list);
  if (keyboard_.here && !whole.empty()) ui_.keyboard_focus().mark.reset();  // the row has a ring of its own
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
  move_in_row();
  if (static_cast<std::size_t>(above) < last) result_.top_row = row_at(static_cast<std::size_t>(above));
}

TableResult TableDrawing::draw(Rect area) {
  const float head_height = options_.head_height > 0 ? ui_.px(options_.head_height) : 0;
  const bool pressed = ui_.pressed(Key::f, {.ctrl = true, .shift = true}, false);
  if (head_height > 0 && pressed && ui_.keyboard_focus().at == name_) open_filter();
  const Rect filter = area.cut_top(state_.filter_open ? ui_.px(size::kSmallControl + 2) : 0);
  const Rect head = area.cut_top(head_height);
  filter_rows();
  const bool scrolls = static_cast<float>(shown()) * ui_.px(options_.row_height) > area.height();
  const float right =
      head_height > 0 ? ui_.px(kTableFunnel) : 0;  // free of titles and numbers: the funnel, the scroll bar
  spans_ = lay_out(ui_, columns_, state_, area.width() - std::max(right, scrolls ? ui_.px(10) : 0));
  if (state_.filter_open) draw_filter(filter);
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

// The head of a table: sorting, widths, the filter's field, and the menus of its head and rows.

void TableDrawing::resize_column(std::size_t index, const Rect& cell) {
  const Rect grip{cell.x1 - ui_.px(4), cell.y0, cell.x1 + ui_.px(3), cell.y1};
  const std::string name = part("resize", index);
  const Interaction at = interact(ui_, name, grip,
                                  {.no_focus = true,
                                   .keys = FocusStopKind::open,
                                   .label = "Width of the column"});  // Ctrl+Left and Right on the head
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
    set_width(index, width_at_press + (ui_.input().mouse.x - mouse_at_press) / ui_.scale());
  }
}

void TableDrawing::set_width(std::size_t column, float units) {
  state_.widths.resize(columns_.size());
  state_.widths[column] = std::max(kSmallestColumn, units);
}

// Of the title and of what stands in the first rows.
float TableDrawing::fitting_width(std::size_t column) const {
  constexpr std::size_t kMostFitted = 500;  // rows
  constexpr float kCaretRoom = 14;          // units: the sign of sorting beside the title
  float pixels = text_width(ui_, TextStyle::small, columns_[column].title) + ui_.px(kCaretRoom);
  for (std::size_t place = 0; place < std::min(shown(), kMostFitted); ++place) {
    const TableCell cell = content_(row_at(place), column);
    float own = text_width(ui_, cell.style, cell.text) + static_cast<float>(cell.indent) * ui_.px(kIndent);
    if (!cell.detail.empty()) own += text_width(ui_, cell.style, cell.detail) + ui_.px(12);
    if (cell.leaf || cell.expanded) own += ui_.px(kCaret);
    if (cell.swatch != 0) own += ui_.px(10 + kSwatchGap);
    if (cell.icon != nullptr) own += ui_.px(20);
    if (cell.bar >= 0) own += ui_.px(kBarText);
    pixels = std::max(pixels, own);
  }
  return std::ceil((pixels + 1) / ui_.scale()) + 2 * size::kCellPadding;
}

void TableDrawing::move_column(std::size_t column, int step) {
  const std::vector<std::size_t> shown = shown_columns();
  const auto own = static_cast<std::size_t>(std::ranges::find(shown, column) - shown.begin());
  if (step < 0 ? own == 0 : own + 1 >= shown.size()) return;
  const std::size_t other = shown[step < 0 ? own - 1 : own + 1];
  state_.order = ordered_columns(state_, columns_.size());
  std::iter_swap(std::ranges::find(state_.order, column), std::ranges::find(state_.order, other));
}

bool TableDrawing::change_column(std::size_t column, std::string_view choice) {
  const float width = spans_[column].width / ui_.scale();
  if (choice == "wider" || choice == "narrower") {
    set_width(column, width + (choice == "wider" ? kColumnStep : -kColumnStep));
  } else if (choice == "fit") {
    set_width(column, fitting_width(column));
  } else if (choice == "left" || choice == "right") {
    move_column(column, choice == "left" ? -1 : 1);
  } else if (choice == "hide") {
    state_.hidden.resize(columns_.size());
    state_.hidden[column] = true;
  } else {
    return false;
  }
  return true;
}

void TableDrawing::widen_column(std::size_t index, const Interaction& head) {
  const float step = (ui_.pressed(Key::right, {.ctrl = true}) ? kColumnStep : 0) -
                     (ui_.pressed(Key::left, {.ctrl = true}) ? kColumnStep : 0);
  if (!head.focused || step == 0) return;
  set_width(index, spans_[index].width / ui_.scale() + step);
}

void TableDrawing::draw_head(const Rect& head, float scroll_x) {
  fill(ui_, head, ui_.colour(Colour::bg3));
  ImGui::PushClipRect(ImVec2(head.x0, head.y0), ImVec2(head.x1 - ui_.px(kTableFunnel), head.y1), true);
  const FocusGroup group(ui_, std::string(name_) + ".head");
  const float right_edge = total_width(spans_);
  for (std::size_t index = 0; index < columns_.size(); ++index) {
    if (is_hidden(index)) continue;
    const TableColumn& column = columns_[index];
    const float x = head.x0 + spans_[index].from - scroll_x;
    const Rect cell{x, head.y0, x + spans_[index].width, head.y1};
    const Interaction at = interact(ui_, part("head", index), cell,
                                    {.below_others = true,
                                     .keys = column.sortable ? FocusStopKind::button : FocusStopKind::open,
                                     .label = column.title});
    widen_column(index, at);
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
    if (spans_[index].from + spans_[index].width < right_edge) {
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
    draw_text(ui_, place, count, kLabelText);
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
  std::vector<std::size_t> places = ordered_columns(state_, columns_.size());
  std::erase_if(places, [this](std::size_t column) { return is_hidden(column); });
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
  ui_.copy_to_clipboard(what == 0 ? copied_text(content_(row, column)) : row_text(row));
}

std::string TableDrawing::row_text(std::size_t row) const {
  std::string text;
  for (const std::size_t index : shown_columns())
    text += (text.empty() ? "" : "\t") + copied_text(content_(row, index));
  return text;
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
  const std::vector<std::size_t> shown_now = shown_columns();
  const std::size_t left = shown_now.size();
  if (std::ranges::find(shown_now, head) != shown_now.end()) {
    items.push_back({.id = "wider", .label = "Wider", .shortcut = "Ctrl+Right"});
    items.push_back({.id = "narrower", .label = "Narrower", .shortcut = "Ctrl+Left"});
    items.push_back({.id = "fit", .label = "As wide as its content"});
    items.push_back({.id = "left", .label = "Move left", .enabled = head != shown_now.front()});
    items.push_back({.id = "right", .label = "Move right", .enabled = head != shown_now.back()});
    items.push_back({.id = "hide", .label = "Hide", .enabled = left > 1});
  }
  const bool has_changes = !items.empty();
  for (std::size_t index = 0; index < columns_.size(); ++index) {
    const bool hidden = is_hidden(index);
    items.push_back({.id = std::to_string(index),
                     .label = columns_[index].title.empty() ? "(no title)" : columns_[index].title,
                     .enabled = hidden || left > 1,
                     .checked = !hidden,
                     .line_above = has_changes && index == 0});
  }
  items.push_back({.id = "all", .label = "All columns, as at first", .line_above = true});
  if (can_look_up)
    items.push_back({.id = "look_up", .label = "Look up \"" + columns_[head].title + "\"", .icon = icon::kInfo});
  items.push_back({.id = "filter", .label = "Filter rows", .shortcut = "Ctrl+Shift+F", .icon = icon::kFilter});
  items.push_back({.id = "copy", .label = "Copy table", .icon = icon::kCopy});
  if (options_.can_export && ui_.can_offer_file()) add_exports(items);
  const auto chosen = popup_menu(ui_, std::string(name_) + ".columns", items);
  if (!chosen || (head < columns_.size() && change_column(head, *chosen))) return;
  if (*chosen == "look_up") {
    ui_.look_up({columns_[head].data_title, columns_[head].title, columns_[head].tooltip});
  } else if (*chosen == "all") {
    state_.hidden.clear();
    state_.widths.clear();
    state_.order.clear();
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
