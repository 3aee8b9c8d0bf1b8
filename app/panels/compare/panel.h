// This session beside another that is open: the verdict first, then figures and costs, the base on the left. This tab
// is the base, the other is chosen in the head.
#pragma once

#include <memory>
#include <optional>

#include "app/panels/answer_table.h"
#include "app/panels/compare/waterfall.h"

namespace accelscope::app {

class ComparePanel final : public Panel {
 public:
  void draw(const PanelContext& context, const render::Rect& area) override;
  [[nodiscard]] std::optional<bool> has_content(const PanelContext& context) const override;
  [[nodiscard]] bool pending() const override { return kept_.task.valid() || waterfall_.pending(); }

 private:
  // Fills in the session to compare with, where there is one.
  void draw_head(const PanelContext& context, render::Rect head, CompareQuestion& question);
  void draw_verdict(const PanelContext& context, const render::Rect& area) const;

  std::weak_ptr<const Store> chosen_;
  int kind_ = 0;
  bool side_by_side_ = false;  // was asked for in this frame
  CompareKept kept_;
  std::shared_ptr<const ComparedSides> shown_;
  AnswerTable rows_;
  Waterfall waterfall_;
};

}  // namespace accelscope::app
