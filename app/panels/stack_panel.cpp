#include "app/panels/stack_panel.h"

#include <algorithm>
#include <array>
#include <span>

#include "app/event_details.h"
#include "core/base/format.h"
#include "render/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/layout.h"
#include "render/widgets/popup.h"
#include "render/widgets/states.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {
constexpr float kFrameRow = 40, kStackHeadRow = 32;

bool has_role(const Schema& schema, Role role) { return schema.find(role).has_value(); }

bool has_tracks_of(const Snapshot& snapshot, std::string_view kind) {
  return std::any_of(snapshot.tracks.begin(), snapshot.tracks.end(),
                     [&](const TrackSnapshot& track) { return track.track->kind == kind; });
}

// What to do to have a stack, by what kind of source the session comes from.
StackAdvice advice_for(const Snapshot& snapshot, const Schema* schema, std::string_view track_kind) {
  const bool host_calls = has_tracks_of(snapshot, "host_thread");
  if (track_kind == "stream" || track_kind == "dma_queue") {
    if (host_calls) {
      return {"Work on a device has no calls of its own; the call on the host that launched it has.",
              "To what launched it", "predecessor"};
    }
  }
  if (has_tracks_of(snapshot, "stream") || host_calls) {
    return {"No stack was recorded for this event. torch.profiler records Python's calls with with_stack=True."};
  }
  if (schema != nullptr && has_role(*schema, Role::operands)) {
    return {
        "No stack was recorded for this event. Compile with XLA_IR_DEBUG=1 and XLA_HLO_DEBUG=1 to have the "
        "framework's calls."};
  }
  const bool any = std::any_of(snapshot.schemas.begin(), snapshot.schemas.end(),
                               [](const auto& each) { return has_role(*each, Role::stack); });
  if (any) return {"No stack was recorded for this event; instructions and framework calls have one."};
  return {
      "The source of this session records no call stacks. What line an event comes from, if it says so, stands in "
      "Details."};
}

}  // namespace

void StackPanel::read(const PanelContext& context) {
  const SessionTab& tab = context.tab;
  if (tab.selected == shown_) return;
  shown_ = tab.selected;
  advice_ = {"Select an event to see the calls that led to it."};
  frames_.clear();
  repeats_.clear();
  if (!shown_) return;
  const auto record = tab.reader->read(*shown_);
  if (!record) return;  // Details says why
  const TrackSnapshot* track = tab.snapshot->find_track(record->lane->track);
  advice_ = advice_for(*tab.snapshot, record->lane->schema.get(), track != nullptr ? track->track->kind : "");
  const EventDetails details = describe_event(*record, *tab.snapshot);
  std::vector<std::string> texts = details.stack;
  if (texts.empty() && !details.source.empty()) texts.push_back(details.source);
  for (const std::string& text : texts) {
    StackFrame frame = parse_stack_frame(text);
    if (!frames_.empty() && frames_.back().text == frame.text) {  // a function that calls itself
      ++repeats_.back();
      continue;
    }
    frames_.push_back(std::move(frame));
    repeats_.push_back(1);
  }
}

void StackPanel::draw(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  SessionTab& tab = context.tab;
  read(context);
  if (frames_.empty()) {
    const std::array<std::string_view, 1> actions = {advice_.action};
    const std::size_t count = advice_.action[0] != 0 ? 1 : 0;
    if (empty_state(ui, "stack.empty", area, icon::kList, advice_.sentence, std::span(actions).first(count))) {
      context.actions.run(advice_.command);
    }
    return;
  }
  Rect rest = area;
  Rect head = rest.cut_top(ui.px(kStackHeadRow)).inset(ui.px(size::kPanelPadding), 0);
  const ButtonOptions copy{.label = "Copy", .icon = icon::kCopy, .tooltip = "All frames, innermost first"};
  if (button(ui, "stack.copy", head.cut_right(button_width(ui, copy)).middle(ui.px(size::kSmallControl)), copy)) {
    std::string text;
    for (std::size_t i = 0; i < frames_.size(); ++i) {
      for (std::size_t k = 0; k < repeats_[i]; ++k) text += frames_[i].text + "\n";
    }
    context.copy(text, "the stack");
  }
  draw_text(ui, head, format_count(frames_.size()) + (frames_.size() == 1 ? " frame" : " frames") + ", innermost first",
            {.style = TextStyle::small, .colour = Colour::text3});
  const float row_height = ui.px(kFrameRow);
  const ScrollArea scroll(ui, "stack.scroll", rest, row_height * static_cast<float>(frames_.size()));
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
    const std::string location = has_line ? frame.path + ":" + std::to_string(frame.line) : frame.text;
    if (const std::string whole = frame.function.empty() ? location : frame.function + "\n" + location;
        text_width(ui, TextStyle::mono, location) > place.width() - ui.px(24)) {
      tooltip(ui, hand, row, whole);
    }
    draw_text(ui, place.cut_left(ui.px(24)), std::to_string(i), {.style = TextStyle::mono, .colour = Colour::text3});
    if (repeats_[i] > 1) {
      const std::string times = "× " + format_count(repeats_[i]);
      draw_text(ui, place.cut_right(text_width(ui, TextStyle::mono, times) + ui.px(8)), times,
                {.style = TextStyle::mono, .colour = Colour::text2, .align = Align::right});
    }
    if (frame.function.empty()) {
      draw_text(ui, place, location,
                {.style = TextStyle::mono, .colour = has_line ? Colour::accent : Colour::text1, .fit = Fit::middle});
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
