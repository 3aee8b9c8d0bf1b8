#include "app/frame/comparison_turns.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/base/format.h"
#include "render/base/draw.h"
#include "render/widgets/interact.h"
#include "render/widgets/popup.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kLeastLink = 24;      // units between two links; of more turns some have none
constexpr double kSameWithin = 0.02;  // ratios so near to 1 are neither better nor worse

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
  label = label.inset(ui.px(size::kPanelPadding), 0);
  draw_text(ui, label, text, {.style = TextStyle::small, .colour = Colour::text3});
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
  const std::string number = fmt::format("turn {}", index + 1),
                    length = format_duration(static_cast<double>(turn.length_ns()));
  const float length_width = text_width(ui, TextStyle::mono_small, length);
  const float number_width = text_width(ui, TextStyle::small, number);
  if (text.width() >= length_width + number_width + ui.px(8)) {
    draw_text(ui, text.cut_right(length_width + 1), length, {.style = TextStyle::mono_small, .colour = Colour::text2});
  }
  if (text.width() >= number_width) draw_text(ui, text, number, {.style = TextStyle::small, .colour = Colour::text2});
  if (box.width() < ui.px(8)) return;  // nothing to aim at
  const Interaction hand = interact(ui, fmt::format("comparison.{}.turn.{}", is_base ? "base" : "other", index + 1),
                                    box, {.no_focus = true});
  tooltip(ui, hand, box, fmt::format("{}, {}. A click lays both so that it begins at the same place", number, length));
  if (!hand.clicked) return;
  comparison.alignment = Alignment::iteration;
  comparison.aligned_turn = index;
  ui.request_frame();
}

// "end 295.1 µs (−98.1 µs)", since the first activity.
std::string end_text(const SessionTab& comparison, const SessionTab& side) {
  const std::int64_t length = side.active->length_ns();
  std::string text = "end " + format_duration(static_cast<double>(length));
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

}  // namespace

std::shared_ptr<const SharedTurns> ask_shared_turns(SessionAnalysis& base, TurnsKept& kept, const SessionTab& other,
                                                    bool grows) {
  return base.ask(kept, {}, {.beside = {other.snapshot->version, grows}, .tells_itself = true},
                  [store = std::shared_ptr<const Store>(other.store),
                   there = other.snapshot](const QueryContext& query) -> SessionAnalysis::Found<SharedTurns> {
                    return find_shared_turns(query, {*store, there, query.pool, query.control});
                  });
}

bool has_links(const SessionTab& comparison) {
  return comparison.turns && !comparison.turns->base.empty() && !comparison.turns->other.empty();
}

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

}  // namespace accelscope::app
