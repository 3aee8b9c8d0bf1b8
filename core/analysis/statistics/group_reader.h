// The groups of events, a block at a time, and the values that are measured of them. One per thread.
//
//   GroupReader reader(keys);
//   reader.open(chunk);
//   chunk.for_each_block([&](const ScannedBlock& block) {
//     const GroupedBlock events = reader.read(block);
//     for (std::uint32_t i = block.first; i < block.last; ++i) if (events.has(i)) ... events.groups[i],
//     events.values[i]
//   });
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "core/analysis/statistics/group_columns.h"
#include "core/scan/aggregate.h"

namespace accelscope {

struct GroupedBlock {
  std::uint64_t valid = 0;  // a bit for each event with a value
  const std::uint32_t* groups = nullptr;
  const double* values = nullptr;
  [[nodiscard]] bool has(std::uint32_t i) const noexcept { return (valid >> i & 1) != 0; }
};

class GroupReader {
 public:
  explicit GroupReader(const GroupKeys& keys);

  void open(const ScannedChunk& chunk);
  // Of the events first .. last - 1 of the block. It lies in the reader until the next call.
  [[nodiscard]] GroupedBlock read(const ScannedBlock& block);
  // Groups of all chunks so far, numbered as they were met. Keys: a word with four bits for each key, which are its
  // GroupKeys::Tag, then a word for each.
  [[nodiscard]] const Groups& groups() const noexcept { return groups_; }
  [[nodiscard]] std::vector<FieldValue> key_values(std::size_t group) const;

 private:
  struct Varying {
    ValuePlace place;
    std::size_t key = 0;
    GroupKeys::Tag tag = GroupKeys::Tag::none;
  };
  void read_groups(const ScannedBlock& block);
  void read_by_string(const ScannedBlock& block, const BlockValues& ids);
  void read_values(const ScannedBlock& block, GroupedBlock& out);
  [[nodiscard]] std::uint32_t group_of(const std::uint64_t* words);

  static constexpr std::size_t kWords = GroupKeys::kMost + 1;
  static constexpr std::size_t kRecent = 4096;  // groups by the hash of their keys; a power of two
  struct ByString {
    std::uint32_t group = 0;
    std::uint32_t constants = 0;  // for which it is known; 0: none
  };
  struct Recent {
    std::array<std::uint64_t, kWords> words{};
    std::uint32_t group = ~0U;
  };

  const GroupKeys& keys_;
  Groups groups_;
  ValuePlace value_;
  std::uint64_t single_value_ = 0;
  std::array<std::uint64_t, kWords> words_{};  // the keys that all events of the lane have, others 0
  std::vector<Varying> varying_;
  std::uint32_t constants_ = 0;  // a number for words_ with the place of what varies
  std::map<std::vector<std::uint64_t>, std::uint32_t> known_constants_;
  std::vector<ByString> by_string_;  // by session-wide id
  std::vector<Recent> recent_;
  std::array<std::uint32_t, kBlockEvents> block_groups_{};
  std::array<double, kBlockEvents> block_values_{};
  const ScannedChunk* chunk_ = nullptr;
};

}  // namespace accelscope
