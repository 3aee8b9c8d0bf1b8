// The rows of an event table for one set of conditions: one LaneScan after the other, or all of them merged by
// their begins where SQLite asked for that order.
#pragma once

#include <memory>
#include <vector>

#include "core/query/sql_event_table.h"
#include "core/query/sql_lane_scan.h"

namespace accelscope::sql {

class EventCursor {
 public:
  EventCursor(Context& context, const EventTableSpec& spec) : context_(context), spec_(spec) {}

  // SQLITE_OK with the first row in place, or an error.
  int start(EventFilter filter, bool by_time);
  int next();
  [[nodiscard]] bool at_end() const noexcept { return current_ == nullptr; }
  [[nodiscard]] LaneScan& scan() noexcept { return *current_; }
  void result(sqlite3_context* context, std::size_t table_column);

 private:
  [[nodiscard]] bool may_hold_rows(const LaneSnapshot& lane) const;
  [[nodiscard]] std::unique_ptr<LaneScan> open(std::uint32_t lane_index);
  int next_lane();
  int start_merge();
  int next_merged();
  struct Head {
    std::int64_t begin_ns;
    EventId id;
    LaneScan* scan;
    bool operator>(const Head& other) const noexcept {
      return begin_ns != other.begin_ns ? begin_ns > other.begin_ns : id > other.id;
    }
  };

  Context& context_;
  const EventTableSpec& spec_;
  EventFilter filter_;
  bool by_time_ = false;
  std::vector<std::unique_ptr<LaneScan>> scans_;
  std::vector<Head> heads_;  // a heap, the earliest in front
  std::size_t next_lane_ = 0;
  LaneScan* current_ = nullptr;
};

}  // namespace accelscope::sql
