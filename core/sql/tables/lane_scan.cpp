#include "core/sql/tables/lane_scan.h"

#include "core/chunk/chunk_format.h"

namespace accelscope::sql {

LaneScan::LaneScan(Context& context, const EventTableSpec& spec, std::uint32_t lane_index,
                   const std::vector<EventCondition>& conditions)
    : context_(context),
      schema_columns_(spec.schema_columns.at(context.snapshot->lanes[lane_index].schema.get())),
      predicate_(context.snapshot->lanes[lane_index], lane_index, context.mask_of(context.snapshot->lanes[lane_index])),
      strings_(context.strings(scope_of(lane().number()))) {
  for (const EventCondition& condition : conditions) {
    add_condition(
        predicate_,
        lane_value(*context.snapshot, lane(), spec.columns[condition.column], schema_columns_[condition.column]),
        condition.test);
  }
  chunks_ = predicate_.chunks();
}

FilteredChunk LaneScan::filter_chunk(std::uint32_t chunk) const {
  FilteredChunk filtered;
  filtered.chunk = chunk;
  context_.control->add_done(1);
  const ChunkPart part = predicate_.part(chunk);
  if (!part.any || !predicate_.names_may_match(chunk)) return filtered;
  const ChunkPlace& place = lane().chunk(chunk);
  const auto loaded = context_.load(lane(), chunk);
  if (!loaded) {
    context_.report.skip(place.count, loaded.message());
    return filtered;
  }
  const ChunkView& view = (*loaded)->view;
  if (!predicate_.may_match(view)) return filtered;
  BlockReader reader;
  reader.open(lane(), strings_, place, view);
  filtered.matches.resize(view.block_count());
  for (std::uint32_t block = 0; block < view.block_count(); ++block) {
    reader.seek(block);
    filtered.matches[block] = predicate_.matches(reader, part);
    filtered.count += static_cast<std::uint64_t>(std::popcount(filtered.matches[block]));
  }
  if (filtered.count > 0) filtered.loaded = *loaded;
  return filtered;
}

void LaneScan::enter(FilteredChunk chunk) {
  filtered_ = std::move(chunk);
  reader_.open(lane(), strings_, lane().chunk(filtered_.chunk), filtered_.loaded->view);
  next_block_ = 0;
  matches_ = 0;
}

bool LaneScan::next_block() {
  while (next_block_ < filtered_.matches.size()) {
    const std::uint32_t block = next_block_++;
    matches_ = filtered_.matches[block];
    if (matches_ == 0) continue;
    reader_.seek(block);
    return true;
  }
  filtered_ = {};  // makes room for the chunks to come
  next_block_ = 0;
  return false;
}

void LaneScan::skip(std::uint64_t& rows) {
  while (rows > 0 && (matches_ != 0 || next_block())) {
    for (; matches_ != 0 && rows > 0; matches_ &= matches_ - 1) --rows;
  }
}

void LaneScan::result(sqlite3_context* context, std::size_t schema_column) {
  const ColumnType type = lane().schema->columns[schema_column].type;
  const BlockValues block = reader_.column(schema_column, type);
  if (((block.valid >> row_in_block_) & 1U) == 0) return sqlite3_result_null(context);
  const std::uint64_t value = block.values[row_in_block_];
  switch (type) {
    case ColumnType::int64:
    case ColumnType::boolean:
      return sqlite3_result_int64(context, static_cast<std::int64_t>(value));
    case ColumnType::uint64:
      return result_uint64(context, value);
    case ColumnType::float64:
      return sqlite3_result_double(context, std::bit_cast<double>(value));
    case ColumnType::string:
      return result_pooled_text(context, context_.text(static_cast<StringId>(value)));
    case ColumnType::text:
      return result_text(context, reader_.view().text(schema_column, static_cast<std::uint32_t>(value)));
  }
}

}  // namespace accelscope::sql
