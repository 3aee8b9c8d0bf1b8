#include "app/panels/compare/panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/format.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/layout.h"
#include "render/widgets/states.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kCompareHead = 36, kCompareVerdict = 46, kCompareNote = 20;  // units

struct ComparePage {
  std::string_view kind, label;
};
constexpr std::array<ComparePage, 7> kComparePages = {{{"metric", "Metrics"},
                                                       {"explain", "Explain"},
                                                       {"kernel", "By kernel"},
                                                       {"opcode", "By opcode"},
                                                       {"layer", "By layer"},
                                                       {"line", "By source line"},
                                                       {"finding", "Findings"}}};

}  // namespace

void ComparePanel::draw_head(const PanelContext& context, Rect head, CompareQuestion& question) {
  Ui& ui = context.ui;
  const std::vector<OpenSession> others = context.actions.other_sessions();
  if (others.empty()) return;
  std::vector<Segment> pages;
  for (const ComparePage& page : kComparePages) pages.push_back({.label = page.label});
  segmented(ui, "compare.page", head.cut_right(segmented_width(ui, pages)).middle(ui.px(size::kControl)), pages, kind_);
  head.cut_right(ui.px(16));
  if (!context.tab.beside) {
    const ButtonOptions options{.label = "Side by side",
                                .tooltip = "Both timelines below each other, in a tab of their own"};
    const Rect place = head.cut_right(button_width(ui, options)).middle(ui.px(size::kControl));
    head.cut_right(ui.px(16));
    side_by_side_ = button(ui, "compare.side_by_side", place, options);
  }
  const std::shared_ptr<const Store> known = chosen_.lock();
  const auto found =
      std::find_if(others.begin(), others.end(), [&](const OpenSession& each) { return each.store == known; });
  int number = found == others.end() ? 0 : static_cast<int>(found - others.begin());
  std::vector<Segment> names;
  for (const OpenSession& each : others) names.push_back({.label = each.title});
  const std::string label = fmt::format("A {} against B", own_title(context.tab));
  draw_text(ui, head.cut_left(text_width(ui, TextStyle::heading, label) + ui.px(8)), label,
            {.style = TextStyle::heading});
  const float width = std::min(head.width(), segmented_width(ui, names));
  segmented(ui, "compare.other", head.cut_left(width).middle(ui.px(size::kControl)), names, number);
  const OpenSession& other = others[static_cast<std::size_t>(number)];
  question.other_grows = other.grows;
  chosen_ = other.store;
  if (std::exchange(side_by_side_, false)) context.actions.open_comparison(other.store);
  question.other_title = other.title;
  question.other = other.store;
}

void ComparePanel::draw_verdict(const PanelContext& context, const Rect& area) const {
  Ui& ui = context.ui;
  Rect rest = area;
  Rect line = rest.cut_top(rest.height() / 2);
  draw_compared_verdict(ui, line, shown_->comparison);
  draw_text(ui, rest, compared_reasons(shown_->comparison, 4), {.style = TextStyle::body, .colour = Colour::text2});
}

std::optional<bool> ComparePanel::has_content(const PanelContext& context) const {
  return context.tab.beside != nullptr || !context.actions.other_sessions().empty();
}

void ComparePanel::draw(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  Rect rest = area;
  CompareQuestion question;
  draw_head(context, rest.cut_top(ui.px(kCompareHead)).inset(ui.px(size::kPanelPadding), 0), question);
  if (!question.other) {
    empty_state(ui, "compare.alone", area, icon::kBalance,
                "Open another session in a tab of its own, and it is set beside this one here.");
    return;
  }
  question.base_title = own_title(context.tab);
  if (question.other_title == question.base_title) question.other_title += " (B)";
  question.kind = kComparePages[static_cast<std::size_t>(kind_)].kind;
  if (question.kind == "explain") return waterfall_.draw(context, rest, question);
  shown_ = ask_compared(context.analysis(), kept_, question);
  if (!kept_.error.empty()) {
    empty_state(ui, "compare.wrong", rest, icon::kError, kept_.error);
    return;
  }
  if (!shown_) {
    empty_state(ui, "compare.loading", rest, icon::kClock, "Comparing ...");
    return;
  }
  draw_verdict(context, rest.cut_top(ui.px(kCompareVerdict)).inset(ui.px(size::kPanelPadding), 0));
  const Listing& listing = shown_->listing;
  if (!listing.note.empty()) {
    draw_text(ui, rest.cut_bottom(ui.px(kCompareNote)).inset(ui.px(size::kPanelPadding), 0), listing.note,
              {.style = TextStyle::small, .colour = Colour::text3});
  }
  if (listing.rows.row_count() == 0) return;
  (void)rows_.draw(context, "compare.rows", rest, std::shared_ptr<const Listing>(shown_, &shown_->listing));
}

}  // namespace accelscope::app
