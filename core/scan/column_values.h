// Reads a column of any numeric type as whole numbers, for roles whose type the source chooses.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <string_view>

#include "core/chunk/chunk_view.h"
#include "core/scan/chunk_scan.h"

namespace accelscope {

[[nodiscard]] inline bool is_text(ColumnType type) noexcept {
  return type == ColumnType::string || type == ColumnType::text;
}

// The nearest whole number; 0 of what has none.
[[nodiscard]] inline std::int64_t rounded(double value) noexcept {
  return std::abs(value) < 9.2e18 ? std::llround(value) : 0;
}

// A number of a block as a real one.
[[nodiscard]] inline double real_number(ColumnType type, std::uint64_t value) noexcept {
  if (type == ColumnType::float64) return std::bit_cast<double>(value);
  return type == ColumnType::int64 ? static_cast<double>(static_cast<std::int64_t>(value)) : static_cast<double>(value);
}

// A stored value of a numeric column.
[[nodiscard]] inline double real_number(const ChunkView& view, std::size_t column, ColumnType type,
                                        std::uint64_t stored) noexcept {
  if (type == ColumnType::float64) return view.to_float64(column, stored);
  return real_number(type, type == ColumnType::int64 ? stored ^ (std::uint64_t{1} << 63) : stored);
}

// The same, rounded to whole units.
[[nodiscard]] inline std::int64_t whole_number(const ChunkView& view, std::size_t column, ColumnType type,
                                               std::uint64_t stored) noexcept {
  if (type == ColumnType::float64) return rounded(view.to_float64(column, stored));
  return static_cast<std::int64_t>(type == ColumnType::int64 ? stored ^ (std::uint64_t{1} << 63) : stored);
}

// The number in a row, if it has one.
[[nodiscard]] inline std::optional<std::int64_t> number_at(const ChunkView& view, std::size_t column, ColumnType type,
                                                           std::uint32_t row) noexcept {
  if (is_text(type) || column >= view.column_count() || !view.has_value(column, row)) return std::nullopt;
  return whole_number(view, column, type, view.stored(column, row));
}

// The numbers of one block of a column in whole units, 0 where an event has none: for sums over many events.
class NumberBlock {
 public:
  void read(BlockReader& reader, std::size_t column, ColumnType type) {
    const BlockValues found = is_text(type) ? BlockValues{} : reader.column(column, type);
    valid_ = found.valid;
    if (valid_ == 0) return;
    const bool real = type == ColumnType::float64;
    for (std::uint32_t i = 0; i < kBlockEvents; ++i) {
      const std::int64_t value =
          real ? rounded(std::bit_cast<double>(found.values[i])) : static_cast<std::int64_t>(found.values[i]);
      values_[i] = found.has(i) ? value : 0;
    }
  }
  [[nodiscard]] std::uint64_t valid() const noexcept { return valid_; }
  [[nodiscard]] std::int64_t operator[](std::uint32_t index) const noexcept { return valid_ != 0 ? values_[index] : 0; }

 private:
  std::array<std::int64_t, kBlockEvents> values_;
  std::uint64_t valid_ = 0;
};

// The text in a row of a string or text column; empty if it has none.
[[nodiscard]] inline std::string_view text_at(const ScannedChunk& chunk, const StringPool& strings, std::size_t column,
                                              ColumnType type, std::uint32_t row) noexcept {
  if (column >= chunk.view.column_count() || !chunk.view.has_value(column, row)) return {};
  if (type == ColumnType::text) return chunk.view.text(column, row);
  if (type == ColumnType::string) return strings.text(chunk.session_string(chunk.view.stored(column, row)));
  return {};
}

}  // namespace accelscope
