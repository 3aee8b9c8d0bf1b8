// Two sessions on one axis: the verdict and how they are laid beside each other in a line, then the timeline of each.
// What is zoomed or panned in one is in the other too; panels tell of the one that the user touched last.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "app/content/comparison/comparison_words.h"
#include "app/frame/app_state.h"
#include "app/frame/comparison_turns.h"
#include "app/session/analysis.h"
#include "core/base/format.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/layout.h"
#include "render/widgets/popup.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kSideHead = 24, kRoomForTurns = 280;  // units

LaidBeside laid(const SessionTab& tab) {
  if (const auto wanted = laid_beside(tab, *tab.beside, tab.alignment)) return *wanted;
  return *laid_beside(tab, *tab.beside, Alignment::first_activity);
}

ViewRange mapped(const LaidBeside& laid, const ViewRange& view) {
  return {laid.to_other(view.begin_ns), laid.to_other(view.end_ns)};
}

ViewRange mapped_back(const LaidBeside& laid, const ViewRange& view) {
  return {laid.to_base(view.begin_ns), laid.to_base(view.end_ns)};
}

std::string_view why_not(const SessionTab& tab, Alignment alignment) {
  if (alignment == Alignment::marker) return "No marker has the same name in both: name one in each (M, then F2)";
  if (!tab.turns_error.empty()) return tab.turns_error;
  return tab.turns ? "Nothing that repeats in one repeats in the other" : "Looking for what repeats in both ...";
}

void draw_alignments(Ui& ui, SessionTab& tab, Rect& row) {
  std::vector<Segment> segments;
  for (std::size_t i = 0; i < kAlignments.size(); ++i) {
    const bool possible = laid_beside(tab, *tab.beside, static_cast<Alignment>(i)).has_value();
    segments.push_back({.label = kAlignments[i].label,
                        .disabled = !possible,
                        .tooltip = possible ? kAlignments[i].explanation : why_not(tab, static_cast<Alignment>(i))});
  }
  int chosen = static_cast<int>(tab.alignment);
  const float width = std::min(row.width(), segmented_width(ui, segments));
  if (segmented(ui, "comparison.align", row.cut_right(width).middle(ui.px(size::kSmallControl)), segments, chosen))
    tab.alignment = static_cast<Alignment>(chosen);
  row.cut_right(ui.px(8));
  const float label = text_width(ui, TextStyle::small, "Align");
  if (row.width() > label)
    draw_text(ui, row.cut_right(label), "Align", {.style = TextStyle::small, .colour = Colour::text3});
  row.cut_right(ui.px(16));
}

// "A", which session it is, and what it did.
void draw_side_head(Ui& ui, const Rect& strip, const char* letter, const SessionTab& side, bool held) {
  fill(ui, strip, ui.colour(held ? Colour::bg3 : Colour::bg2));
  horizontal_line(ui, strip.x0, strip.x1, strip.y0, ui.colour(Colour::line2));
  Rect row = strip.inset(ui.px(size::kPanelPadding), 0);
  const Rect badge = row.cut_left(ui.px(20)).middle(ui.px(16));
  const bool is_base = *letter == 'A';
  fill(ui, badge, ui.colour(is_base ? Colour::text3 : Colour::accent), 3);
  draw_text(ui, badge, letter, {.style = TextStyle::small_strong, .colour = Colour::bg1, .align = Align::centre});
  row.cut_left(ui.px(8));
  const std::string figures = events_text(side) + "   " + active_text(side);
  draw_text(ui, row.cut_right(std::min(row.width() / 2, text_width(ui, TextStyle::mono_small, figures) + 1)), figures,
            {.style = TextStyle::mono_small, .colour = Colour::text2, .align = Align::right});
  const std::string title = own_title(side);
  draw_text(ui, row.cut_left(std::min(row.width(), text_width(ui, TextStyle::heading, title) + ui.px(10))), title,
            {.style = TextStyle::heading});
  draw_text(ui, row, side.device, {.style = TextStyle::small, .colour = Colour::text3});
  ui.register_widget(is_base ? "comparison.base" : "comparison.other", strip);
}

// The pointer is over one of them: the other marks the same place.
void share_cursor(SessionTab& tab, const LaidBeside& laid) {
  SessionTab& below = *tab.beside;
  if (tab.cursor_ns && !below.cursor_ns)
    below.cursor_ns = std::llround(laid.to_other(static_cast<double>(*tab.cursor_ns)));
}

// Of the pointer below: known before the timeline above is drawn, because both have one width.
void cursor_from_below(const Ui& ui, SessionTab& tab, const Rect& below) {
  const Point mouse = ui.input().mouse;
  const float canvas = below.x0 + ui.px(size::kLabelColumn);
  if (!below.contains(mouse) || mouse.x < canvas || tab.view_pixels <= 0) return;
  const double share = static_cast<double>(mouse.x - canvas) / tab.view_pixels;
  tab.cursor_ns = std::llround(tab.view.begin_ns + share * tab.view.span_ns());
}

// Whoever opened this alone, or with many others.
std::optional<std::size_t> index_of(const Workspace& workspace, const std::shared_ptr<const Store>& store) {
  for (std::size_t i = 0; i < workspace.tab_count(); ++i) {
    if (workspace.tab(i).store == store) return i;
  }
  return std::nullopt;
}

}  // namespace

