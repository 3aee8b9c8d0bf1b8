// The story of the selected allocation: who wrote it, where it lies, how long, who reads it when.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/panels/context.h"
#include "core/analysis/memory/allocation_story.h"
#include "core/base/worker_pool.h"

namespace accelscope::app {

class AllocationCard {
 public:
  explicit AllocationCard(WorkerPool& pool) : pool_(pool) {}
  // Takes up the session's selected event; false if it is no allocation. Its own links select who wrote or read the
  // allocation: it stays while they are selected.
  bool choose(const PanelContext& context, const std::shared_ptr<const MemoryUsage>& usage);
  [[nodiscard]] std::optional<std::uint32_t> allocation() const noexcept { return allocation_; }
  void draw(const PanelContext& context, render::Rect area);
  [[nodiscard]] bool pending() const noexcept { return find_task_.valid() || story_task_.valid(); }

 private:
  void take_answers(const PanelContext& context);
  void go_to(const PanelContext& context, EventId event);
  void draw_field(const PanelContext& context, render::Rect& area, const char* label, const std::string& value,
                  EventId target);
  void draw_ticks(const PanelContext& context, const render::Rect& area);

  WorkerPool& pool_;
  std::shared_ptr<const MemoryUsage> usage_;  // that the answers are of
  std::optional<EventId> event_;              // that was asked for
  EventId followed_ = kNoEvent;               // selected by a link of the card
  std::optional<std::uint32_t> allocation_;
  std::shared_ptr<const AllocationStory> story_;
  Task<std::optional<std::uint32_t>> find_task_;
  Task<Result<std::shared_ptr<const AllocationStory>>> story_task_;
};

}  // namespace accelscope::app
