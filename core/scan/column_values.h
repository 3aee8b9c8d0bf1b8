// Reads a column of any numeric type as whole numbers, for roles whose type the source chooses.
#pragma once

#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "core/chunk/chunk_view.h"
#include "core/scan/chunk_scan.h"

namespace accelscope {

[[nodiscard]] inline bool is_text(ColumnType type) noexcept {
  return type == ColumnType::string || type == ColumnType::text;
}

// A stored value of a numeric column, rounded to whole units.
[[nodiscard]] inline std::int64_t whole_number(const ChunkView& view, std::size_t column, ColumnType type,
                                               std::uint64_t stored) noexcept {
  switch (type) {
    case ColumnType::int64:
      return static_cast<std::int64_t>(stored ^ (std::uint64_t{1} << 63));
    case ColumnType::float64: {
      const double value = view.to_float64(column, stored);
      return std::abs(value) < 9.2e18 ? std::llround(value) : 0;
    }
    default:
      return static_cast<std::int64_t>(stored);
  }
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
  void read(const ChunkView& view, std::size_t column, ColumnType type, std::uint32_t block) noexcept {
    const std::uint64_t valid = column < view.column_count() && !is_text(type) ? view.validity(column, block) : 0;
    any_ = valid != 0;
    if (!any_) return;
    std::uint64_t stored[kBlockEvents];
    view.values(column, block, stored);
    for (std::uint32_t i = 0; i < kBlockEvents; ++i) {
      values_[i] = (valid >> i & 1) != 0 ? whole_number(view, column, type, stored[i]) : 0;
    }
  }
  [[nodiscard]] std::int64_t operator[](std::uint32_t index) const noexcept { return any_ ? values_[index] : 0; }

 private:
  std::array<std::int64_t, kBlockEvents> values_;
  bool any_ = false;
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
