// Numbers the different values of a column in the order in which they first come, for dictionaries.
//
//   ValueNumbers& numbers = value_numbers();
//   numbers.begin(rows);
//   const std::uint32_t number = numbers.number(value);   // a value that was not there yet gets the next number
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "core/chunk/chunk_format.h"

namespace accelscope {

class ValueNumbers {
 public:
  // Forgets all. At most `values` different ones may follow, up to kMaxChunkEvents.
  void begin(std::uint32_t values) {
    const std::size_t wanted = std::bit_ceil(std::size_t{values} * 2);
    if (places_.size() < wanted) places_.assign(wanted, Place{});
    shift_ = 64 - static_cast<unsigned>(std::countr_zero(places_.size()));
    if (++round_ == 0) {
      places_.assign(places_.size(), Place{});
      round_ = 1;
    }
    values_.clear();
  }

  std::uint32_t number(std::uint64_t value) {
    return number(value, [](std::uint32_t) { return true; });
  }
  // For values that stand for something else: is_same(n) says whether number n, whose value is equal, is meant.
  template <typename IsSame>
  std::uint32_t number(std::uint64_t value, const IsSame& is_same) {
    const std::size_t mask = places_.size() - 1;
    for (std::size_t at = value * 0x9e3779b97f4a7c15ULL >> shift_;; at = (at + 1) & mask) {
      Place& place = places_[at];
      if (place.round != round_) {
        place = {value, static_cast<std::uint32_t>(values_.size()), round_};
        values_.push_back(value);
        return place.number;
      }
      if (place.value == value && is_same(place.number)) return place.number;
    }
  }

  [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(values_.size()); }
  [[nodiscard]] std::span<const std::uint64_t> values() const noexcept { return values_; }

 private:
  struct Place {
    std::uint64_t value = 0;
    std::uint32_t number = 0;
    std::uint32_t round = 0;  // in which begin() it was taken: an older one is free
  };
  std::vector<Place> places_;
  std::vector<std::uint64_t> values_;
  std::uint32_t round_ = 0;
  unsigned shift_ = 63;
};

// One of each thread, up to half a megabyte: builders are many, and each would need it for a moment only.
[[nodiscard]] inline ValueNumbers& value_numbers() {
  thread_local ValueNumbers numbers;
  return numbers;
}

}  // namespace accelscope
