// Reported errors, and what ran on every engine around the chosen one: its operands and its line. Clicks select the
// events on the timeline.
#pragma once

#include <memory>

#include "app/panels/context.h"
#include "core/analysis/advice/error_surroundings.h"
#include "render/widgets/table.h"

namespace accelscope::app {

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

}  // namespace accelscope::app
