#include <fmt/format.h>
#include <imgui.h>

#include <cmath>

#include "app/content/comparison/comparison_words.h"
#include "app/frame/app_state.h"
#include "app/session/analysis.h"

namespace accelscope::app::frame {

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
  TimeStrip(const Ui& ui, const Rect& strip, const session::SessionTab& side) : area_(strip), view_(side.view) {
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
  session::ViewRange view_;
  float width_ = 0;
};

// One session of a comparison: its place among A, B, C ..., and how its time is laid beside the tab's own.
class Side {
 public:
  Side(session::SessionTab& comparison, std::size_t place)
      : comparison_(&comparison), place_(place), number_(comparison.order[place]) {}

  [[nodiscard]] session::SessionTab& session() const { return session::compared_session(*comparison_, number_); }
  [[nodiscard]] std::size_t place() const noexcept { return place_; }
  [[nodiscard]] std::size_t number() const noexcept { return number_; }  // as in SessionTab::order
  [[nodiscard]] bool is_own() const noexcept { return number_ == 0; }
  [[nodiscard]] std::string name() const {
    if (place_ < 2) return place_ == 0 ? "comparison.base" : "comparison.other";
    return fmt::format("comparison.other.{}", place_);
  }
  // What the turns of its loop are known from; the tab's own are those that it has in common with the first.
  [[nodiscard]] const session::ComparedSession& pair() const { return comparison_->beside[is_own() ? 0 : number_ - 1]; }
  [[nodiscard]] bool has_turns() const {
    return pair().turns && !pair().turns->base.empty() && !pair().turns->other.empty();
  }
  [[nodiscard]] const std::vector<TimeRange>& turns() const {
    return is_own() ? pair().turns->base : pair().turns->other;
  }
  [[nodiscard]] session::LaidBeside laid() const {
    if (is_own()) return {};
    if (const auto wanted = session::laid_beside(*comparison_, pair(), comparison_->alignment)) return *wanted;
    return *session::laid_beside(*comparison_, pair(), session::Alignment::first_activity);
  }

