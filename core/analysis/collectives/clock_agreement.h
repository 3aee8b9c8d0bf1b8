// How far the clocks of ranks agree, told by the ends of what they did together: all ranks of a collective are done at
// nearly the same time.
#pragma once

#include "core/analysis/collectives/collectives.h"

namespace accelscope {

// Sets the clocks of all ranks and their residuals, and moves the cells. Of the instances only kind, first and count
// need be known.
void set_rank_clocks(Collectives& collectives, const Snapshot& snapshot, RankClocks wanted);

}  // namespace accelscope
