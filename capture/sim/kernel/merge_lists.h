// Sorts as std::stable_sort does, but what is a few sorted lists one after another, in one pass for each doubling of
// their number.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace accelscope::capture::sim {

// `spare` is room that the caller may keep for the next time.
template <typename Record, typename Before>
void merge_lists(std::vector<Record>& records, std::vector<Record>& spare, Before before) {
  std::vector<std::size_t> ends;
  for (auto at = records.begin(); at != records.end();) {
    at = std::is_sorted_until(at, records.end(), before);
    ends.push_back(static_cast<std::size_t>(at - records.begin()));
  }
  const auto place = [](std::size_t index) { return static_cast<std::ptrdiff_t>(index); };
  while (ends.size() > 1) {
    spare.resize(records.size());
    std::vector<std::size_t> merged;
    std::size_t from = 0;
    for (std::size_t list = 0; list < ends.size(); list += 2) {
      const std::size_t middle = ends[list];
      const std::size_t until = list + 1 < ends.size() ? ends[list + 1] : middle;
      std::merge(records.begin() + place(from), records.begin() + place(middle), records.begin() + place(middle),
                 records.begin() + place(until), spare.begin() + place(from), before);
      merged.push_back(from = until);
    }
    records.swap(spare);
    ends = std::move(merged);
  }
}

}  // namespace accelscope::capture::sim