 private:
  session::SessionTab* comparison_;
  std::size_t place_, number_;
};

std::vector<Side> sides_of(session::SessionTab& comparison) {
  std::vector<Side> sides;
  for (std::size_t place = 0; place < comparison.order.size(); ++place) sides.emplace_back(comparison, place);
  return sides;
}

void draw_label(Ui& ui, Rect label, std::string_view text) {
  label = padded(ui, label);
  draw_text(ui, label, text, kHintText);
}

// `flag` is what lies over the strip: no text goes under it.
void draw_turn(Ui& ui, const TimeStrip& strip, session::SessionTab& comparison, const Side& side, std::size_t index,
               const TimeRange& turn, const Rect& flag) {
  Rect box = strip.area().inset(0, ui.px(1));
  box.x0 = std::max(strip.area().x0, strip.x_of(turn.begin_ns) + 1);
  box.x1 = std::min(strip.area().x1, strip.x_of(turn.end_ns) - 1);
  if (box.width() < 1) return;
  const bool aligned = comparison.alignment == session::Alignment::iteration && comparison.aligned_turn == index;
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
  const Interaction response =
      interact(ui, fmt::format("{}.turn.{}", side.name(), index + 1), box, {.group = side.name(), .label = number});
  tooltip(ui, response, box,
          fmt::format("{}, {}. A click lays all so that it begins at the same place", number, length));
  if (!response.clicked) return;
  comparison.alignment = session::Alignment::iteration;
  comparison.aligned_turn = index;
  ui.request_frame();
}

// "end 295.1 µs (−98.1 µs)", since the first activity; the difference is to A.
std::string end_text(session::SessionTab& comparison, const Side& side) {
  const std::int64_t length = side.session().active->length_ns();
  std::string text = "end " + format_duration(length);
  const Side first(comparison, 0);
  const session::SessionTab& base = first.session();
  if (side.place() == 0 || !base.active) return text;
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

EndFlag end_flag(Ui& ui, const TimeStrip& strip, session::SessionTab& comparison, const Side& side) {
  const auto& active = side.session().active;
  if (!active) return {};
  EndFlag flag{end_text(comparison, side), strip.x_of(active->end_ns), strip.area().inset(0, ui.px(1))};
  if (!strip.shows(flag.x - 1)) return {};
  const float width = text_width(ui, TextStyle::small_strong, flag.text) + ui.px(10);
  flag.box.x0 = flag.x + width <= strip.area().x1 ? flag.x : std::max(strip.area().x0, flag.x - width);
  flag.box.x1 = std::min(strip.area().x1, flag.box.x0 + width);
  return flag;
}

void draw_end(Ui& ui, const TimeStrip& strip, const Side& side, const EndFlag& flag, const LaneHeight& lanes) {
  if (flag.text.empty()) return;
  const Pixel colour = ui.colour(panels::side_colour(side.place()));
  vertical_line(ui, flag.x, strip.area().y0, strip.area().y1, colour);
  if (lanes.top > 0 && lanes.top < lanes.bottom) vertical_line(ui, flag.x, lanes.top, lanes.bottom, colour);
  fill(ui, flag.box, colour, 2);
  draw_text(ui, flag.box, flag.text, {.style = TextStyle::small_strong, .colour = Colour::bg1, .align = Align::centre});
  ui.register_widget(side.name() + ".end", flag.box);
}

session::ViewRange mapped(const session::LaidBeside& laid, const session::ViewRange& view) {
  return {laid.to_other(view.begin_ns), laid.to_other(view.end_ns)};
}

session::ViewRange mapped_back(const session::LaidBeside& laid, const session::ViewRange& view) {
  return {laid.to_own(view.begin_ns), laid.to_own(view.end_ns)};
}

std::string_view why_not(const session::ComparedSession& other, session::Alignment alignment) {
  if (alignment == session::Alignment::marker)
    return "No marker has the same name in both: name one in each (M, then F2)";
  if (!other.turns_error.empty()) return other.turns_error;
  return other.turns ? "Nothing that repeats in one repeats in the other" : "Looking for what repeats in both ...";
}

void draw_alignments(Ui& ui, session::SessionTab& tab, Rect& row) {
  std::vector<Segment> segments;
  for (std::size_t i = 0; i < session::kAlignments.size(); ++i) {
    const auto how = static_cast<session::Alignment>(i);
    const auto without = std::ranges::find_if(
        tab.beside, [&](const auto& each) { return !session::laid_beside(tab, each, how).has_value(); });
    const bool possible = without == tab.beside.end();
    segments.push_back({.label = session::kAlignments[i].label,
                        .disabled = !possible,
                        .tooltip = possible ? session::kAlignments[i].explanation : why_not(*without, how)});
  }
  int chosen = static_cast<int>(tab.alignment);
  const float width = std::min(row.width(), segmented_width(ui, segments));
  if (segmented(ui, "comparison.align", row.cut_right(width).middle(ui.px(size::kSmallControl)), segments, chosen))
    tab.alignment = static_cast<session::Alignment>(chosen);
  row.cut_right(ui.px(8));
  const float label = text_width(ui, TextStyle::small, "Align");
  if (row.width() > label) draw_text(ui, row.cut_right(label), "Align", kHintText);
  row.cut_right(ui.px(16));
}

// "A", which session it is, and what it did. A click on another letter makes that session A. True: its x was clicked.
bool draw_side_head(Ui& ui, const Rect& strip, session::SessionTab& comparison, const Side& side, bool is_folded) {
  session::SessionTab& shown = side.session();
  fill(ui, strip, ui.colour(comparison.touched == side.number() ? Colour::bg3 : Colour::bg2));
  horizontal_line(ui, strip.x0, strip.x1, strip.y0, ui.colour(Colour::line2));
  Rect row = padded(ui, strip);
  const Rect badge = row.cut_left(ui.px(20)).middle(ui.px(16));
  panels::draw_side_letter(ui, badge, side.place());
  const Rect away = row.cut_left(ui.px(18)).middle(ui.px(16));
  row.cut_left(ui.px(4));
  const std::string figures = events_text(shown) + "   " + active_text(shown);
  draw_text(ui, row.cut_right(std::min(row.width() / 2, text_width(ui, TextStyle::mono_small, figures) + 1)), figures,
            {.style = TextStyle::mono_small, .colour = Colour::text2, .align = Align::right});
  const std::string& title = session::own_title(shown);
  draw_text(ui, row.cut_left(std::min(row.width(), text_width(ui, TextStyle::heading, title) + ui.px(10))), title,
            {.style = TextStyle::heading});
  draw_text(ui, row, is_folded ? "A click shows its timeline" : shown.device, kHintText);
  ui.register_widget(side.name(), strip);
  const bool removed = icon_button(ui, side.name() + ".remove", away, icon::kClose, "Take it out of the comparison");
  if (side.place() == 0) return removed;
  const Interaction at = interact(ui, side.name() + ".letter", badge, {.label = "Make it A"});
  tooltip(ui, at, badge, "A click makes it A: what the others are set against");
  if (!at.clicked) return removed;
  session::exchange_base(comparison, side.place());
  ui.request_frame();
  return removed;
}

// The pointer is over one of them: those up to a place mark where that is in the time of each.
void share_cursor(std::span<const Side> sides, double own_ns) {
  for (const Side& side : sides) {
    if (!side.session().cursor_ns) side.session().cursor_ns = std::llround(side.laid().to_other(own_ns));
  }
}

// Of the pointer over one that is drawn later: known before, because all have one width.
std::optional<double> pointed_at(const Ui& ui, const session::SessionTab& tab, const Rect& timeline) {
  const Point mouse = ui.input().mouse;
  const float canvas = timeline.x0 + ui.px(size::kLabelColumn);
  if (!timeline.contains(mouse) || mouse.x < canvas || tab.view_pixels <= 0) return std::nullopt;
  return tab.view.begin_ns + static_cast<double>(mouse.x - canvas) / tab.view_pixels * tab.view.span_ns();
}

// Empty where they have no loop in common; null while that is not known, and where looking for one failed, which then
// is the error of `retained`.
std::shared_ptr<const analysis::SharedTurns> ask_shared_turns(session::SessionAnalysis& base, TurnsRetained& retained,
                                                              const session::SessionTab& other, bool grows) {
  return base.ask(retained, {}, {.beside = {other.snapshot->version, grows}, .tells_itself = true},
                  [store = std::shared_ptr<const Store>(other.store), there = other.snapshot](
                      const QueryContext& query) -> session::SessionAnalysis::Found<analysis::SharedTurns> {
                    return analysis::find_shared_turns(query, {*store, there, query.pool, query.control});
                  });
}

// The turns of a side in the time that it shows; a click on one lays all so that it begins at the same place. A line
// through the lanes stands at the end of its work.
void draw_turns(Ui& ui, const Rect& area, session::SessionTab& comparison, const Side& side, float bottom) {
  const session::SessionTab& shown = side.session();
  fill(ui, area, ui.colour(Colour::bg1));
  const TimeStrip strip(ui, area, shown);
  draw_label(ui, strip.label(),
             !side.pair().turns_error.empty() ? side.pair().turns_error
             : !side.pair().turns             ? "looking for a loop ..."
             : side.has_turns()               ? "turns of the loop"
                                              : "no loop in common");
  const EndFlag flag = end_flag(ui, strip, comparison, side);
  if (side.has_turns()) {
    const std::vector<TimeRange>& turns = side.turns();
    const auto first = std::partition_point(turns.begin(), turns.end(), [&](const TimeRange& turn) {
      return static_cast<double>(turn.end_ns) < shown.view.begin_ns;
    });
    float drawn_to = -1;
    for (auto turn = first; turn != turns.end() && static_cast<double>(turn->begin_ns) < shown.view.end_ns; ++turn) {
      const float end = strip.x_of(turn->end_ns);
      if (end < drawn_to + 3) continue;  // of many turns, those that can be told apart
      drawn_to = end;
      draw_turn(ui, strip, comparison, side, static_cast<std::size_t>(turn - turns.begin()), *turn, flag.box);
    }
  }
  draw_end(ui, strip, side, flag, {timeline::TimelinePanel::rows_top(shown), bottom});
}

// From each turn above to the same turn below, with the ratio of their lengths.
void draw_turn_links(Ui& ui, const Rect& area, const Side& base, const Side& other) {
  fill(ui, area, ui.colour(Colour::bg1));
  const session::SessionTab &upper = base.session(), &lower = other.session();
  const TimeStrip above(ui, area, upper), below(ui, area, lower);
  draw_label(ui, above.label(), "same turn");
  const std::vector<TimeRange>&turns = base.turns(), &others = other.turns();
  const std::size_t both = std::min(turns.size(), others.size());
  ImDrawList* list = ui.draw();
  const Rect& room = above.area();
  list->PushClipRect({room.x0, room.y0}, {room.x1, room.y1}, true);
  const auto middle = [&](std::size_t turn) {
    return (above.x_of(turns[turn].begin_ns) + above.x_of(turns[turn].end_ns) + below.x_of(others[turn].begin_ns) +
            below.x_of(others[turn].end_ns)) /
           4;
  };
  float last_above = -1e9F, last_below = -1e9F, text_to = -1e9F;
  const auto first_of = [&](const std::vector<TimeRange>& all, const session::SessionTab& side) {
    return static_cast<std::size_t>(std::partition_point(all.begin(), all.end(),
                                                         [&](const TimeRange& turn) {
                                                           return static_cast<double>(turn.end_ns) < side.view.begin_ns;
                                                         }) -
                                    all.begin());
  };
  const std::size_t first = std::min(first_of(turns, upper), first_of(others, lower));
  for (std::size_t turn = first; turn < both; ++turn) {
    if (static_cast<double>(turns[turn].begin_ns) > upper.view.end_ns &&
        static_cast<double>(others[turn].begin_ns) > lower.view.end_ns) {
      break;
    }
    const float from = above.x_of(turns[turn].begin_ns), to = below.x_of(others[turn].begin_ns);
    if (std::max(from, to) < room.x0 || std::min(from, to) > room.x1) continue;
    const float apart = ui.px(kLeastLink);
    if (from < last_above + apart || to < last_below + apart) continue;
    last_above = from;
    last_below = to;
    const float bend = room.height() * 0.6F;
    list->AddBezierCubic({from, room.y0}, {from, room.y0 + bend}, {to, room.y1 - bend}, {to, room.y1},
                         ui.colour(Colour::text3), ui.px(1));
    const auto length = static_cast<double>(turns[turn].length_ns());
    if (length <= 0) continue;
    const double ratio = static_cast<double>(others[turn].length_ns()) / length;
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

// Where the parts of a side lie: from the top its head and timeline, with the turns of its loop where the next one
// begins. Of a folded one there is the head alone.
struct SidePlace {
  Rect head, turns, timeline;
  bool is_folded = false;
};
constexpr float kSideHead = 24, kRoomForTurns = 140, kTurnStrip = 18, kTurnLinks = 24;  // units; room: of one side
constexpr float kOverviewShare = 0.03F;  // of the height: the first has the overview too
constexpr float kLeastSide = 150;        // units; what has less room shows no lane

// Of more than two that have no room for lanes, those that come last are folded, but the one that was touched.
std::vector<SidePlace> places_of(Ui& ui, const Rect& area, std::span<const Side> sides, std::size_t touched,
                                 Rect& links) {
  const std::size_t count = sides.size();
  std::vector<SidePlace> places(count);
  const float head = ui.px(kSideHead);
  std::size_t open = count;
  const auto room = [&] { return area.height() - head * static_cast<float>(count - open); };
  for (std::size_t place = count; place-- > 1 && open > 2;) {
    if (room() >= ui.px(kLeastSide) * static_cast<float>(open)) break;
    if (sides[place].number() == touched) continue;
    places[place].is_folded = true;
    --open;
  }
  const bool has_turns = room() >= ui.px(kRoomForTurns) * static_cast<float>(open);
  const float first = std::round(room() * (1.0F / static_cast<float>(open) + kOverviewShare));
  const float other = std::round((room() - first) / static_cast<float>(open - 1));
  Rect rest = area;
  for (std::size_t i = 0; i < count; ++i) {
    SidePlace& place = places[i];
    if (place.is_folded) {
      place.head = place.timeline = rest.cut_top(head);
      place.timeline.y0 = place.timeline.y1;
      continue;
    }
    Rect part = i + 1 == count ? rest : rest.cut_top(i == 0 ? first : other);
    place.head = part.cut_top(head);
    if (has_turns && count == 2 && i == 0 && sides[0].has_turns()) links = part.cut_bottom(ui.px(kTurnLinks));
    if (has_turns) place.turns = i == 0 ? part.cut_bottom(ui.px(kTurnStrip)) : part.cut_top(ui.px(kTurnStrip));
    place.timeline = part;
  }
  return places;
}

panels::CompareQuestion figures_question(AppState& state, session::SessionTab& tab) {
  return panels::question_of(tab, "metric", state.actions.grows);
}

// Results, verdict and what goes with it, of one against A.
void draw_side_verdict(AppState& state, Ui& ui, Rect row, const panels::CompareQuestion& question, std::size_t other) {
  session::SessionTab& tab = *state.tab();
  TabPanels& panels = state.panels_of(tab);
  if (question.sides.size() > 2) {
    panels::draw_side_letter(ui, row.cut_left(ui.px(20)).middle(ui.px(16)), other);
    row.cut_left(ui.px(8));
  }
  while (panels.results.size() < other) panels.results.emplace_back();
  const auto results = panels::ask_results(tab, panels.results[other - 1], question.pair(other));
  if (results && results->with_checksums > 0 && results->other_with_checksums > 0) {
    const std::string text(content::results_headline(*results));
    draw_text(ui, row.cut_left(std::min(row.width(), text_width(ui, TextStyle::heading, text) + ui.px(16))), text,
              {.style = TextStyle::heading, .colour = panels::colour_of_results(*results)});
  }
  const auto compared = panels::ask_compared(tab, panels.compared, question);
  if (compared && other < compared->comparison.configurations.size()) {
    panels::draw_compared_verdict(ui, row, compared->comparison, other);
    draw_text(ui, row, panels::compared_reasons(compared->comparison, other, 2), kLabelText);
    return;
  }
  const std::string& problem = panels.compared.error;
  draw_text(ui, row, problem.empty() ? "Comparing ..." : problem, kHintText);
}

}  // namespace

// Sessions on one axis: a verdict each and how they are laid beside each other, then the timeline of each. What is
// zoomed or panned in one is in the others too; panels tell of the one that the user touched last.

void draw_comparison_head(AppState& state, Ui& ui, Rect& area) {
  session::SessionTab& tab = *state.tab();
  const panels::CompareQuestion question = figures_question(state, tab);
  for (std::size_t other = 1; other < question.sides.size(); ++other) {
    const Rect strip = area.cut_top(ui.px(size::kPanelTabs));
    fill(ui, strip, ui.colour(Colour::bg2));
    horizontal_line(ui, strip.x0, strip.x1, strip.y1 - 1, ui.colour(Colour::line2));
    Rect row = padded(ui, strip);
    const Rect sign = row.cut_left(ui.px(16));
    row.cut_left(ui.px(8));
    if (other == 1) {
      draw_icon(ui, sign, icon::kBalance, ui.colour(Colour::accent), TextStyle::icon14);
      draw_alignments(ui, tab, row);
    }
    draw_side_verdict(state, ui, row, question, other);
  }
}

void draw_comparison(AppState& state, Ui& ui, const Rect& area) {
  session::SessionTab& tab = *state.tab();
  TabPanels& panels = state.panels_of(tab);
  while (panels.turns.size() < tab.beside.size()) panels.turns.emplace_back();
  panels.drawn_beside.resize(tab.beside.size());
  const std::vector<Side> sides = sides_of(tab);
  for (const Side& side : sides) {
    if (side.is_own()) continue;
    const std::size_t i = side.number() - 1;
    session::SessionTab& other = side.session();
    // A command, or a panel, may have moved it.
    if (other.view != panels.drawn_beside[i] && panels.drawn_beside[i] != session::ViewRange{})
      tab.show(mapped_back(side.laid(), other.view));
    other.choices.search = tab.choices.search;
    other.choices.colour_by = tab.choices.colour_by;
    tab.beside[i].turns = ask_shared_turns(*tab.analysis, panels.turns[i], other, state.workspace.grows(*other.store));
    tab.beside[i].turns_error = panels.turns[i].error;
  }
  Rect links;
  const std::vector<SidePlace> places = places_of(ui, area, sides, tab.touched, links);
  const bool pressed = ui.input().down(MouseButton::left) && !any_popup_open();
  for (const Side& side : sides) {
    const SidePlace& place = places[side.place()];
    const Rect whole{area.x0, place.head.y0, area.x1, place.timeline.y1};
    if (pressed && whole.contains(ui.input().mouse)) tab.touched = side.number();
    if (side.place() == 0) continue;  // it has the overview, which is of another time
    if (const auto at = pointed_at(ui, tab, place.timeline)) share_cursor(std::span(sides).first(side.place()), *at);
  }
  bool moves = false;
  for (const Side& side : sides) {
    const SidePlace& place = places[side.place()];
    session::SessionTab& shown = side.session();
    const session::LaidBeside along = side.laid();
    if (draw_side_head(ui, place.head, tab, side, place.is_folded)) {
      state.removed_side = side.number();
      ui.request_frame();
    }
    if (!side.is_own()) {
      shown.view = mapped(along, tab.view);
      shown.follow = false;
    }
    const session::ViewRange before = shown.view;
    state.timeline_of(shown).draw(ui, shown, place.timeline);
    if (!place.turns.empty()) draw_turns(ui, place.turns, tab, side, place.timeline.y1);
    if (shown.cursor_ns) share_cursor(sides, along.to_own(static_cast<double>(*shown.cursor_ns)));
    moves = moves || timeline::TimelinePanel::in_motion(shown);
    if (shown.view == before) continue;
    ui.request_frame();  // the others follow
    if (side.is_own()) continue;
    tab.follow = false;
    tab.view = mapped_back(along, shown.view);
    panels.moved_beside = true;
  }
  if (!links.empty()) draw_turn_links(ui, links, sides[0], sides[1]);
  if (panels.moved_beside && !moves) {
    tab.remember_view();
    panels.moved_beside = false;
  }
  for (std::size_t i = 0; i < tab.beside.size(); ++i) panels.drawn_beside[i] = tab.beside[i].session->view;
}

// A file, which is opened and set against what is in front.
void compare_with_file(AppState& state) {
  const std::shared_ptr<const Store> with = state.tab()->store;
  const bool adds = !state.tab()->beside.empty();
  state.file_dialog.show(connect::FileDialog::Purpose::open, state.start_folder(), dialog_places(state.workspace),
                         [&state, with, adds](const std::string& path) {
                           state.compared_with = with;
                           state.comparison_grows = adds;
                           state.workspace.open(path);
                         });
}

// With the one other session that is open; of several the panel asks which, and without any a file is asked for.
void compare_with_other(AppState& state) {
  const std::vector<panels::OpenSession> others = state.actions.other_sessions();
  if (others.empty()) return compare_with_file(state);
  if (others.size() == 1) return state.actions.open_comparison(others.front().store);
  state.layout.show("compare");
  state.inform(state.tab()->beside.empty() ? "Choose the other session in the panel, then Side by side"
                                           : "Add the other session in the panel");
}

namespace {

// A comparison of both, or where the first is the own session of one that is to be added to, one more of its sessions.
void compare_stores(AppState& state, const std::shared_ptr<const Store>& with,
                    const std::shared_ptr<const Store>& opened, bool adds) {
  workspace::Workspace& workspace = state.workspace;
  const auto first = workspace.tab_of(with), second = workspace.tab_of(opened);
  if (!first || !second || with == opened) return;
  for (std::size_t i = 0; adds && i < workspace.tab_count(); ++i) {
    session::SessionTab& tab = workspace.tab(i);
    if (tab.beside.empty() || tab.store != with) continue;
    const std::vector<session::SessionTab*> all = session::sessions_of(tab);
    if (std::ranges::none_of(all, [&](const auto* each) { return each->store == opened; }))
      workspace.add_to_comparison(tab, *second);
    return workspace.activate(i);
  }
  workspace.open_comparison({*first, *second});
}

}  // namespace

// Of two the other is no comparison any more. Where the tab's own session goes, those that stay get a tab of theirs.
void take_removed_side(AppState& state) {
  const std::optional<std::size_t> number = std::exchange(state.removed_side, {});
  workspace::Workspace& workspace = state.workspace;
  session::SessionTab* tab = state.tab();
  if (!number || tab == nullptr || *number > tab->beside.size()) return;
  if (*number > 0 && tab->beside.size() > 1) {
    TabPanels& panels = state.panels_of(*tab);
    const auto place = static_cast<std::ptrdiff_t>(*number - 1);
    if (panels.turns.size() > *number - 1) panels.turns.erase(panels.turns.begin() + place);
    if (panels.drawn_beside.size() > *number - 1) panels.drawn_beside.erase(panels.drawn_beside.begin() + place);
    return session::remove_side(*tab, *number);
  }
  std::vector<std::size_t> rest;
  for (std::size_t other = 0; other <= tab->beside.size(); ++other) {
    const session::SessionTab& session = session::compared_session(*tab, other);
    const auto own = other == *number ? std::nullopt : workspace.tab_of(session.store);
    if (own && workspace.tab(*own).beside.empty()) rest.push_back(*own);
  }
  if (rest.size() < tab->beside.size() && tab->beside.size() > 1)
    return state.inform("Open the other sessions in tabs of their own first");
  if (rest.size() > 1) {
    workspace.open_comparison(rest);
  } else if (!rest.empty()) {
    workspace.activate(rest.front());
  }
  for (std::size_t i = 0; i < workspace.tab_count(); ++i)
    if (&workspace.tab(i) == tab) return workspace.close(i);
}

void compare_with_opened(AppState& state) {
  if (state.workspace.opening() || state.tab() == nullptr) return;
  if (const auto with = state.compared_with.lock()) {
    state.compared_with.reset();
    compare_stores(state, with, state.tab()->store, state.comparison_grows);
    if (state.options.panels.empty()) state.layout.show("compare");
  }
  if (state.options.compared.empty()) return;
  state.compared_with = state.tab()->store;
  state.comparison_grows = !state.tab()->beside.empty();
  state.workspace.open(state.options.compared.front());
  state.options.compared.erase(state.options.compared.begin());
}

}  // namespace accelscope::app::frame
