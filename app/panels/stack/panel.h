// The calls that led to the selected event, innermost first: for work of a device the call that launched it and what
// that lies in. A click on a call lights it on the timeline and opens its line in the source view; one without a line
// becomes the selected event.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/content/source/call_rows.h"
#include "app/panels/context.h"

namespace accelscope::app {

// Where there is no stack: why, and one thing to do about it.
struct StackAdvice {
  const char* sentence = "";
  const char* action = "";  // its link; "": none
  const char* command = "";
};

class StackPanel final : public Panel {
 public:
  void draw(const PanelContext& context, const render::Rect& area) override;
  [[nodiscard]] bool pending() const override { return task_.valid() && !task_.ready(); }

 private:
  // Calls under one heading: those of the event, those of the forward pass.
  struct Part {
    std::vector<CallRow> rows;
    std::set<std::size_t> opened;  // runs of framework calls
  };

  void read(const PanelContext& context);
  void take(const PanelContext& context, const EventRecord& record);
  void draw_head(const PanelContext& context, render::Rect head);
  void draw_part(const PanelContext& context, Part& part, const std::string& prefix, render::Rect& content);
  void draw_row(const PanelContext& context, Part& part, const CallRow& row, const std::string& name,
                const std::string& level, render::Rect place);
  [[nodiscard]] std::string text() const;

  std::optional<EventId> shown_;
  std::uint64_t version_ = 0;  // of the dependencies that it was asked for with
  Task<Result<EventStack>> task_;
  bool read_ = false;    // what is shown is of shown_
  bool failed_ = false;  // it could not be read; Details says why
  StackAdvice advice_ = {"Select an event to see the calls that led to it."};
  std::string note_;  // what is missing of the stack, below it
  std::string title_, forward_title_;
  std::string launch_;  // "Queued 1.65 ms"
  std::uint8_t slot_ = 0;
  Part calls_, forward_;
};

}  // namespace accelscope::app
