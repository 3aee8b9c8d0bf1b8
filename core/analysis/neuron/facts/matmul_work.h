// The useful floating point operations of a Neuron instruction, event by event: what mfu adds up.
#pragma once

#include <optional>

#include "core/scan/chunk_scan.h"
#include "core/scan/column_values.h"

namespace accelscope::neuron {

// Of the events of a lane of instructions, a block at a time. Matrix multiplications only, and of those not the ones
// that transpose: 2 * elements, or raw_flops in files of the newer format.
class MatmulWork {
 public:
  MatmulWork(const LaneSnapshot& lane, const StringPool& pool);
  void read(BlockReader& reader);
  [[nodiscard]] double operator[](std::uint32_t index) const noexcept;  // of the block that was read

  // A multiplication that only moves data about, or what is called so.
  [[nodiscard]] bool transposes(std::uint32_t index) const noexcept;

  // Whether events of the lane can have any.
  [[nodiscard]] static bool has_work(const LaneSnapshot& lane);

 private:
  struct Number {
    std::optional<std::size_t> column;
    ColumnType type = ColumnType::int64;
    NumberBlock values;
    [[nodiscard]] std::int64_t at(std::uint32_t index) const noexcept { return column ? values[index] : 0; }
  };

  StringId matmul_, transpose_;
  Number elements_, raw_flops_;
  std::optional<std::size_t> type_column_;
  BlockValues types_;
  const std::uint64_t* names_ = nullptr;
};

}  // namespace accelscope::neuron
