// Counters that no source recorded: their values come from the workers and are drawn like recorded ones.

#include <cmath>
#include <limits>

#include "app/timeline/frame.h"
#include "core/base/format.h"
#include "core/model/palette.h"
#include "core/model/unit.h"
#include "render/timeline/counter_strip.h"
#include "render/widgets/popup.h"

namespace accelscope::app {
namespace {

using namespace render;

constexpr double kStretchPixels = 3;  // at 100 %: narrower ones would say when it is busy, and not how much

[[nodiscard]] std::string value_text(const DerivedCounter& counter, double value) {
  constexpr double kHardlyAny = 0.001;
  if (counter.kind == DerivedCounter::Kind::queue_depth)
    return value > 0 && value < kHardlyAny ? "<0.001" : format_value(value, "");
  return format_value(value, counter.kind == DerivedCounter::Kind::launch_latency ? "ns" : "share");
}

// The value at the pointer, what it is a share of, and how long the stretches are.
void explain(TimelineFrame& frame, const DrawnRow& drawn, const std::string& value) {
  const Point mouse = frame.ui.input().mouse;
  const Rect seen = frame.canvas(drawn.rect.intersected(drawn.clip));
  if (!frame.tab.cursor_ns || frame.state.gesture != Gesture::none || !seen.contains(mouse)) return;
  if (!ImGui::IsWindowHovered()) return;
  const DerivedCounter& counter = *frame.state.rows[drawn.row].derived;
  HoverCard card;
  card.title = counter.name;
  card.title_value = value;
  if (const DerivedValues::Answer* answer = frame.state.derived.answer()) {
    card.rows.push_back({"Stretches of", format_duration(static_cast<double>(answer->stretch_ns))});
  }
  card.footer = "Derived: " + counter.formula;
  hover_card(frame.ui, card, {mouse.x - 1, seen.y0, mouse.x + 1, seen.y1});
}

}  // namespace

void want_derived(TimelineFrame& frame) {
  TimelineState& state = frame.state;
  if (!frame.tab.analysis) return;
  DerivedCounters seen;
  for (const DrawnRow& drawn : state.drawn_rows) {
    const TimelineRow& row = state.rows[drawn.row];
    if (row.kind == RowKind::derived) seen.push_back(row.derived);
  }
  state.derived.want(*frame.tab.analysis, frame.snapshot, seen, frame.view,
                     kStretchPixels * static_cast<double>(frame.ui.scale()));
  if (!state.derived.error().empty()) frame.tab.last_error = state.derived.error();
}

std::string draw_derived(TimelineFrame& frame, const DrawnRow& drawn) {
  const DerivedCounter& counter = *frame.state.rows[drawn.row].derived;
  CounterStrip& strip = frame.state.counter;
  if (!frame.state.derived.strip(counter, frame.view, strip)) return "…";
  const Rect canvas = frame.canvas(drawn.rect);
  const double scale = frame.state.derived.scale(counter);
  const Pixel colour = frame.ui.theme().slice(palette_slot(counter.name));
  if (strip.any) {
    paint_counter(frame.ui, frame.list, {strip, canvas, colour, scale, value_text(counter, scale), true});
  }
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  double value = strip.any ? strip.mean : kNone;
  if (frame.tab.cursor_ns) {
    const double x = frame.view.x(static_cast<double>(*frame.tab.cursor_ns));
    const bool inside = x >= 0 && x < frame.view.width;
    value = inside ? strip.last[static_cast<std::size_t>(x)] : kNone;
    // Of shares, where nothing is there is nothing at work.
    if (std::isnan(value) && strip.any && !counter.is_of_launches()) value = 0;
  }
  const std::string text = std::isnan(value) ? "–" : value_text(counter, value);
  explain(frame, drawn, text);
  return frame.state.derived.is_older() ? text + " …" : text;
}

}  // namespace accelscope::app
