// A set of ids, most of which come in a row: a bit for each, in groups of 512.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

namespace accelscope::capture::sources::rocm {

class IdSet {
 public:
  // False: it was there already.
  bool insert(std::int64_t id) {
    Group& group = groups_[group_of(id)];
    std::uint64_t& word = group[word_of(id)];
    const bool is_new = (word & bit_of(id)) == 0;
    word |= bit_of(id);
    return is_new;
  }
  [[nodiscard]] bool contains(std::int64_t id) const {
    const auto found = groups_.find(group_of(id));
    return found != groups_.end() && (found->second[word_of(id)] & bit_of(id)) != 0;
  }
  [[nodiscard]] bool empty() const noexcept { return groups_.empty(); }

 private:
  using Group = std::array<std::uint64_t, 8>;
  [[nodiscard]] static std::uint64_t group_of(std::int64_t id) noexcept { return static_cast<std::uint64_t>(id) >> 9; }
  [[nodiscard]] static std::size_t word_of(std::int64_t id) noexcept { return static_cast<std::uint64_t>(id) >> 6 & 7; }
  [[nodiscard]] static std::uint64_t bit_of(std::int64_t id) noexcept {
    return std::uint64_t{1} << (static_cast<std::uint64_t>(id) & 63);
  }
  std::unordered_map<std::uint64_t, Group> groups_;
};

}  // namespace accelscope::capture::sources::rocm
