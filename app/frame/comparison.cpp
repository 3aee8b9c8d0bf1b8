#include <fmt/format.h>
#include <imgui.h>

#include <cmath>

#include "app/content/comparison/comparison_words.h"
#include "app/frame/app_state.h"
#include "app/session/analysis.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kLeastLink = 24;      // units between two links; of more turns some have none
constexpr double kSameWithin = 0.02;  // ratios so near to 1 are neither better nor worse

// What a timeline's lanes take up of the window.
struct LaneHeight {
  float top = 0, bottom = 0;
};

// The part of a strip below the timeline's time axis, and where a time lies in it.
class TimeStrip {
 public:
  TimeStrip(const Ui& ui, const Rect& strip, const SessionTab& side) : area_(strip), view_(side.view) {
    label_ = area_.cut_left(std::min(area_.width(), ui.px(size::kLabelColumn)));
    width_ = side.view_pixels > 0 ? static_cast<float>(side.view_pixels) : area_.width();
    area_.x1 = std::min(area_.x1, area_.x0 + width_);
  }
  [[nodiscard]] const Rect& label() const noexcept { return label_; }
  [[nodiscard]] const Rect& area() const noexcept { return area_; }
  [[nodiscard]] float x_of(std::int64_t ns) const noexcept {
    const double share = (static_cast<double>(ns) - view_.begin_ns) / view_.span_ns();
    return area_.x0 + static_cast<float>(std::clamp(share, -2.0, 3.0)) * width_;
  }
  [[nodiscard]] bool shows(float x) const noexcept { return x >= area_.x0 && x < area_.x1; }

 private:
  Rect area_, label_;
  ViewRange view_;
  float width_ = 0;
};

void draw_label(Ui& ui, Rect label, std::string_view text) {
  label = padded(ui, label);
  draw_text(ui, label, text, kHintText);
}

const std::vector<TimeRange>& turns_of(const SessionTab& comparison, const SessionTab& side) {
  return &comparison == &side ? comparison.turns->base : comparison.turns->other;
}

// `flag` is what lies over the strip: no text goes under it.
void draw_turn(Ui& ui, const TimeStrip& strip, SessionTab& comparison, bool is_base, std::size_t index,
               const TimeRange& turn, const Rect& flag) {
  Rect box = strip.area().inset(0, ui.px(1));
  box.x0 = std::max(strip.area().x0, strip.x_of(turn.begin_ns) + 1);
  box.x1 = std::min(strip.area().x1, strip.x_of(turn.end_ns) - 1);
  if (box.width() < 1) return;
  const bool aligned = comparison.alignment == Alignment::iteration && comparison.aligned_turn == index;
  fill(ui, box, ui.colour(aligned ? Colour::accent_bg : Colour::bg3), 2);
  Rect text = box.inset(ui.px(5), 0);
  if (text.x0 < flag.x1 && text.x1 > flag.x0) text.x1 = std::max(text.x0, flag.x0 - ui.px(5));
  const std::string number = fmt::format("turn {}", index + 1), length = format_duration(turn.length_ns());
  const float length_width = text_width(ui, TextStyle::mono_small, length);
  const float number_width = text_width(ui, TextStyle::small, number);
  if (text.width() >= length_width + number_width + ui.px(8)) {
    draw_text(ui, text.cut_right(length_width + 1), length, {.style = TextStyle::mono_small, .colour = Colour::text2});
  }
  if (text.width() >= number_width) draw_text(ui, text, number, kLabelText);
  if (box.width() < ui.px(8)) return;  // nothing to aim at
  const Interaction response = interact(ui, fmt::format("comparison.{}.turn.{}", is_base ? "base" : "other", index + 1),
                                        box, {.no_focus = true});
  tooltip(ui, response, box,
          fmt::format("{}, {}. A click lays both so that it begins at the same place", number, length));
  if (!response.clicked) return;
  comparison.alignment = Alignment::iteration;
  comparison.aligned_turn = index;
  ui.request_frame();
}

// "end 295.1 µs (−98.1 µs)", since the first activity.
std::string end_text(const SessionTab& comparison, const SessionTab& side) {
  const std::int64_t length = side.active->length_ns();
  std::string text = "end " + format_duration(length);
  const SessionTab& base = comparison.beside_is_base ? *comparison.beside : comparison;
  if (&side == &base || !base.active) return text;
  const std::int64_t more = length - base.active->length_ns();
  if (more == 0) return text + ", the same";
  return text + fmt::format(" ({}{})", more < 0 ? "\u2212" : "+", format_duration(std::abs(static_cast<double>(more))));
}

// Where the work of a side ends, while that is in view; empty elsewhere.
struct EndFlag {
  std::string text;
  float x = 0;
  Rect box;
};

