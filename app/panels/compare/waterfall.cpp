#include "app/panels/compare/waterfall.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "app/content/comparison/comparison_words.h"
#include "core/base/format.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/layout.h"
#include "render/widgets/states.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kWaterfallRow = 24, kTermWidth = 116, kWhyWidth = 190, kLabelShare = 0.30F;

// From which time to which the bars go: cut, so that the terms are seen beside totals that are much longer.
struct WaterfallAxis {
  double low = 0, high = 1;
  Rect bars;
  [[nodiscard]] float x(double ns) const {
    return bars.x0 + bars.width() * static_cast<float>(std::clamp((ns - low) / (high - low), 0.0, 1.0));
  }
};

WaterfallAxis axis_of(const ExplainedPart& part, const Rect& bars) {
  double at = static_cast<double>(part.difference.base_ns), low = at, high = at;
  for (const PathTerm& term : part.difference.terms) {
    at += static_cast<double>(term.difference_ns());
    low = std::min(low, at);
    high = std::max(high, at);
  }
  const double margin = std::max((high - low) * 0.15, 1.0);
  return {std::max(0.0, low - margin), high + margin, bars};
}

struct WaterfallCells {
  Rect label, why, bars, term;
};
WaterfallCells cells_of(const Ui& ui, Rect row) {
  WaterfallCells cells;
  row = row.inset(ui.px(size::kPanelPadding), 0);
  cells.term = row.cut_right(ui.px(kTermWidth));
  cells.label = row.cut_left(std::max(ui.px(150), row.width() * kLabelShare));
  cells.why = row.cut_left(std::min(ui.px(kWhyWidth), row.width() / 2));
  row.cut_right(ui.px(12));
  cells.bars = row;
  return cells;
}

void draw_total(Ui& ui, const Rect& row, bool is_base, const Explained& explained, const WaterfallAxis& axis) {
  const std::string& title = is_base ? explained.base_title : explained.other_title;
  const std::int64_t total = is_base ? explained.base_ns : explained.other_ns;
  fill(ui, row, ui.colour(Colour::bg3));
  WaterfallCells cells = cells_of(ui, row);
  const Rect badge = cells.label.cut_left(ui.px(18)).middle(ui.px(16));
  const Pixel colour = ui.colour(is_base ? Colour::text3 : Colour::accent);
  fill(ui, badge, colour, 3);
  draw_text(ui, badge, is_base ? "A" : "B",
            {.style = TextStyle::small_strong, .colour = Colour::bg1, .align = Align::centre});
  cells.label.cut_left(ui.px(8));
  draw_text(ui, cells.label, title, {.style = TextStyle::small_strong});
  draw_text(ui, cells.why, "total", {.style = TextStyle::small, .colour = Colour::text2});
  const Rect bar = Rect{axis.bars.x0, row.y0, axis.x(static_cast<double>(total)), row.y1}.middle(ui.px(14));
  fill(ui, bar, colour);
  if (axis.low > 0) {  // it goes on to the left
    for (const float from : {8.0F, 13.0F})
      fill(ui, {bar.x0 + ui.px(from), bar.y0, bar.x0 + ui.px(from + 2), bar.y1}, ui.colour(Colour::bg3));
  }
  draw_text(ui, cells.term, exact_time(explained, total), {.style = TextStyle::mono_strong, .align = Align::right});
}

}  // namespace

