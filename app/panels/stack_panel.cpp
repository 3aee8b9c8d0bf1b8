#include "app/panels/stack_panel.h"

#include "app/event_details.h"
#include "render/icons.h"
#include "render/widgets/layout.h"
#include "render/widgets/states.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {
constexpr float kFrameRow = 40;
}

void StackPanel::draw(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  SessionTab& tab = context.tab;
  if (tab.selected != shown_) {
    shown_ = tab.selected;
    frames_.clear();
    if (shown_) {
      if (auto record = tab.reader->read(*shown_)) {
        const EventDetails details = describe_event(*record, *tab.snapshot);
        for (const std::string& frame : details.stack) frames_.push_back(parse_stack_frame(frame));
        if (frames_.empty() && !details.source.empty()) frames_.push_back(parse_stack_frame(details.source));
      }
    }
  }
  if (frames_.empty()) {
    empty_state(ui, "stack.empty", area, icon::kList,
                shown_
                    ? "No stack was recorded for this event. Compile with XLA_IR_DEBUG=1 and XLA_HLO_DEBUG=1 to have "
                      "the framework's calls."
                    : "Select an event to see the calls that led to it.");
    return;
  }
  const float row_height = ui.px(kFrameRow);
  const ScrollArea scroll(ui, "stack.scroll", area, row_height * static_cast<float>(frames_.size()));
  Rect content = scroll.content();
  for (std::size_t i = 0; i < frames_.size(); ++i) {
    const StackFrame& frame = frames_[i];
    Rect row = content.cut_top(row_height);
    const bool has_line = frame.line > 0;
    const Interaction hand = interact(ui, "stack.frame." + std::to_string(i), row, {.disabled = !has_line});
    if (hand.hovered) {
      fill(ui, row, ui.colour(Colour::bg3));
      set_cursor(Cursor::hand);
    }
    horizontal_line(ui, row.x0, row.x1, row.y1 - 1, ui.colour(Colour::line1));
    Rect place = row.inset(ui.px(size::kPanelPadding), ui.px(3));
    draw_text(ui, place.cut_left(ui.px(24)), std::to_string(i), {.style = TextStyle::mono, .colour = Colour::text3});
    const std::string location = has_line ? frame.path + ":" + std::to_string(frame.line) : frame.text;
    if (frame.function.empty()) {
      draw_text(ui, place, location, {.style = TextStyle::mono, .colour = has_line ? Colour::accent : Colour::text1});
    } else {
      draw_text(ui, place.cut_top(place.height() / 2), frame.function, {.style = TextStyle::heading});
      draw_text(ui, place, location, {.style = TextStyle::mono, .colour = Colour::accent, .fit = Fit::middle});
    }
    if (hand.clicked) {
      tab.selected_source = location;
      context.actions.show_panel(PanelId::source);
    }
  }
}

}  // namespace accelscope::app
