#include "core/scan/block_reader.h"

#include <bit>
#include <cmath>

#include "core/chunk/chunk_format.h"

namespace accelscope {

void BlockReader::open(const LaneSnapshot& lane, const StringMap& strings, const ChunkPlace& place,
                       const ChunkView& view) {
  lane_ = &lane;
  strings_ = &strings;
  place_ = &place;
  view_ = &view;
  block_ = kNoBlock;
  exact_ = lane.clock->is_affine() && lane.clock->ns_per_tick() == 1.0;
}

void BlockReader::read_ticks() {
  view_->times(block_, ticks_);
  ticks_serial_ = serial_;
}

const std::int64_t* BlockReader::in_ns(const std::int64_t* ticks, std::array<std::int64_t, kBlockEvents>& made) const {
  if (lane_->clock->is_identity()) return ticks;
  lane_->clock->to_ns({ticks, view_->block_size(block_)}, made.data());
  return made.data();
}

void BlockReader::read_begins() {
  begins_ = in_ns(ticks().begins.data(), made_begins_);
  begins_serial_ = serial_;
}

void BlockReader::read_ends() {
  ends_ = in_ns(ticks().ends.data(), made_ends_);
  ends_serial_ = serial_;
}

const std::uint64_t* BlockReader::durations_ns() {
  if (durations_serial_ == serial_) return durations_.data();
  durations_serial_ = serial_;
  if (exact_ && ticks_serial_ != serial_) {
    view_->durations(block_, durations_.data());
    return durations_.data();
  }
  const std::int64_t* from = exact_ ? ticks_.begins.data() : begins_ns();
  const std::int64_t* to = exact_ ? ticks_.ends.data() : ends_ns();
  for (std::uint32_t i = 0; i < kBlockEvents; ++i) {
    durations_[i] = static_cast<std::uint64_t>(to[i]) - static_cast<std::uint64_t>(from[i]);
  }
  return durations_.data();
}

void BlockReader::read_names() {
  view_->names(block_, names_.data());
  strings_->to_session(names_);
  names_serial_ = serial_;
}

const std::uint64_t* BlockReader::ids() {
  if (ids_serial_ != serial_) {
    for (std::uint32_t i = 0; i < kBlockEvents; ++i) ids_[i] = id(i);
    ids_serial_ = serial_;
  }
  return ids_.data();
}

BlockValues BlockReader::read_column(std::size_t column, ColumnType type) {
  if (column >= view_->column_count()) return {};
  if (column >= columns_.size()) columns_.resize(column + 1);
  std::unique_ptr<Column>& decoded = columns_[column];
  if (!decoded) decoded = std::make_unique<Column>();
  decode(column, type, *decoded);
  decoded->serial = serial_;
  return {decoded->valid, decoded->values.data()};
}

void BlockReader::decode(std::size_t column, ColumnType type, Column& out) const {
  out.valid = view_->validity(column, block_);
  if (out.valid == 0) return;
  if (type == ColumnType::text) {
    for (std::uint32_t i = 0; i < kBlockEvents; ++i) out.values[i] = first_row() + i;
    return;
  }
  view_->values(column, block_, out.values.data());
  switch (type) {
    case ColumnType::int64:
      for (std::uint64_t& value : out.values) value ^= kSignBit;
      return;
    case ColumnType::boolean:
      for (std::uint64_t& value : out.values) value = value != 0 ? 1 : 0;
      return;
    case ColumnType::float64:
      for (std::uint32_t i = 0; i < kBlockEvents; ++i) {
        const double value = view_->to_float64(column, out.values[i]);
        if (std::isnan(value)) out.valid &= ~(std::uint64_t{1} << i);
        out.values[i] = std::bit_cast<std::uint64_t>(value);
      }
      return;
    case ColumnType::string:
      strings_->to_session(out.values);
      return;
    default:
      return;
  }
}

BlockValues BlockReader::values(const ValuePlace& place) {
  // The bits of signed and unsigned numbers are the same.
  const auto as_words = [](const std::int64_t* values) { return reinterpret_cast<const std::uint64_t*>(values); };
  switch (place.source) {
    case ValuePlace::Source::id:
      return {all_, ids()};
    case ValuePlace::Source::begin:
      return {all_, as_words(begins_ns())};
    case ValuePlace::Source::end:
      return {all_, as_words(ends_ns())};
    case ValuePlace::Source::duration:
      return {all_, durations_ns()};
    case ValuePlace::Source::name:
      return {all_, names()};
    case ValuePlace::Source::column:
      return column(place.column, place.type);
    default:
      return {};
  }
}

}  // namespace accelscope
