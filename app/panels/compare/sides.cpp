#include "app/panels/compare/sides.h"

#include <array>

#include "app/content/comparison/comparison_listing.h"
#include "app/content/comparison/comparison_words.h"
#include "render/base/draw.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

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

SessionAnalysis::Found<ComparedSides> compare_sides(const QueryContext& query, const CompareQuestion& question) {
  const std::vector<std::string> by = {question.kind};
  auto base = capture_figures(query, by);
  if (!base) return base.error();
  auto other = capture_figures({*question.other, question.other->snapshot(), query.pool, query.control}, by);
  if (!other) return other.error();
  base->label.path = question.base_title;
  other->label.path = question.other_title;
  const std::array<CaptureFigures, 2> captures = {std::move(*base), std::move(*other)};
  ComparedSides out;
  out.comparison = compare_captures(captures, {{question.base_title, {0}}, {question.other_title, {1}}});
  out.listing = out.comparison.costs.empty() ? metrics_listing(out.comparison, 1)
                                             : costs_listing(out.comparison, out.comparison.costs.front(), 1);
  return std::make_shared<const ComparedSides>(std::move(out));
}

}  // namespace

std::shared_ptr<const ComparedSides> ask_compared(SessionAnalysis& base, CompareKept& kept,
                                                  const CompareQuestion& question) {
  return base.ask(kept, question, question.renewal(),
                  [question](const QueryContext& query) { return compare_sides(query, question); });
}

void draw_compared_verdict(Ui& ui, Rect& line, const Comparison& comparison) {
  const ComparisonVerdict verdict = comparison_verdict(comparison, 1);
  const auto part = [&](const std::string& text, TextStyle style, Colour colour) {
    draw_text(ui, line.cut_left(std::min(line.width(), text_width(ui, style, text) + ui.px(12))), text,
              {.style = style, .colour = colour});
  };
  part(verdict.headline, TextStyle::heading, colour_of(verdict.judgement));
  part(verdict.detail, TextStyle::mono_strong, Colour::text1);
  part(verdict.beside, TextStyle::small, Colour::text2);
  part(verdict.basis, TextStyle::small, Colour::text3);
}

std::string compared_reasons(const Comparison& comparison, std::size_t most) {
  std::string reasons;
  for (const ComparisonReason& reason : comparison_reasons(comparison, 1, most))
    reasons += (reasons.empty() ? "" : "   ") + reason.text;
  return reasons;
}

}  // namespace accelscope::app
