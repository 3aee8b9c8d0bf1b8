// A simple query made ready for the lanes of its table: what each column is in a lane, which conditions are settled by
// the lane, its times or a chunk's place, and the rest, tested a block of 64 events at a time.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "core/scan/chunk_scan.h"
#include "core/sql/base/context.h"
#include "core/sql/planned/query.h"

namespace accelscope::sql {

// Strings as 64-bit codes: the session-wide id, or a number above all ids for a text that is not an event's.
// Equal texts have equal codes. Filled while the lanes are made ready, then only read.
class TextCodes {
 public:
  explicit TextCodes(const StringPool& pool) : pool_(pool) {}
  [[nodiscard]] std::uint64_t code(std::string_view text);
  [[nodiscard]] std::string_view text(std::uint64_t code) const {
    return code < kFirstOwn ? pool_.text(static_cast<StringId>(code)) : std::string_view(own_[code - kFirstOwn]);
  }

 private:
  static constexpr std::uint64_t kFirstOwn = std::uint64_t{1} << 32;
  const StringPool& pool_;
  std::vector<std::string> own_;
};

struct LaneColumn {
  enum class Source : std::uint8_t { null, constant, id, begin, end, duration, name, stored };
  Source source = Source::null;
  std::size_t column = 0;  // of the lane's schema
  ColumnType type = ColumnType::int64;
  std::uint64_t constant = 0;
};

struct NativeLane {
  const LaneSnapshot* lane = nullptr;
  std::uint32_t index = 0;          // in the snapshot
  std::vector<LaneColumn> columns;  // per input
  std::vector<const Condition*> conditions;
  IntegerBounds begin_ticks;
  IntegerBounds end_ticks;
  IntegerBounds ordinals;
  bool exact_durations = false;     // a tick is a ns
  bool tests_names = false;         // some of its conditions do
  const EventMask* mask = nullptr;  // null: every event passes

  struct Part {
    bool any = false;
    bool tests_times = false;  // not all of its events are within the bounds
    bool tests_ordinals = false;
    bool tests_mask = false;
    [[nodiscard]] bool whole() const noexcept { return any && !tests_times && !tests_ordinals && !tests_mask; }
  };
  [[nodiscard]] Part part(const ChunkPlace& place) const noexcept;
};

// The lanes that may hold rows of the query.
[[nodiscard]] std::vector<NativeLane> native_lanes(const Context& context, const NativeQuery& query, TextCodes& texts);

// What a lane's conditions on the name say of each name, by session-wide id. For one thread.
class NameAnswers {
 public:
  NameAnswers(const TextCodes& texts, std::size_t string_count) : texts_(texts), answers_(string_count) {}
  [[nodiscard]] bool keeps(const NativeLane& lane, StringId name);
  // False if the chunk's totals by name show that no event has such a name.
  [[nodiscard]] bool may_match(const NativeLane& lane, std::uint32_t chunk);

 private:
  const TextCodes& texts_;
  std::vector<std::uint8_t> answers_;  // 0 unknown, 1 keeps, 2 does not
};

// The values of a column in one block.
struct BlockValues {
  std::uint64_t valid = 0;  // bit per event
  std::array<std::uint64_t, kBlockEvents> values;
};

// Reads the blocks of a chunk, each column when it is first asked for. One per thread.
class BlockReader {
 public:
  BlockReader(const NativeQuery& query, const TextCodes& texts, std::size_t string_count);

  // False if the chunk lacks columns of its schema.
  [[nodiscard]] bool open(const ScannedChunk& chunk, const NativeLane& lane);
  void seek(std::uint32_t block) noexcept;
  // Of the events that meet all conditions.
  [[nodiscard]] std::uint64_t matches();
  [[nodiscard]] const BlockValues& values(std::size_t input);
  // Where a text is: its values are rows of the chunk.
  [[nodiscard]] std::size_t schema_column(std::size_t input) const noexcept { return lane_->columns[input].column; }
  [[nodiscard]] EventId id(std::uint32_t row_in_block) const noexcept {
    return chunk_->event_id(block_ * kBlockEvents + row_in_block);
  }

 private:
  struct Column {
    std::uint64_t serial = 0;
    BlockValues block;
  };
  void read(const LaneColumn& source, ValueKind kind, BlockValues& out);
  void read_stored(const LaneColumn& source, BlockValues& out);
  const BlockTimes& ticks();
  const std::int64_t* begins();
  const std::int64_t* ends();
  [[nodiscard]] std::uint64_t test(const Condition& condition, std::uint64_t candidates);
  [[nodiscard]] std::uint64_t test_strings(const Condition& condition, const BlockValues& block,
                                           std::uint64_t candidates);

  const NativeQuery& query_;
  const TextCodes& texts_;
  std::size_t string_count_;
  const ScannedChunk* chunk_ = nullptr;
  const NativeLane* lane_ = nullptr;
  NativeLane::Part part_;
  std::uint32_t block_ = 0;
  std::uint64_t all_ = 0;     // events of the block
  std::uint64_t serial_ = 0;  // of the block, over all chunks
  std::uint64_t ticks_serial_ = 0;
  std::uint64_t begins_serial_ = 0;
  std::uint64_t ends_serial_ = 0;
  BlockTimes ticks_;
  std::array<std::int64_t, kBlockEvents> begins_;
  std::array<std::int64_t, kBlockEvents> ends_;
  std::vector<Column> columns_;  // per input
  // Per condition of the query and string: 0 unknown, 1 keeps, 2 does not.
  std::vector<std::vector<std::uint8_t>> answers_;
};

// A value as SQLite shows it. Texts are not in here.
[[nodiscard]] SqlValue sql_value(ValueKind kind, std::uint64_t value, const TextCodes& texts);

}  // namespace accelscope::sql
