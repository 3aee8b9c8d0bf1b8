#include "app/panels/selection/visible_columns.h"

#include <algorithm>
#include <cmath>

#include "render/widgets/interact.h"
#include "render/widgets/layout.h"
#include "render/widgets/popup.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kLeastColumn = 208, kHead = 26, kRow = 20, kBar = 40, kSwatch = 18, kLeastLabel = 56, kBetween = 10;
constexpr std::size_t kStackedRows = 6;  // of a column, where columns lie below each other

class ColumnDrawing {
 public:
  ColumnDrawing(Ui& ui, const VisibleColumn& column, std::size_t index, bool stale, VisibleColumnsResult& result)
      : ui_(ui), column_(column), name_("visible." + std::to_string(index)), stale_(stale), result_(result) {}

  void draw(Rect area) {
    draw_head(area.cut_top(ui_.px(kHead)));
    area.cut_top(ui_.px(2));
    if (column_.rows.empty()) {
      draw_paragraph(ui_, area.inset(0, ui_.px(4)), column_.empty,
                     {.style = TextStyle::small, .colour = Colour::text3});
      return;
    }
    for (const VisibleRow& row : column_.rows) texts_.push_back(row.text);
    for (const VisibleRow& row : column_.rows) {
      values_ = std::max(values_, text_width(ui_, TextStyle::mono, row.value));
      bars_ = bars_ || row.bar >= 0;
    }
    bars_ = bars_ && bars_leave_room(area.width());
    const float row_height = ui_.px(kRow);
    const ScrollArea scroll(ui_, name_ + ".rows", area, static_cast<float>(column_.rows.size()) * row_height);
    Rect rest = scroll.content();
    for (std::size_t i = 0; i < column_.rows.size(); ++i) {
      const Rect row = rest.cut_top(row_height);
      if (row.y1 >= scroll.visible().y0 && row.y0 <= scroll.visible().y1) draw_row(row, i);
    }
  }

 private:
  void draw_head(Rect head) {
    const Interaction hand = interact(ui_, name_, head);
    const float value = text_width(ui_, TextStyle::mono_strong, column_.value);
    const Rect right = head.cut_right(std::min(value + 1, head.width()));
    head.cut_right(ui_.px(8));
    draw_text(ui_, head, column_.title, {.style = TextStyle::small_strong, .colour = Colour::text2});
    draw_text(
        ui_, right, column_.value,
        {.style = TextStyle::mono_strong, .colour = stale_ ? Colour::text3 : Colour::text1, .align = Align::right});
    if (!column_.exact.empty()) tooltip(ui_, hand, head, column_.title + "\n" + column_.exact);
    if (hand.clicked && !column_.exact.empty()) result_.copy = column_.exact;
  }

  [[nodiscard]] float room_of(const VisibleRow& row, float width, bool with_bar) const {
    return width - (row.slot >= 0 ? ui_.px(kSwatch) : 0) - values_ - ui_.px(kBetween) -
           (with_bar ? ui_.px(kBar + kBetween) : 0);
  }
  // The longest form that fits, else the shortest.
  [[nodiscard]] const std::string& text_for(const VisibleRow& row, float room) const {
    if (row.shorter.empty() || text_width(ui_, TextStyle::body, row.text) <= room) return row.text;
    for (const std::string& form : row.shorter) {
      if (text_width(ui_, TextStyle::body, form) <= room) return form;
    }
    return row.shorter.back();
  }
  // False where names that are cut beside bars are whole without them.
  [[nodiscard]] bool bars_leave_room(float width) const {
    for (std::size_t i = 0; i < std::min(column_.rows.size(), kStackedRows); ++i) {
      const VisibleRow& row = column_.rows[i];
      const float with = room_of(row, width, true), without = room_of(row, width, false);
      const float words = text_width(ui_, TextStyle::body, text_for(row, with));
      if (words > with && text_width(ui_, TextStyle::body, text_for(row, without)) <= without) return false;
    }
    return true;
  }

