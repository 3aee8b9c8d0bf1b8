// What was skipped, estimated, lost or missing in the data, worst first, with what to try; and how the session is
// stored. The status bar's chip leads here.
#pragma once

#include "app/panels/panel.h"

namespace accelscope::app::panels {

struct QualitySummary {
  std::uint64_t errors = 0, warnings = 0, notes = 0;  // entries of each severity
  [[nodiscard]] bool complete() const noexcept { return errors == 0 && warnings == 0; }
};
[[nodiscard]] QualitySummary summarise_quality(const Snapshot& snapshot);
[[nodiscard]] std::string quality_text(const QualitySummary& summary);  // "Data complete", "2 warnings on data quality"

class QualityPanel final : public Panel {
 public:
  void draw(const PanelContext& context, const render::Rect& area) override;
  [[nodiscard]] std::string badge(const session::SessionTab& tab) const override;  // how many warnings and errors

 private:
  render::TableState table_;
};

}  // namespace accelscope::app::panels
