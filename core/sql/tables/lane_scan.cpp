#include "core/sql/tables/lane_scan.h"

#include "core/chunk/chunk_format.h"

namespace accelscope::sql {
namespace {}  // namespace

LaneScan::LaneScan(Context& context, const LaneSnapshot& lane, const EventFilter& filter,
                   const std::vector<int>& schema_columns)
    : lane_(lane),
      filter_(context, lane, filter, schema_columns),
      schema_columns_(schema_columns),
      strings_(context.strings(scope_of(lane.number()))) {
  columns_.resize(lane.schema->columns.size());
}

void LaneScan::enter(FilteredChunk chunk) {
  filtered_ = std::move(chunk);
  place_ = &lane_.chunk(filtered_.chunk);
  next_block_ = 0;
  mask_ = 0;
}

bool LaneScan::next_block() {
  while (next_block_ < filtered_.matches.size()) {
    block_ = next_block_++;
    mask_ = filtered_.matches[block_];
    if (mask_ == 0) continue;
    ++serial_;
    return true;
  }
  filtered_ = {};  // makes room for the chunks to come
  next_block_ = 0;
  return false;
}

void LaneScan::skip(std::uint64_t& rows) {
  while (rows > 0 && (mask_ != 0 || next_block())) {
    for (; mask_ != 0 && rows > 0; mask_ &= mask_ - 1) --rows;
  }
}

const BlockTimes& LaneScan::times() {
  if (times_serial_ != serial_) {
    filtered_.loaded->view.times(block_, times_);
    times_serial_ = serial_;
  }
  return times_;
}

const std::uint64_t* LaneScan::names() {
  if (names_serial_ != serial_) {
    filtered_.loaded->view.names(block_, names_.data());
    names_serial_ = serial_;
  }
  return names_.data();
}

const LaneScan::DecodedColumn& LaneScan::column(std::size_t schema_column) {
  std::unique_ptr<DecodedColumn>& decoded = columns_[schema_column];
  if (!decoded) decoded = std::make_unique<DecodedColumn>();
  if (decoded->serial != serial_) {
    decoded->validity = filtered_.loaded->view.validity(schema_column, block_);
    if (decoded->validity != 0) filtered_.loaded->view.values(schema_column, block_, decoded->values.data());
    decoded->serial = serial_;
  }
  return *decoded;
}

std::int64_t LaneScan::begin_ns() { return lane_.clock->to_ns(times().begins[row_in_block_]); }
std::int64_t LaneScan::end_ns() { return lane_.clock->to_ns(times().ends[row_in_block_]); }
std::string_view LaneScan::name() { return strings_.text(names()[row_in_block_]); }
StringId LaneScan::name_id() { return strings_.session_id(names()[row_in_block_]); }

void LaneScan::result(sqlite3_context* context, std::size_t schema_column) {
  const DecodedColumn& decoded = column(schema_column);
  if (((decoded.validity >> row_in_block_) & 1U) == 0) return sqlite3_result_null(context);
  const std::uint64_t stored = decoded.values[row_in_block_];
  switch (lane_.schema->columns[schema_column].type) {
    case ColumnType::int64:
      return sqlite3_result_int64(context, static_cast<std::int64_t>(stored ^ kSignBit));
    case ColumnType::uint64:
      return result_uint64(context, stored);
    case ColumnType::boolean:
      return sqlite3_result_int(context, stored != 0 ? 1 : 0);
    case ColumnType::float64:
      return sqlite3_result_double(context, filtered_.loaded->view.to_float64(schema_column, stored));
    case ColumnType::string:
      return result_pooled_text(context, strings_.text(stored));
    case ColumnType::text:
      return result_text(context, filtered_.loaded->view.text(schema_column, block_ * kBlockEvents + row_in_block_));
  }
}

}  // namespace accelscope::sql
