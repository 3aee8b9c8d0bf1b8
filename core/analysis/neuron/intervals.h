// A bag of intervals of session time and the time that at least one of them covers. Joins an interval to the one
// added before it where they touch, so that a lane's back-to-back events cost one entry.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace accelscope::neuron {

class Intervals {
 public:
  void add(std::int64_t begin, std::int64_t end) {
    if (begin >= end) return;
    if (!parts_.empty() && parts_.back().second >= begin && parts_.back().first <= begin) {
      parts_.back().second = std::max(parts_.back().second, end);
    } else {
      parts_.emplace_back(begin, end);
    }
  }
  void add(Intervals other) { parts_.insert(parts_.end(), other.parts_.begin(), other.parts_.end()); }

  [[nodiscard]] std::int64_t covered() {
    std::sort(parts_.begin(), parts_.end());
    std::int64_t total = 0;
    std::int64_t reached = 0;
    bool first = true;
    for (const auto& [begin, end] : parts_) {
      if (first || begin > reached) {
        total += end - begin;
        reached = end;
      } else if (end > reached) {
        total += end - reached;
        reached = end;
      }
      first = false;
    }
    return total;
  }

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> parts_;
};

}  // namespace accelscope::neuron