EndFlag end_flag(Ui& ui, const TimeStrip& strip, const SessionTab& comparison, const SessionTab& side) {
  if (!side.active) return {};
  EndFlag flag{end_text(comparison, side), strip.x_of(side.active->end_ns), strip.area().inset(0, ui.px(1))};
  if (!strip.shows(flag.x - 1)) return {};
  const float width = text_width(ui, TextStyle::small_strong, flag.text) + ui.px(10);
  flag.box.x0 = flag.x + width <= strip.area().x1 ? flag.x : std::max(strip.area().x0, flag.x - width);
  flag.box.x1 = std::min(strip.area().x1, flag.box.x0 + width);
  return flag;
}

void draw_end(Ui& ui, const TimeStrip& strip, bool is_base, const EndFlag& flag, const LaneHeight& lanes) {
  if (flag.text.empty()) return;
  const Pixel colour = ui.colour(is_base ? Colour::text3 : Colour::accent);
  vertical_line(ui, flag.x, strip.area().y0, strip.area().y1, colour);
  if (lanes.top > 0 && lanes.top < lanes.bottom) vertical_line(ui, flag.x, lanes.top, lanes.bottom, colour);
  fill(ui, flag.box, colour, 2);
  draw_text(ui, flag.box, flag.text, {.style = TextStyle::small_strong, .colour = Colour::bg1, .align = Align::centre});
  ui.register_widget(is_base ? "comparison.base.end" : "comparison.other.end", flag.box);
}

constexpr float kSideHead = 24, kRoomForTurns = 280, kTurnStrip = 18, kTurnLinks = 24;  // units

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
  if (row.width() > label) draw_text(ui, row.cut_right(label), "Align", kHintText);
  row.cut_right(ui.px(16));
}

// "A", which session it is, and what it did.
void draw_side_head(Ui& ui, const Rect& strip, const char* letter, const SessionTab& side, bool held) {
  fill(ui, strip, ui.colour(held ? Colour::bg3 : Colour::bg2));
  horizontal_line(ui, strip.x0, strip.x1, strip.y0, ui.colour(Colour::line2));
  Rect row = padded(ui, strip);
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
  draw_text(ui, row, side.device, kHintText);
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

// Empty where they have no loop in common; null while that is not known, and where looking for one failed, which then
// is the error of `retained`.
std::shared_ptr<const SharedTurns> ask_shared_turns(SessionAnalysis& base, TurnsRetained& retained,
                                                    const SessionTab& other, bool grows) {
  return base.ask(retained, {}, {.beside = {other.snapshot->version, grows}, .tells_itself = true},
                  [store = std::shared_ptr<const Store>(other.store),
                   there = other.snapshot](const QueryContext& query) -> SessionAnalysis::Found<SharedTurns> {
                    return find_shared_turns(query, {*store, there, query.pool, query.control});
                  });
}

bool has_links(const SessionTab& comparison) {
  return comparison.turns && !comparison.turns->base.empty() && !comparison.turns->other.empty();
}

// The turns of `side`, which is the comparison or the session below it, in the time that it shows; a click on one lays
// both so that it begins at the same place. A line through the lanes stands at the end of its work.
void draw_turns(Ui& ui, const Rect& area, SessionTab& comparison, const SessionTab& side, const LaneHeight& lanes) {
  fill(ui, area, ui.colour(Colour::bg1));
  const TimeStrip strip(ui, area, side);
  const bool is_base = &comparison == &side;
  draw_label(ui, strip.label(),
             !comparison.turns_error.empty() ? comparison.turns_error
             : !comparison.turns             ? "looking for a loop ..."
             : has_links(comparison)         ? "turns of the loop"
                                             : "no loop in common");
  const EndFlag flag = end_flag(ui, strip, comparison, side);
  if (has_links(comparison)) {
    const std::vector<TimeRange>& turns = turns_of(comparison, side);
    const auto first = std::partition_point(turns.begin(), turns.end(), [&](const TimeRange& turn) {
      return static_cast<double>(turn.end_ns) < side.view.begin_ns;
    });
    float drawn_to = -1;
    for (auto turn = first; turn != turns.end() && static_cast<double>(turn->begin_ns) < side.view.end_ns; ++turn) {
      const float end = strip.x_of(turn->end_ns);
      if (end < drawn_to + 3) continue;  // of many turns, those that can be told apart
      drawn_to = end;
      draw_turn(ui, strip, comparison, is_base, static_cast<std::size_t>(turn - turns.begin()), *turn, flag.box);
    }
  }
  draw_end(ui, strip, is_base, flag, lanes);
}

// From each turn above to the same turn below, with the ratio of their lengths.
void draw_turn_links(Ui& ui, const Rect& area, const SessionTab& comparison) {
  fill(ui, area, ui.colour(Colour::bg1));
  const TimeStrip above(ui, area, comparison), below(ui, area, *comparison.beside);
  draw_label(ui, above.label(), "same turn");
  const SharedTurns& turns = *comparison.turns;
  const std::size_t both = std::min(turns.base.size(), turns.other.size());
  ImDrawList* list = ui.draw();
  const Rect& room = above.area();
  list->PushClipRect({room.x0, room.y0}, {room.x1, room.y1}, true);
  const auto middle = [&](std::size_t turn) {
    return (above.x_of(turns.base[turn].begin_ns) + above.x_of(turns.base[turn].end_ns) +
            below.x_of(turns.other[turn].begin_ns) + below.x_of(turns.other[turn].end_ns)) /
           4;
  };
  float last_above = -1e9F, last_below = -1e9F, text_to = -1e9F;
  const auto first_of = [&](const std::vector<TimeRange>& all, const SessionTab& side) {
    return static_cast<std::size_t>(std::partition_point(all.begin(), all.end(),
                                                         [&](const TimeRange& turn) {
                                                           return static_cast<double>(turn.end_ns) < side.view.begin_ns;
                                                         }) -
                                    all.begin());
  };
  const std::size_t first = std::min(first_of(turns.base, comparison), first_of(turns.other, *comparison.beside));
  for (std::size_t turn = first; turn < both; ++turn) {
    if (static_cast<double>(turns.base[turn].begin_ns) > comparison.view.end_ns &&
        static_cast<double>(turns.other[turn].begin_ns) > comparison.beside->view.end_ns) {
      break;
    }
    const float from = above.x_of(turns.base[turn].begin_ns), to = below.x_of(turns.other[turn].begin_ns);
    if (std::max(from, to) < room.x0 || std::min(from, to) > room.x1) continue;
    const float apart = ui.px(kLeastLink);
    if (from < last_above + apart || to < last_below + apart) continue;
    last_above = from;
    last_below = to;
    const float bend = room.height() * 0.6F;
    list->AddBezierCubic({from, room.y0}, {from, room.y0 + bend}, {to, room.y1 - bend}, {to, room.y1},
                         ui.colour(Colour::text3), ui.px(1));
    double length = static_cast<double>(turns.base[turn].length_ns());
    double other_length = static_cast<double>(turns.other[turn].length_ns());
    if (comparison.beside_is_base) std::swap(length, other_length);
    if (length <= 0) continue;
    const double ratio = other_length / length;
    const std::string text = fmt::format("{:.2f}×", ratio);
    const float half = text_width(ui, TextStyle::mono_small, text) / 2 + ui.px(2), x = middle(turn);
    if (x - half < text_to || x - half < std::max(from, to)) continue;  // it would lie on the link
    text_to = x + half;
    const Colour colour = std::abs(ratio - 1) <= kSameWithin ? Colour::text3 : ratio < 1 ? Colour::ok : Colour::worse;
    draw_text(ui, {x - half, room.y0, x + half, room.y1}, text,
              {.style = TextStyle::mono_small, .colour = colour, .align = Align::centre});
  }
  list->PopClipRect();
  ui.register_widget("comparison.links", area);
}

}  // namespace

