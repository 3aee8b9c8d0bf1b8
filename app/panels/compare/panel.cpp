#include "app/panels/compare/panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/content/comparison/comparison_listing.h"
#include "app/content/comparison/comparison_words.h"
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
constexpr std::array<ComparePage, 6> kComparePages = {{{"metric", "Metrics"},
                                                       {"kernel", "By kernel"},
                                                       {"opcode", "By opcode"},
                                                       {"layer", "By layer"},
                                                       {"line", "By source line"},
                                                       {"finding", "Findings"}}};

Colour colour_of(Judgement judgement) {
  switch (judgement) {
    case Judgement::better:
      return Colour::ok;
    case Judgement::worse:
      return Colour::error;
    default:
      return Colour::text1;
  }
}

}  // namespace

SessionAnalysis::Found<ComparePanel::Compared> ComparePanel::compare(const QueryContext& query,
                                                                     const Question& question) {
  const std::vector<std::string> by = {question.kind};
  auto base = capture_figures(query, by);
  if (!base) return base.error();
  auto other = capture_figures({*question.other, question.other->snapshot(), query.pool, query.control}, by);
  if (!other) return other.error();
  base->label.path = question.base_title;
  other->label.path = question.other_title;
  const std::array<CaptureFigures, 2> captures = {std::move(*base), std::move(*other)};
  Compared out;
  out.comparison = compare_captures(captures, {{question.base_title, {0}}, {question.other_title, {1}}});
  out.listing = out.comparison.costs.empty() ? metrics_listing(out.comparison, 1)
                                             : costs_listing(out.comparison, out.comparison.costs.front(), 1);
  return std::make_shared<const Compared>(std::move(out));
}

std::shared_ptr<const Store> ComparePanel::draw_head(const PanelContext& context, Rect head, std::string& title) {
  Ui& ui = context.ui;
  const std::vector<OpenSession> others = context.actions.other_sessions();
  if (others.empty()) return nullptr;
  std::vector<Segment> pages;
  for (const ComparePage& page : kComparePages) pages.push_back({.label = page.label});
  segmented(ui, "compare.page", head.cut_right(segmented_width(ui, pages)).middle(ui.px(size::kControl)), pages, kind_);
  head.cut_right(ui.px(16));
  const std::shared_ptr<const Store> known = chosen_.lock();
  const auto found =
      std::find_if(others.begin(), others.end(), [&](const OpenSession& each) { return each.store == known; });
  int number = found == others.end() ? 0 : static_cast<int>(found - others.begin());
  std::vector<Segment> names;
  for (const OpenSession& each : others) names.push_back({.label = each.title});
  const std::string label = fmt::format("A {} against B", context.tab.title);
  draw_text(ui, head.cut_left(text_width(ui, TextStyle::heading, label) + ui.px(8)), label,
            {.style = TextStyle::heading});
  const float width = std::min(head.width(), segmented_width(ui, names));
  segmented(ui, "compare.other", head.cut_left(width).middle(ui.px(size::kControl)), names, number);
  const OpenSession& other = others[static_cast<std::size_t>(number)];
  chosen_ = other.store;
  title = other.title;
  return other.store;
}

void ComparePanel::draw_verdict(const PanelContext& context, const Rect& area) const {
  Ui& ui = context.ui;
  Rect rest = area;
  Rect line = rest.cut_top(rest.height() / 2);
  const ComparisonVerdict verdict = comparison_verdict(shown_->comparison, 1);
  draw_text(ui, line.cut_left(text_width(ui, TextStyle::heading, verdict.headline) + ui.px(12)), verdict.headline,
            {.style = TextStyle::heading, .colour = colour_of(verdict.judgement)});
  draw_text(ui, line.cut_left(text_width(ui, TextStyle::mono_strong, verdict.detail) + ui.px(12)), verdict.detail,
            {.style = TextStyle::mono_strong});
  draw_text(ui, line, verdict.basis, {.style = TextStyle::small, .colour = Colour::text3});
  std::string reasons;
  for (const ComparisonReason& reason : comparison_reasons(shown_->comparison, 1, 4))
    reasons += (reasons.empty() ? "" : "   ") + reason.text;
  draw_text(ui, rest, reasons, {.style = TextStyle::body, .colour = Colour::text2});
}

void ComparePanel::draw(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  Rect rest = area;
  Question question;
  question.other =
      draw_head(context, rest.cut_top(ui.px(kCompareHead)).inset(ui.px(size::kPanelPadding), 0), question.other_title);
  if (!question.other) {
    empty_state(ui, "compare.alone", area, icon::kBalance,
                "Open another session in a tab of its own, and it is set beside this one here.");
    return;
  }
  question.base_title = context.tab.title;
  if (question.other_title == question.base_title) question.other_title += " (B)";
  question.kind = kComparePages[static_cast<std::size_t>(kind_)].kind;
  shown_ = context.analysis().ask(kept_, question, {},
                                  [question](const QueryContext& query) { return compare(query, question); });
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
