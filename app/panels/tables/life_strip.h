// Where the tensor of a row lives over time: in which memory it lies, when it is moved, when something works on it.
// Over the stretch in which the session works.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/panels/context.h"
#include "app/session/analysis.h"
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
  // Where it lies, in the pools of a state of the memory.
  struct Stays {
    std::shared_ptr<const MemoryUsage> usage;
    std::vector<TensorStay> all;
  };
  struct StaysQuestion {
    std::shared_ptr<const MemoryUsage> usage;
    std::string name;
    std::int64_t end_ns = 0;  // of the session
    bool operator==(const StaysQuestion&) const = default;
  };
  [[nodiscard]] bool any_events() const noexcept { return life_ && life_->events > 0; }
  [[nodiscard]] bool any_transfers() const noexcept { return any_events() && life_->transfers > 0; }
  [[nodiscard]] bool any_other_events() const noexcept { return any_events() && life_->events > life_->transfers; }
  [[nodiscard]] std::vector<std::uint32_t> pools() const;
  [[nodiscard]] const std::string& error() const noexcept {
    return kept_.error.empty() ? stays_kept_.error : kept_.error;
  }
  [[nodiscard]] std::string hint(const PanelContext& context) const;
  void take_hand(const PanelContext& context, const render::Rect& plot, const TimeRange& range) const;

  SessionAnalysis::Kept<Stays, StaysQuestion> stays_kept_;
  std::shared_ptr<const TensorLife> life_;
  std::shared_ptr<const Stays> stays_;
};

}  // namespace accelscope::app
