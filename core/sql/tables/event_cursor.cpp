#include "core/sql/tables/event_cursor.h"

#include <algorithm>
#include <iterator>

namespace accelscope::sql {
namespace {

constexpr std::size_t kChunksPerThread = 4;  // filtered ahead: a few hundred KB each

}  // namespace

int EventCursor::start(EventRequest request) {
  streams_.clear();
  heads_.clear();
  groups_.reset();
  conditions_ = std::move(request.conditions);
  order_ = request.order;
  current_ = nullptr;
  if (order_ == RowOrder::any) return start_stream(request.offset);
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
  return order_ == RowOrder::time ? next_merged() : next_in_stream();
}

int EventCursor::start_stream(std::uint64_t offset) {
  const std::size_t ahead = kChunksPerThread * context_.pool.concurrency();
  streams_.push_back(std::make_unique<EventStream>(context_, spec_, conditions_, lanes_with_rows(), ahead));
  current_ = streams_.back().get();
  current_->skip(offset);
  return next_in_stream();
}

int EventCursor::next_in_stream() {
  if (current_->next()) return SQLITE_OK;
  const int code = current_->status();
  current_ = nullptr;
  return code;
}

int EventCursor::gather(const std::vector<EventField>& used) {
  std::vector<EventField> kept;
  std::copy_if(used.begin(), used.end(), std::back_inserter(kept), is_number);
  auto groups = std::make_unique<NameGroups>(std::move(kept));
  int code = start_stream(0);
  for (; current_ != nullptr; code = next_in_stream()) groups->add(current_->scan());
  if (code != SQLITE_OK) return code;
  groups->sort(*context_.snapshot->strings, order_ == RowOrder::name_descending);
  groups_ = std::move(groups);
  return SQLITE_OK;
}

int EventCursor::row_id(std::int64_t& id) {
  if (groups_) return context_.fail("rowid cannot be used with GROUP BY or DISTINCT of the name; use the column id");
  id = static_cast<std::int64_t>(current_->scan().id());
  return SQLITE_OK;
}

void EventCursor::group_result(sqlite3_context* context, const EventColumn& column) const {
  if (column.field == EventField::name)
    return result_pooled_text(context, context_.snapshot->strings->text(groups_->name()));
  sqlite3_result_int64(context, groups_->number(column.field));
}

bool EventCursor::may_hold_rows(const LaneSnapshot& lane) const {
  const std::vector<int>& schema_columns = spec_.schema_columns.at(lane.schema.get());
  return lane.event_count > 0 && std::all_of(conditions_.begin(), conditions_.end(), [&](const EventCondition& each) {
           const EventColumn& column = spec_.columns[each.column];
           return may_hold(lane, lane_value(*context_.snapshot, lane, column, schema_columns[each.column]), each.test);
         });
}

std::vector<std::uint32_t> EventCursor::lanes_with_rows() const {
  std::vector<std::uint32_t> lanes;
  std::copy_if(spec_.lanes.begin(), spec_.lanes.end(), std::back_inserter(lanes),
               [this](std::uint32_t lane) { return may_hold_rows(context_.snapshot->lanes[lane]); });
  return lanes;
}

int EventCursor::start_merge() {
  for (const std::uint32_t lane : lanes_with_rows()) {
    auto stream = std::make_unique<EventStream>(context_, spec_, conditions_, std::vector{lane}, 1);
    if (stream->next()) {
      heads_.push_back({stream->scan().begin_ns(), stream->scan().id(), stream.get()});
      streams_.push_back(std::move(stream));
    } else if (stream->status() != SQLITE_OK) {
      return stream->status();
    }
  }
  std::make_heap(heads_.begin(), heads_.end(), std::greater<>());
  if (!heads_.empty()) current_ = heads_.front().stream;
  return SQLITE_OK;
}

int EventCursor::next_merged() {
  std::pop_heap(heads_.begin(), heads_.end(), std::greater<>());
  Head& head = heads_.back();
  if (head.stream->next()) {
    head.begin_ns = head.stream->scan().begin_ns();
    head.id = head.stream->scan().id();
    std::push_heap(heads_.begin(), heads_.end(), std::greater<>());
  } else {
    if (head.stream->status() != SQLITE_OK) return head.stream->status();
    heads_.pop_back();
  }
  current_ = heads_.empty() ? nullptr : heads_.front().stream;
  return SQLITE_OK;
}

void EventCursor::result(sqlite3_context* context, std::size_t table_column) {
  const EventColumn& column = spec_.columns[table_column];
  if (groups_) return group_result(context, column);
  LaneScan& scan = current_->scan();
  const LaneSnapshot& lane = scan.lane();
  if (is_number(column.field)) return sqlite3_result_int64(context, number_of(scan, column.field));
  if (column.field == EventField::name) return result_pooled_text(context, context_.text(scan.name()));
  if (column.field == EventField::schema) return result_pooled_text(context, lane.schema->name);
  const int schema_column = scan.schema_column(table_column);
  if (schema_column >= 0) return scan.result(context, static_cast<std::size_t>(schema_column));
  if (column.field == EventField::category) return result_pooled_text(context, track_kind(*context_.snapshot, lane));
  sqlite3_result_null(context);
}

}  // namespace accelscope::sql
