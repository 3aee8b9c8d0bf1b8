// Which loop of one session is which of another: those whose bodies have the most names in common, on tracks of one
// name where there are such; numbers at the ends of names do not count.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/analysis/iterations/iterations.h"

namespace accelscope {

// Turns of a loop that both sessions run, in their order; there may be more of one than of the other.
struct SharedTurns {
  std::vector<TimeRange> base, other;
};

// The outermost loops only, of the device that `base` lists first where it has any in common; of those the one of most
// names in common. Nothing: there is none whose bodies have at least half of their names in common.
[[nodiscard]] std::optional<SharedTurns> shared_turns(const IterationList& base, const Snapshot& base_snapshot,
                                                      const IterationList& other, const Snapshot& other_snapshot);

// Looks for what repeats in both first.
[[nodiscard]] Result<std::shared_ptr<const SharedTurns>> find_shared_turns(const QueryContext& base,
                                                                           const QueryContext& other);

}  // namespace accelscope
