// What the events of a block add to a sum: bytes, FLOPs, waits, of however many columns a schema has of the role.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "core/base/capped.h"
#include "core/scan/column_values.h"

namespace accelscope::analysis {

// The sum of columns of one role in one block, and which events have any.
class AmountBlock {
 public:
  void read(BlockReader& reader, const Schema& schema, const std::vector<std::size_t>& columns) {
    valid_ = 0;
    for (const std::size_t column : columns) {
      numbers_.read(reader, column, schema.columns[column].type);
      if (numbers_.valid() == 0) continue;
      if (valid_ == 0) sums_.fill(0);
      valid_ |= numbers_.valid();
      for (std::uint32_t i = 0; i < kBlockEvents; ++i) {
        sums_[i] = capped_sum(sums_[i], static_cast<std::uint64_t>(std::max<std::int64_t>(numbers_[i], 0)));
      }
    }
  }
  [[nodiscard]] bool any() const noexcept { return valid_ != 0; }
  [[nodiscard]] bool has(std::uint32_t i) const noexcept { return (valid_ >> i & 1) != 0; }
  [[nodiscard]] std::uint64_t operator[](std::uint32_t i) const noexcept { return has(i) ? sums_[i] : 0; }

 private:
  NumberBlock numbers_;
  std::array<std::uint64_t, kBlockEvents> sums_{};
  std::uint64_t valid_ = 0;
};

}  // namespace accelscope::analysis
