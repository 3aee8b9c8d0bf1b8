// The text page of the source panel: one file, the cost of each line in the margin, and the field that finds in it.
#include <algorithm>
#include <cmath>

#include "app/panels/source/panel.h"
#include "app/session/shown_advice.h"
#include "core/base/format.h"
#include "core/model/source_location.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/layout.h"
#include "render/widgets/popup.h"
#include "render/widgets/text_input.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kCostWidth = 66, kSourceTextBarWidth = 32, kNumberWidth = 40;
constexpr float kHeatBar = 24;  // the hottest line's

Colour colour_of(TokenKind kind) {
  switch (kind) {
    case TokenKind::text:
      return Colour::text1;
    case TokenKind::keyword:
      return Colour::code_keyword;
    case TokenKind::string:
      return Colour::code_string;
    case TokenKind::number:
      return Colour::code_number;
    case TokenKind::comment:
      return Colour::text3;
    case TokenKind::operation:
      return Colour::text2;
  }
  return Colour::text1;
}

}  // namespace

void SourcePanel::draw_find(const PanelContext& context, Rect row) {
  Ui& ui = context.ui;
  fill(ui, row, ui.colour(Colour::bg2));
  Rect place = row.inset(ui.px(size::kPanelPadding), 0);
  const auto icon_place = [&] {
    return place.cut_right(ui.px(size::kSmallControl)).middle(ui.px(size::kSmallControl));
  };
  const ButtonOptions hot{.disabled = hot_.empty()};
  if (icon_button(ui, "source.hot.next", icon_place(), icon::kArrowDown, "The next less costly line", hot)) {
    step_hot(context, 1);
  }
  if (icon_button(ui, "source.hot.previous", icon_place(), icon::kArrowUp, "The next more costly line", hot)) {
    step_hot(context, -1);
  }
  constexpr std::string_view kHot = "hot line";
  draw_text(ui, place.cut_right(text_width(ui, TextStyle::small, kHot) + ui.px(4)), kHot,
            {.style = TextStyle::small, .colour = Colour::text3});
  place.cut_right(ui.px(10));
  const ButtonOptions step{.disabled = found_.empty()};
  if (icon_button(ui, "source.find.next", icon_place(), icon::kCaretDown, "Next (Enter)", step)) step_find(1);
  if (icon_button(ui, "source.find.previous", icon_place(), icon::kCaretUp, "Previous", step)) step_find(-1);
  std::string state;
  if (!find_.empty()) {
    state = found_.empty() ? "none" : format_count(found_at_ + 1) + " of " + format_count(found_.size());
  }
  draw_text(
      ui, place.cut_right(ui.px(64)), state,
      {.style = TextStyle::small, .colour = found_.empty() ? Colour::warning : Colour::text3, .align = Align::right});
  const Rect field =
      Rect{place.x0, place.y0, std::min(place.x1, place.x0 + ui.px(260)), place.y1}.middle(ui.px(size::kSmallControl));
  const TextInputResult typed =
      text_input(ui, "source.find", field, find_, {.placeholder = "Text or line number", .icon = icon::kSearch});
  if (typed.changed) {
    found_ = find_lines(lines_, find_);
    found_at_ = 0;
    if (!found_.empty()) scroll_to_ = found_.front() + 1;
  } else if (typed.submitted) {
    step_find(1);
  }
}

void SourcePanel::step_find(int step) {
  if (found_.empty()) return;
  const auto count = static_cast<std::ptrdiff_t>(found_.size());
  found_at_ = static_cast<std::size_t>((static_cast<std::ptrdiff_t>(found_at_) + step + count) % count);
  scroll_to_ = found_[found_at_] + 1;
}

