// The rows of an event table for one set of conditions: one stream of all lanes, or one per lane merged by their begins
// where SQLite asked for that order.
#pragma once

#include <memory>
#include <vector>

#include "core/sql/tables/event_stream.h"
#include "core/sql/tables/event_table.h"
#include "core/sql/tables/name_groups.h"

namespace accelscope::sql {

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
