// This session beside another that is open: whether results differ, the verdict, then figures and costs, the base, A,
// on the left. A is the session that was opened first, of a comparison the one above; a click swaps them.
#pragma once

#include <memory>
#include <optional>

#include "app/content/comparison/explained.h"
#include "app/panels/answer_table.h"
#include "app/panels/compare/sides.h"
#include "app/panels/context.h"

namespace accelscope::app {

// A regression explained as a waterfall: from the base's total term by term to the other's, worse ones first.

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

class ComparePanel final : public Panel {
 public:
  void draw(const PanelContext& context, const render::Rect& area) override;
  [[nodiscard]] std::optional<bool> has_content(const PanelContext& context) const override;
  [[nodiscard]] bool pending() const override {
    return kept_.task.valid() || results_kept_.task.valid() || waterfall_.pending();
  }

 private:
  // Fills in the session to compare with, where there is one; takes its rows off the area.
  void draw_head(const PanelContext& context, render::Rect& area, CompareQuestion& question);
  // The results, and a click on them: what is left of the area.
  void draw_results(const PanelContext& context, render::Rect& area, const CompareQuestion& question);
  void draw_verdict(const PanelContext& context, const render::Rect& area) const;

  std::weak_ptr<const Store> chosen_;
  int kind_ = 0;
  bool side_by_side_ = false;  // was asked for in this frame
  bool swapped_ = false;       // of a tab without another below
  CompareKept kept_;
  ResultsKept results_kept_;
  std::shared_ptr<const ComparedSides> shown_;
  AnswerTable rows_;
  Waterfall waterfall_;
};

}  // namespace accelscope::app
