// Gathers up to 16,384 events of one lane and seals them into a chunk. Used through SessionWriter, except by
// generators that write millions of events a second and hold their builders themselves.
//
// Columns beyond those that a chunk can have may be set, and are left out. append() needs start_ticks >= the last
// event's end and duration >= 0. A column that is not set for a row is null there; one that the schema calls `required`
// must be set for every row.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/chunk/chunk_format.h"
#include "core/chunk/event_sink.h"
#include "core/model/schema.h"

namespace accelscope {

class ChunkBuilder {
 public:
  ChunkBuilder(const Schema& schema, LaneNumber lane);

  // Returns the event's row, for the set functions. Needs !full().
  std::uint32_t append(std::int64_t start_ticks, std::int64_t duration_ticks, StringId name) {
    assert(!full());
    if (count_ == capacity_) grow();
    assert(count_ == 0 || start_ticks >= end_ticks_);
    if (count_ == 0) begin_ticks_ = end_ticks_ = start_ticks;
    gaps_[count_] = static_cast<std::uint64_t>(start_ticks) - static_cast<std::uint64_t>(end_ticks_);
    durations_[count_] = static_cast<std::uint64_t>(duration_ticks);
    names_[count_] = name;
    end_ticks_ = start_ticks + duration_ticks;
    return count_++;
  }

  void set_int64(std::size_t column, std::uint32_t row, std::int64_t value) {
    set(column, row, static_cast<std::uint64_t>(value) ^ (std::uint64_t{1} << 63));
  }
  void set_uint64(std::size_t column, std::uint32_t row, std::uint64_t value) { set(column, row, value); }
  void set_float64(std::size_t column, std::uint32_t row, double value);
  void set_text(std::size_t column, std::uint32_t row, std::string_view value);

  // Wide schemas make shorter chunks, so that a builder never holds more than about 1.5 MB.
  [[nodiscard]] static std::uint32_t most_events(const Schema& schema) noexcept;
  [[nodiscard]] std::uint32_t room() const noexcept { return limit_ - count_; }
  [[nodiscard]] bool full() const noexcept { return count_ >= limit_ || text_bytes_ > kMaxTextBytes; }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] LaneNumber lane() const noexcept { return lane_; }
  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
  [[nodiscard]] std::int64_t end_ticks() const noexcept { return end_ticks_; }  // of the last event, ever
  [[nodiscard]] bool has_events() const noexcept { return next_ordinal_ + count_ > 0; }
  [[nodiscard]] std::uint64_t next_ordinal() const noexcept { return next_ordinal_ + count_; }

  // Values as ChunkView::values gives them, for chunks made of others.
  void set_stored(std::size_t column, std::uint32_t row, std::uint64_t stored) { set(column, row, stored); }
  // The next event gets this ordinal. Needs empty().
  void go_on_from(std::uint64_t ordinal) noexcept {
    assert(empty());
    next_ordinal_ = ordinal;
  }

  // The chunk of everything appended since the last call; the builder goes on with the next ordinal.
  [[nodiscard]] SealedChunk seal();
  // Gives memory back that the next events would take again. Needs empty().
  void release_buffers() noexcept;

 private:
  static constexpr std::size_t kMaxTextBytes = 1U << 20;
  struct ColumnBuffer {
    ColumnType type = ColumnType::int64;
    bool required = false;
    bool any = false;                         // some row of the open chunk has a value
    std::unique_ptr<std::uint64_t[]> values;  // capacity_ places; stored form, see chunk_format.h
    std::unique_ptr<std::uint64_t[]> valid;   // a bit per row; with the values of a column that is not required
    std::string text;  // ColumnType::text: all values one after another; values hold end positions
  };

  // Sources call it some twenty times an event.
  [[gnu::always_inline]] void set(std::size_t column, std::uint32_t row, std::uint64_t stored) {
    ColumnBuffer& buffer = columns_[column];
    if (!buffer.required) {
      if (!buffer.any) [[unlikely]]
        return set_first(buffer, row, stored);
      buffer.valid[row / kBlockEvents] |= std::uint64_t{1} << (row % kBlockEvents);
    }
    buffer.values[row] = stored;
  }
  void set_first(ColumnBuffer& buffer, std::uint32_t row, std::uint64_t stored) const;  // of a column in this chunk
  void grow();

  LaneNumber lane_;
  std::uint32_t count_ = 0;
  std::uint32_t capacity_ = 0;
  std::uint32_t limit_;
  std::uint64_t next_ordinal_ = 0;
  std::int64_t begin_ticks_ = 0;
  std::int64_t end_ticks_ = 0;
  std::size_t text_bytes_ = 0;
  std::size_t last_size_ = 0;  // of the last sealed chunk: a good guess for the next
  std::unique_ptr<std::uint64_t[]> gaps_;
  std::unique_ptr<std::uint64_t[]> durations_;
  std::unique_ptr<std::uint64_t[]> names_;
  std::vector<ColumnBuffer> columns_;
};

}  // namespace accelscope