// Two sessions on one axis: the verdict and how they are laid beside each other in a line, then the timeline of each.
// What is zoomed or panned in one is in the other too; panels tell of the one that the user touched last.

void draw_comparison_head(AppState& state, Ui& ui, Rect& area) {
  SessionTab& tab = *state.tab();
  const Rect strip = area.cut_top(ui.px(size::kPanelTabs));
  fill(ui, strip, ui.colour(Colour::bg2));
  horizontal_line(ui, strip.x0, strip.x1, strip.y1 - 1, ui.colour(Colour::line2));
  Rect row = padded(ui, strip);
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
    draw_text(ui, row, compared_reasons(compared->comparison, 2), kLabelText);
    return;
  }
  const std::string& problem = panels.compared.error;
  draw_text(ui, row, problem.empty() ? "Comparing ..." : problem, kHintText);
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
  const bool held_below = tab.beside_in_progress;
  tab.turns = ask_shared_turns(*tab.analysis, panels.turns, below, state.workspace.grows(*below.store));
  tab.turns_error = panels.turns.error;
  draw_side_head(ui, upper.cut_top(ui.px(kSideHead)), tab.beside_is_base ? "B" : "A", tab, !held_below);
  const bool has_turns = area.height() >= ui.px(kRoomForTurns), linked = has_turns && has_links(tab);
  const Rect links = linked ? upper.cut_bottom(ui.px(kTurnLinks)) : Rect{};
  const Rect upper_turns = has_turns ? upper.cut_bottom(ui.px(kTurnStrip)) : Rect{};
  const Rect lower_head = rest.cut_top(ui.px(kSideHead));
  const Rect lower_turns = has_turns ? rest.cut_top(ui.px(kTurnStrip)) : Rect{};
  if (ui.input().down(MouseButton::left) && area.contains(ui.input().mouse) && !any_popup_open())
    tab.beside_in_progress = !upper.contains(ui.input().mouse);
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
    return state.inform("Choose the other session in the panel, then Side by side");
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
