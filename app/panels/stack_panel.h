// The calls that led to the selected event, innermost first; a click opens the frame's line in the source view.
#pragma once

#include <optional>
#include <vector>

#include "app/panels/panel_context.h"
#include "app/source_text.h"

namespace accelscope::app {

// Where there is no stack: why, and one thing to do about it.
struct StackAdvice {
  const char* sentence = "";
  const char* action = "";  // its link; "": none
  const char* command = "";
};

class StackPanel {
 public:
  void draw(const PanelContext& context, const render::Rect& area);

 private:
  void read(const PanelContext& context);

  std::optional<EventId> shown_;
  StackAdvice advice_ = {"Select an event to see the calls that led to it."};
  std::vector<StackFrame> frames_;
  std::vector<std::size_t> repeats_;  // how often each of frames_ stands there in a row
};

}  // namespace accelscope::app
