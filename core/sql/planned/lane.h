// A simple query made ready for the lanes of its table: what each column is in a lane, the predicate that its
// conditions are there, and the values of a block as the query's columns have them.
#pragma once

#include <array>
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

struct PlannedLane {
  LanePredicate predicate;
  std::vector<ValuePlace> columns;  // per input; strings that are constants as TextCodes
  bool exact_durations = false;     // a tick is a ns

  [[nodiscard]] const LaneSnapshot& lane() const noexcept { return predicate.lane(); }
};

// The lanes that may hold rows of the query.
[[nodiscard]] std::vector<PlannedLane> planned_lanes(const Context& context, const PlannedQuery& query,
                                                     TextCodes& texts);

// The chunks of the lanes that may hold rows, as a scan asks for them, and the lane of each.
struct PlannedChunks {
  std::vector<ChunkRequest> requests;
  std::vector<std::size_t> lanes;  // beside requests
  void add(const PlannedLane& lane, std::size_t lane_number, std::uint32_t chunk) {
    requests.push_back({lane.predicate.lane_index(), chunk, {}});
    lanes.push_back(lane_number);
  }
};
[[nodiscard]] PlannedChunks chunks_to_read(const std::vector<PlannedLane>& lanes);

// Reads the blocks of a chunk. One per thread.
class InputReader {
 public:
  // False if the chunk lacks columns of its schema.
  [[nodiscard]] bool open(const ScannedChunk& chunk, const PlannedLane& lane);
  void seek(std::uint32_t block) noexcept { reader_->seek(block); }
  // Of the events that meet all conditions.
  [[nodiscard]] std::uint64_t matches() { return lane_->predicate.matches(*reader_, part_); }
  [[nodiscard]] BlockValues values(std::size_t input);
  // Where a text is: its values are rows of the chunk.
  [[nodiscard]] std::size_t schema_column(std::size_t input) const noexcept { return lane_->columns[input].column; }
  [[nodiscard]] EventId id(std::uint32_t row_in_block) const noexcept { return reader_->id(row_in_block); }

 private:
  BlockReader* reader_ = nullptr;  // of the chunk
  const PlannedLane* lane_ = nullptr;
  ChunkPart part_;
  std::vector<std::array<std::uint64_t, kBlockEvents>> constants_;  // per input
};

// A value as SQLite shows it. Texts are not in here.
[[nodiscard]] listing::SqlValue sql_value(ValueKind kind, std::uint64_t value, const TextCodes& texts);

}  // namespace accelscope::sql
