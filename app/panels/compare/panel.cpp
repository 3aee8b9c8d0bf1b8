#include <iterator>

#include "app/content/comparison/comparison_output.h"
#include "app/content/comparison/comparison_words.h"
#include "app/content/comparison/explained.h"
#include "app/panels/answer_table.h"
#include "app/panels/compare/sides.h"
#include "app/panels/panel.h"

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

FoundAnswer<ComparedSides> compare_sides(const QueryContext& query, const CompareQuestion& question) {
  const std::vector<std::string> by = {question.kind};
  const AskedSides sides = asked_sides(query, question);
  auto base = TRY(capture_figures(sides.base, by));
  auto other = TRY(capture_figures(sides.other, by));
  base.label.path = question.base_title;
  other.label.path = question.other_title;
  const std::array<CaptureFigures, 2> captures = {std::move(base), std::move(other)};
  ComparedSides out;
  out.comparison = compare_captures(captures, {{question.base_title, {0}}, {question.other_title, {1}}});
  out.listing = out.comparison.costs.empty() ? metrics_listing(out.comparison, 1)
                                             : costs_listing(out.comparison, out.comparison.costs.front(), 1);
  return std::make_shared<const ComparedSides>(std::move(out));
}

// This session beside another that is open: whether results differ, the verdict, then figures and costs, the base, A,
// on the left. A is the session that was opened first, of a comparison the one above; a click swaps them.

// A regression explained as a waterfall: from the base's total term by term to the other's, worse ones first.

class Waterfall {
 public:
  void draw(const PanelContext& context, const Rect& area, const CompareQuestion& question);
  [[nodiscard]] bool pending() const { return retained_.task.valid(); }

 private:
  void draw_part(const PanelContext& context, const Rect& area, const CompareQuestion& question,
                 const ExplainedPart& part);

  RetainedAnswer<Explained, CompareQuestion> retained_;
  int by_ = 0;
  int chosen_ = -1;  // of the terms
};

class ComparePanel final : public Panel {
 public:
  void draw(const PanelContext& context, const Rect& area) override;
  [[nodiscard]] std::optional<bool> has_content(const PanelContext& context) const override;
  [[nodiscard]] bool pending() const override {
    return retained_.task.valid() || results_retained_.task.valid() || waterfall_.pending();
  }

 private:
  // Fills in the session to compare with, where there is one; takes its rows off the area.
  void draw_head(const PanelContext& context, Rect& area, CompareQuestion& question);
  // The results, and a click on them: what is left of the area.
  void draw_results(const PanelContext& context, Rect& area, const CompareQuestion& question);
  void draw_verdict(const PanelContext& context, const Rect& area) const;

  std::weak_ptr<const Store> chosen_;
  int kind_ = 0;
  bool side_by_side_ = false;  // was asked for in this frame
  bool swapped_ = false;       // of a tab without another below
  CompareRetained retained_;
  ResultsRetained results_retained_;
  std::shared_ptr<const ComparedSides> shown_;
  AnswerTable rows_;
  Waterfall waterfall_;
};

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
  row = padded(ui, row);
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
  draw_text(ui, cells.why, "total", kLabelText);
  const Rect bar = Rect{axis.bars.x0, row.y0, axis.x(static_cast<double>(total)), row.y1}.middle(ui.px(14));
  fill(ui, bar, colour);
  if (axis.low > 0) {  // it goes on to the left
    for (const float from : {8.0F, 13.0F})
      fill(ui, {bar.x0 + ui.px(from), bar.y0, bar.x0 + ui.px(from + 2), bar.y1}, ui.colour(Colour::bg3));
  }
  draw_text(ui, cells.term, exact_time(explained, total), {.style = TextStyle::mono_strong, .align = Align::right});
}

constexpr float kCompareHead = 36, kCompareVerdict = 46, kCompareNote = 20;  // units
constexpr float kLeastSides = 420;                                           // for what is set against what

struct ComparePage {
  std::string_view kind, label;
};
constexpr std::array<ComparePage, 9> kComparePages = {{{"metric", "Metrics"},
                                                       {"explain", "Explain"},
                                                       {"kernel", "By kernel"},
                                                       {"opcode", "By opcode"},
                                                       {"layer", "By layer"},
                                                       {"line", "By source line"},
                                                       {"finding", "Findings"},
                                                       {"memory", "Memory"},
                                                       {"memory_stack", "By stack"}}};
constexpr std::size_t kMemoryPages = 2;  // the last ones, of sessions with allocations

bool has_allocations(const Snapshot& snapshot) {
  return std::ranges::any_of(snapshot.lanes,
                             [](const LaneSnapshot& each) { return each.data->kind == EventKind::memory; });
}

}  // namespace

AskedSides asked_sides(const QueryContext& own, const CompareQuestion& question) {
  const QueryContext other{*question.other, question.other->snapshot(), own.pool, own.control};
  return question.other_is_base ? AskedSides{other, own} : AskedSides{own, other};
}

