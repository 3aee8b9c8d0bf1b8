#include <iterator>

#include "app/content/comparison/comparison_output.h"
#include "app/content/comparison/comparison_words.h"
#include "app/content/comparison/explained.h"
#include "app/content/hierarchy/tree_difference.h"
#include "app/content/tab_titles.h"
#include "app/panels/answer_table.h"
#include "app/panels/compare/sides.h"
#include "app/panels/flame_graph.h"
#include "app/panels/panel.h"
#include "core/listing/terms.h"
#include "core/model/palette.h"

namespace accelscope::app::panels {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

Colour colour_of(content::Judgement judgement) {
  switch (judgement) {
    case content::Judgement::better:
      return Colour::ok;
    case content::Judgement::worse:
      return Colour::error;
    default:
      return Colour::text1;
  }
}

FoundAnswer<ComparedSides> compare_sides(const QueryContext& query, const CompareQuestion& question) {
  const std::vector<std::string> by = {question.kind};
  const std::vector<QueryContext> contexts = asked_sides(query, question);
  std::vector<analysis::CaptureFigures> captures;
  std::vector<analysis::CaptureGroup> groups;
  content::ComparedOthers others;
  for (std::size_t i = 0; i < contexts.size(); ++i) {
    captures.push_back(TRY(analysis::capture_figures(contexts[i], by)));
    captures.back().label.path = question.sides[i].title;
    groups.push_back({question.sides[i].title, {i}});
    if (i > 0) others.push_back(i);
  }
  ComparedSides out;
  out.comparison = analysis::compare_captures(captures, groups);
  out.listing = out.comparison.costs.empty()
                    ? content::metrics_listing(out.comparison, others)
                    : content::costs_listing(out.comparison, out.comparison.costs.front(), others);
  return std::make_shared<const ComparedSides>(std::move(out));
}

// This session beside another that is open, or those of a comparison: whether results differ, the verdicts, then
// figures and costs, the base, A, on the left. A is the session that was opened first; a click swaps A and B.

// A regression explained as a waterfall: from the base's total term by term to the other's, worse ones first.

class Waterfall {
 public:
  void draw(const PanelContext& context, const Rect& area, const CompareQuestion& question);
  [[nodiscard]] bool pending() const { return retained_.task.valid(); }

 private:
  void draw_part(const PanelContext& context, const Rect& area, const CompareQuestion& question,
                 const content::ExplainedPart& part);

  RetainedAnswer<content::Explained, CompareQuestion> retained_;
  int by_ = 0;
  int chosen_ = -1;  // of the terms
};

// Both trees of layers, stacks or lines laid over each other: as wide as their time in A or B, red where B takes more,
// blue where it takes less, with a sign before the name, so that the hue says nothing alone.

class FlameDifference {
 public:
  void draw(const PanelContext& context, const Rect& area, CompareQuestion question);
  [[nodiscard]] bool pending() const { return retained_.task.valid(); }

 private:
  void draw_head(Ui& ui, Rect head);
  void draw_graph(const PanelContext& context, const Rect& area, const CompareQuestion& question);
  void hover(Ui& ui, const FlameGraph::Response& response) const;

  RetainedAnswer<content::TreeDifference, CompareQuestion> retained_;
  std::shared_ptr<const content::TreeDifference> shown_;
  std::string kind_;  // PathKind::name; "": the first that both have
  int widths_of_ = 1;
  content::NodeName zoomed_;
  std::optional<std::uint32_t> selected_;
  std::unique_ptr<ShortNames> names_;
  FlameGraph graph_;
};

class ComparePanel final : public Panel {
 public:
  void draw(const PanelContext& context, const Rect& area) override;
  [[nodiscard]] std::optional<bool> has_content(const PanelContext& context) const override;
  [[nodiscard]] bool pending() const override {
    return retained_.task.valid() || results_retained_.task.valid() || waterfall_.pending() || flame_.pending();
  }

 private:
  // Fills in what is set against what, where there is something; takes its rows off the area.
  void draw_head(const PanelContext& context, Rect& area, CompareQuestion& question);
  void draw_pages(const PanelContext& context, Rect& area, Rect& head, float least_sides);
  void draw_add(const PanelContext& context, Rect& head, const std::vector<OpenSession>& others) const;
  // The results, and a click on them: what is left of the area.
  void draw_results(const PanelContext& context, Rect& area, const CompareQuestion& question);
  void draw_verdict(const PanelContext& context, Rect& area) const;

