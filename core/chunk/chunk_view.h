// Reads a chunk in place. parse() checks every bound once, so that no later call can leave the bytes, whatever
// they hold; it does not check the checksums (verify_checksums does, once, on ingest). Values come in blocks of
// 64 events or one by one.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/chunk/chunk_format.h"
#include "core/model/schema.h"

namespace accelscope {

// The times of one block, in ticks; begins[i] <= ends[i] <= begins[i + 1].
struct BlockTimes {
  std::array<std::int64_t, kBlockEvents> begins;
  std::array<std::int64_t, kBlockEvents> ends;
};

class ChunkView {
 public:
  // The bytes must outlive the view.
  [[nodiscard]] static Result<ChunkView> parse(ByteView bytes);
  [[nodiscard]] Result<void> verify_checksums() const;

  [[nodiscard]] const ChunkHeader& header() const noexcept { return header_; }
  [[nodiscard]] std::uint32_t count() const noexcept { return header_.count; }
  [[nodiscard]] std::uint32_t block_count() const noexcept { return (header_.count + kBlockEvents - 1) / kBlockEvents; }
  [[nodiscard]] std::uint32_t block_size(std::uint32_t block) const noexcept {
    const std::uint32_t rest = header_.count - block * kBlockEvents;
    return rest < kBlockEvents ? rest : kBlockEvents;
  }
  [[nodiscard]] std::size_t column_count() const noexcept { return columns_.size() - kBuiltIn; }

  // Fill 64 places each; those past block_size() hold anything.
  void times(std::uint32_t block, BlockTimes& out) const noexcept;
  void durations(std::uint32_t block, std::uint64_t* ticks) const noexcept;  // cheaper than times()
  void names(std::uint32_t block, std::uint64_t* local_string_ids) const noexcept;
  // Stored form: see ColumnEntry. Use the typed readers below for single values. Those of texts mean nothing outside.
  void values(std::size_t column, std::uint32_t block, std::uint64_t* stored) const noexcept;
  // Bit i says whether event i of the block has a value.
  [[nodiscard]] std::uint64_t validity(std::size_t column, std::uint32_t block) const noexcept;

  [[nodiscard]] bool has_value(std::size_t column, std::uint32_t row) const noexcept;
  [[nodiscard]] std::uint64_t stored(std::size_t column, std::uint32_t row) const noexcept;
  [[nodiscard]] std::int64_t int64(std::size_t column, std::uint32_t row) const noexcept {
    return static_cast<std::int64_t>(stored(column, row) ^ (std::uint64_t{1} << 63));
  }
  [[nodiscard]] std::uint64_t uint64(std::size_t column, std::uint32_t row) const noexcept {
    return stored(column, row);
  }
  [[nodiscard]] double float64(std::size_t column, std::uint32_t row) const noexcept {
    return to_float64(column, stored(column, row));
  }
  [[nodiscard]] double to_float64(std::size_t column, std::uint64_t stored) const noexcept;
  [[nodiscard]] std::string_view text(std::size_t column, std::uint32_t row) const noexcept;
  [[nodiscard]] std::uint32_t name(std::uint32_t row) const noexcept;  // scope-local string id
  void event_times(std::uint32_t row, std::int64_t& begin_ticks, std::int64_t& end_ticks) const noexcept;

  [[nodiscard]] const ColumnEntry& entry(std::size_t column) const noexcept {
    return columns_[column + kBuiltIn].entry;
  }
  [[nodiscard]] const ColumnEntry& entry_of_names() const noexcept { return columns_[kBuiltIn - 1].entry; }

 private:
  class Cursor;
  static constexpr std::size_t kBuiltIn = 3;
  struct ColumnPlace {
    ColumnEntry entry;
    const std::byte* widths = nullptr;
    const std::byte* minima = nullptr;
    const std::byte* blocks = nullptr;
    const std::byte* validity = nullptr;
    const std::byte* text = nullptr;
    const std::byte* dictionary = nullptr;
    std::uint32_t text_bytes = 0;
    std::uint32_t entries = 0;  // of the dictionary
    std::uint8_t entry_width = 0;
    bool delta = false;
    std::uint64_t step_base = 0;
    std::uint64_t entry_base = 0;
  };
  [[nodiscard]] static const char* read_dictionary(Cursor& cursor, ColumnPlace& column);
  [[nodiscard]] std::uint64_t one(const ColumnPlace& column, std::uint32_t row) const noexcept;
  void decode(const ColumnPlace& column, std::uint32_t block, std::uint64_t* out) const noexcept;
  static void look_up(const ColumnPlace& column, std::uint64_t* values) noexcept;
  [[nodiscard]] static std::uint64_t dictionary_entry(const ColumnPlace& column, std::uint64_t number) noexcept;

  ByteView bytes_;
  ChunkHeader header_;
  std::vector<ColumnPlace> columns_;
  const std::byte* block_begins_ = nullptr;  // start of each block relative to begin_ticks, packed
  unsigned block_begin_width_ = 0;
};

}  // namespace accelscope
