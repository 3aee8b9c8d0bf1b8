// The traced source beside the timeline: what every line cost in the margin, the line of the selected event lit, a
// clicked line's events lit on the timeline. The text, its tokens and the costs come from app/source_text.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/panels/panel_context.h"
#include "app/source_text.h"

namespace accelscope::app {

class SourcePanel {
 public:
  void draw(const PanelContext& context, const render::Rect& area);

 private:
  void choose_file(const PanelContext& context);
  void refresh_costs(const PanelContext& context);
  void draw_head(const PanelContext& context, render::Rect row);
  void draw_code(const PanelContext& context, const render::Rect& area);
  void draw_line(const PanelContext& context, std::size_t index, render::Rect row);
  void draw_margin(const PanelContext& context, std::size_t index, render::Rect margin);
  void draw_foot(const PanelContext& context, render::Rect area);
  void draw_without_text(const PanelContext& context, const render::Rect& area);
  void light_line(const PanelContext& context, std::uint32_t line);

  std::shared_ptr<const SourceFile> file_;
  std::shared_ptr<const SourceFile> shown_first_;  // the file whose hottest line was scrolled to
  std::vector<CodeLine> lines_;
  std::shared_ptr<const SourceLines> costs_of_;  // what costs_ was made from
  std::vector<LineCost> costs_;                  // one per line of lines_
  double hottest_ = 0;
  Heat heat_ = Heat::busy;
  Heat hottest_of_ = Heat::busy;
  std::string followed_;                   // the tab's selected_source that was scrolled to
  std::optional<std::uint32_t> lit_line_;  // 1 is the first
  std::optional<std::uint32_t> scroll_to_;
  bool fit_when_ready_ = false;
};

}  // namespace accelscope::app
