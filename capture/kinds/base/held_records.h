// Records of a process that come as a vendor's library gives its buffers out: they wait for a moment, and are written
// in the order of their begins.
//
//   HeldRecords held;
//   held.hold(head, words, start_ns, end_ns - start_ns, now_ns);
//   held.write(now_ns - HeldRecords::kHoldNs, [&](probe::RecordHead head, const std::uint64_t* record) { ... });
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "capture/probe/channel_format.h"

namespace accelscope::capture::kinds {

// Records come from a program's memory and may hold any number: a later time is taken for this one, so that sums fit. A
// clock that counts from 1970 is there in 2043. So with sizes.
inline constexpr std::int64_t kLatestNs = std::int64_t{1} << 61U;
[[nodiscard]] inline std::int64_t bounded_ns(std::uint64_t ns) {
  return static_cast<std::int64_t>(std::min(ns, std::uint64_t{kLatestNs}));
}
[[nodiscard]] inline std::int64_t bounded_bytes(std::uint64_t bytes) { return bounded_ns(bytes); }

class HeldRecords {
 public:
  static constexpr std::int64_t kHoldNs = 40'000'000;  // how long a record waits for others that began before it
  static constexpr std::int64_t kAll = INT64_MAX;

  // Of two that begin together the longer is around the other.
  void hold(probe::RecordHead head, std::span<const std::uint64_t> words, std::int64_t start, std::int64_t length,
            std::int64_t now_ns) {
    held_.push_back({start, length, now_ns, words_.size()});
    words_.push_back(std::bit_cast<std::uint64_t>(head));
    words_.insert(words_.end(), words.begin(), words.end());
  }

  // What came by then is written, and what began before any of it.
  template <typename Write>
  void write(std::int64_t until_ns, Write write) {
    std::int64_t settled = INT64_MIN;
    for (const Held& held : held_) {
      if (held.came_ns <= until_ns) settled = std::max(settled, held.start);
    }
    if (settled == INT64_MIN) return;
    const auto retained =
        std::stable_partition(held_.begin(), held_.end(), [&](const Held& held) { return held.start <= settled; });
    std::stable_sort(held_.begin(), retained, [](const Held& a, const Held& b) {
      return a.start != b.start ? a.start < b.start : a.length > b.length;
    });
    for (auto at = held_.begin(); at != retained; ++at) write(head_at(at->place), words_.data() + at->place);
    held_.erase(held_.begin(), retained);
    std::vector<std::uint64_t> words;
    for (Held& held : held_) {
      const auto from = words_.begin() + static_cast<std::ptrdiff_t>(held.place);
      const std::size_t place = words.size();
      words.insert(words.end(), from, from + head_at(held.place).words);
      held.place = place;
    }
    words_ = std::move(words);
  }

 private:
  struct Held {
    std::int64_t start = 0;
    std::int64_t length = 0;
    std::int64_t came_ns = 0;
    std::size_t place = 0;  // of its head in words_
  };
  [[nodiscard]] probe::RecordHead head_at(std::size_t place) const {
    return std::bit_cast<probe::RecordHead>(words_[place]);
  }

  std::vector<Held> held_;
  std::vector<std::uint64_t> words_;
};

}  // namespace accelscope::capture::kinds