  void draw_row(Rect row, std::size_t index) {
    const VisibleRow& content = column_.rows[index];
    const Interaction hand = interact(ui_, name_ + ".row." + std::to_string(index), row);
    if (hand.hovered) fill(ui_, row.inset(-ui_.px(4), 0), ui_.colour(Colour::bg3), size::kChipRadius);
    const Rect whole = row;
    const Rect value = row.cut_right(std::min(values_ + 1, row.width()));
    row.cut_right(ui_.px(kBetween));
    // The bar gives way to the number and to a readable name.
    if (bars_ && room_of(content, whole.width(), true) >= ui_.px(kLeastLabel)) {
      const Rect bar = row.cut_right(ui_.px(kBar)).middle(ui_.px(8));
      row.cut_right(ui_.px(kBetween));
      if (content.bar >= 0) draw_bar(bar, content);
    }
    if (content.slot >= 0) {
      row.cut_left(draw_swatch(ui_, row, ui_.theme().slice(static_cast<unsigned>(content.slot))) + ui_.px(8));
    }
    const float used =
        draw_text(ui_, row, text_for(content, row.width()),
                  {.colour = hand.hovered ? Colour::text1 : Colour::text2, .fit = Fit::middle, .beside = texts_});
    if (!content.detail.empty()) {
      Rect behind = row;
      behind.cut_left(used + ui_.px(8));
      draw_text(ui_, behind, content.detail, {.style = TextStyle::mono, .colour = Colour::text3});
    }
    draw_text(ui_, value, content.value,
              {.style = TextStyle::mono, .colour = stale_ ? Colour::text3 : Colour::text1, .align = Align::right});
    tooltip(ui_, hand, whole, content.exact + (content.search.empty() ? "\nClick: copy" : "\nClick: select"));
    if (!hand.clicked) return;
    (content.search.empty() ? result_.copy : result_.search) = content.search.empty() ? content.exact : content.search;
  }

  void draw_bar(Rect bar, const VisibleRow& content) {
    fill(ui_, bar, ui_.colour(Colour::bg4));
    const auto share = static_cast<float>(std::clamp(content.bar, 0.0, 1.0));
    bar.x1 = bar.x0 + std::max(share > 0 ? ui_.px(1) : 0.0F, std::round(bar.width() * share));
    fill(ui_, bar,
         content.slot >= 0 ? ui_.theme().slice(static_cast<unsigned>(content.slot)) : ui_.colour(Colour::text3));
  }

  Ui& ui_;
  const VisibleColumn& column_;
  const std::string name_;
  const bool stale_;
  VisibleColumnsResult& result_;
  std::vector<std::string> texts_;  // of all rows
  float values_ = 0;                // width of the widest number
  bool bars_ = false;
};

}  // namespace

VisibleColumnsResult draw_visible_columns(Ui& ui, const Rect& area, const VisibleColumns& columns, bool stale) {
  VisibleColumnsResult result;
  const float padding = ui.px(size::kPanelPadding);
  const std::size_t count = columns.size();
  const auto fit = static_cast<std::size_t>(std::max(1.0F, area.width() / ui.px(kLeastColumn)));
  if (fit >= count) {
    const float width = std::floor(area.width() / static_cast<float>(count));
    for (std::size_t i = 0; i < count; ++i) {
      const float x = area.x0 + width * static_cast<float>(i);
      if (i > 0) vertical_line(ui, x, area.y0, area.y1, ui.colour(Colour::line1));
      ColumnDrawing(ui, columns[i], i, stale, result).draw(Rect{x, area.y0, x + width, area.y1}.inset(padding, 0));
    }
    return result;
  }
  const std::size_t lines = (count + fit - 1) / fit;
  const float height = ui.px(kHead + 12 + kRow * static_cast<float>(kStackedRows));
  const ScrollArea scroll(ui, "visible.columns", area, height * static_cast<float>(lines));
  const float width = std::floor(scroll.content().width() / static_cast<float>(fit));
  for (std::size_t i = 0; i < count; ++i) {
    const float x = scroll.content().x0 + width * static_cast<float>(i % fit);
    const std::size_t line = i / fit;
    const float y = scroll.content().y0 + height * static_cast<float>(line);
    ColumnDrawing(ui, columns[i], i, stale, result)
        .draw(Rect{x, y, x + width, y + height - ui.px(10)}.inset(padding, 0));
  }
  return result;
}

}  // namespace accelscope::app
