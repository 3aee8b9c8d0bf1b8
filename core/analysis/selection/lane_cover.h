// What a range of one lane is answered from, with the least to decode: kept stretches taken whole, what lies outside of
// the range taken off them, and parts of chunks that have to be read.
#pragma once

#include <cstdint>
#include <vector>

#include "core/analysis/selection/summary_index.h"

namespace accelscope {

// All of a chunk's parts.
inline constexpr std::uint32_t kAllParts = ~std::uint32_t{0};

// Where an answer comes from. Events may be added up as they lie inside the range, or a kept stretch may be taken whole
// and what lies outside of the range taken off it, whichever is less to decode.
struct Cover {
  struct Stretch {
    const PackedStretch* stretch = nullptr;
    std::uint32_t chunk = 0;  // its first
    bool adds = true;         // else it is taken off
  };
  // Parts of a chunk to decode: bit p is part p.
  struct Parts {
    std::uint32_t chunk = 0;
    std::uint32_t inside = 0;   // to add
    std::uint32_t outside = 0;  // to take off
  };
  double cost = 0;  // ns, roughly
  std::vector<Stretch> stretches;
  std::vector<Parts> parts;

  void add(Cover&& other) {
    cost += other.cost;
    stretches.insert(stretches.end(), other.stretches.begin(), other.stretches.end());
    parts.insert(parts.end(), other.parts.begin(), other.parts.end());
  }
};

// `known` is what the index holds of the lane, or null; the cover points into it.
[[nodiscard]] Cover cheapest_cover(const LaneSnapshot& lane, const TickRange& range, const SummaryIndex::Lane* known);

}  // namespace accelscope
