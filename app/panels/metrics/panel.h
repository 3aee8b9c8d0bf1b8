// The figures of the session, by group and device: what the vendor's file states, what we compute from the events, and
// how far they lie apart. By choice of the visible range, where there is only ours. Hovering a figure explains it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/content/figure_text.h"
#include "app/panels/context.h"
#include "app/panels/scope.h"
#include "render/widgets/table.h"

namespace accelscope::app {

class MetricsPanel final : public Panel {
 public:
  void draw(const PanelContext& context, const render::Rect& area) override;

 private:
  void draw_head(const PanelContext& context, render::Rect head, bool stale);
  void refresh_rows(const render::Ui& ui, std::shared_ptr<const SessionFigures> figures);
  void draw_table(const PanelContext& context, const render::Rect& area, bool stale);
  // Whether the figure stays what it was without the filter's tracks and terms.
  [[nodiscard]] bool not_filtered(const SessionMetric& metric) const;
  void explain(const PanelContext& context, const FigureRow& row, const render::Rect& at) const;

  PanelScope scope_ = Scope::session;
  std::string filter_;
  render::TableState table_;
  std::shared_ptr<const SessionFigures> figures_;  // that the rows are of
  std::vector<FigureRow> rows_;
  std::string rows_filter_;
  int rows_sorted_by_ = -1;
  bool rows_descending_ = true;
  float names_width_ = 0;  // units that titles and names take
};

}  // namespace accelscope::app
