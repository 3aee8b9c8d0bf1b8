// The useful floating point operations of a Neuron instruction, event by event: what mfu adds up.
#pragma once

#include <optional>

#include "core/scan/chunk_scan.h"
#include "core/scan/column_values.h"

namespace accelscope::neuron {

// Of the events of one chunk of instructions. Matrix multiplications only, and of those not the ones that transpose:
// 2 * elements, or raw_flops in files of the newer format.
class MatmulWork {
 public:
  MatmulWork(const LaneSnapshot& lane, const ChunkView& view, const StringMap& strings, const StringPool& pool);
  void read(std::uint32_t block) noexcept;
  [[nodiscard]] double operator[](std::uint32_t index) const noexcept;  // of the block that was read

  // Whether events of the lane can have any.
  [[nodiscard]] static bool has_work(const LaneSnapshot& lane);

 private:
  struct Number {
    std::optional<std::size_t> column;
    ColumnType type = ColumnType::int64;
    NumberBlock values;
    [[nodiscard]] std::int64_t at(std::uint32_t index) const noexcept { return column ? values[index] : 0; }
  };
  void find(Number& number, std::string_view name) const;

  const LaneSnapshot& lane_;
  const ChunkView& view_;
  const StringMap& strings_;
  StringId matmul_, transpose_;
  Number elements_, raw_flops_;
  std::optional<std::size_t> type_column_;
  std::uint64_t type_valid_ = 0;
  std::uint64_t types_[kBlockEvents] = {};
  std::uint64_t names_[kBlockEvents] = {};
};

}  // namespace accelscope::neuron