// From the lit line to its neighbour in the order of cost; from a line without cost to the costliest.
void SourcePanel::step_hot(const PanelContext& context, int step) {
  std::ptrdiff_t at = step > 0 ? -1 : static_cast<std::ptrdiff_t>(hot_.size());
  if (lit_) {
    const auto now = std::find(hot_.begin(), hot_.end(), lit_->line - 1);
    if (now != hot_.end()) at = now - hot_.begin();
  }
  const auto last = static_cast<std::ptrdiff_t>(hot_.size()) - 1;
  if (at >= 0 && at <= last && (at + step < 0 || at + step > last)) {
    return context.actions.say(step > 0 ? "No line costs less" : "No line costs more");
  }
  const std::uint32_t line = hot_[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(at + step, 0, last))] + 1;
  scroll_to_ = line;
  light_line(context, {recorded_path(line), line});
}

void SourcePanel::draw_code(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  const float row_height = ui.px(size::kCodeRow);
  std::size_t widest = 0;
  for (const CodeLine& line : lines_) widest = std::max(widest, line.text.size());
  const float width = ui.px(kCostWidth + kSourceTextBarWidth + kNumberWidth + 40) +
                      static_cast<float>(widest) * text_width(ui, TextStyle::mono, "m");
  const bool lit_here = lit_ && same_source(lit_->path, file_->path);
  if (std::exchange(text_height_, area.height()) != area.height() && lit_here && !scroll_to_) scroll_to_ = lit_->line;
  find_warnings(context);
  ScrollArea scroll(ui, "source.scroll", area, row_height * static_cast<float>(lines_.size() + 1), width);
  const Rect content = scroll.content();
  const Rect visible = scroll.visible();
  const auto first = static_cast<std::size_t>(std::max(0.0F, std::floor((visible.y0 - content.y0) / row_height)));
  for (std::size_t i = first; i < lines_.size(); ++i) {
    const float y = content.y0 + static_cast<float>(i) * row_height;
    if (y > visible.y1) break;
    draw_line(context, i, {content.x0, y, std::max(content.x1, visible.x1), y + row_height});
    draw_warning(context, i, {visible.x0, y, visible.x1, y + row_height});
  }
  if (scroll_to_ && *scroll_to_ > 0) {
    const float y = content.y0 + static_cast<float>(*scroll_to_ - 1) * row_height;
    scroll.show({content.x0, y - 4 * row_height, content.x0 + 1, y + 5 * row_height});
  }
  scroll_to_.reset();
}

void SourcePanel::draw_line(const PanelContext& context, std::size_t index, Rect row) {
  Ui& ui = context.ui;
  const auto number = static_cast<std::uint32_t>(index + 1);
  const std::string name = "source.line." + std::to_string(number);
  const Interaction hand = interact(ui, name, row, {.disabled = false, .below_others = true});
  const bool lit = lit_ && lit_->line == number && same_source(lit_->path, file_->path);
  const bool found = std::binary_search(found_.begin(), found_.end(), static_cast<std::uint32_t>(index));
  if (lit || hand.hovered) fill(ui, row, ui.colour(lit ? Colour::accent_bg : Colour::bg3));
  if (found) {
    const Rect mark{row.x0 + ui.px(kCostWidth + kSourceTextBarWidth + 8 + 6), row.y0, row.x1, row.y1};
    const bool here = found_[found_at_] == index;
    fill(ui, mark, with_alpha(ui.colour(Colour::warning_bg), here ? 1.0F : 0.55F));
  }
  if (lit) fill(ui, {row.x0, row.y0, row.x0 + ui.px(size::kAccentLine), row.y1}, ui.colour(Colour::accent));
  draw_margin(context, index, row.cut_left(ui.px(kCostWidth + kSourceTextBarWidth + 8)));
  draw_text(ui, row.cut_left(ui.px(kNumberWidth)), std::to_string(number),
            {.style = TextStyle::mono, .colour = lit ? Colour::text1 : Colour::text3, .align = Align::right});
  row.cut_left(ui.px(16));
  const CodeLine& line = lines_[index];
  float x = row.x0;
  for (const CodeToken& token : line.tokens) {
    const std::string_view text = std::string_view(line.text).substr(token.begin, token.end - token.begin);
    if (text.find_first_not_of(' ') != std::string_view::npos) {
      draw_text(ui, {x, row.y0, x + text_width(ui, TextStyle::mono, text) + 1, row.y1}, text,
                {.style = TextStyle::mono, .colour = colour_of(token.kind), .fit = Fit::clip});
    }
    x += text_width(ui, TextStyle::mono, text);
  }
  if (hand.hovered) set_cursor(Cursor::hand);
  if (hand.clicked) light_line(context, {recorded_path(number), number});
  if (hand.double_clicked) fit_when_ready_ = true;
}

