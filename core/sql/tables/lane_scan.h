// The events of one lane that meet the conditions of a query, chunk by chunk: found on any thread by filter_chunk(),
// read in order by a LaneScan.
#pragma once

#include <bit>
#include <memory>
#include <vector>

#include "core/scan/predicate.h"
#include "core/sql/tables/predicate.h"

namespace accelscope::sql {

// What a predicate left of a chunk.
struct FilteredChunk {
  std::uint32_t chunk = 0;
  std::shared_ptr<const LoadedChunk> loaded;  // null: nothing matches, or it could not be read
  std::vector<std::uint64_t> matches;         // per block, a bit per event
  std::uint64_t count = 0;                    // of matching events
};

class LaneScan {
 public:
  LaneScan(Context& context, const EventTableSpec& spec, std::uint32_t lane_index,
           const std::vector<EventCondition>& conditions);

  [[nodiscard]] const ChunkSpan& chunks() const noexcept { return chunks_; }  // that may hold matches
  // Known without reading it: every event of the chunk matches.
  [[nodiscard]] bool keeps_all_of(std::uint32_t chunk) const {
    return predicate_.conditions().empty() && predicate_.part(chunk).whole();
  }
  // By any thread. A chunk that cannot be read is told to the context's report.
  [[nodiscard]] FilteredChunk filter_chunk(std::uint32_t chunk) const;

  void enter(FilteredChunk chunk);
  // False at the end of the chunk.
  [[nodiscard]] bool next() {
    if (matches_ == 0 && !next_block()) return false;
    row_in_block_ = static_cast<std::uint32_t>(std::countr_zero(matches_));
    matches_ &= matches_ - 1;
    return true;
  }
  // Passes over up to `rows` events of the chunk; those that it does not have are left in `rows`.
  void skip(std::uint64_t& rows);

  // Of the current event.
  [[nodiscard]] EventId id() const noexcept { return reader_.id(row_in_block_); }
  [[nodiscard]] const LaneSnapshot& lane() const noexcept { return predicate_.lane(); }
  [[nodiscard]] std::int64_t begin_ns() { return reader_.begins_ns()[row_in_block_]; }
  [[nodiscard]] std::int64_t end_ns() { return reader_.ends_ns()[row_in_block_]; }
  [[nodiscard]] StringId name() { return static_cast<StringId>(reader_.names()[row_in_block_]); }
  // The lane's schema column for a table column, -1 where it has none.
  [[nodiscard]] int schema_column(std::size_t table_column) const noexcept { return schema_columns_[table_column]; }
  void result(sqlite3_context* context, std::size_t schema_column);

 private:
  [[nodiscard]] bool next_block();  // to the next one with a match

  Context& context_;
  const std::vector<int>& schema_columns_;
  LanePredicate predicate_;
  ChunkSpan chunks_;
  const StringMap& strings_;
  FilteredChunk filtered_;
  BlockReader reader_;
  std::uint32_t next_block_ = 0;
  std::uint32_t row_in_block_ = 0;
  std::uint64_t matches_ = 0;  // of the block that are still to come
};

}  // namespace accelscope::sql
