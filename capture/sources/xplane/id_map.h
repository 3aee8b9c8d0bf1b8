// What is known of things by the numbers that a plane gives them: almost always they count up from 1, so that most lie
// in a row; any others are found by their hash.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace accelscope::capture::sources::xplane {

template <typename Thing>
class IdMap {
 public:
  // How many there are about: memory is bounded by it, whatever the ids.
  void expect(std::size_t count) { row_most_ = 64 + 2 * count; }
  // Null: not made yet. Valid as long as nothing else is asked for.
  [[nodiscard]] std::unique_ptr<Thing>& operator[](std::int64_t id) {
    const auto place = static_cast<std::uint64_t>(id);
    if (place < row_.size()) return row_[place];
    if (place >= row_most_) return others_[id];
    row_.resize(row_most_);
    return row_[place];
  }

 private:
  std::size_t row_most_ = 64;
  std::vector<std::unique_ptr<Thing>> row_;
  std::unordered_map<std::int64_t, std::unique_ptr<Thing>> others_;
};

}  // namespace accelscope::capture::sources::xplane
