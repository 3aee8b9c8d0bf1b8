// The memory tracker: allocations with their lifetimes out of the events of kind memory, the use of every pool
// over time with its peak, and who holds what. An event with a duration lives exactly as long; otherwise a
// release (Role::allocation < 0) ends the allocation of the same Role::key, else of the same pool and address,
// else of the same pool, tensor and size. What is never released lives to the end.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/query/chunk_scan.h"

namespace accelscope {

struct Allocation {
  EventId event = kNoEvent;
  EventId release = kNoEvent;
  std::uint32_t pool = 0;    // index into MemoryUsage::pools
  std::uint32_t tensor = 0;  // index into MemoryUsage::tensors
  std::optional<std::uint64_t> address;
  std::uint64_t bytes = 0;
  std::int64_t begin_ns = 0;
  std::optional<std::int64_t> end_ns;  // none: alive at the end
};

struct PoolStep {
  std::int64_t ns = 0;
  std::uint64_t bytes = 0;  // in use from here to the next step
};

struct PoolChange {
  std::int64_t ns = 0;
  std::int64_t bytes = 0;
  std::uint32_t tensor = 0;
};

struct PoolUsage {
  std::string name;
  std::vector<PoolChange> changes;  // every allocation and release, by time
  std::vector<PoolStep> steps;      // rising in time, one per instant at which the use changes
  std::uint64_t peak_bytes = 0;
  std::int64_t peak_ns = 0;  // when it is first reached
  std::uint64_t allocation_count = 0;
};

// Stacked areas for a plot: values[series][pixel] in bytes. Every pixel shows the moment of its peak, so that its
// column adds up to the most that was in use within it.
struct StackedUsage {
  std::vector<std::string> names;  // tensors, the largest shown first; "other" last if some were left out
  std::vector<std::vector<std::uint64_t>> values;
  std::vector<std::uint64_t> total;  // of the whole pool
};

struct MemoryUsage {
  std::uint64_t snapshot_version = 0;
  std::vector<std::string> tensors;
  std::vector<PoolUsage> pools;
  std::vector<Allocation> allocations;   // by begin
  std::uint64_t unmatched_releases = 0;  // releases of what was never allocated
  std::uint64_t implied_releases = 0;    // allocations whose address was handed out again before a release

  [[nodiscard]] std::optional<std::uint32_t> find_pool(std::string_view name) const noexcept;
  [[nodiscard]] std::uint64_t used_at(std::uint32_t pool, std::int64_t ns) const noexcept;
  // Indices into allocations of those alive at the time and of at least min_bytes, largest first.
  [[nodiscard]] std::vector<std::uint32_t> alive_at(std::uint32_t pool, std::int64_t ns,
                                                    std::uint64_t min_bytes = 0) const;
  // Tensors whose allocations are all below min_bytes, and those after the first max_series, go into "other".
  [[nodiscard]] StackedUsage stacked(std::uint32_t pool, const TimeRange& range, std::size_t pixels,
                                     std::size_t max_series, std::uint64_t min_bytes = 0) const;
};

[[nodiscard]] Result<std::shared_ptr<const MemoryUsage>> memory_usage(const QueryContext& query);

}  // namespace accelscope
