// Remembers which rows of a device log were there before, by a hash of what they say, with the number of the reading
// that saw them last: a log that is written anew may repeat rows. Some 13 to 27 bytes a row, up to a limit.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace accelscope::capture::sources::tt_metal {

class SeenRows {
 public:
  static constexpr std::size_t kMostRows = 64U << 20;

  enum class Before : std::uint8_t { never, earlier_reading, this_reading };

  // Remembers the row for this reading. Hashes are never 0.
  [[nodiscard]] Before add(std::uint64_t hash, std::uint16_t reading) {
    if (4 * (count_ + 1) > 3 * hashes_.size()) grow();
    std::size_t place = hash & (hashes_.size() - 1);
    for (; hashes_[place] != 0; place = (place + 1) & (hashes_.size() - 1)) {
      if (hashes_[place] != hash) continue;
      const std::uint16_t before = readings_[place];
      readings_[place] = reading;
      return before == reading ? Before::this_reading : Before::earlier_reading;
    }
    if (count_ == kMostRows) {
      ++not_remembered_;
      return Before::never;
    }
    hashes_[place] = hash;
    readings_[place] = reading;
    ++count_;
    return Before::never;
  }
  [[nodiscard]] bool knows(std::uint64_t hash) const {
    if (hashes_.empty()) return false;
    std::size_t place = hash & (hashes_.size() - 1);
    while (hashes_[place] != 0 && hashes_[place] != hash) place = (place + 1) & (hashes_.size() - 1);
    return hashes_[place] == hash;
  }
  [[nodiscard]] std::uint64_t not_remembered() const noexcept { return not_remembered_; }

 private:
  void grow() {
    if (count_ == kMostRows) return;
    std::vector<std::uint64_t> hashes(hashes_.empty() ? 1024 : 2 * hashes_.size());
    std::vector<std::uint16_t> readings(hashes.size());
    for (std::size_t i = 0; i < hashes_.size(); ++i) {
      if (hashes_[i] == 0) continue;
      std::size_t place = hashes_[i] & (hashes.size() - 1);
      while (hashes[place] != 0) place = (place + 1) & (hashes.size() - 1);
      hashes[place] = hashes_[i];
      readings[place] = readings_[i];
    }
    hashes_ = std::move(hashes);
    readings_ = std::move(readings);
  }

  std::vector<std::uint64_t> hashes_;  // 0: free
  std::vector<std::uint16_t> readings_;
  std::size_t count_ = 0;
  std::uint64_t not_remembered_ = 0;
};

}  // namespace accelscope::capture::sources::tt_metal
