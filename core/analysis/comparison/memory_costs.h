// What holds memory at the peak, as costs: so that two snapshots are set against each other each at its own peak, pool
// by pool, the private pools of an allocator (those of CUDA graphs) apart from its common one.
//
//   const auto rows = memory_costs(query, UsageGrouping::site);   // "GPU 0 PyTorch memory: train.py:41", bytes
#pragma once

#include <vector>

#include "core/analysis/comparison/cost_kinds.h"
#include "core/analysis/memory/usage.h"

namespace accelscope {

// By line (site) or whole stack; where neither is known by the tensor. Pools that are known by samples alone have none.
[[nodiscard]] Result<std::vector<CostRow>> memory_costs(const QueryContext& query, UsageGrouping by);

}  // namespace accelscope
