#include "app/connect/session_row.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/format.h"
#include "render/base/draw.h"
#include "render/base/icons.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

struct SessionCells {
  Rect session, device, work, events, when, verdict;
};

SessionCells session_cells(const Ui& ui, Rect row) {
  SessionCells cells;
  row = row.inset(ui.px(12), 0);
  cells.verdict = row.cut_right(ui.px(44));
  cells.when = row.cut_right(ui.px(110));
  cells.events = row.cut_right(ui.px(100));
  cells.work = row.cut_right(ui.px(90));
  cells.device = row.cut_right(ui.px(110));
  row.cut_right(ui.px(12));
  cells.session = row;
  return cells;
}

void draw_tags(Ui& ui, Rect line, const std::vector<std::string>& tags) {
  for (const std::string& tag : tags) {
    const float width = std::ceil(text_width(ui, TextStyle::small, tag)) + ui.px(12);
    if (tag.empty() || line.width() < width + ui.px(8)) continue;
    line.cut_left(ui.px(8));
    const Rect box = line.cut_left(width).middle(ui.px(17));
    fill(ui, box, ui.colour(Colour::bg4), size::kChipRadius);
    draw_text(ui, box, tag, {.style = TextStyle::small, .colour = Colour::text2, .align = Align::centre});
  }
}

// A bar for each stretch; the lowest is a pixel, so that little work is not none.
void draw_activity(Ui& ui, const Rect& area, std::string_view activity) {
  horizontal_line(ui, area.x0, area.x1, area.y1, ui.colour(Colour::line2));
  const float width = area.width() / static_cast<float>(activity.size());
  for (std::size_t i = 0; i < activity.size(); ++i) {
    const int level = activity[i] - '0';
    if (level <= 0) continue;
    const float height = std::max(1.0F, area.height() * static_cast<float>(level) / 9);
    const float x = area.x0 + width * static_cast<float>(i);
    fill(ui, {std::floor(x), area.y1 - height, std::max(std::floor(x + width), std::floor(x) + 1), area.y1},
         ui.colour(Colour::text3));
  }
}

void draw_figures(Ui& ui, SessionCells& cells, const SessionRow& session) {
  const TextOptions figure{.style = TextStyle::mono, .align = Align::right};
  if (!session.remark.empty()) {
    Rect place = cells.device;
    place.x1 = cells.events.x1;
    draw_text(ui, place, session.remark, {.colour = Colour::text3, .fit = Fit::ellipsis});
  } else {
    if (!session.activity.empty()) {
      constexpr float kFiguresHigh = 24, kActivityHigh = 12;
      Rect below{cells.work.x0 + ui.px(16), cells.work.y0, cells.events.x1, cells.work.y1};
      below.cut_top(ui.px(kFiguresHigh));
      draw_activity(ui, below.cut_top(ui.px(kActivityHigh)), session.activity);
      cells.work = cells.work.cut_top(ui.px(kFiguresHigh));
      cells.events = cells.events.cut_top(ui.px(kFiguresHigh));
    }
    draw_text(ui, cells.device, session.device, {.colour = Colour::text2, .fit = Fit::middle});
    draw_text(ui, cells.work, session.work, figure);
    draw_text(ui, cells.events, session.events, figure);
  }
  draw_text(ui, cells.when, session.when, {.colour = Colour::text2, .align = Align::right});
  if (session.warnings > 0) {
    const std::string count = format_count(session.warnings);
    draw_text(ui, cells.verdict.cut_right(text_width(ui, TextStyle::mono, count)), count, figure);
  }
  const bool is_wrong = !session.is_fine && session.warnings == 0;
  const char* sign = session.is_fine ? icon::kCheckCircle : icon::kWarning;
  const Colour colour = session.is_fine ? Colour::ok : is_wrong ? Colour::error : Colour::warning_line;
  if (session.remark.empty() || is_wrong) draw_icon(ui, cells.verdict.cut_right(ui.px(22)), sign, ui.colour(colour));
}

}  // namespace

int draw_session_head(Ui& ui, std::string_view name, const Rect& row, const SessionListHead& head) {
  fill(ui, row, ui.colour(Colour::bg3));
  const SessionCells cells = session_cells(ui, row);
  const std::array<std::pair<Rect, std::string_view>, 5> columns = {{{cells.session, "Session"},
                                                                     {cells.device, "Device"},
                                                                     {cells.work, "Work"},
                                                                     {cells.events, "Events"},
                                                                     {cells.when, head.when}}};
  constexpr std::size_t kFirstFigure = 2;
  int clicked = -1;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto& [place, title] = columns[i];
    const bool sorted = head.sorted_by == static_cast<int>(i);
    const std::string text = std::string(title) + (sorted ? (head.descending ? " ↓" : " ↑") : "");
    draw_text(ui, place, text,
              {.style = TextStyle::body,
               .colour = sorted ? Colour::text1 : Colour::text2,
               .align = i < kFirstFigure ? Align::left : Align::right});
    if (!head.can_sort) continue;
    if (interact(ui, std::string(name) + ".head." + std::to_string(i), place).clicked) clicked = static_cast<int>(i);
  }
  return clicked;
}

Interaction draw_session_row(Ui& ui, std::string_view name, const Rect& row, const SessionRow& session) {
  const Interaction hand = interact(ui, name, row);
  const bool chosen = session.is_chosen;
  if (chosen || hand.hovered) fill(ui, row, ui.colour(chosen ? Colour::accent_bg : Colour::bg3));
  if (chosen) fill(ui, {row.x0, row.y0, row.x0 + ui.px(size::kAccentLine), row.y1}, ui.colour(Colour::accent));
  horizontal_line(ui, row.x0, row.x1, row.y1 - 1, ui.colour(Colour::line1));
  SessionCells cells = session_cells(ui, row);
  Rect lines = cells.session.inset(0, ui.px(4));
  Rect name_line = lines.cut_top(lines.height() / 2);
  name_line.cut_left(draw_text(ui, name_line, session.title, {.style = TextStyle::heading, .fit = Fit::middle}));
  draw_tags(ui, name_line, session.tags);
  draw_text(ui, lines, session.below, {.style = TextStyle::small, .colour = Colour::text3, .fit = Fit::middle});
  draw_figures(ui, cells, session);
  if (hand.hovered) set_cursor(Cursor::hand);
  return hand;
}

}  // namespace accelscope::app
