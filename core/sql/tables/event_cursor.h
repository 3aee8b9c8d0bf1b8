// The rows of an event table for one set of conditions: one stream of all lanes, or one per lane merged by their begins
// where SQLite asked for that order.
#pragma once

#include <bit>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "core/scan/predicate.h"
#include "core/sql/tables/event_table.h"
#include "core/sql/tables/predicate.h"

namespace accelscope::sql {

// The events of one lane that meet the conditions of a query, chunk by chunk: found on any thread by filter_chunk(),
// read in order by a LaneScan.

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

// The matching events of some lanes, lane by lane and in order. Chunks are filtered ahead on the worker pool while
// SQLite takes rows; how far ahead grows with the rows taken, so that a LIMIT or a look-up by id reads no more than it
// must. The caller filters too: a busy pool only makes it slower.

class EventStream {
 public:
  // lanes: indices into the snapshot's. ahead: chunks at most that are filtered and not taken yet; 1: none ahead.
  // All but the list of lanes must outlive the stream.
  EventStream(Context& context, const EventTableSpec& spec, const std::vector<EventCondition>& conditions,
              std::vector<std::uint32_t> lanes, std::size_t ahead);
  ~EventStream();
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;

  // Leaves out the first rows, reading no chunk that can be left out as a whole. Before the first next().
  void skip(std::uint64_t rows) { offset_ = rows; }
  // False at the end, or when the query was cancelled.
  [[nodiscard]] bool next() {
    while (current_ == nullptr || !current_->next()) {
      if (!next_chunk()) return false;
    }
    return true;
  }
  [[nodiscard]] int status() const noexcept { return status_; }
  // Of the current event.
  [[nodiscard]] LaneScan& scan() noexcept { return *current_; }

 private:
  // A chunk on its way. Who runs it has taken it out of the waiting ones.
  struct Request {
    std::shared_ptr<LaneScan> scan;
    std::uint32_t chunk = 0;
    bool done = false;
    FilteredChunk filtered;
  };
  struct Shared;

  [[nodiscard]] bool next_chunk();
  [[nodiscard]] std::shared_ptr<Request> next_request();  // null after the last one
  [[nodiscard]] bool next_lane();
  void fill();
  void call_workers();
  void finish_front();

  Context& context_;
  const EventTableSpec& spec_;
  const std::vector<EventCondition>& conditions_;
  const std::vector<std::uint32_t> lanes_;
  const std::size_t most_ahead_;
  std::size_t ahead_ = 1;
  std::size_t next_lane_ = 0;
  std::shared_ptr<LaneScan> lane_;  // that requests are made of
  std::uint32_t next_chunk_ = 0;
  std::deque<std::shared_ptr<Request>> requests_;  // in order
  std::shared_ptr<Shared> shared_;
  std::shared_ptr<LaneScan> current_;
  std::uint64_t offset_ = 0;
  int status_ = SQLITE_OK;
};

// Events of a table gathered by name, for GROUP BY name: SQLite would otherwise sort every row by its text. Keeps only
// the numbers that the query uses, 8 bytes each.

// Fields that can be kept as one number.
[[nodiscard]] bool is_number(EventField field) noexcept;
[[nodiscard]] std::int64_t number_of(LaneScan& scan, EventField field);

class NameGroups {
 public:
  // fields: what is kept of each event.
  explicit NameGroups(std::vector<EventField> fields) : fields_(std::move(fields)) {}
  void add(LaneScan& scan);
  // To the first row, groups by the texts of their names: ORDER BY may rely on the order that GROUP BY asked for.
  void sort(const StringPool& strings, bool descending);

  [[nodiscard]] bool at_end() const noexcept { return group_ >= groups_.size(); }
  void next() noexcept;
  [[nodiscard]] StringId name() const noexcept { return groups_[group_].name; }
  [[nodiscard]] std::int64_t number(EventField field) const noexcept;

 private:
  struct Group {
    StringId name = 0;
    std::uint64_t count = 0;
    std::vector<std::int64_t> numbers;  // one per field, row by row
  };
  std::vector<EventField> fields_;
  std::vector<Group> groups_;
  std::vector<std::uint32_t> group_of_name_;  // by session-wide id, plus one; 0: none yet
  std::size_t group_ = 0;
  std::uint64_t row_ = 0;
};

enum class RowOrder : std::uint8_t { any, time, name, name_descending };

struct EventRequest {
  std::vector<EventCondition> conditions;  // all must hold
  RowOrder order = RowOrder::any;
  // The table's columns that are asked for; matters where rows come by name: they must be numbers or the name then.
  std::vector<EventField> used;
  std::uint64_t offset = 0;  // matching rows left out at the beginning
};

class EventCursor {
 public:
  EventCursor(Context& context, const EventTableSpec& spec) : context_(context), spec_(spec) {}

  // SQLITE_OK with the first row in place, or an error.
  int start(EventRequest request);
  int next();
  [[nodiscard]] bool at_end() const noexcept { return groups_ ? groups_->at_end() : current_ == nullptr; }
  // The event's id; fails where rows are gathered by name and the id was not asked for as a column.
  int row_id(std::int64_t& id);
  void result(sqlite3_context* context, std::size_t table_column);

 private:
  [[nodiscard]] bool may_hold_rows(const LaneSnapshot& lane) const;
  [[nodiscard]] std::vector<std::uint32_t> lanes_with_rows() const;
  int start_stream(std::uint64_t offset);
  int next_in_stream();
  int start_merge();
  int skip_rows(std::uint64_t rows);  // one by one
  int gather(const std::vector<EventField>& used);
  void group_result(sqlite3_context* context, const EventColumn& column) const;
  int next_merged();
  struct Head {
    std::int64_t begin_ns;
    EventId id;
    EventStream* stream;
    bool operator>(const Head& other) const noexcept {
      return begin_ns != other.begin_ns ? begin_ns > other.begin_ns : id > other.id;
    }
  };

  Context& context_;
  const EventTableSpec& spec_;
  std::vector<EventCondition> conditions_;
  RowOrder order_ = RowOrder::any;
  std::unique_ptr<NameGroups> groups_;  // rows by name
  std::vector<std::unique_ptr<EventStream>> streams_;
  std::vector<Head> heads_;  // a heap, the earliest in front
  EventStream* current_ = nullptr;
};

}  // namespace accelscope::sql
