// The one reader of event values: what an event has, a block of 64 events at a time, each part decoded when it is first
// asked for.
//
//   BlockReader reader;
//   reader.open(lane, strings, place, view);
//   for (std::uint32_t block = 0; block < view.block_count(); ++block) {
//     reader.seek(block);
//     const BlockValues names = reader.values({.source = ValuePlace::Source::name});
//   }
//
// One per thread; the lane, the strings and the view must outlive their use.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/chunk/chunk_view.h"
#include "core/model/ids.h"
#include "core/store/snapshot.h"

namespace accelscope {

// The strings of one scope: local id -> session-wide id. Most sessions have one source and so the same ids, which
// saves a look-up per value.
class StringMap {
 public:
  StringMap() = default;
  explicit StringMap(std::vector<StringId> ids) : ids_(std::move(ids)) {
    for (std::size_t i = 0; same_ && i < ids_.size(); ++i) same_ = ids_[i] == i;
  }
  [[nodiscard]] StringId operator[](std::uint64_t local) const noexcept {
    if (local >= ids_.size()) return 0;
    return same_ ? static_cast<StringId>(local) : ids_[local];
  }
  template <std::size_t N>
  void to_session(std::array<std::uint64_t, N>& ids) const noexcept {
    if (same_) {
      // The sign says whether any id lies outside, without a branch for each.
      const std::uint64_t last = std::uint64_t{ids_.size()} - 1;
      std::uint64_t signs = 0;
      for (const std::uint64_t id : ids) signs |= (last - id) | id;
      if (static_cast<std::int64_t>(signs) >= 0) return;
      for (std::uint64_t& id : ids) id = id < ids_.size() ? id : 0;
    } else {
      for (std::uint64_t& id : ids) id = id < ids_.size() ? ids_[id] : 0;
    }
  }

 private:
  std::vector<StringId> ids_;
  bool same_ = true;
};

// The bits first..last - 1 of a block's word.
[[nodiscard]] constexpr std::uint64_t bits_between(std::uint32_t first, std::uint32_t last) noexcept {
  const std::uint64_t below_last = last >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << last) - 1;
  return first >= 64 ? 0 : below_last & ~((std::uint64_t{1} << first) - 1);
}

// Where a value of a lane's events is found. A constant is the same for all of them.
struct ValuePlace {
  enum class Source : std::uint8_t { none, constant, id, begin, end, duration, name, column };
  Source source = Source::none;
  std::size_t column = 0;  // of the lane's schema
  ColumnType type = ColumnType::int64;
  std::uint64_t constant = 0;
};

// The values of 64 events and a bit for each that has one. Whole numbers are in two's complement, times and durations
// in ns; real numbers are the bits of a double; a string is its session-wide id, a text the row of the chunk that holds
// it. What is not a number is no value.
struct BlockValues {
  static constexpr std::array<std::uint64_t, kBlockEvents> kNone{};
  std::uint64_t valid = 0;
  const std::uint64_t* values = kNone.data();  // 64 places, whatever is valid

  [[nodiscard]] bool has(std::uint32_t i) const noexcept { return (valid >> i & 1) != 0; }
};

class BlockReader {
 public:
  BlockReader() = default;
  BlockReader(const BlockReader&) = delete;
  BlockReader& operator=(const BlockReader&) = delete;

  void open(const LaneSnapshot& lane, const StringMap& strings, const ChunkPlace& place, const ChunkView& view);
  void seek(std::uint32_t block) noexcept {
    if (block_ == block) return;
    block_ = block;
    all_ = bits_between(0, view_->block_size(block));
    ++serial_;
  }

  [[nodiscard]] const LaneSnapshot& lane() const noexcept { return *lane_; }
  [[nodiscard]] const ChunkPlace& place() const noexcept { return *place_; }
  [[nodiscard]] const ChunkView& view() const noexcept { return *view_; }
  [[nodiscard]] std::uint32_t block() const noexcept { return block_; }
  [[nodiscard]] std::uint32_t first_row() const noexcept { return block_ * kBlockEvents; }
  [[nodiscard]] std::uint64_t all() const noexcept { return all_; }  // a bit for each event of the block
  [[nodiscard]] EventId id(std::uint32_t row_in_block) const noexcept {
    return make_event_id(lane_->number(), place_->first_ordinal + first_row() + row_in_block);
  }

  [[nodiscard]] const BlockTimes& ticks() {
    if (ticks_serial_ != serial_) read_ticks();
    return ticks_;
  }
  [[nodiscard]] const std::int64_t* begins_ns() {
    if (begins_serial_ != serial_) read_begins();
    return begins_;
  }
  [[nodiscard]] const std::int64_t* ends_ns() {
    if (ends_serial_ != serial_) read_ends();
    return ends_;
  }
  [[nodiscard]] const std::uint64_t* names() {  // session-wide ids
    if (names_serial_ != serial_) read_names();
    return names_.data();
  }
  [[nodiscard]] BlockValues column(std::size_t column, ColumnType type) {
    const Column* decoded = column < columns_.size() ? columns_[column].get() : nullptr;
    if (decoded != nullptr && decoded->serial == serial_) return {decoded->valid, decoded->values.data()};
    return read_column(column, type);
  }
  // Of a place that is neither none nor constant.
  [[nodiscard]] BlockValues values(const ValuePlace& place);

 private:
  using Words = std::array<std::uint64_t, kBlockEvents>;
  struct Column {
    std::uint64_t serial = 0;
    std::uint64_t valid = 0;
    Words values;
  };
  const std::uint64_t* ids();
  const std::uint64_t* durations_ns();
  void read_ticks();
  void read_begins();
  void read_ends();
  void read_names();
  BlockValues read_column(std::size_t column, ColumnType type);
  const std::int64_t* in_ns(const std::int64_t* ticks, std::array<std::int64_t, kBlockEvents>& made) const;
  void decode(std::size_t column, ColumnType type, Column& out) const;

  const LaneSnapshot* lane_ = nullptr;
  const StringMap* strings_ = nullptr;
  const ChunkPlace* place_ = nullptr;
  const ChunkView* view_ = nullptr;
  bool exact_ = false;  // a tick is a ns
  static constexpr std::uint32_t kNoBlock = ~std::uint32_t{0};
  std::uint32_t block_ = kNoBlock;
  std::uint64_t all_ = 0;
  std::uint64_t serial_ = 0;  // of the block, over all chunks
  std::uint64_t ticks_serial_ = 0;
  std::uint64_t begins_serial_ = 0;
  std::uint64_t ends_serial_ = 0;
  std::uint64_t durations_serial_ = 0;
  std::uint64_t names_serial_ = 0;
  std::uint64_t ids_serial_ = 0;
  BlockTimes ticks_;
  const std::int64_t* begins_ = nullptr;  // ticks where they are ns
  const std::int64_t* ends_ = nullptr;
  std::array<std::int64_t, kBlockEvents> made_begins_;
  std::array<std::int64_t, kBlockEvents> made_ends_;
  Words durations_;
  Words names_;
  Words ids_;
  std::vector<std::unique_ptr<Column>> columns_;  // of the lane's schema
};

}  // namespace accelscope
