// Sorts what consists of a few long runs that are sorted already, such as the events of several lanes one lane after
// another: runs are merged pair by pair, which looks at every element log2(runs) times.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace accelscope {

template <typename T>
void sort_runs(std::vector<T>& values) {
  std::vector<std::size_t> ends;
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i] < values[i - 1]) ends.push_back(i);
  }
  if (ends.empty()) return;
  constexpr std::size_t kFew = 8;  // elements of a run, in the mean: sorting costs less than merging so many
  if (ends.size() > values.size() / kFew) {
    std::sort(values.begin(), values.end());
    return;
  }
  ends.push_back(values.size());
  std::vector<T> merged(values.size());
  while (ends.size() > 1) {
    std::vector<std::size_t> next;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < ends.size(); i += 2) {
      const auto at = [&](std::size_t index) { return values.begin() + static_cast<std::ptrdiff_t>(index); };
      const std::size_t middle = ends[i], end = i + 1 < ends.size() ? ends[i + 1] : middle;
      std::merge(at(begin), at(middle), at(middle), at(end), merged.begin() + static_cast<std::ptrdiff_t>(begin));
      next.push_back(end);
      begin = end;
    }
    values.swap(merged);
    ends.swap(next);
  }
}

}  // namespace accelscope
