// Gathers up to 16,384 events of one lane and seals them into a chunk. Used through SessionWriter, except by
// generators that write millions of events a second and hold their builders themselves.
//
// append() needs start_ticks >= the last event's end and duration >= 0. A column that is not set for a row is
// null there, unless the schema says `required`, where it is 0.
#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/chunk/chunk_format.h"
#include "core/model/event_sink.h"
#include "core/model/schema.h"

namespace accelscope {

class ChunkBuilder {
 public:
  ChunkBuilder(const Schema& schema, LaneNumber lane);

  [[nodiscard]] std::uint32_t append(std::int64_t start_ticks, std::int64_t duration_ticks, StringId name) noexcept {
    assert(count_ < kMaxChunkEvents);
    assert(count_ == 0 || start_ticks >= end_ticks_);
    if (count_ == 0) begin_ticks_ = end_ticks_ = start_ticks;
    gaps_[count_] = static_cast<std::uint64_t>(start_ticks) - static_cast<std::uint64_t>(end_ticks_);
    durations_[count_] = static_cast<std::uint64_t>(duration_ticks);
    names_[count_] = name;
    end_ticks_ = start_ticks + duration_ticks;
    return count_++;
  }

  void set_int64(std::size_t column, std::uint32_t row, std::int64_t value) noexcept {
    set(column, row, static_cast<std::uint64_t>(value) ^ (std::uint64_t{1} << 63));
  }
  void set_uint64(std::size_t column, std::uint32_t row, std::uint64_t value) noexcept { set(column, row, value); }
  void set_float64(std::size_t column, std::uint32_t row, double value) noexcept;
  void set_text(std::size_t column, std::uint32_t row, std::string_view value);

  [[nodiscard]] bool full() const noexcept { return count_ == kMaxChunkEvents || text_bytes_ > (16U << 20); }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
  [[nodiscard]] std::int64_t end_ticks() const noexcept { return end_ticks_; }        // of the last event, ever
  [[nodiscard]] bool has_events() const noexcept { return next_ordinal_ + count_ > 0; }
  [[nodiscard]] std::uint64_t next_ordinal() const noexcept { return next_ordinal_ + count_; }

  // The chunk of everything appended since the last call; the builder goes on with the next ordinal.
  [[nodiscard]] SealedChunk seal();

 private:
  struct ColumnBuffer {
    ColumnType type = ColumnType::int64;
    bool required = false;
    std::unique_ptr<std::uint64_t[]> values;
    std::array<std::uint64_t, kMaxChunkEvents / kBlockEvents> valid{};
    bool any = false;
    std::string text;  // ColumnType::text: all values one after another; values hold end positions
  };

  void set(std::size_t column, std::uint32_t row, std::uint64_t stored) noexcept {
    ColumnBuffer& buffer = columns_[column];
    buffer.values[row] = stored;
    if (!buffer.required) {
      buffer.valid[row / kBlockEvents] |= std::uint64_t{1} << (row % kBlockEvents);
      buffer.any = true;
    }
  }

  LaneNumber lane_;
  std::uint32_t count_ = 0;
  std::uint64_t next_ordinal_ = 0;
  std::int64_t begin_ticks_ = 0;
  std::int64_t end_ticks_ = 0;
  std::size_t text_bytes_ = 0;
  std::unique_ptr<std::uint64_t[]> gaps_;
  std::unique_ptr<std::uint64_t[]> durations_;
  std::unique_ptr<std::uint64_t[]> names_;
  std::vector<ColumnBuffer> columns_;
};

}  // namespace accelscope
