// One tiled kernel in many shapes: y = act(x @ w) + b, with what a careless author may do to it.
#pragma once

#include "capture/sim/kernel/program.h"

namespace accelscope::capture::sim {

struct TiledShape {
  int groups = 1;     // passes over all weights
  int blocks = 8;     // of columns: a block has `depth` tiles of weights
  int rows = 4;       // blocks of 128 rows
  int depth = 4;      // tiles that add up
  int columns = 512;  // that move at once
  int banks = 2;      // of PSUM
  int ring = 8;       // buffers for tiles of weights; groups * blocks * depth at most
  int pieces = 1;     // transfers of a tile
  bool resident = false;
  bool spills = false;
  bool transposes = false;
  bool collective = false;  // adds the first half of the blocks across ranks
  bool late = false;        // and only at the end
  std::int64_t collective_bytes = 1 << 20;
};

[[nodiscard]] KernelProgram build_tiled_kernel(const TiledShape& shape);

}  // namespace accelscope::capture::sim
