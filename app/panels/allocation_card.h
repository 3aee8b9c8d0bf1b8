// The story of the selected allocation: who wrote it, where it lies, how long, who reads it when.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/panels/panel_context.h"
#include "core/analysis/allocation_story.h"
#include "core/query/worker_pool.h"

namespace accelscope::app {

class AllocationCard {
 public:
  explicit AllocationCard(WorkerPool& pool) : pool_(pool) {}
  // Takes up the session's selected event; false if it is no allocation.
  bool choose(const PanelContext& context, const std::shared_ptr<const MemoryUsage>& usage);
  [[nodiscard]] std::optional<std::uint32_t> allocation() const noexcept { return allocation_; }
  void draw(const PanelContext& context, render::Rect area);
  [[nodiscard]] bool pending() const noexcept { return task_.valid(); }

 private:
  void draw_field(const PanelContext& context, render::Rect& area, const char* label, const std::string& value,
                  EventId target);
  void draw_ticks(const PanelContext& context, const render::Rect& area) const;

  WorkerPool& pool_;
  std::shared_ptr<const MemoryUsage> usage_;
  std::optional<EventId> event_;
  std::optional<std::uint32_t> allocation_;
  std::shared_ptr<const AllocationStory> story_;
  Task<Result<std::shared_ptr<const AllocationStory>>> task_;
};

}  // namespace accelscope::app
