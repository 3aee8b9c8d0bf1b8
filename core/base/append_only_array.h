// An array that only grows and never moves its elements: segments of doubling size. One thread appends; any thread may
// read the elements below a count that it learned from the appender through a lock. Three words until it is used, and a
// table of segments only beyond the first of them: a session has dozens of arrays for each of its lanes, most of them
// empty. Untouched parts of a segment cost address space, not memory.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>

namespace accelscope {

template <typename T>
class AppendOnlyArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  AppendOnlyArray() = default;
  AppendOnlyArray(const AppendOnlyArray&) = delete;
  AppendOnlyArray& operator=(const AppendOnlyArray&) = delete;
  ~AppendOnlyArray() {
    std::free(first_);
    if (further_ == nullptr) return;
    for (std::size_t i = 0; i < kFurther; ++i) std::free(further_[i]);
    std::free(further_);
  }

  void push_back(const T& value) {
    const auto [segment, offset] = place(size_);
    made(segment)[offset] = value;
    ++size_;
  }
  // `count` elements as they lie in memory, whatever their alignment.
  void append(const void* elements, std::size_t count) {
    const auto* from = static_cast<const char*>(elements);
    while (count > 0) {
      const auto [segment, offset] = place(size_);
      const std::size_t some = std::min(count, segment_size(segment) - offset);
      std::memcpy(made(segment) + offset, from, some * sizeof(T));
      from += some * sizeof(T);
      size_ += some;
      count -= some;
    }
  }
  [[nodiscard]] const T& operator[](std::size_t index) const noexcept {
    if (index < kFirstSegment) return first_[index];
    const auto [segment, offset] = place(index);
    return further_[segment - 1][offset];
  }
  // Only the appending thread may ask; readers use the count they were given.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return size_ * sizeof(T); }

  // Elements [index, index + 2^k) lie side by side if index is a multiple of 2^k and 2^k <= kFirstSegment.
  static constexpr std::size_t kFirstSegment = 8;

 private:
  static constexpr std::size_t kFurther = 40;  // segments after the first

  [[nodiscard]] static T* allocate(std::size_t count) {
    auto* made = static_cast<T*>(std::malloc(sizeof(T) * count));
    if (made == nullptr) throw std::bad_alloc();
    return made;
  }
  [[nodiscard]] T* made(std::size_t segment) {
    if (segment == 0) {
      if (first_ == nullptr) first_ = allocate(kFirstSegment);
      return first_;
    }
    if (further_ == nullptr) {
      further_ = static_cast<T**>(std::calloc(kFurther, sizeof(T*)));
      if (further_ == nullptr) throw std::bad_alloc();
    }
    T*& found = further_[segment - 1];
    if (found == nullptr) found = allocate(segment_size(segment));
    return found;
  }
  static constexpr std::size_t kFirstBits = std::bit_width(kFirstSegment) - 1;
  struct Place {
    std::size_t segment;
    std::size_t offset;
  };
  // Segment 0 holds kFirstSegment elements, segment k > 0 as many as all before it.
  [[nodiscard]] static constexpr Place place(std::size_t index) noexcept {
    if (index < kFirstSegment) return {0, index};
    const auto top = static_cast<std::size_t>(std::bit_width(index)) - 1;
    return {top - kFirstBits + 1, index - (std::size_t{1} << top)};
  }
  [[nodiscard]] static constexpr std::size_t segment_size(std::size_t segment) noexcept {
    return segment == 0 ? kFirstSegment : kFirstSegment << (segment - 1);
  }

  T* first_ = nullptr;
  T** further_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace accelscope