std::shared_ptr<const Divergence> ask_results(SessionAnalysis& own, ResultsRetained& retained,
                                              CompareQuestion question) {
  question.kind = "results";
  return own.ask(retained, question, question.renewal(),
                 [question](const QueryContext& query) -> FoundAnswer<Divergence> {
                   const AskedSides sides = asked_sides(query, question);
                   if (!has_checksums(*sides.base.snapshot) || !has_checksums(*sides.other.snapshot))
                     return std::make_shared<const Divergence>();
                   auto found = TRY(find_divergence(sides.base, sides.other));
                   return std::make_shared<const Divergence>(std::move(found));
                 });
}

Colour colour_of_results(const Divergence& divergence) {
  const Judgement judgement = results_judgement(divergence);
  return judgement == Judgement::unknown ? Colour::warning : colour_of(judgement);
}

std::shared_ptr<const ComparedSides> ask_compared(SessionAnalysis& own, CompareRetained& retained,
                                                  const CompareQuestion& question) {
  return own.ask(retained, question, question.renewal(),
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

void Waterfall::draw_part(const PanelContext& context, const Rect& area, const CompareQuestion& question,
                          const ExplainedPart& part) {
  Ui& ui = context.ui;
  Rect rest = area;
  const Explained& explained = *retained_.value;
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < part.difference.terms.size(); ++i) {
    if (part.difference.terms[i].difference_ns() != 0) rows.push_back(i);
  }
  const Rect foot = padded(ui, rest.cut_bottom(ui.px(kWaterfallRow)));
  const WaterfallAxis axis = axis_of(part, cells_of(ui, rest).bars);
  draw_text(ui, foot, explained_sum(explained, part.difference), {.style = TextStyle::small_strong});
  if (axis.low > 0) {
    draw_text(ui, foot, "the axis starts at " + format_duration(axis.low), kHintTextRight);
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
      draw_text(ui, cells.why, explained_why(term), kLabelText);
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
  const auto work = [question](const QueryContext& query) -> FoundAnswer<Explained> {
    const AskedSides sides = asked_sides(query, question);
    auto found = TRY(explain_difference(sides.base, sides.other, {std::begin(kExplainedBy), std::end(kExplainedBy)}));
    found.base_title = question.base_title;
    found.other_title = question.other_title;
    return std::make_shared<const Explained>(std::move(found));
  };
  const std::shared_ptr<const Explained> shown = context.analysis().ask(retained_, question, question.renewal(), work);
  if (draw_missing(ui, "compare", area, retained_.error, shown != nullptr, "Following both critical paths ...")) return;
  Rect rest = area;
  Rect head = padded(ui, rest.cut_top(ui.px(size::kControl + 6)));
  std::vector<Segment> segments;
  for (const ExplainedBy& each : kExplainedBy) segments.push_back({.label = each.title});
  if (segmented_right(ui, "compare.explained", head, segments, by_)) chosen_ = -1;
  head.cut_right(ui.px(16));
  const std::string title = explained_headline(*shown);
  draw_text(ui, head.cut_left(std::min(head.width(), text_width(ui, TextStyle::heading, title) + ui.px(12))), title,
            {.style = TextStyle::heading});
  draw_text(ui, head, "along both critical paths; the terms add up exactly. A: " + shown->base_bound, kHintText);
  draw_part(context, rest, question, shown->parts[static_cast<std::size_t>(by_)]);
}

void ComparePanel::draw_head(const PanelContext& context, Rect& area, CompareQuestion& question) {
  Ui& ui = context.ui;
  const auto next_row = [&] { return padded(ui, area.cut_top(ui.px(kCompareHead))); };
  Rect head = next_row();
  const std::vector<OpenSession> others = context.actions.other_sessions();
  if (others.empty()) return;
  std::vector<Segment> pages;
  for (const ComparePage& page : kComparePages) pages.push_back({.label = page.label});
  if (!has_allocations(*context.tab.snapshot)) {
    pages.resize(pages.size() - kMemoryPages);
    kind_ = std::min(kind_, static_cast<int>(pages.size()) - 1);
  }
  // In a row of their own where both do not fit beside each other.
  const float wide = segmented_width(ui, pages);
  Rect pages_row = head;
  if (head.width() < wide + ui.px(kLeastSides)) {
    pages_row = next_row();
  } else {
    head.cut_right(wide + ui.px(16));
  }
  segmented(ui, "compare.page", pages_row.cut_right(std::min(wide, pages_row.width())).middle(ui.px(size::kControl)),
            pages, kind_);
  if (!context.tab.beside) {
    const ButtonOptions options{.label = "Side by side",
                                .tooltip = "Both timelines below each other, in a tab of their own"};
    const Rect place = head.cut_right(button_width(ui, options)).middle(ui.px(size::kControl));
    head.cut_right(ui.px(16));
    side_by_side_ = button(ui, "compare.side_by_side", place, options);
  }
  const std::shared_ptr<const Store> known = chosen_.lock();
  const auto found = std::ranges::find_if(others, [&](const OpenSession& each) { return each.store == known; });
  int number = found == others.end() ? 0 : static_cast<int>(found - others.begin());
  std::vector<Segment> names;
  for (const OpenSession& each : others) names.push_back({.label = each.title});
  const auto is_below = [&] {
    return context.tab.beside && others[static_cast<std::size_t>(number)].store == context.tab.beside->store;
  };
  const auto other_is_base = [&] {
    if (is_below()) return context.tab.beside_is_base;
    return others[static_cast<std::size_t>(number)].is_earlier != swapped_;
  };
  // The button that turns A and B round stands behind both.
  const ButtonOptions swaps{.label = "Swap", .tooltip = "A becomes B: what the other is set against"};
  head.cut_right(button_width(ui, swaps) + ui.px(8));
  const std::string label = other_is_base() ? fmt::format("B {} against A", own_title(context.tab))
                                            : fmt::format("A {} against B", own_title(context.tab));
  draw_text(ui, head.cut_left(std::min(head.width(), text_width(ui, TextStyle::heading, label) + ui.px(8))), label,
            {.style = TextStyle::heading});
  const float width = std::min(head.width(), segmented_width(ui, names));
  segmented(ui, "compare.other", head.cut_left(width).middle(ui.px(size::kControl)), names, number);
  const float x = head.x0 + ui.px(8);
  const Rect place = Rect{x, head.y0, x + button_width(ui, swaps), head.y1}.middle(ui.px(size::kControl));
  if (button(ui, "compare.swap", place, swaps)) {
    bool& swapped = is_below() ? context.tab.beside_is_base : swapped_;
    swapped = !swapped;
    ui.request_frame();
  }
  const OpenSession& other = others[static_cast<std::size_t>(number)];
  question.other_is_base = other_is_base();
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

void ComparePanel::draw_results(const PanelContext& context, Rect& area, const CompareQuestion& question) {
  Ui& ui = context.ui;
  const std::shared_ptr<const Divergence> found = ask_results(context.analysis(), results_retained_, question);
  if (!found || found->with_checksums == 0 || found->other_with_checksums == 0) return;
  const DivergentPair* first = found->first();
  const Rect whole = area.cut_top(ui.px(first == nullptr ? kCompareNote : 2 * kCompareNote));
  Rect rest = padded(ui, whole);
  if (first != nullptr) {
    const Interaction touch = interact(ui, "compare.results", whole);
    if (touch.hovered) fill(ui, whole, ui.colour(Colour::bg3));
    tooltip(ui, touch, whole, "A click selects it: operands, line and what it waited for stand in Details");
    if (touch.clicked) select_on_both(context.tab, question, first->base.id, first->other);
  }
  draw_text(ui, rest.cut_top(ui.px(kCompareNote)), results_text(*found),
            {.style = TextStyle::small_strong, .colour = colour_of_results(*found)});
  if (first != nullptr) {
    const std::string of = found->is_one_program() ? "" : "The first pair that differs: ";
    draw_text(ui, rest, of + divergent_details(*first), kLabelText);
  }
}

std::optional<bool> ComparePanel::has_content(const PanelContext& context) const {
  return context.tab.beside != nullptr || !context.actions.other_sessions().empty();
}

void ComparePanel::draw(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  Rect rest = area;
  CompareQuestion question;
  draw_head(context, rest, question);
  if (!question.other)
    return empty_sentence(ui, "compare.alone", area, icon::kBalance,
                          "Open another session in a tab of its own, and it is set beside this one here.");
  question.base_title = own_title(context.tab);
  if (question.other_is_base) std::swap(question.base_title, question.other_title);
  if (question.other_title == question.base_title) question.other_title += " (B)";
  question.kind = kComparePages[static_cast<std::size_t>(kind_)].kind;
  draw_results(context, rest, question);
  if (question.kind == "explain") return waterfall_.draw(context, rest, question);
  shown_ = ask_compared(context.analysis(), retained_, question);
  if (draw_missing(ui, "compare", rest, retained_.error, shown_ != nullptr, "Comparing ...")) return;
  draw_verdict(context, padded(ui, rest.cut_top(ui.px(kCompareVerdict))));
  const Listing& listing = shown_->listing;
  draw_note(ui, rest, listing.note);
  if (listing.rows.row_count() == 0) return;
  (void)rows_.draw(context, "compare.rows", rest, std::shared_ptr<const Listing>(shown_, &shown_->listing));
}

std::unique_ptr<Panel> make_compare_panel(const PanelParts&) { return std::make_unique<ComparePanel>(); }

}  // namespace accelscope::app
