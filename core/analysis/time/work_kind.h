// What the lanes of a session are to summaries and verdicts.
#pragma once

#include <string_view>
#include <vector>

#include "core/model/track_kinds.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::analysis {

[[nodiscard]] WorkKind work_kind_of(const TrackSnapshot& track) noexcept;
// It names stretches of a program, such as steps, on a thread of its host.
[[nodiscard]] bool is_annotation(const TrackSnapshot& track) noexcept;
// Its transfers fill memory with a value: they take time of a device and move nothing.
[[nodiscard]] bool only_fills(const TrackSnapshot& track) noexcept;
// Zones of a program on a device lie within each other: the lanes of such a track are the levels of a stack.
[[nodiscard]] bool nests_zones(WorkKind work, const Schema& schema) noexcept;
// A row that a source keeps of itself spans the whole capture, whatever happened in it.
[[nodiscard]] bool is_of_profiler(const Track& track) noexcept;
// So does what a capture tells of itself, such as that it was paused; neither is what was recorded.
[[nodiscard]] bool tells_of_capture(const Track& track) noexcept;

// Kernels on a stream that do it too: "ncclDevKernel_AllReduce_Sum_bf16_RING_LL".
[[nodiscard]] bool names_collective(std::string_view name) noexcept;

// Those of all lanes of a snapshot, and which of a host's threads each lane is of.
class WorkKinds {
 public:
  explicit WorkKinds(const Snapshot& snapshot);

  [[nodiscard]] WorkKind of_lane(std::size_t lane) const noexcept { return kinds_[lane]; }
  // False where the same time lies on other tracks of the device in more detail: a transfer's packets cover it.
  [[nodiscard]] bool covers_time(std::size_t lane) const noexcept { return covers_[lane]; }
  [[nodiscard]] bool any(WorkKind kind) const noexcept { return any_[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] bool any_device() const noexcept {
    return any(WorkKind::compute) || any(WorkKind::transfer) || any(WorkKind::collective);
  }
  // Of lanes of a host: see HostThreads. Tracks of zones follow them, each a stack of its own.
  [[nodiscard]] std::size_t thread_of_lane(std::size_t lane) const noexcept { return threads_[lane]; }
  [[nodiscard]] std::size_t thread_count() const noexcept { return thread_count_; }
  [[nodiscard]] bool has_zones(std::size_t lane) const noexcept { return zones_[lane]; }  // see nests_zones()
  [[nodiscard]] std::int64_t rank_of_lane(std::size_t lane) const noexcept { return ranks_[lane]; }  // outer rows first

 private:
  std::vector<WorkKind> kinds_;
  std::vector<bool> covers_, zones_;
  std::vector<std::size_t> threads_;
  std::vector<std::int64_t> ranks_;
  std::size_t thread_count_ = 0;
  bool any_[kWorkKindCount] = {};
};

}  // namespace accelscope::analysis
