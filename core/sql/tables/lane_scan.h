// Reads the events of one lane that passed a filter, chunk by chunk and in order. Decodes a column of a block of 64
// only when it is asked for.
#pragma once

#include <array>
#include <bit>
#include <memory>
#include <vector>

#include "core/sql/tables/lane_filter.h"

namespace accelscope::sql {

class LaneScan {
 public:
  // schema_columns: the lane's schema column for each table column, -1 where it has none.
  LaneScan(Context& context, const LaneSnapshot& lane, const EventFilter& filter,
           const std::vector<int>& schema_columns);

  [[nodiscard]] const LaneFilter& filter() const noexcept { return filter_; }
  void enter(FilteredChunk chunk);
  // False at the end of the chunk.
  [[nodiscard]] bool next() {
    if (mask_ == 0 && !next_block()) return false;
    row_in_block_ = static_cast<std::uint32_t>(std::countr_zero(mask_));
    mask_ &= mask_ - 1;
    return true;
  }
  // Passes over up to `rows` events of the chunk; those that it does not have are left in `rows`.
  void skip(std::uint64_t& rows);

  // Of the current event.
  [[nodiscard]] EventId id() const noexcept {
    return make_event_id(lane_.number(), place_->first_ordinal + block_ * kBlockEvents + row_in_block_);
  }
  [[nodiscard]] const LaneSnapshot& lane() const noexcept { return lane_; }
  [[nodiscard]] std::int64_t begin_ns();
  [[nodiscard]] std::int64_t end_ns();
  [[nodiscard]] std::string_view name();
  [[nodiscard]] StringId name_id();  // session-wide
  // The lane's schema column for a table column, -1 where it has none.
  [[nodiscard]] int schema_column(std::size_t table_column) const noexcept { return schema_columns_[table_column]; }
  void result(sqlite3_context* context, std::size_t schema_column);

 private:
  struct DecodedColumn {
    std::uint64_t serial = 0;
    std::uint64_t validity = 0;
    std::array<std::uint64_t, kBlockEvents> values;
  };

  [[nodiscard]] bool next_block();  // to the next one with a match
  const BlockTimes& times();
  const std::uint64_t* names();
  const DecodedColumn& column(std::size_t schema_column);

  const LaneSnapshot& lane_;
  const LaneFilter filter_;
  const std::vector<int>& schema_columns_;
  ScopeStrings& strings_;
  FilteredChunk filtered_;
  const ChunkPlace* place_ = nullptr;
  std::uint32_t block_ = 0;
  std::uint32_t next_block_ = 0;
  std::uint32_t row_in_block_ = 0;
  std::uint64_t mask_ = 0;    // matches of the block that are still to come
  std::uint64_t serial_ = 0;  // of the block, over the whole scan
  std::uint64_t times_serial_ = 0;
  std::uint64_t names_serial_ = 0;
  BlockTimes times_;
  std::array<std::uint64_t, kBlockEvents> names_;
  std::vector<std::unique_ptr<DecodedColumn>> columns_;
};

}  // namespace accelscope::sql
