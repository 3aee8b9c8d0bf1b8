// The figures that the vendor's file states, by group, searchable; exactly as they were delivered.
#pragma once

#include <string>

#include "app/panels/panel_context.h"
#include "render/widgets/table.h"

namespace accelscope::app {

// "198 GB/s", "23.8 %", "1,986 ns": a figure with its unit as users read it.
[[nodiscard]] std::string metric_text(const Metric& metric);
// Every digit: "3.8940199999999998e-07 s"
[[nodiscard]] std::string exact_text(const Metric& metric);

class MetricsPanel {
 public:
  void draw(const PanelContext& context, const render::Rect& area);

 private:
  std::string filter_;
  render::TableState table_;
};

}  // namespace accelscope::app
