// The name filter of the lanes, in the label column of the marker row, and what stands there when it leaves nothing.
#include <fmt/format.h>
#include <imgui.h>

#include <array>
#include <utility>

#include "app/timeline/frame.h"
#include "app/view/record.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/states.h"
#include "render/widgets/text_input.h"

namespace accelscope::app {
namespace {

using namespace render;

constexpr float kFollowRoom = 84;  // units that the follow button takes of a live session

void set_filter(TimelineFrame& frame, std::string text) {
  frame.state.typed_filter.reset();
  RowChoices choices = frame.tab.choices.rows;
  choices.name_filter = std::move(text);
  choose_rows(frame.tab, std::move(choices));
}

}  // namespace

void draw_row_filter(TimelineFrame& frame) {
  Ui& ui = frame.ui;
  TimelineState& state = frame.state;
  Rect rect = frame.label(frame.markers);
  rect.y1 = rect.y0 + ui.px(size::kMarkerRow);  // further lines of flags do not stretch it
  rect.x0 += ui.px(4);
  rect.x1 -= ui.px(frame.tab.live == LiveState::recording ? kFollowRoom : 5);
  rect.y0 += ui.px(1);
  rect.y1 -= ui.px(2);
  const bool filtered = state.typed_filter ? !state.typed_filter->empty() : !frame.tab.choices.rows.name_filter.empty();
  if (filtered) {
    const std::string count = fmt::format("{} of {}", state.row_count.matching, state.row_count.all);
    Rect clear = rect;
    clear = clear.cut_right(ui.px(18));
    rect.x1 = clear.x0;
    Rect number = rect;
    number = number.cut_right(text_width(ui, TextStyle::mono_small, count) + ui.px(4));
    rect.x1 = number.x0 - ui.px(4);
    draw_text(ui, number, count, {.style = TextStyle::mono_small, .colour = Colour::text2, .fit = Fit::clip});
    const Interaction touch = interact(ui, frame.name("filter.clear"), clear);
    draw_icon(ui, clear, icon::kClose, ui.colour(touch.hovered ? Colour::text1 : Colour::text3), TextStyle::icon12);
    if (touch.clicked) return set_filter(frame, {});
  }
  std::string text = state.typed_filter.value_or(frame.tab.choices.rows.name_filter);
  const char* hint = frame.tab.choices.rows.minimal ? "Minimal view, filter" : "Filter lanes";
  const TextInputResult input =
      text_input(ui, frame.name("filter"), rect, text,
                 {.placeholder = hint, .icon = icon::kFilter, .focus_now = std::exchange(state.focus_filter, false)});
  // What is typed acts at once, but it is one change of the view, when it is finished.
  if (input.changed) state.typed_filter = text;
  if (input.cancelled) return set_filter(frame, {});
  if (state.typed_filter && (input.submitted || !input.focused)) set_filter(frame, *state.typed_filter);
}

void draw_no_rows(TimelineFrame& frame) {
  TimelineState& state = frame.state;
  const std::string& filter = state.composed_from.choices.name_filter;
  if (filter.empty() || state.row_count.matching > 0) return;
  static constexpr std::array<std::string_view, 1> kActions = {"Clear the filter"};
  const std::string sentence = fmt::format("No lane is called \"{}\".", filter);
  if (empty_state(frame.ui, frame.name("no_rows"), frame.canvas(frame.scrolled), icon::kFilter, sentence, kActions)) {
    set_filter(frame, {});
  }
}

}  // namespace accelscope::app
