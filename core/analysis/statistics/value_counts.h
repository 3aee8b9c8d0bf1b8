// How often each of some whole numbers came that lie close together: durations of one kind of event, sizes that are all
// multiples of a page. Counting one takes an addition, and everything that statistics tell follows from the counts
// exactly, however many values there were.
//
//   ValueCounts counts;
//   if (counts.cover(values)) ...             // begins to count where most of them lie
//   if (!counts.counters().count(value)) ...  // it lies elsewhere
#pragma once

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace accelscope {

// The counters as they are when asked for: value base + (i << shift) has counters[i].
struct ValueCounters {
  std::uint64_t base = 0;  // two's complement
  std::uint32_t span = 0;  // counters; 0: no value has one
  std::int32_t shift = 0;
  std::uint32_t* counters = nullptr;

  // False: the value has no counter. Low bits that all others lack become high ones, beyond every counter.
  bool count(std::int64_t value, std::uint32_t times = 1) noexcept {
    const std::uint64_t at = std::rotr(static_cast<std::uint64_t>(value) - base, shift);
    if (at >= span) return false;
    counters[at] += times;
    return true;
  }
};

class ValueCounts {
 public:
  static constexpr std::uint32_t kMost = 4096;  // counters, 16 KiB of them

  // Makes counters so that at least seven in eight of the values have one, and all that were counted keep theirs. Takes
  // those of the values that have one out of them and counts them; false: they lie too far apart, nothing has changed.
  [[nodiscard]] bool cover(std::vector<double>& values);
  // False: it has no counter.
  [[nodiscard]] bool count(double value) noexcept;
  [[nodiscard]] ValueCounters counters() noexcept {
    return {base_, static_cast<std::uint32_t>(counts_.size()), shift_, counts_.data()};
  }
  [[nodiscard]] bool empty() const noexcept { return counts_.empty(); }
  [[nodiscard]] std::uint64_t total() const noexcept;  // how many values were counted
  [[nodiscard]] bool any() const noexcept;
  // Values with their counts, the least first. The body may say false to stop.
  template <typename Body>
  void for_each(Body&& body) const {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] != 0 && !body(static_cast<double>(value_at(i)), counts_[i])) return;
    }
  }
  // False: not all values of the other can have a counter beside those of this one; nothing has changed.
  [[nodiscard]] bool merge(const ValueCounts& other);

 private:
  [[nodiscard]] std::int64_t value_at(std::size_t i) const noexcept {
    return static_cast<std::int64_t>(base_ + (std::uint64_t{i} << shift_));
  }
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> extent() const noexcept;  // of what was counted
  void move_to(std::int64_t least, std::int64_t greatest, std::int32_t shift);

  std::uint64_t base_ = 0;
  std::int32_t shift_ = 0;
  std::vector<std::uint32_t> counts_;
};

}  // namespace accelscope
