// A regression explained as a waterfall: from the base's total term by term to the other's, worse ones first.
#pragma once

#include <memory>

#include "app/content/comparison/explained.h"
#include "app/panels/compare/sides.h"
#include "app/panels/context.h"

namespace accelscope::app {

class Waterfall {
 public:
  void draw(const PanelContext& context, const render::Rect& area, const CompareQuestion& question);
  [[nodiscard]] bool pending() const { return kept_.task.valid(); }

 private:
  void draw_part(const PanelContext& context, const render::Rect& area, const CompareQuestion& question,
                 const ExplainedPart& part);

  SessionAnalysis::Kept<Explained, CompareQuestion> kept_;
  int by_ = 0;
  int chosen_ = -1;  // of the terms
};

}  // namespace accelscope::app
