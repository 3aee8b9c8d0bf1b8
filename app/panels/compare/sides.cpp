#include "app/panels/compare/sides.h"

#include <array>
#include <utility>

#include "app/content/comparison/comparison_output.h"
#include "app/content/comparison/comparison_words.h"
#include "app/view/selection.h"
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
  const AskedSides sides = asked_sides(query, question);
  auto base = capture_figures(sides.base, by);
  if (!base) return base.error();
  auto other = capture_figures(sides.other, by);
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

AskedSides asked_sides(const QueryContext& own, const CompareQuestion& question) {
  const QueryContext other{*question.other, question.other->snapshot(), own.pool, own.control};
  return question.other_is_base ? AskedSides{other, own} : AskedSides{own, other};
}

std::shared_ptr<const Divergence> ask_results(SessionAnalysis& own, ResultsKept& kept, CompareQuestion question) {
  question.kind = "results";
  return own.ask(kept, question, question.renewal(),
                 [question](const QueryContext& query) -> SessionAnalysis::Found<Divergence> {
                   const AskedSides sides = asked_sides(query, question);
                   if (!has_checksums(*sides.base.snapshot) || !has_checksums(*sides.other.snapshot))
                     return std::make_shared<const Divergence>();
                   auto found = find_divergence(sides.base, sides.other);
                   if (!found) return found.error();
                   return std::make_shared<const Divergence>(std::move(*found));
                 });
}

Colour colour_of_results(const Divergence& divergence) {
  const Judgement judgement = results_judgement(divergence);
  return judgement == Judgement::unknown ? Colour::warning : colour_of(judgement);
}

std::shared_ptr<const ComparedSides> ask_compared(SessionAnalysis& own, CompareKept& kept,
                                                  const CompareQuestion& question) {
  return own.ask(kept, question, question.renewal(),
                 [question](const QueryContext& query) { return compare_sides(query, question); });
}

void select_on_both(SessionTab& tab, const CompareQuestion& question, EventId base, EventId other) {
  if (question.other_is_base) std::swap(base, other);
  if (base != kNoEvent) select_event(tab, base);
  if (other != kNoEvent && tab.beside && tab.beside->store == question.other) tab.beside->selected = other;
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
