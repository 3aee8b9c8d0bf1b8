#include "capture/sources/tt_metal/read/cell_cache.h"

#include <algorithm>

namespace accelscope::capture::sources::tt_metal {

CellCache::CellCache(std::vector<int> cells) : entries_(kPlaces) {
  std::sort(cells.begin(), cells.end());
  for (const int cell : cells) {
    if (!groups_.empty() && groups_.back().last + 1 == cell) {
      groups_.back().last = cell;
    } else {
      groups_.push_back({cell, cell});
    }
  }
  last_.resize(groups_.size());
}

}  // namespace accelscope::capture::sources::tt_metal
