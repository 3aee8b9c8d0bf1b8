// What was found to cost time that could be saved: the findings as a table ranked by it, with all that is to be said of
// the chosen one beside them, and the reported errors with what ran on every engine around each. The chosen finding is
// shown on the timeline as a box (SessionTab::chosen_warning).
#pragma once

#include "app/panels/panel.h"
#include "core/analysis/advice/advice.h"
#include "core/analysis/advice/evidence.h"

namespace accelscope::app::panels {

class FindingList {
 public:
  // Of advice with at least one finding.
  void draw(const PanelContext& context, render::Rect area, const std::shared_ptr<const analysis::Advice>& advice);
  // The change that the user asked to try, while it was drawn last; "": none.
  [[nodiscard]] const std::string& tried() const noexcept { return tried_; }

 private:
  void draw_table(const PanelContext& context, const render::Rect& area, const analysis::Advice& advice);
  void draw_card(const PanelContext& context, const analysis::Finding& finding, const render::Rect& area);
  void order(const analysis::Advice& advice);
  void hide_idle_columns(const analysis::Advice& advice);
  static void choose(const PanelContext& context, const analysis::Finding& finding, bool zoom);

  std::shared_ptr<const analysis::Advice> ordered_;
  std::vector<std::uint32_t> rows_;  // of ordered_, as they are shown
  render::TableState table_;
  std::vector<bool> idle_;  // columns that say nothing of ordered_
  std::string tried_;
};

// A click on an error, or on what ran around it, selects that event on the timeline.
class ErrorTables {
 public:
  // Of a report with at least one error.
  void draw(const PanelContext& context, render::Rect area, const std::shared_ptr<const analysis::ErrorReport>& report);

 private:
  void draw_errors(const PanelContext& context, const render::Rect& area);
  void draw_around(const PanelContext& context, const render::Rect& area, const analysis::ReportedError& error);

  std::shared_ptr<const analysis::ErrorReport> report_;
  EventId chosen_ = kNoEvent;  // the first where it is none of the report
  render::TableState errors_, around_;
};

}  // namespace accelscope::app::panels