void Waterfall::draw_part(const PanelContext& context, const Rect& area, const CompareQuestion& question,
                          const ExplainedPart& part) {
  Ui& ui = context.ui;
  Rect rest = area;
  const Explained& explained = *kept_.value;
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < part.difference.terms.size(); ++i) {
    if (part.difference.terms[i].difference_ns() != 0) rows.push_back(i);
  }
  const Rect foot = rest.cut_bottom(ui.px(kWaterfallRow)).inset(ui.px(size::kPanelPadding), 0);
  const WaterfallAxis axis = axis_of(part, cells_of(ui, rest).bars);
  draw_text(ui, foot, explained_sum(explained, part.difference), {.style = TextStyle::small_strong});
  if (axis.low > 0) {
    draw_text(ui, foot, "the axis starts at " + format_duration(axis.low),
              {.style = TextStyle::small, .colour = Colour::text3, .align = Align::right});
  }
  const float row_height = ui.px(kWaterfallRow);
  draw_total(ui, rest.cut_top(row_height), true, explained, axis);
  const float wanted = row_height * static_cast<float>(rows.size());
  const Rect other_total = rest.height() > wanted + row_height
                               ? Rect{rest.x0, rest.y0 + wanted, rest.x1, rest.y0 + wanted + row_height}
                               : rest.cut_bottom(row_height);
  draw_total(ui, other_total, false, explained, axis);
  ScrollArea scroll(ui, "compare.waterfall", {rest.x0, rest.y0, rest.x1, other_total.y0}, wanted);
  double at = static_cast<double>(part.difference.base_ns);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const PathTerm& term = part.difference.terms[rows[i]];
    const double next = at + static_cast<double>(term.difference_ns());
    const float top = scroll.content().y0 + row_height * static_cast<float>(i);
    const Rect row{rest.x0, top, rest.x1, top + row_height};
    if (row.y1 > scroll.visible().y0 && row.y0 < scroll.visible().y1) {
      const Interaction touch = interact(ui, fmt::format("compare.term.{}", i), row);
      const bool is_chosen = chosen_ == static_cast<int>(rows[i]);
      if (touch.hovered || is_chosen) fill(ui, row, ui.colour(is_chosen ? Colour::accent_bg : Colour::bg3));
      const WaterfallCells cells = cells_of(ui, row);
      draw_text(ui, cells.label, explained_label(term, part.by), {.style = TextStyle::body});
      draw_text(ui, cells.why, explained_why(term), {.style = TextStyle::small, .colour = Colour::text2});
      const Colour colour = next > at ? Colour::error : Colour::ok;
      const float x0 = axis.x(std::min(at, next)), x1 = std::max(axis.x(std::max(at, next)), x0 + 1);
      fill(ui, Rect{x0, row.y0, x1, row.y1}.middle(ui.px(14)), ui.colour(colour));
      fill(ui, {axis.x(next), row.y1 - ui.px(5), axis.x(next) + 1, row.y1 + ui.px(5)}, ui.colour(Colour::text3));
      draw_text(ui, cells.term, exact_time(explained, term.difference_ns(), true),
                {.style = TextStyle::mono, .colour = colour, .align = Align::right});
      if (touch.clicked) {
        chosen_ = static_cast<int>(rows[i]);
        select_on_both(context.tab, question, part.base_events[rows[i]], part.other_events[rows[i]]);
      }
    }
    at = next;
  }
}

void Waterfall::draw(const PanelContext& context, const Rect& area, const CompareQuestion& question) {
  Ui& ui = context.ui;
  const auto work = [question](const QueryContext& query) -> SessionAnalysis::Found<Explained> {
    const AskedSides sides = asked_sides(query, question);
    auto found = explain_difference(sides.base, sides.other, {std::begin(kExplainedBy), std::end(kExplainedBy)});
    if (!found) return found.error();
    found->base_title = question.base_title;
    found->other_title = question.other_title;
    return std::make_shared<const Explained>(std::move(*found));
  };
  const std::shared_ptr<const Explained> shown = context.analysis().ask(kept_, question, question.renewal(), work);
  if (!kept_.error.empty()) return (void)empty_state(ui, "compare.wrong", area, icon::kError, kept_.error);
  if (!shown) return (void)empty_state(ui, "compare.loading", area, icon::kClock, "Following both critical paths ...");
  Rect rest = area;
  Rect head = rest.cut_top(ui.px(size::kControl + 6)).inset(ui.px(size::kPanelPadding), 0);
  std::vector<Segment> segments;
  for (const ExplainedBy& each : kExplainedBy) segments.push_back({.label = each.title});
  if (segmented(ui, "compare.explained", head.cut_right(segmented_width(ui, segments)).middle(ui.px(size::kControl)),
                segments, by_))
    chosen_ = -1;
  head.cut_right(ui.px(16));
  const std::string title = explained_headline(*shown);
  draw_text(ui, head.cut_left(std::min(head.width(), text_width(ui, TextStyle::heading, title) + ui.px(12))), title,
            {.style = TextStyle::heading});
  draw_text(ui, head, "along both critical paths; the terms add up exactly. A: " + shown->base_bound,
            {.style = TextStyle::small, .colour = Colour::text3});
  draw_part(context, rest, question, shown->parts[static_cast<std::size_t>(by_)]);
}

}  // namespace accelscope::app
