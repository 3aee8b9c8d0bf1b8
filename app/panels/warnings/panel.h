// What of the session costs time that could be saved: findings ranked by it, all that is to be said of the chosen one
// beside them; and, on its other page, what ran on every engine around each reported error. The chosen finding is shown
// on the timeline as a box (SessionTab::chosen_warning).
#pragma once

#include <memory>
#include <string>

#include "app/panels/context.h"
#include "core/analysis/advice/advice.h"
#include "core/analysis/advice/error_surroundings.h"
#include "render/widgets/table.h"

namespace accelscope::app {

// Reported errors, and what ran on every engine around the chosen one: its operands and its line. Clicks select the
// events on the timeline.

class ErrorTables {
 public:
  // Of a report with at least one error.
  void draw(const PanelContext& context, render::Rect area, const std::shared_ptr<const ErrorReport>& report);

 private:
  void draw_errors(const PanelContext& context, const render::Rect& area);
  void draw_around(const PanelContext& context, const render::Rect& area, const ReportedError& error);

  std::shared_ptr<const ErrorReport> report_;
  EventId chosen_ = kNoEvent;  // the first where it is none of the report
  render::TableState errors_, around_;
};

class WarningsPanel final : public Panel {
 public:
  void draw(const PanelContext& context, const render::Rect& area) override;
  [[nodiscard]] bool pending() const override { return errors_.task.valid(); }
  [[nodiscard]] std::string badge(const SessionTab& tab) const override;  // how many findings

 private:
  enum class Page : std::uint8_t { warnings, errors };
  void draw_head(const PanelContext& context, render::Rect row, const Advice* advice, const ErrorReport* errors);
  void draw_findings(const PanelContext& context, render::Rect area, const std::shared_ptr<const Advice>& advice);
  void draw_table(const PanelContext& context, const render::Rect& area, const Advice& advice);
  void draw_errors(const PanelContext& context, const render::Rect& area,
                   const std::shared_ptr<const ErrorReport>& errors);
  void order(const Advice& advice);
  void hide_where_nothing_is_known(const Advice& advice);
  static void choose(const PanelContext& context, const Finding& finding, bool zoom);

  Page page_ = Page::warnings;
  bool page_chosen_ = false;  // by the user
  SessionAnalysis::Kept<ErrorReport, SessionAnalysis::Filtered<SessionAnalysis::NoKey>> errors_;
  ErrorTables errors_table_;
  std::shared_ptr<const Advice> ordered_;
  std::vector<std::uint32_t> rows_;  // of ordered_, as they are shown
  render::TableState table_;
  bool hides_where_ = false;
};

}  // namespace accelscope::app
