// The work of engines, DMA queues and collectives as it can be run again with a mending: how long the range would then
// take. For savings that are computed, not bounded.
//
//   const auto replay = WorkReplay::build(query, *dependencies, range);
//   if (*replay) {
//     ChangedGraph changed((*replay)->graph());
//     if ((*replay)->repairs().drop_spills(changed)) saved = (*replay)->saving(changed);
//   }
//
// A range lasts until the last work of its engines and collectives, as the active time does (session_activity.h).
//
// Nothing comes of a session that holds too many events, whose streams a host feeds (host_replay.h), or of whose time
// the dependencies explain less than kLeastExplained: as much as would pass if no event were late.
#pragma once

#include <memory>

#include "core/analysis/replay/graph_replay.h"
#include "core/analysis/replay/repairs.h"

namespace accelscope::analysis {

class WorkReplay {
 public:
  static constexpr std::uint64_t kMostEvents = 4'000'000;
  static constexpr double kLeastExplained = 0.9;

  // Null where it cannot be replayed.
  [[nodiscard]] static Result<std::unique_ptr<WorkReplay>> build(const QueryContext& query,
                                                                 const Dependencies& dependencies,
                                                                 const TimeRange& range);
  WorkReplay(const QueryContext& query, std::shared_ptr<const WorkGraph> graph, WorkDetails details);

  [[nodiscard]] const WorkGraph& graph() const noexcept { return *graph_; }
  [[nodiscard]] const Repairs& repairs() const noexcept { return repairs_; }
  [[nodiscard]] bool has_engines(std::uint32_t device) const noexcept;  // as TrackDevices counts them
  [[nodiscard]] std::int64_t total_ns() const noexcept { return end_of(graph_->end_ns, nullptr) - begin_ns_; }
  // By every reading of what the source does not tell: equal where it tells all.
  struct Saving {
    std::int64_t least_ns = 0, most_ns = 0;
  };
  [[nodiscard]] Result<Saving> saving(const ChangedGraph& changed) const;

 private:
  // Without what a change leaves out.
  [[nodiscard]] std::int64_t end_of(const std::vector<std::int64_t>& ends_ns,
                                    const ChangedGraph* changed) const noexcept;

  const QueryContext& query_;
  std::shared_ptr<const WorkGraph> graph_;
  WorkDetails details_;
  Repairs repairs_;
  std::vector<std::uint8_t> counts_;  // by node: a range lasts until the last of these
  std::int64_t begin_ns_ = 0;
};

}  // namespace accelscope::analysis