void draw_comparison_head(AppState& state, Ui& ui, Rect& area) {
  SessionTab& tab = *state.tab();
  const Rect strip = area.cut_top(ui.px(size::kPanelTabs));
  fill(ui, strip, ui.colour(Colour::bg2));
  horizontal_line(ui, strip.x0, strip.x1, strip.y1 - 1, ui.colour(Colour::line2));
  Rect row = strip.inset(ui.px(size::kPanelPadding), 0);
  draw_icon(ui, row.cut_left(ui.px(16)), icon::kBalance, ui.colour(Colour::accent), TextStyle::icon14);
  row.cut_left(ui.px(8));
  draw_alignments(ui, tab, row);
  TabPanels& panels = state.panels_of(tab);
  const bool grows = state.workspace.grows(*tab.beside->store);
  CompareQuestion question{tab.beside->store, grows, tab.beside_is_base, own_title(tab), tab.beside->title, "metric"};
  if (tab.beside_is_base) std::swap(question.base_title, question.other_title);
  const auto results = ask_results(*tab.analysis, panels.results, question);
  if (results && results->with_checksums > 0 && results->other_with_checksums > 0) {
    const std::string text(results_headline(*results));
    draw_text(ui, row.cut_left(std::min(row.width(), text_width(ui, TextStyle::heading, text) + ui.px(16))), text,
              {.style = TextStyle::heading, .colour = colour_of_results(*results)});
  }
  const auto compared = ask_compared(*tab.analysis, panels.compared, question);
  if (compared) {
    draw_compared_verdict(ui, row, compared->comparison);
    draw_text(ui, row, compared_reasons(compared->comparison, 2), {.style = TextStyle::small, .colour = Colour::text2});
    return;
  }
  const std::string& problem = panels.compared.error;
  draw_text(ui, row, problem.empty() ? "Comparing ..." : problem, {.style = TextStyle::small, .colour = Colour::text3});
}

void draw_comparison(AppState& state, Ui& ui, const Rect& area) {
  SessionTab& tab = *state.tab();
  SessionTab& below = *tab.beside;
  TabPanels& panels = state.panels_of(tab);
  const LaidBeside along = laid(tab);
  // A command, or a panel, may have moved the one below.
  if (below.view != panels.below && panels.below != ViewRange{}) {
    tab.show(mapped_back(along, below.view));
  }
  below.choices.search = tab.choices.search;
  below.choices.colour_by = tab.choices.colour_by;

  Rect rest = area;
  Rect upper = rest.cut_top(std::round(area.height() * 0.53F));  // it has the overview too
  const bool held_below = tab.beside_in_hand;
  tab.turns = ask_shared_turns(*tab.analysis, panels.turns, below, state.workspace.grows(*below.store));
  tab.turns_error = panels.turns.error;
  draw_side_head(ui, upper.cut_top(ui.px(kSideHead)), tab.beside_is_base ? "B" : "A", tab, !held_below);
  const bool has_turns = area.height() >= ui.px(kRoomForTurns), linked = has_turns && has_links(tab);
  const Rect links = linked ? upper.cut_bottom(ui.px(kTurnLinks)) : Rect{};
  const Rect upper_turns = has_turns ? upper.cut_bottom(ui.px(kTurnStrip)) : Rect{};
  const Rect lower_head = rest.cut_top(ui.px(kSideHead));
  const Rect lower_turns = has_turns ? rest.cut_top(ui.px(kTurnStrip)) : Rect{};
  if (ui.input().down(MouseButton::left) && area.contains(ui.input().mouse) && !any_popup_open())
    tab.beside_in_hand = !upper.contains(ui.input().mouse);
  cursor_from_below(ui, tab, rest);
  state.timeline.draw(ui, tab, upper);
  if (has_turns) draw_turns(ui, upper_turns, tab, tab, {TimelinePanel::rows_top(tab), upper.y1});
  below.view = mapped(along, tab.view);
  below.follow = false;
  const ViewRange as_above = below.view;
  share_cursor(tab, along);
  draw_side_head(ui, lower_head, tab.beside_is_base ? "A" : "B", below, held_below);
  state.timeline_below.draw(ui, below, rest);
  if (has_turns) draw_turns(ui, lower_turns, tab, below, {TimelinePanel::rows_top(below), rest.y1});
  if (linked) draw_turn_links(ui, links, tab);
  if (below.view != as_above) {
    tab.follow = false;
    tab.view = mapped_back(along, below.view);
    panels.moved_below = true;
    ui.request_frame();  // the one above follows
  }
  if (panels.moved_below && !TimelinePanel::in_motion(below)) {
    tab.remember_view();
    panels.moved_below = false;
  }
  panels.below = below.view;
}

// With the one other session that is open; of several the panel asks which, and without any a file is asked for.
void compare_with_other(AppState& state) {
  const std::vector<OpenSession> others = state.actions.other_sessions();
  if (others.size() == 1) return state.actions.open_comparison(others.front().store);
  if (others.size() > 1) {
    state.layout.show("compare");
    return state.say("Choose the other session in the panel, then Side by side");
  }
  const std::shared_ptr<const Store> base = state.tab()->store;
  state.file_dialog.show(FileDialog::Purpose::open, state.start_folder(), dialog_places(state.workspace),
                         [&state, base](const std::string& path) {
                           state.compare_base = base;
                           state.workspace.open(path);
                         });
}

void compare_with_opened(AppState& state) {
  if (!state.options.beside.empty() && state.tab() != nullptr && !state.workspace.opening()) {
    state.compare_base = state.tab()->store;
    state.workspace.open(std::exchange(state.options.beside, {}));
  }
  const std::shared_ptr<const Store> base = state.compare_base.lock();
  if (!base || state.workspace.opening()) return;
  state.compare_base.reset();
  const auto index = index_of(state.workspace, base);
  if (index && state.tab() != nullptr && state.tab()->store != base)
    state.workspace.open_comparison(*index, *state.workspace.active_index());
}

}  // namespace accelscope::app
