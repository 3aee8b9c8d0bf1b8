// Pools of memory whose use is known by samples only: counters in bytes that say how much is in use, and counters that
// state the share of a pool ("SBUF usage") whose capacity the session states.
#pragma once

#include <optional>
#include <string_view>

#include "core/analysis/memory/usage.h"

namespace accelscope {

// What the meta entry "capacity.DEVICE NAME", else "capacity.NAME", says, in bytes.
[[nodiscard]] std::optional<std::uint64_t> stated_capacity(const Snapshot& snapshot, std::string_view device,
                                                           std::string_view name);

// Appends to MemoryUsage::sampled. A pool that has allocations of its own gets no share counter beside them.
[[nodiscard]] Result<void> add_sampled_pools(const QueryContext& query, MemoryUsage& usage);

}  // namespace accelscope
