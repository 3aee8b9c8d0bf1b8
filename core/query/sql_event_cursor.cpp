#include "core/query/sql_event_cursor.h"

#include <algorithm>
#include <iterator>

namespace accelscope::sql {

int EventCursor::start(EventRequest request) {
  scans_.clear();
  heads_.clear();
  groups_.reset();
  filter_ = std::move(request.filter);
  order_ = request.order;
  next_lane_ = 0;
  offset_ = 0;
  current_ = nullptr;
  if (filter_.nothing) return SQLITE_OK;
  if (order_ == RowOrder::any) {
    offset_ = request.offset;
    return next_lane();
  }
  const int code = order_ == RowOrder::time ? start_merge() : gather(request.used);
  return code == SQLITE_OK ? skip_rows(request.offset) : code;
}

int EventCursor::skip_rows(std::uint64_t rows) {
  for (; rows > 0 && !at_end(); --rows) {
    if (const int code = next(); code != SQLITE_OK) return code;
  }
  return SQLITE_OK;
}

int EventCursor::next() {
  if (groups_) {
    groups_->next();
    return SQLITE_OK;
  }
  if (order_ == RowOrder::time) return next_merged();
  if (current_->next()) return SQLITE_OK;
  if (current_->status() != SQLITE_OK) return current_->status();
  return next_lane();
}

int EventCursor::gather(const std::vector<EventField>& used) {
  std::vector<EventField> kept;
  std::copy_if(used.begin(), used.end(), std::back_inserter(kept), is_number);
  auto groups = std::make_unique<NameGroups>(std::move(kept));
  if (const int code = next_lane(); code != SQLITE_OK) return code;
  while (current_ != nullptr) {
    groups->add(*current_);
    if (current_->next()) continue;
    if (current_->status() != SQLITE_OK) return current_->status();
    if (const int code = next_lane(); code != SQLITE_OK) return code;
  }
  groups->sort(*context_.snapshot->strings, order_ == RowOrder::name_descending);
  groups_ = std::move(groups);
  return SQLITE_OK;
}

int EventCursor::row_id(std::int64_t& id) {
  if (groups_) return context_.fail("rowid cannot be used with GROUP BY or DISTINCT of the name; use the column id");
  id = static_cast<std::int64_t>(current_->id());
  return SQLITE_OK;
}

void EventCursor::group_result(sqlite3_context* context, const EventColumn& column) const {
  if (column.field == EventField::name)
    return result_pooled_text(context, context_.snapshot->strings->text(groups_->name()));
  sqlite3_result_int64(context, groups_->number(column.field));
}

bool EventCursor::may_hold_rows(const LaneSnapshot& lane) const {
  const auto first = static_cast<std::int64_t>(make_event_id(lane.number(), 0));
  const auto last = static_cast<std::int64_t>(make_event_id(lane.number() + 1, 0) - 1);
  const auto keeps = [&](const auto& test) { return test->keeps(lane.schema->name); };
  if (!std::all_of(filter_.schemas.begin(), filter_.schemas.end(), keeps)) return false;
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
    if (offset_ > 0) scan->skip(offset_);
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
  const EventColumn& column = spec_.columns[table_column];
  if (groups_) return group_result(context, column);
  LaneScan& scan = *current_;
  const LaneSnapshot& lane = scan.lane();
  if (is_number(column.field)) return sqlite3_result_int64(context, number_of(scan, column.field));
  if (column.field == EventField::name) return result_pooled_text(context, scan.name());
  if (column.field == EventField::schema) return result_pooled_text(context, lane.schema->name);
  const int schema_column = scan.schema_column(table_column);
  if (schema_column >= 0) return scan.result(context, static_cast<std::size_t>(schema_column));
  if (column.field == EventField::category) return result_pooled_text(context, track_kind(*context_.snapshot, lane));
  sqlite3_result_null(context);
}

}  // namespace accelscope::sql
