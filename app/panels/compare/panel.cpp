#include "app/panels/compare/panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "app/content/comparison/comparison_words.h"
#include "app/content/comparison/divergence_output.h"
#include "core/base/format.h"
#include "render/base/draw.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/interact.h"
#include "render/widgets/layout.h"
#include "render/widgets/popup.h"
#include "render/widgets/states.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

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
  return std::any_of(snapshot.lanes.begin(), snapshot.lanes.end(),
                     [](const LaneSnapshot& each) { return each.data->kind == EventKind::memory; });
}

}  // namespace

void ComparePanel::draw_head(const PanelContext& context, Rect& area, CompareQuestion& question) {
  Ui& ui = context.ui;
  const auto next_row = [&] { return area.cut_top(ui.px(kCompareHead)).inset(ui.px(size::kPanelPadding), 0); };
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
  const auto found =
      std::find_if(others.begin(), others.end(), [&](const OpenSession& each) { return each.store == known; });
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
  const std::shared_ptr<const Divergence> found = ask_results(context.analysis(), results_kept_, question);
  if (!found || found->with_checksums == 0 || found->other_with_checksums == 0) return;
  const DivergentPair* first = found->first();
  const Rect whole = area.cut_top(ui.px(first == nullptr ? kCompareNote : 2 * kCompareNote));
  Rect rest = whole.inset(ui.px(size::kPanelPadding), 0);
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
    draw_text(ui, rest, of + divergent_details(*first), {.style = TextStyle::small, .colour = Colour::text2});
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
  if (!question.other) {
    empty_state(ui, "compare.alone", area, icon::kBalance,
                "Open another session in a tab of its own, and it is set beside this one here.");
    return;
  }
  question.base_title = own_title(context.tab);
  if (question.other_is_base) std::swap(question.base_title, question.other_title);
  if (question.other_title == question.base_title) question.other_title += " (B)";
  question.kind = kComparePages[static_cast<std::size_t>(kind_)].kind;
  draw_results(context, rest, question);
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
