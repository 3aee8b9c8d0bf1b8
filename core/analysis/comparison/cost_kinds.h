// By what the costs of two sessions are set beside each other, a row each, and the costs of one session by it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/memory/usage.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::analysis {

struct CostRow {
  std::string key;    // the name, path or place, "file.py:33"
  std::string text;   // of a line: what stands there, where the session has its source
  double amount = 0;  // ns, or what the kind's unit says
  double count = 0;
  double bytes = 0;
};

struct CostKind {
  std::string_view name;      // for --by: "opcode"
  std::string_view title;     // "Opcode"
  std::string_view measured;  // what its time is
  std::string_view missing;   // what a session without any would need
  std::string_view unit;      // "ns"; "B" of memory
  bool is_place = false;      // rows are places of a program: their numbers are not a run's
  Result<std::vector<CostRow>> (*read)(const QueryContext& query);
};
[[nodiscard]] std::span<const CostKind> cost_kinds() noexcept;
[[nodiscard]] const CostKind* find_cost_kind(std::string_view name) noexcept;  // null: none of this name

// By any column of the session, as core/analysis/statistics takes them. No row where the session does not have it.
[[nodiscard]] Result<std::vector<CostRow>> costs_by_column(const QueryContext& query, const std::string& column);

// What holds memory at the peak, as costs: so that two snapshots are set against each other each at its own peak, pool
// by pool, the private pools of an allocator (those of CUDA graphs) apart from its common one.
//
//   const auto rows = memory_costs(query, UsageGrouping::site);   // "GPU 0 PyTorch memory: train.py:41", bytes

// By line (site) or whole stack; where neither is known by the tensor. Pools that are known by samples alone have none.
[[nodiscard]] Result<std::vector<CostRow>> memory_costs(const QueryContext& query, UsageGrouping by);

}  // namespace accelscope::analysis
