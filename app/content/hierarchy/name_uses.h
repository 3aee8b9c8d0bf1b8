// Whether the name of a call tells it from the same name elsewhere in a tree of calls or zones: a search finds names,
// no stacks.
#pragma once

#include <vector>

#include "core/analysis/hierarchy/hierarchy.h"

namespace accelscope::app {

enum class NameUse : std::uint8_t {
  alone,   // nothing else in the tree is called so
  apart,   // nothing else is while its events run: the name and their stretch of time tell it
  shared,  // others are at the same time
};

// By node; empty for trees that are of no calls. O(n log n): on a worker.
[[nodiscard]] std::vector<NameUse> name_uses(const Hierarchy& tree);

}  // namespace accelscope::app
