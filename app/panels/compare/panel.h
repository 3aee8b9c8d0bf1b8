// This session beside another that is open: the verdict first, then figures and costs, the base on the left. This tab
// is the base, the other is chosen in the head.
#pragma once

#include <memory>
#include <string>

#include "app/content/listings/base/listing.h"
#include "app/panels/answer_table.h"
#include "core/analysis/comparison/comparison.h"

namespace accelscope::app {

class ComparePanel final : public Panel {
 public:
  void draw(const PanelContext& context, const render::Rect& area) override;
  [[nodiscard]] bool pending() const override { return kept_.task.valid(); }

 private:
  struct Question {
    std::shared_ptr<const Store> other;
    std::string base_title, other_title;
    std::string kind;  // "metric", "line" ...
    bool operator==(const Question&) const = default;
  };
  struct Compared {
    Comparison comparison;
    Listing listing;
  };
  // The session to compare with; null: there is none.
  [[nodiscard]] std::shared_ptr<const Store> draw_head(const PanelContext& context, render::Rect head,
                                                       std::string& title);
  void draw_verdict(const PanelContext& context, const render::Rect& area) const;
  [[nodiscard]] static SessionAnalysis::Found<Compared> compare(const QueryContext& query, const Question& question);

  std::weak_ptr<const Store> chosen_;
  int kind_ = 0;
  SessionAnalysis::Kept<Compared, Question> kept_;
  std::shared_ptr<const Compared> shown_;
  AnswerTable rows_;
};

}  // namespace accelscope::app
