#include "core/store/chunk_merger.h"

#include <fmt/format.h>

#include <array>

#include "core/store/string_pool.h"

namespace accelscope {
namespace {

// Nulls are kept, also where the schema promises that there are none.
Schema without_promises(Schema schema) {
  for (Column& column : schema.columns) column.required = false;
  return schema;
}

}  // namespace

ChunkMerger::ChunkMerger(const Schema& schema, LaneNumber lane, Take take)
    : schema_(without_promises(schema)), take_(std::move(take)), builder_(schema_, lane) {}

bool ChunkMerger::is_long(const Schema& schema, std::uint32_t count) {
  return count * 2 >= ChunkBuilder::most_events(schema);
}

void ChunkMerger::Forecast::add(std::uint32_t count) {
  if (is_long(schema_, count)) {
    chunks_ += open_ > 0 ? 2 : 1;
    open_ = 0;
    return;
  }
  open_ += count;
  const std::uint32_t most = ChunkBuilder::most_events(schema_);
  for (; open_ >= most; open_ -= most) ++chunks_;
}

Result<void> ChunkMerger::add(ByteView bytes) {
  const Result<ChunkView> parsed = ChunkView::parse(bytes);
  if (!parsed) return parsed.error();
  const ChunkView& chunk = *parsed;
  if (Result<void> sound = chunk.verify_checksums(); !sound) return sound;
  if (chunk.column_count() != schema_.columns.size()) {
    return Error{fmt::format("chunk of lane {}: it has {} columns, its schema {} has {}", builder_.lane(),
                             chunk.column_count(), schema_.name, schema_.columns.size())};
  }
  const bool follows = builder_.next_ordinal() == chunk.header().first_ordinal;
  if (is_long(schema_, chunk.count()) || !follows) {
    if (Result<void> sealed = finish(); !sealed) return sealed;
  }
  if (is_long(schema_, chunk.count())) return take_(bytes);
  if (builder_.empty()) builder_.go_on_from(chunk.header().first_ordinal);
  for (std::uint32_t block = 0; block < chunk.block_count(); ++block) {
    if (builder_.room() < chunk.block_size(block) || builder_.full()) {
      if (Result<void> sealed = finish(); !sealed) return sealed;
    }
    if (Result<void> appended = append(chunk, block); !appended) return appended;
  }
  return {};
}

Result<void> ChunkMerger::finish() {
  if (builder_.empty()) return {};
  const SealedChunk sealed = builder_.seal();
  return take_(sealed.bytes);
}

Result<void> ChunkMerger::append(const ChunkView& chunk, std::uint32_t block) {
  BlockTimes times;
  std::array<std::uint64_t, kBlockEvents> names;
  chunk.times(block, times);
  chunk.names(block, names.data());
  const std::uint32_t first_row = builder_.count();
  for (std::uint32_t i = 0; i < chunk.block_size(block); ++i) {
    const bool in_order = builder_.empty() || times.begins[i] >= builder_.end_ticks();
    if (!in_order || times.ends[i] < times.begins[i] || names[i] > StringPool::kMostLocalStrings) {
      return Error{fmt::format("chunk of lane {}: its events are not in order, or their names none", builder_.lane())};
    }
    builder_.append(times.begins[i], times.ends[i] - times.begins[i], static_cast<StringId>(names[i]));
  }
  for (std::size_t column = 0; column < schema_.columns.size(); ++column) set_column(chunk, column, block, first_row);
  return {};
}

void ChunkMerger::set_column(const ChunkView& chunk, std::size_t column, std::uint32_t block, std::uint32_t first_row) {
  const std::uint64_t valid = chunk.validity(column, block);
  if (valid == 0) return;
  const ColumnType type = schema_.columns[column].type;
  std::array<std::uint64_t, kBlockEvents> values;
  if (type != ColumnType::text) chunk.values(column, block, values.data());
  for (std::uint32_t i = 0; i < chunk.block_size(block); ++i) {
    if ((valid >> i & 1) == 0) continue;
    if (type == ColumnType::text) {
      builder_.set_text(column, first_row + i, chunk.text(column, block * kBlockEvents + i));
    } else if (type == ColumnType::float64) {
      builder_.set_float64(column, first_row + i, chunk.to_float64(column, values[i]));
    } else {
      builder_.set_stored(column, first_row + i, values[i]);
    }
  }
}

}  // namespace accelscope
