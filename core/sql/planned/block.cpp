#include <bit>
#include <cmath>

#include "core/chunk/chunk_format.h"
#include "core/sql/planned/lane.h"

namespace accelscope::sql {
namespace {

std::uint64_t low_bits(std::uint64_t count) {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

template <typename Holds>
std::uint64_t matches_of_all(std::uint64_t candidates, Holds holds) {
  std::uint64_t mask = 0;
  for (std::uint32_t i = 0; i < kBlockEvents; ++i) mask |= static_cast<std::uint64_t>(holds(i)) << i;
  return mask & candidates;
}

// Of some alternatives; `value_of` gives the value as the bounds have it.
template <typename T, typename ValueOf>
std::uint64_t within(const std::vector<Bounds<T>>& alternatives, std::uint64_t candidates, ValueOf value_of) {
  std::uint64_t mask = 0;
  for (const Bounds<T>& bounds : alternatives) {
    mask |= matches_of_all(candidates, [&](std::uint32_t i) { return bounds.holds(value_of(i)); });
  }
  return mask;
}

}  // namespace

BlockReader::BlockReader(const NativeQuery& query, const TextCodes& texts, std::size_t string_count)
    : query_(query),
      texts_(texts),
      string_count_(string_count),
      columns_(query.inputs.size()),
      answers_(query.conditions.size()) {}

bool BlockReader::open(const ScannedChunk& chunk, const NativeLane& lane) {
  chunk_ = &chunk;
  lane_ = &lane;
  part_ = lane.part(chunk.place);
  return chunk.view.column_count() >= chunk.lane.schema->columns.size();
}

void BlockReader::seek(std::uint32_t block) noexcept {
  block_ = block;
  all_ = low_bits(chunk_->view.block_size(block));
  if (part_.tests_mask) all_ &= lane_->mask->bits(lane_->index, chunk_->place.first_leaf + block);
  ++serial_;
}

std::uint64_t BlockReader::matches() {
  std::uint64_t mask = all_;
  if (part_.tests_ordinals) {
    const auto first = static_cast<std::int64_t>(chunk_->place.first_ordinal + block_ * kBlockEvents);
    mask = matches_of_all(mask, [&](std::uint32_t i) { return lane_->ordinals.holds(first + i); });
  }
  if (part_.tests_times && mask != 0) {
    const BlockTimes& times = ticks();
    mask = matches_of_all(mask, [&](std::uint32_t i) {
      return lane_->begin_ticks.holds(times.begins[i]) && lane_->end_ticks.holds(times.ends[i]);
    });
  }
  for (const Condition* condition : lane_->conditions) {
    if (mask == 0) break;
    mask = test(*condition, mask);
  }
  return mask;
}

std::uint64_t BlockReader::test(const Condition& condition, std::uint64_t candidates) {
  const BlockValues& block = values(condition.input);
  if (condition.presence) return candidates & (condition.negated ? ~block.valid : block.valid);
  candidates &= block.valid;
  if (candidates == 0) return 0;
  std::uint64_t mask = 0;
  switch (query_.inputs[condition.input].kind) {
    case ValueKind::integer:
      mask = within(condition.integers, candidates,
                    [&](std::uint32_t i) { return static_cast<std::int64_t>(block.values[i]); });
      break;
    case ValueKind::unsigned_integer:
      mask = within(condition.unsigneds, candidates, [&](std::uint32_t i) { return block.values[i]; });
      break;
    case ValueKind::real:
      mask =
          within(condition.reals, candidates, [&](std::uint32_t i) { return std::bit_cast<double>(block.values[i]); });
      break;
    case ValueKind::string:
      mask = test_strings(condition, block, candidates);
      break;
    case ValueKind::text:
      break;
  }
  return condition.negated ? candidates & ~mask : mask;
}

std::uint64_t BlockReader::test_strings(const Condition& condition, const BlockValues& block,
                                        std::uint64_t candidates) {
  std::vector<std::uint8_t>& answers = answers_[static_cast<std::size_t>(&condition - query_.conditions.data())];
  if (answers.empty()) answers.resize(string_count_ + 1);
  std::uint64_t mask = 0;
  for (std::uint64_t left = candidates; left != 0; left &= left - 1) {
    const auto i = static_cast<std::uint32_t>(std::countr_zero(left));
    std::uint8_t& answer = answers[std::min<std::uint64_t>(block.values[i], string_count_)];
    if (answer == 0) answer = condition.strings->keeps(texts_.text(block.values[i])) ? 1 : 2;
    mask |= std::uint64_t{answer == 1} << i;
  }
  return mask;
}

const BlockValues& BlockReader::values(std::size_t input) {
  Column& column = columns_[input];
  if (column.serial != serial_) {
    read(lane_->columns[input], query_.inputs[input].kind, column.block);
    column.serial = serial_;
  }
  return column.block;
}

void BlockReader::read(const LaneColumn& source, ValueKind kind, BlockValues& out) {
  out.valid = all_;
  const ChunkView& view = chunk_->view;
  const auto copy = [&](const std::int64_t* from) {
    for (std::uint32_t i = 0; i < kBlockEvents; ++i) out.values[i] = static_cast<std::uint64_t>(from[i]);
  };
  switch (source.source) {
    case LaneColumn::Source::null:
      out.valid = 0;
      return;
    case LaneColumn::Source::constant:
      out.values.fill(source.constant);
      return;
    case LaneColumn::Source::id:
      for (std::uint32_t i = 0; i < kBlockEvents; ++i) out.values[i] = id(i);
      return;
    case LaneColumn::Source::begin:
      return copy(begins());
    case LaneColumn::Source::end:
      return copy(ends());
    case LaneColumn::Source::duration: {
      if (lane_->exact_durations && ticks_serial_ != serial_) return view.durations(block_, out.values.data());
      const std::int64_t* from = lane_->exact_durations ? ticks_.begins.data() : begins();
      const std::int64_t* to = lane_->exact_durations ? ticks_.ends.data() : ends();
      for (std::uint32_t i = 0; i < kBlockEvents; ++i) out.values[i] = static_cast<std::uint64_t>(to[i] - from[i]);
      return;
    }
    case LaneColumn::Source::name:
      view.names(block_, out.values.data());
      for (std::uint64_t& value : out.values) value = chunk_->session_string(value);
      return;
    case LaneColumn::Source::stored:
      if (kind == ValueKind::text) {
        out.valid = view.validity(source.column, block_);
        for (std::uint32_t i = 0; i < kBlockEvents; ++i) out.values[i] = block_ * kBlockEvents + i;
        return;
      }
      return read_stored(source, out);
  }
}

void BlockReader::read_stored(const LaneColumn& source, BlockValues& out) {
  const ChunkView& view = chunk_->view;
  out.valid = view.validity(source.column, block_);
  if (out.valid == 0) return;
  view.values(source.column, block_, out.values.data());
  switch (source.type) {
    case ColumnType::int64:
      for (std::uint64_t& value : out.values) value ^= kSignBit;
      return;
    case ColumnType::boolean:
      for (std::uint64_t& value : out.values) value = value != 0 ? 1 : 0;
      return;
    case ColumnType::float64:
      for (std::uint32_t i = 0; i < kBlockEvents; ++i) {
        const double value = view.to_float64(source.column, out.values[i]);
        if (std::isnan(value)) out.valid &= ~(std::uint64_t{1} << i);  // NULL to SQLite
        out.values[i] = std::bit_cast<std::uint64_t>(value);
      }
      return;
    case ColumnType::string:
      for (std::uint64_t& value : out.values) value = chunk_->session_string(value);
      return;
    default:
      return;
  }
}

const BlockTimes& BlockReader::ticks() {
  if (ticks_serial_ != serial_) {
    chunk_->view.times(block_, ticks_);
    ticks_serial_ = serial_;
  }
  return ticks_;
}

const std::int64_t* BlockReader::begins() {
  const BlockTimes& times = ticks();
  if (lane_->lane->clock->is_identity()) return times.begins.data();
  if (begins_serial_ != serial_) {
    lane_->lane->clock->to_ns({times.begins.data(), chunk_->view.block_size(block_)}, begins_.data());
    begins_serial_ = serial_;
  }
  return begins_.data();
}

const std::int64_t* BlockReader::ends() {
  const BlockTimes& times = ticks();
  if (lane_->lane->clock->is_identity()) return times.ends.data();
  if (ends_serial_ != serial_) {
    lane_->lane->clock->to_ns({times.ends.data(), chunk_->view.block_size(block_)}, ends_.data());
    ends_serial_ = serial_;
  }
  return ends_.data();
}

SqlValue sql_value(ValueKind kind, std::uint64_t value, const TextCodes& texts) {
  switch (kind) {
    case ValueKind::integer:
      return static_cast<std::int64_t>(value);
    case ValueKind::unsigned_integer:
      if ((value & kSignBit) != 0) return std::to_string(value);
      return static_cast<std::int64_t>(value);
    case ValueKind::real:
      return std::bit_cast<double>(value);
    case ValueKind::string:
      return std::string(texts.text(value));
    case ValueKind::text:
      break;
  }
  return {};
}

}  // namespace accelscope::sql
