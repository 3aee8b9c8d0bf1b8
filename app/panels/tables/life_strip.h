// Where the tensor of a row lives over time: in which memory it lies, when it is moved, when something works on it.
// Over the stretch in which the session works.
#pragma once

#include <memory>
#include <string>

#include "app/panels/context.h"
#include "core/analysis/memory/tensor_life.h"

namespace accelscope::app {

class LifeStrip {
 public:
  // Units that it takes for what is known of the tensor; 0: nothing is.
  [[nodiscard]] float height(const PanelContext& context, const std::string& name, const EventFilter& events);
  void draw(const PanelContext& context, const render::Rect& area, const std::string& name);

 private:
  void draw_row(const PanelContext& context, render::Rect row, const std::string& label,
                const std::function<void(const render::Rect&)>& bars) const;

  struct LifeQuestion {
    TimeRange range;
    bool operator==(const LifeQuestion&) const = default;
  };
  SessionAnalysis::Kept<TensorLife, SessionAnalysis::Filtered<LifeQuestion>> kept_;
  std::shared_ptr<const TensorLife> life_;
  std::shared_ptr<const MemoryUsage> usage_;
  std::string stays_name_;
  std::vector<TensorStay> stays_;
};

}  // namespace accelscope::app