// The findings that cost a line of this file most.
void SourcePanel::find_warnings(const PanelContext& context) {
  advice_ = shown_advice(context.tab);
  warnings_.clear();
  if (!advice_) return;
  for (const Finding& finding : advice_->findings) {
    std::string_view path;
    std::uint32_t line = 0;
    const bool here = parse_source_location(finding.source, path, line) && same_source(path, file_->path);
    if (here && line > 0) warnings_.emplace_back(line - 1, &finding);
  }
}

// At the right end of the line, with all that is found there on hover; a click chooses the first.
void SourcePanel::draw_warning(const PanelContext& context, std::size_t index, const Rect& row) const {
  const Finding* first = nullptr;
  std::string all;
  for (const auto& [line, finding] : warnings_) {
    if (line != index) continue;
    if (first == nullptr) first = finding;
    all += (all.empty() ? "" : "\n") + finding->headline + (finding->is_error ? "" : ", " + saving_text(*finding));
  }
  if (first == nullptr) return;
  Ui& ui = context.ui;
  const float width = text_width(ui, TextStyle::small, first->tab) + ui.px(30);
  const Rect place{std::max(row.x0, row.x1 - width - ui.px(8)), row.y0, row.x1 - ui.px(8), row.y1};
  fill(ui, place, ui.colour(Colour::bg1), size::kChipRadius);
  const Interaction touch = interact(ui, "source.warning." + std::to_string(index + 1), place);
  Rect inside = place.inset(ui.px(6), 0);
  draw_icon(ui, inside.cut_left(ui.px(18)), icon::kWarning, ui.colour(Colour::warning_line), TextStyle::icon12);
  draw_text(ui, inside, first->tab, {.style = TextStyle::small, .colour = Colour::warning, .fit = Fit::clip});
  if (touch.hovered) set_cursor(Cursor::hand);
  tooltip(ui, touch, place, all);
  if (!touch.clicked) return;
  context.tab.chosen_warning = first->key;
  context.actions.show_panel("warnings");
}

void SourcePanel::draw_margin(const PanelContext& context, std::size_t index, Rect margin) {
  Ui& ui = context.ui;
  if (index >= costs_.size()) return;
  const LineCost& cost = costs_[index];
  const double value = heat_value(cost, heat_);
  if (value <= 0 || hot_.empty()) return;  // the heat was changed in this frame
  const double hottest = heat_value(costs_[hot_.front()], heat_);
  const double share = hottest > 0 ? value / hottest : 0;
  draw_text(ui, margin.cut_left(ui.px(kCostWidth)), heat_text(cost, heat_),
            {.style = share >= 0.5 ? TextStyle::mono_strong : TextStyle::mono,
             .colour = Colour::text1,
             .align = Align::right});
  margin.cut_left(ui.px(8));
  const float width = std::max(ui.px(1), std::round(static_cast<float>(share) * ui.px(kHeatBar)));
  const Rect bar = Rect{margin.x0, margin.y0, margin.x0 + width, margin.y1}.middle(ui.px(10));
  fill(ui, bar, mix(ui.colour(Colour::bg4), ui.colour(Colour::accent), static_cast<float>(0.35 + 0.65 * share)));
}

}  // namespace accelscope::app