  std::weak_ptr<const Store> chosen_;  // what is set against A, of several
  int kind_ = 0;
  bool swapped_ = false;  // of a tab that is no comparison
  CompareRetained retained_;
  ResultsRetained results_retained_;
  std::shared_ptr<const ComparedSides> shown_;
  AnswerTable rows_;
  Waterfall waterfall_;
  FlameDifference flame_;
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

WaterfallAxis axis_of(const content::ExplainedPart& part, const Rect& bars) {
  double at = static_cast<double>(part.difference.base_ns), low = at, high = at;
  for (const analysis::PathTerm& term : part.difference.terms) {
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

void draw_total(Ui& ui, const Rect& row, bool is_base, const content::Explained& explained, const WaterfallAxis& axis) {
  const std::string& title = is_base ? explained.base_title : explained.other_title;
  const std::int64_t total = is_base ? explained.base_ns : explained.other_ns;
  fill(ui, row, ui.colour(Colour::bg3));
  WaterfallCells cells = cells_of(ui, row);
  const Rect badge = cells.label.cut_left(ui.px(18)).middle(ui.px(16));
  const std::size_t place = is_base ? 0 : 1;
  const Pixel colour = ui.colour(side_colour(place));
  draw_side_letter(ui, badge, place);
  cells.label.cut_left(ui.px(8));
  draw_text(ui, cells.label, title, {.style = TextStyle::small_strong});
  draw_text(ui, cells.why, "total", kLabelText);
  const Rect bar = Rect{axis.bars.x0, row.y0, axis.x(static_cast<double>(total)), row.y1}.middle(ui.px(14));
  fill(ui, bar, colour);
  if (axis.low > 0) {  // it goes on to the left
    for (const float from : {8.0F, 13.0F})
      fill(ui, {bar.x0 + ui.px(from), bar.y0, bar.x0 + ui.px(from + 2), bar.y1}, ui.colour(Colour::bg3));
  }
  draw_text(ui, cells.term, content::exact_time(explained, total),
            {.style = TextStyle::mono_strong, .align = Align::right});
}

constexpr float kCompareHead = 36, kCompareVerdict = 46, kCompareNote = 20;  // units
constexpr float kLeastSides = 420;                                           // for what is set against what

struct ComparePage {
  std::string_view kind, label;
};
constexpr std::array<ComparePage, 10> kComparePages = {{{"metric", "Metrics"},
                                                        {"explain", "Explain"},
                                                        {"kernel", "By kernel"},
                                                        {"opcode", "By opcode"},
                                                        {"layer", "By layer"},
                                                        {"line", "By source line"},
                                                        {"finding", "Findings"},
                                                        {"flame", "Flame graph"},
                                                        {"memory", "Memory"},
                                                        {"memory_stack", "By stack"}}};
constexpr std::size_t kMemoryPages = 2;  // the last ones, of sessions with allocations

bool has_allocations(const Snapshot& snapshot) {
  return std::ranges::any_of(snapshot.lanes,
                             [](const LaneSnapshot& each) { return each.data->kind == EventKind::memory; });
}

}  // namespace

session::SessionAnalysis::Renewal CompareQuestion::renewal(const Store& own) const {
  session::SessionAnalysis::Renewal renewal{.tells_itself = true};
  for (const ComparedSide& side : sides) {
    if (side.store.get() == &own) continue;
    renewal.beside.version += side.store->version();
    renewal.beside.grows = renewal.beside.grows || side.grows;
  }
  return renewal;
}

CompareQuestion question_of(session::SessionTab& comparison, std::string kind,
                            const std::function<bool(const Store&)>& grows) {
  CompareQuestion question{{}, std::move(kind)};
  for (const session::SessionTab* each : session::sessions_of(comparison)) {
    std::string title = session::own_title(*each);
    if (std::ranges::any_of(question.sides, [&](const ComparedSide& side) { return side.title == title; }))
      title += " (" + side_letter(question.sides.size()) + ")";
    question.sides.push_back({each->store, std::move(title), grows(*each->store)});
  }
  if (question.sides.size() < 3) return question;
  // Of many there is room for what tells them apart.
  constexpr std::size_t kMostCharacters = 28;
  std::vector<std::string> titles;
  for (const ComparedSide& side : question.sides) titles.push_back(side.title);
  titles = content::titles_that_differ(titles, kMostCharacters);
  for (std::size_t i = 0; i < titles.size(); ++i) question.sides[i].title = side_letter(i) + " " + titles[i];
  return question;
}

void draw_side_letter(Ui& ui, const Rect& box, std::size_t place) {
  fill(ui, box, ui.colour(side_colour(place)), 3);
  draw_text(ui, box, side_letter(place),
            {.style = TextStyle::small_strong, .colour = Colour::bg1, .align = Align::centre});
}

std::vector<QueryContext> asked_sides(const QueryContext& own, const CompareQuestion& question) {
  std::vector<QueryContext> sides;
  for (const ComparedSide& side : question.sides) {
    if (side.store.get() == &own.store) {
      sides.push_back(own);
    } else {
      sides.push_back({*side.store, side.store->snapshot(), own.pool, own.control});
    }
  }
  return sides;
}

std::shared_ptr<const analysis::Divergence> ask_results(session::SessionTab& own, ResultsRetained& retained,
                                                        CompareQuestion question) {
  question.kind = "results";
  return own.analysis->ask(
      retained, question, question.renewal(*own.store),
      [question](const QueryContext& query) -> FoundAnswer<analysis::Divergence> {
        const std::vector<QueryContext> sides = asked_sides(query, question);
        if (!analysis::has_checksums(*sides[0].snapshot) || !analysis::has_checksums(*sides[1].snapshot))
          return std::make_shared<const analysis::Divergence>();
        auto found = TRY(analysis::find_divergence(sides[0], sides[1]));
        return std::make_shared<const analysis::Divergence>(std::move(found));
      });
}

Colour colour_of_results(const analysis::Divergence& divergence) {
  const content::Judgement judgement = content::results_judgement(divergence);
  return judgement == content::Judgement::unknown ? Colour::warning : colour_of(judgement);
}

std::shared_ptr<const ComparedSides> ask_compared(session::SessionTab& own, CompareRetained& retained,
                                                  const CompareQuestion& question) {
  return own.analysis->ask(retained, question, question.renewal(*own.store),
                           [question](const QueryContext& query) { return compare_sides(query, question); });
}

void select_on_both(session::SessionTab& tab, const CompareQuestion& question, EventId base, EventId other) {
  const auto select = [&](const ComparedSide& side, EventId event) {
    if (event == kNoEvent) return;
    if (side.store == tab.store) return view::select_event(tab, event);
    for (const session::ComparedSession& each : tab.beside)
      if (each.session->store == side.store) each.session->selected = event;
  };
  select(question.sides[0], base);
  select(question.sides[1], other);
}

namespace {

// The events that a row of costs is of, by what they are called in one session; nothing where its kind is of none.
std::optional<EventFilter> events_of_cost(std::string_view kind, const std::vector<std::string>& keys,
                                          const Snapshot& snapshot) {
  if (keys.empty()) return std::nullopt;
  std::optional<std::string> term;
  if (kind == "kernel") term = listing::search_of_texts("name", keys);
  if (kind == "opcode") term = listing::search_of_texts("opcode", keys);
  if (kind == "line") term = listing::search_of_line(keys.front());
  if (kind == "layer") term = listing::search_of_layers_below(snapshot, keys.front());
  if (!term) return std::nullopt;
  return EventFilter{.terms = {{*term, false}}};
}

// Lights the events of a row in each session of the comparison that has them.
void light_on_all(session::SessionTab& tab, const CompareQuestion& question, const analysis::ComparedCost& cost) {
  for (std::size_t i = 0; i < question.sides.size(); ++i) {
    for (session::SessionTab* each : session::sessions_of(tab)) {
      if (question.sides[i].store != each->store) continue;
      each->region = events_of_cost(question.kind, cost.keys[i], *each->snapshot);
    }
  }
}

}  // namespace

void draw_compared_verdict(Ui& ui, Rect& line, const analysis::Comparison& comparison, std::size_t other) {
  const content::ComparisonVerdict verdict = content::comparison_verdict(comparison, other);
  const auto part = [&](const std::string& text, TextStyle style, Colour colour) {
    draw_text(ui, line.cut_left(std::min(line.width(), text_width(ui, style, text) + ui.px(12))), text,
              {.style = style, .colour = colour});
  };
  part(verdict.headline, TextStyle::heading, colour_of(verdict.judgement));
  part(verdict.detail, TextStyle::mono, Colour::text1);
  part(verdict.beside, TextStyle::small, Colour::text2);
  part(verdict.basis, TextStyle::small, Colour::text3);
}

std::string compared_reasons(const analysis::Comparison& comparison, std::size_t other, std::size_t most) {
  std::string reasons;
  for (const content::ComparisonReason& reason : content::comparison_reasons(comparison, other, most))
    reasons += (reasons.empty() ? "" : "   ") + reason.text;
  return reasons;
}

void Waterfall::draw_part(const PanelContext& context, const Rect& area, const CompareQuestion& question,
                          const content::ExplainedPart& part) {
  Ui& ui = context.ui;
  Rect rest = area;
  const content::Explained& explained = *retained_.value;
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < part.difference.terms.size(); ++i) {
    if (part.difference.terms[i].difference_ns() != 0) rows.push_back(i);
  }
  const Rect foot = padded(ui, rest.cut_bottom(ui.px(kWaterfallRow)));
  const WaterfallAxis axis = axis_of(part, cells_of(ui, rest).bars);
  draw_text(ui, foot, content::explained_sum(explained, part.difference), {.style = TextStyle::small_strong});
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
    const analysis::PathTerm& term = part.difference.terms[rows[i]];
    const double next = at + static_cast<double>(term.difference_ns());
    const float top = scroll.content().y0 + row_height * static_cast<float>(i);
    const Rect row{rest.x0, top, rest.x1, top + row_height};
    if (row.y1 > scroll.visible().y0 && row.y0 < scroll.visible().y1) {
      const Interaction touch = interact(ui, fmt::format("compare.term.{}", i), row, {.group = "compare.terms"});
      const bool is_chosen = chosen_ == static_cast<int>(rows[i]);
      if (touch.hovered || is_chosen) fill(ui, row, ui.colour(is_chosen ? Colour::accent_bg : Colour::bg3));
      const WaterfallCells cells = cells_of(ui, row);
      draw_text(ui, cells.label, content::explained_label(term, part.by), {.style = TextStyle::body});
      draw_text(ui, cells.why, content::explained_why(term), kLabelText);
      const Colour colour = next > at ? Colour::error : Colour::ok;
      const float x0 = axis.x(std::min(at, next)), x1 = std::max(axis.x(std::max(at, next)), x0 + 1);
      fill(ui, Rect{x0, row.y0, x1, row.y1}.middle(ui.px(14)), ui.colour(colour));
      fill(ui, {axis.x(next), row.y1 - ui.px(5), axis.x(next) + 1, row.y1 + ui.px(5)}, ui.colour(Colour::text3));
      draw_text(ui, cells.term, content::exact_time(explained, term.difference_ns(), true),
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
  const auto work = [question](const QueryContext& query) -> FoundAnswer<content::Explained> {
    const std::vector<QueryContext> sides = asked_sides(query, question);
    auto found = TRY(content::explain_difference(sides[0], sides[1],
                                                 {std::begin(content::kExplainedBy), std::end(content::kExplainedBy)}));
    found.base_title = question.sides[0].title;
    found.other_title = question.sides[1].title;
    return std::make_shared<const content::Explained>(std::move(found));
  };
  const std::shared_ptr<const content::Explained> shown =
      context.analysis().ask(retained_, question, question.renewal(*context.tab.store), work);
  if (draw_missing(ui, "compare", area, retained_.error, shown != nullptr, "Following both critical paths ...")) return;
  Rect rest = area;
  Rect head = padded(ui, rest.cut_top(ui.px(size::kControl + 6)));
  std::vector<Segment> segments;
  for (const content::ExplainedBy& each : content::kExplainedBy) segments.push_back({.label = each.title});
  if (segmented_right(ui, "compare.explained", head, segments, by_)) chosen_ = -1;
  head.cut_right(ui.px(16));
  const std::string title = content::explained_headline(*shown);
  draw_text(ui, head.cut_left(std::min(head.width(), text_width(ui, TextStyle::heading, title) + ui.px(12))), title,
            {.style = TextStyle::heading});
  draw_text(ui, head, "along both critical paths; the terms add up exactly. A: " + shown->base_bound, kHintText);
  draw_part(context, rest, question, shown->parts[static_cast<std::size_t>(by_)]);
}

constexpr float kFlameHead = 36, kFlameFoot = 22, kSwatch = 10;
constexpr std::uint32_t kRowsWithFoot = 6;  // of boxes: with room for fewer all of it is theirs
// Light enough for ink in both themes; red and blue are told apart under the common kinds of colour blindness.
constexpr std::uint32_t kMoreColour = 0xF0806E, kLessColour = 0x6FB1F7;

void FlameDifference::draw_head(Ui& ui, Rect head) {
  const std::array<Segment, 2> widths = {
      Segment{.label = "Widths of A", .tooltip = "Boxes are as wide as their time in A; what B alone has is not seen"},
      Segment{.label = "Widths of B", .tooltip = "Boxes are as wide as their time in B; what A alone has is not seen"}};
  segmented_right(ui, "compare.flame.widths", head, widths, widths_of_);
  head.cut_right(ui.px(16));
  std::vector<std::string> titles;
  int chosen = 0;
  for (const analysis::PathKind* kind : shown_->kinds) {
    if (kind == shown_->tree.kind) chosen = static_cast<int>(titles.size());
    titles.emplace_back(kind->title);
  }
  const DropdownOptions by{.label = "Tree by "};
  const float width = dropdown_width(ui, titles[static_cast<std::size_t>(chosen)], by);
  if (dropdown(ui, "compare.flame.kind", head.cut_left(width).middle(ui.px(size::kControl)), titles, chosen, by))
    kind_ = shown_->kinds[static_cast<std::size_t>(chosen)]->name;
  head.cut_left(ui.px(16));
  const auto sign = [&](Pixel colour, std::string_view text) {
    const float needed = text_width(ui, TextStyle::small, text) + ui.px(kSwatch + 20);
    if (head.width() < needed) return;
    fill(ui, head.cut_left(ui.px(kSwatch)).middle(ui.px(kSwatch)), colour, 2);
    head.cut_left(ui.px(6));
    draw_text(ui, head.cut_left(needed - ui.px(kSwatch + 6)), text, kLabelText);
  };
  sign(opaque(kMoreColour), "+ B takes more");
  sign(opaque(kLessColour), "\u2212 B takes less");
  sign(opaque(kNoValueColour), "within 2 %");
  if (const std::string_view alone = "+B, \u2212A: one has it alone";
      head.width() >= text_width(ui, TextStyle::small, alone))
    draw_text(ui, head, alone, kHintText);
}

void FlameDifference::hover(Ui& ui, const FlameGraph::Response& response) const {
  const std::uint32_t at = *response.hovered;
  const content::NodeDifference& node = shown_->nodes[at];
  HoverCard card{.title = at == 0 ? "all" : names_->usual(shown_->tree.text(at)),
                 .title_value = content::difference_text(node, shown_->change(at)),
                 .whole = at == 0 ? "" : shown_->tree.path(at)};
  const auto time = [](bool is_there, std::int64_t ns) { return is_there ? format_duration(ns) : std::string("–"); };
  card.rows = {{"A, busy", time(node.in_base, node.base_ns)},
               {"B, busy", time(node.in_other, node.other_ns)},
               {"B less A", content::signed_figure(static_cast<double>(node.difference_ns()), "ns")},
               {"Events of A", format_count(node.base_events)},
               {"Events of B", format_count(node.other_events)}};
  if (node.match == analysis::MatchKind::by_form) card.rows.push_back({"Matched", "without numbers"});
  hover_card(ui, card, response.hovered_box);
}

void FlameDifference::draw_graph(const PanelContext& context, const Rect& area, const CompareQuestion& question) {
  Ui& ui = context.ui;
  const content::TreeDifference& found = *shown_;
  const auto zoomed = static_cast<std::uint32_t>(content::nearest_node(found.tree, zoomed_));
  const FlameGraph::Response response = graph_.draw(
      ui, "compare.flame", area,
      {.tree = found.tree,
       .layout = widths_of_ == 0 ? *found.by_base : *found.by_other,
       .zoomed = zoomed,
       .selected = selected_,
       .selected_before = {},
       .names = *names_,
       .whole = "all",
       .colour =
           [&](std::uint32_t node) {
             const double strength = found.strength(node);
             const Pixel same = opaque(kNoValueColour);
             if (strength == 0) return same;
             const bool more = found.change(node) == content::NodeChange::more;
             return mix(same, opaque(more ? kMoreColour : kLessColour),
                        0.3F + 0.7F * static_cast<float>(std::sqrt(strength)));
           },
       .value =
           [&](std::uint32_t node) {
             const std::string time =
                 format_duration(widths_of_ == 0 ? found.nodes[node].base_ns : found.nodes[node].other_ns);
             const content::NodeChange change = found.change(node);
             return change == content::NodeChange::same
                        ? time
                        : time + "  " + content::difference_text(found.nodes[node], change);
           },
       .sign = [&](std::uint32_t node) -> std::string_view {
         if (!found.nodes[node].in_base) return "+B ";
         if (!found.nodes[node].in_other) return "\u2212A ";
         const content::NodeChange change = found.change(node);
         return change == content::NodeChange::same ? "" : change == content::NodeChange::more ? "+ " : "\u2212 ";
       }});
  if (response.zoom_to) zoomed_ = content::name_of_node(found.tree, *response.zoom_to);
  if (response.clicked && *response.clicked != 0) {
    selected_ = response.clicked;
    const content::NodeDifference& node = found.nodes[*response.clicked];
    select_on_both(context.tab, question, node.base_longest, node.other_longest);
  }
  if (response.explains) hover(ui, response);
  if (response.zoom_to || response.clicked) ui.request_frame();
}

void FlameDifference::draw(const PanelContext& context, const Rect& area, CompareQuestion question) {
  Ui& ui = context.ui;
  question.kind = "flame " + kind_;
  const auto found = context.analysis().ask(
      retained_, question, question.renewal(*context.tab.store),
      [question, kind = kind_](const QueryContext& query) -> FoundAnswer<content::TreeDifference> {
        const std::vector<QueryContext> sides = asked_sides(query, question);
        return content::tree_difference(sides[0], sides[1], kind);
      });
  if (draw_missing(ui, "compare", area, retained_.error, found != nullptr, "Laying both trees over each other ..."))
    return;
  if (shown_ != found) {
    if (!shown_ || shown_->tree.kind != found->tree.kind) zoomed_.clear();
    shown_ = found;
    selected_.reset();
    names_ = std::make_unique<ShortNames>();
  }
  Rect rest = area;
  draw_head(ui, padded(ui, rest.cut_top(ui.px(kFlameHead))));
  const Rect foot = padded(ui, rest.cut_bottom(ui.px(kFlameFoot)));
  draw_text(
      ui, foot,
      fmt::format("{} boxes in both, A alone has {}, B alone {}. A click selects the longest event of each; a "
                  "double click zooms, Backspace goes up",
                  format_count(found->matched), format_count(found->base_alone), format_count(found->other_alone)),
      kHintText);
  draw_graph(context, rest.inset(ui.px(8), 0), question);
}

// In a row of their own where both do not fit beside each other.
void ComparePanel::draw_pages(const PanelContext& context, Rect& area, Rect& head, float least_sides) {
  Ui& ui = context.ui;
  std::vector<Segment> pages;
  for (const ComparePage& page : kComparePages) pages.push_back({.label = page.label});
  if (!has_allocations(*context.tab.snapshot)) {
    pages.resize(pages.size() - kMemoryPages);
    kind_ = std::min(kind_, static_cast<int>(pages.size()) - 1);
  }
  const float wide = segmented_width(ui, pages);
  Rect pages_row = head;
  if (head.width() < wide + least_sides) {
    pages_row = padded(ui, area.cut_top(ui.px(kCompareHead)));
  } else {
    head.cut_right(wide + ui.px(16));
  }
  segmented(ui, "compare.page", pages_row.cut_right(std::min(wide, pages_row.width())).middle(ui.px(size::kControl)),
            pages, kind_);
}

// Another session below those of the comparison: one that is open, or a file.
void ComparePanel::draw_add(const PanelContext& context, Rect& head, const std::vector<OpenSession>& others) const {
  Ui& ui = context.ui;
  const ButtonOptions options{.label = "Add", .icon = icon::kPlus, .tooltip = "Another session, set against A too"};
  const Rect place = head.cut_right(button_width(ui, options)).middle(ui.px(size::kControl));
  head.cut_right(ui.px(16));
  if (button(ui, "compare.add", place, options)) open_menu_below(ui, "compare.add.menu", place);
  std::vector<MenuItem> items;
  for (std::size_t i = 0; i < others.size(); ++i) items.push_back({.id = std::to_string(i), .label = others[i].title});
  items.push_back({.id = "file", .label = "Open a file..."});
  const auto picked = popup_menu(ui, "compare.add.menu", items);
  if (!picked) return;
  if (*picked == "file") return context.actions.run("compare_file");
  context.actions.open_comparison(others[static_cast<std::size_t>(std::stoul(*picked))].store);
}

void ComparePanel::draw_head(const PanelContext& context, Rect& area, CompareQuestion& question) {
  Ui& ui = context.ui;
  Rect head = padded(ui, area.cut_top(ui.px(kCompareHead)));
  session::SessionTab& tab = context.tab;
  const bool is_comparison = !tab.beside.empty();
  const std::vector<OpenSession> others = context.actions.other_sessions();
  if (others.empty() && !is_comparison) return;
  question = question_of(tab, "", context.actions.grows);
  float least = ui.px(kLeastSides);
  if (question.sides.size() > 2) {
    least = ui.px(kLeastSides) / 2;
    for (const ComparedSide& side : question.sides) least += text_width(ui, TextStyle::body, side.title) + ui.px(24);
  }
  draw_pages(context, area, head, least);
  bool side_by_side = false;
  if (is_comparison) {
    draw_add(context, head, others);
  } else {
    const ButtonOptions options{.label = "Side by side",
                                .tooltip = "Both timelines below each other, in a tab of their own"};
    const Rect place = head.cut_right(button_width(ui, options)).middle(ui.px(size::kControl));
    head.cut_right(ui.px(16));
    side_by_side = button(ui, "compare.side_by_side", place, options);
  }
  std::vector<ComparedSide> choices;
  if (is_comparison) {
    choices.assign(question.sides.begin() + 1, question.sides.end());
  } else {
    for (const OpenSession& each : others) choices.push_back({each.store, each.title, each.grows});
  }
  const std::shared_ptr<const Store> known = chosen_.lock();
  const auto found = std::ranges::find_if(choices, [&](const ComparedSide& each) { return each.store == known; });
  int number = found == choices.end() ? 0 : static_cast<int>(found - choices.begin());
  const auto chosen = [&] { return static_cast<std::size_t>(number); };
  const auto other_is_base = [&] { return !is_comparison && others[chosen()].is_earlier != swapped_; };
  std::vector<Segment> names;
  for (const ComparedSide& each : choices) names.push_back({.label = each.title});
  // The button that turns A and B round stands behind both.
  const ButtonOptions swaps{.label = "Swap", .tooltip = "A becomes B: what the other is set against"};
  head.cut_right(button_width(ui, swaps) + ui.px(8));
  const std::string label = question.sides.size() > 2
                                ? question.sides[0].title + " against"
                                : fmt::format("{} {} against {}", other_is_base() ? "B" : "A", question.sides[0].title,
                                              other_is_base() ? "A" : "B");
  draw_text(ui, head.cut_left(std::min(head.width(), text_width(ui, TextStyle::heading, label) + ui.px(8))), label,
            {.style = TextStyle::heading});
  const float width = std::min(head.width(), segmented_width(ui, names));
  segmented(ui, "compare.other", head.cut_left(width).middle(ui.px(size::kControl)), names, number);
  const float x = head.x0 + ui.px(8);
  const Rect place = Rect{x, head.y0, x + button_width(ui, swaps), head.y1}.middle(ui.px(size::kControl));
  const bool swap = button(ui, "compare.swap", place, swaps);
  chosen_ = choices[chosen()].store;
  if (swap) {
    ui.request_frame();
    if (is_comparison) {
      chosen_ = question.sides[0].store;
      session::exchange_base(tab, chosen() + 1);
      question = question_of(tab, "", context.actions.grows);
    } else {
      swapped_ = !swapped_;
    }
  }
  if (is_comparison) return;
  if (side_by_side) context.actions.open_comparison(choices[chosen()].store);
  question.sides.push_back(choices[chosen()]);
  if (other_is_base()) std::swap(question.sides[0], question.sides[1]);
  if (question.sides[0].title == question.sides[1].title) question.sides[1].title += " (B)";
}

// Those of a comparison of many stand above their timelines.
void ComparePanel::draw_verdict(const PanelContext& context, Rect& area) const {
  Ui& ui = context.ui;
  if (shown_->comparison.configurations.size() > 2) return;
  Rect rest = padded(ui, area.cut_top(ui.px(kCompareVerdict)));
  Rect line = rest.cut_top(rest.height() / 2);
  draw_compared_verdict(ui, line, shown_->comparison, 1);
  draw_text(ui, rest, compared_reasons(shown_->comparison, 1, 4), {.style = TextStyle::body, .colour = Colour::text2});
}

void ComparePanel::draw_results(const PanelContext& context, Rect& area, const CompareQuestion& question) {
  Ui& ui = context.ui;
  const std::shared_ptr<const analysis::Divergence> found = ask_results(context.tab, results_retained_, question);
  if (!found || found->with_checksums == 0 || found->other_with_checksums == 0) return;
  const analysis::DivergentPair* first = found->first();
  const bool has_details = first != nullptr && context.tab.beside.size() < 2;
  const Rect whole = area.cut_top(ui.px(has_details ? 2 * kCompareNote : kCompareNote));
  Rect rest = padded(ui, whole);
  if (first != nullptr) {
    const Interaction touch = interact(ui, "compare.results", whole);
    if (touch.hovered) fill(ui, whole, ui.colour(Colour::bg3));
    tooltip(ui, touch, whole, "A click selects it: operands, line and what it waited for stand in Details");
    if (touch.clicked) select_on_both(context.tab, question, first->base.id, first->other);
  }
  draw_text(ui, rest.cut_top(ui.px(kCompareNote)), content::results_text(*found),
            {.style = TextStyle::small_strong, .colour = colour_of_results(*found)});
  if (has_details) {
    const std::string of = found->is_one_program() ? "" : "The first pair that differs: ";
    draw_text(ui, rest, of + content::divergent_details(*first), kLabelText);
  }
}

std::optional<bool> ComparePanel::has_content(const PanelContext& context) const {
  return !context.tab.beside.empty() || !context.actions.other_sessions().empty();
}

void ComparePanel::draw(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  Rect rest = area;
  CompareQuestion question;
  draw_head(context, rest, question);
  if (question.sides.size() < 2)
    return empty_sentence(ui, "compare.alone", area, icon::kBalance,
                          "Open another session in a tab of its own, and it is set beside this one here.");
  const std::shared_ptr<const Store> chosen = chosen_.lock();
  std::size_t other = question.sides.size() - 1;
  while (other > 1 && question.sides[other].store != chosen) --other;
  question.kind = kComparePages[static_cast<std::size_t>(kind_)].kind;
  const CompareQuestion pair = question.pair(other);
  if (question.kind == "flame") return flame_.draw(context, rest, pair);
  draw_results(context, rest, pair);
  if (question.kind == "explain") return waterfall_.draw(context, rest, pair);
  shown_ = ask_compared(context.tab, retained_, question);
  if (draw_missing(ui, "compare", rest, retained_.error, shown_ != nullptr, "Comparing ...")) return;
  draw_verdict(context, rest);
  const listing::Listing& listing = shown_->listing;
  draw_note(ui, rest, listing.note);
  if (listing.rows.row_count() == 0) return;
  const AnswerTable::Response response =
      rows_.draw(context, "compare.rows", rest, std::shared_ptr<const listing::Listing>(shown_, &shown_->listing));
  const std::vector<analysis::ComparedCosts>& costs = shown_->comparison.costs;
  if (response.clicked && !costs.empty()) light_on_all(context.tab, question, costs.front().rows[*response.clicked]);
}

std::unique_ptr<Panel> make_compare_panel(const PanelParts&) { return std::make_unique<ComparePanel>(); }

}  // namespace accelscope::app::panels
