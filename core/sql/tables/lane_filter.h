// The conditions of a query on one lane: which of its chunks may hold matches, and which events of a chunk match. Skips
// chunks and blocks of 64 events by their times, covered time, totals by name and column statistics before it decodes
// anything. Once made it is not changed: any number of threads may filter chunks at the same time.
#pragma once

#include <memory>
#include <vector>

#include "core/sql/tables/predicate.h"

namespace accelscope::sql {

// Ticks t of the lane with bounds.holds(clock.to_ns(t)). Bounds that all of the lane meets are left out, so that the
// map is never asked for times far outside of it.
[[nodiscard]] IntegerBounds to_ticks(const LaneSnapshot& lane, const IntegerBounds& bounds);

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

// What a filter left of a chunk.
struct FilteredChunk {
  std::uint32_t chunk = 0;
  std::shared_ptr<const LoadedChunk> loaded;  // null: nothing matches, or it could not be read
  std::vector<std::uint64_t> matches;         // per block, a bit per event
  std::uint64_t count = 0;                    // of matching events
};

class LaneFilter {
 public:
  // schema_columns: the lane's schema column for each table column, -1 where it has none.
  LaneFilter(Context& context, const LaneSnapshot& lane, const EventFilter& filter,
             const std::vector<int>& schema_columns);

  // Chunks that the filter's times and ids leave: [first_chunk, last_chunk).
  [[nodiscard]] std::uint32_t first_chunk() const noexcept { return first_chunk_; }
  [[nodiscard]] std::uint32_t last_chunk() const noexcept { return last_chunk_; }
  // Known without reading it: every event of the chunk matches.
  [[nodiscard]] bool keeps_all_of(std::uint32_t chunk) const;
  // A chunk that cannot be read is told to the context's report.
  [[nodiscard]] FilteredChunk run(std::uint32_t chunk) const;

 private:
  struct CompiledTest {
    const FieldTest* test;
    std::size_t column;
    ColumnType type;
    StringTest::Answers* answers;
  };
  // A chunk while it is filtered.
  struct Pass {
    const ChunkPlace& place;
    const ChunkView& view;
    std::uint32_t block = 0;
  };

  void compile(const std::vector<int>& schema_columns);
  void choose_chunks();
  [[nodiscard]] bool skips_chunk(std::uint32_t chunk) const;
  [[nodiscard]] bool skips_loaded_chunk(const ChunkView& view) const;
  [[nodiscard]] bool skips_block(const Pass& pass) const;
  [[nodiscard]] std::uint64_t block_matches(const Pass& pass) const;
  [[nodiscard]] std::uint64_t time_matches(const Pass& pass) const;
  [[nodiscard]] std::uint64_t name_matches(const Pass& pass, std::uint64_t candidates) const;
  [[nodiscard]] std::uint64_t field_matches(const Pass& pass, const CompiledTest& test, std::uint64_t candidates) const;
  [[nodiscard]] bool leaf_times(const Pass& pass, std::int64_t& begin, std::int64_t& end, std::uint64_t& covered) const;

  Context& context_;
  const LaneSnapshot& lane_;
  const EventFilter& filter_;
  std::vector<StringTest::Answers*> name_answers_;
  std::vector<CompiledTest> tests_;
  IntegerBounds begin_ticks_;
  IntegerBounds end_ticks_;
  IntegerBounds ordinals_;
  bool tests_duration_ = false;
  bool tests_times_ = false;
  const EventMask* mask_ = nullptr;  // null: every event passes
  std::uint32_t lane_index_ = 0;
  std::uint32_t first_chunk_ = 0;
  std::uint32_t last_chunk_ = 0;
};

}  // namespace accelscope::sql
