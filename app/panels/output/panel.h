// What the program printed, line by line as it comes: stdout and stderr in the order of time, beside the session's
// time; a click goes to the event. Follows the end until it is scrolled up.
#pragma once

#include <optional>
#include <string>

#include "app/content/capture/output_lines.h"
#include "app/panels/context.h"

namespace accelscope::app {

class OutputPanel final : public Panel {
 public:
  explicit OutputPanel(WorkerPool& pool) : lines_(pool) {}
  void draw(const PanelContext& context, const render::Rect& area) override;
  [[nodiscard]] std::optional<bool> has_content(const PanelContext& context) const override;
  [[nodiscard]] bool pending() const override { return lines_.pending(); }

 private:
  void draw_head(const PanelContext& context, render::Rect row);
  void draw_lines(const PanelContext& context, const render::Rect& area);
  void draw_line(const PanelContext& context, const render::Rect& row, std::size_t index);
  void scroll(render::Ui& ui, const render::Rect& area, double visible);
  void draw_bar(render::Ui& ui, const render::Rect& bar, double visible);

  OutputLines lines_;
  std::string filter_;
  double top_ = 0;  // the first line in sight; counted in lines, so that a million are scrolled to the pixel
  bool follows_ = true;
};

// "exit status 1", "ended by SIGKILL"; "" while it runs, or when no program was run.
[[nodiscard]] std::string exit_text(const Snapshot& snapshot);
[[nodiscard]] bool exit_is_good(const Snapshot& snapshot);

}  // namespace accelscope::app
