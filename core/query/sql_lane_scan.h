// Walks the events of one lane that pass a filter, in order, a block of 64 at a time. Skips chunks and blocks by
// their times, covered time, totals by name and column statistics before it decodes anything; decodes a column of a
// block only when it is tested or asked for.
#pragma once

#include <array>
#include <bit>
#include <memory>
#include <vector>

#include "core/query/sql_predicate.h"

namespace accelscope::sql {

// A condition on a schema column, by its place in the table. Only the test of the column's type is used.
struct FieldTest {
  std::size_t table_column = 0;
  IntegerBounds integers;
  Bounds<std::uint64_t> unsigneds;
  RealBounds reals;
  std::unique_ptr<StringTest> strings;
  bool category = false;  // where the schema has no such column, the kind of the track
};

struct EventFilter {
  bool nothing = false;
  IntegerBounds id;
  IntegerBounds track;
  IntegerBounds lane_depth;
  IntegerBounds ts_ns;
  IntegerBounds dur_ns;
  IntegerBounds end_ns;
  std::vector<std::unique_ptr<StringTest>> names;
  std::vector<std::unique_ptr<StringTest>> schemas;  // of the schema's name
  std::vector<FieldTest> fields;
};

[[nodiscard]] std::string_view track_kind(const Snapshot& snapshot, const LaneSnapshot& lane);

class LaneScan {
 public:
  // schema_columns: the lane's schema column for each table column, -1 where it has none.
  LaneScan(Context& context, const LaneSnapshot& lane, EventFilter& filter, const std::vector<int>& schema_columns);

  // False at the end, or when status() is not SQLITE_OK.
  [[nodiscard]] bool next() {
    while (mask_ == 0) {
      if (!advance()) return false;
    }
    row_in_block_ = static_cast<std::uint32_t>(std::countr_zero(mask_));
    mask_ &= mask_ - 1;
    return true;
  }
  // Passes over up to `rows` matching events, reading no chunk that can be passed over as a whole; those that it could
  // not find are still in `rows`. Before the first next().
  void skip(std::uint64_t& rows);
  [[nodiscard]] int status() const noexcept { return status_; }
  // Chunks that the filter's times and ids leave; for progress.
  [[nodiscard]] std::uint32_t chunk_count() const noexcept { return last_chunk_ - first_chunk_; }

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
  struct CompiledTest {
    FieldTest* test;
    std::size_t column;
    ColumnType type;
    StringTest::Answers* answers;
  };
  struct DecodedColumn {
    std::uint64_t serial = 0;
    std::uint64_t validity = 0;
    std::array<std::uint64_t, kBlockEvents> values;
  };

  void compile();
  void choose_chunks();
  [[nodiscard]] bool advance();  // to the next block that may hold a match
  [[nodiscard]] bool advance_chunk();
  [[nodiscard]] bool skips_chunk(std::uint32_t chunk);
  [[nodiscard]] bool skips_loaded_chunk() const;
  [[nodiscard]] bool skips_block(std::uint32_t block) const;
  [[nodiscard]] std::uint64_t block_matches();
  [[nodiscard]] std::uint64_t time_matches();
  [[nodiscard]] std::uint64_t name_matches(std::uint64_t candidates);
  [[nodiscard]] std::uint64_t field_matches(const CompiledTest& test, std::uint64_t candidates);
  [[nodiscard]] bool leaf_times(std::uint32_t block, std::int64_t& begin, std::int64_t& end,
                                std::uint64_t& covered) const;
  const BlockTimes& times();
  const std::uint64_t* names();
  const DecodedColumn& column(std::size_t schema_column);

  Context& context_;
  const LaneSnapshot& lane_;
  EventFilter& filter_;
  const std::vector<int>& schema_columns_;
  ScopeStrings& strings_;
  std::vector<StringTest::Answers*> name_answers_;
  std::vector<CompiledTest> tests_;
  IntegerBounds begin_ticks_;
  IntegerBounds end_ticks_;
  IntegerBounds ordinals_;
  bool tests_duration_ = false;
  bool tests_times_ = false;
  int status_ = SQLITE_OK;

  std::uint32_t first_chunk_ = 0;
  std::uint32_t last_chunk_ = 0;
  std::uint32_t chunk_ = 0;  // the next one to load
  const ChunkPlace* place_ = nullptr;
  std::shared_ptr<const LoadedChunk> loaded_;
  std::uint32_t block_ = 0;
  std::uint32_t next_block_ = 0;
  std::uint32_t row_in_block_ = 0;
  std::uint64_t mask_ = 0;
  std::uint64_t serial_ = 0;  // of the block, over the whole scan
  std::uint64_t times_serial_ = 0;
  std::uint64_t names_serial_ = 0;
  BlockTimes times_;
  std::array<std::uint64_t, kBlockEvents> names_;
  std::vector<std::unique_ptr<DecodedColumn>> columns_;
};

}  // namespace accelscope::sql
