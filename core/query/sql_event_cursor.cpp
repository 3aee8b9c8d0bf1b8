#include "core/query/sql_event_cursor.h"

#include <algorithm>

namespace accelscope::sql {

int EventCursor::start(EventFilter filter, bool by_time) {
  scans_.clear();
  heads_.clear();
  filter_ = std::move(filter);
  by_time_ = by_time;
  next_lane_ = 0;
  current_ = nullptr;
  if (filter_.nothing) return SQLITE_OK;
  return by_time_ ? start_merge() : next_lane();
}

int EventCursor::next() {
  if (by_time_) return next_merged();
  if (current_->next()) return SQLITE_OK;
  if (current_->status() != SQLITE_OK) return current_->status();
  return next_lane();
}

bool EventCursor::may_hold_rows(const LaneSnapshot& lane) const {
  const auto first = static_cast<std::int64_t>(make_event_id(lane.number(), 0));
  const auto last = static_cast<std::int64_t>(make_event_id(lane.number() + 1, 0) - 1);
  return lane.event_count > 0 && filter_.track.holds(lane.track) && filter_.id.max >= first && filter_.id.min <= last;
}

std::unique_ptr<LaneScan> EventCursor::open(std::uint32_t lane_index) {
  const LaneSnapshot& lane = context_.snapshot->lanes[lane_index];
  auto scan = std::make_unique<LaneScan>(context_, lane, filter_, spec_.schema_columns.at(lane.schema.get()));
  context_.control->add_total(scan->chunk_count());
  return scan;
}

int EventCursor::next_lane() {
  current_ = nullptr;
  scans_.clear();
  while (next_lane_ < spec_.lanes.size()) {
    const std::uint32_t lane_index = spec_.lanes[next_lane_++];
    if (!may_hold_rows(context_.snapshot->lanes[lane_index])) continue;
    auto scan = open(lane_index);
    if (scan->next()) {
      current_ = scan.get();
      scans_.push_back(std::move(scan));
      return SQLITE_OK;
    }
    if (scan->status() != SQLITE_OK) return scan->status();
  }
  return SQLITE_OK;
}

int EventCursor::start_merge() {
  for (const std::uint32_t lane_index : spec_.lanes) {
    if (!may_hold_rows(context_.snapshot->lanes[lane_index])) continue;
    auto scan = open(lane_index);
    if (scan->next()) {
      heads_.push_back({scan->begin_ns(), scan->id(), scan.get()});
      scans_.push_back(std::move(scan));
    } else if (scan->status() != SQLITE_OK) {
      return scan->status();
    }
  }
  std::make_heap(heads_.begin(), heads_.end(), std::greater<>());
  if (!heads_.empty()) current_ = heads_.front().scan;
  return SQLITE_OK;
}

int EventCursor::next_merged() {
  std::pop_heap(heads_.begin(), heads_.end(), std::greater<>());
  Head& head = heads_.back();
  if (head.scan->next()) {
    head.begin_ns = head.scan->begin_ns();
    head.id = head.scan->id();
    std::push_heap(heads_.begin(), heads_.end(), std::greater<>());
  } else {
    if (head.scan->status() != SQLITE_OK) return head.scan->status();
    heads_.pop_back();
  }
  current_ = heads_.empty() ? nullptr : heads_.front().scan;
  return SQLITE_OK;
}

void EventCursor::result(sqlite3_context* context, std::size_t table_column) {
  LaneScan& scan = *current_;
  const EventColumn& column = spec_.columns[table_column];
  const LaneSnapshot& lane = scan.lane();
  switch (column.field) {
    case EventField::id:
      return sqlite3_result_int64(context, static_cast<std::int64_t>(scan.id()));
    case EventField::track_id:
      return sqlite3_result_int64(context, lane.track);
    case EventField::lane:
      return sqlite3_result_int64(context, lane.data->lane.depth);
    case EventField::ts_ns:
      return sqlite3_result_int64(context, scan.begin_ns());
    case EventField::dur_ns:
      return sqlite3_result_int64(context, scan.end_ns() - scan.begin_ns());
    case EventField::end_ns:
      return sqlite3_result_int64(context, scan.end_ns());
    case EventField::name:
      return result_pooled_text(context, scan.name());
    case EventField::schema:
      return result_pooled_text(context, lane.schema->name);
    case EventField::category:
    case EventField::column:
      break;
  }
  const int schema_column = spec_.schema_columns.at(lane.schema.get())[table_column];
  if (schema_column >= 0) return scan.result(context, static_cast<std::size_t>(schema_column));
  if (column.field == EventField::category) {
    const TrackSnapshot* track = context_.snapshot->find_track(lane.track);
    return result_pooled_text(context, track == nullptr ? std::string_view() : std::string_view(track->track->kind));
  }
  sqlite3_result_null(context);
}

}  // namespace accelscope::sql
