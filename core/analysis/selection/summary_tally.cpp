#include "core/analysis/selection/summary_tally.h"

#include <algorithm>
#include <cmath>

#include "core/analysis/selection/packed_stretch.h"

namespace accelscope::analysis {
namespace {

std::uint64_t part_of(std::uint64_t amount, std::uint64_t shared, std::uint64_t duration) noexcept {
  if (shared == duration || amount == 0) return amount;
  const double part = static_cast<double>(amount) * (static_cast<double>(shared) / static_cast<double>(duration));
  return std::min(amount, static_cast<std::uint64_t>(std::nearbyint(part)));
}

}  // namespace

void SummaryTotals::add(const SummaryTotals& other) noexcept {
  events += other.events;
  busy_ticks += other.busy_ticks;
  wait_ticks += other.wait_ticks;
  waited_ns = capped_sum(waited_ns, other.waited_ns);
  bytes = capped_sum(bytes, other.bytes);
  flops = capped_sum(flops, other.flops);
}

SummaryColumns::SummaryColumns(const Schema* schema) {
  if (schema == nullptr) return;
  for (std::size_t i = 0; i < schema->columns.size(); ++i) {
    const Column& column = schema->columns[i];
    if (is_text(column.type)) {
      if (column.role == Role::source_location && !line) line = Text{i, column.type};
      if (column.role == Role::layer && !layer) layer = Text{i, column.type};
    } else {
      if (column.role == Role::bytes) bytes.push_back(i);
      if (column.role == Role::flops) flops.push_back(i);
      if (column.role == Role::wait_ns) waits.push_back(i);
    }
  }
}

// The columns of one block, and what of its events is added up.
struct SummaryTally::Values {
  std::optional<std::uint32_t> block;
  AmountBlock bytes, flops, waited;
  const std::uint64_t* names = nullptr;
  BlockValues lines, layers;
  // The events to add up, and of each of them:
  std::uint32_t rows[kBlockEvents];
  std::uint32_t row_count = 0;
  std::uint32_t counts[kBlockEvents];  // 1; 0: it counts on the other side, too
  std::uint64_t ticks[kBlockEvents];
  std::uint64_t busy[kBlockEvents];       // likewise, 0 of events that wait
  std::uint64_t moved[kBlockEvents];      // bytes
  std::uint64_t worked[kBlockEvents];     // FLOPs
  std::int64_t lengths_ns[kBlockEvents];  // not clipped
  bool waits[kBlockEvents];

  void read(const ScannedChunk& chunk, const SummaryColumns& columns, std::uint32_t index);
  void take_run(std::uint32_t first, std::uint32_t last) noexcept;
  void take_inside(const ScannedChunk& chunk, std::uint32_t size);
  void take_outside(const ScannedChunk& chunk, std::uint32_t size);
  void clip(const ScannedChunk& chunk, const WaitNames& wait_names, TallySide side);
};

void SummaryTally::add(const ScannedChunk& chunk, const StringPool& strings, std::uint32_t first_block,
                       std::uint32_t last_block, TallySide side) {
  const Schema* schema = chunk.lane.schema.get();
  SummaryColumns columns(schema);
  const std::size_t count = chunk.view.column_count();
  if (columns.line && columns.line->column >= count) columns.line.reset();
  if (columns.layer && columns.layer->column >= count) columns.layer.reset();
  const WaitNames waits(schema, strings);
  Values values;
  const auto add_taken = [&](std::uint32_t block) {
    if (values.row_count == 0) return;
    values.read(chunk, columns, block);
    values.clip(chunk, waits, side);
    add_rows(chunk, columns, values);
  };
  if (chunk.mask != nullptr) {  // a block comes once for each run of events
    chunk.for_each_block([&](const ScannedBlock& block) {
      if (block.block < first_block || block.block >= last_block) return;
      values.take_run(block.first, block.last);
      add_taken(block.block);
    });
    return;
  }
  for (std::uint32_t block = first_block; block < std::min(last_block, chunk.view.block_count()); ++block) {
    const std::uint32_t size = chunk.view.block_size(block);
    chunk.reader.seek(block);
    const BlockTimes& times = chunk.reader.ticks();
    if (side == TallySide::inside && times.begins[0] >= chunk.range.end) return;
    const bool whole = chunk.range.covers(times.begins[0], times.ends[size - 1]);
    if (side == TallySide::outside) {
      values.take_outside(chunk, whole ? 0 : size);
    } else if (whole) {
      values.take_run(0, size);
    } else {
      values.take_inside(chunk, size);
    }
    add_taken(block);
  }
}

void SummaryTally::Values::read(const ScannedChunk& chunk, const SummaryColumns& columns, std::uint32_t index) {
  if (block == index) return;
  block = index;
  BlockReader& reader = chunk.reader;
  names = reader.names();
  if (chunk.lane.schema) {
    bytes.read(reader, *chunk.lane.schema, columns.bytes);
    flops.read(reader, *chunk.lane.schema, columns.flops);
    waited.read(reader, *chunk.lane.schema, columns.waits);
  }
  lines = columns.line ? reader.column(columns.line->column, columns.line->type) : BlockValues{};
  layers = columns.layer ? reader.column(columns.layer->column, columns.layer->type) : BlockValues{};
}

void SummaryTally::Values::take_run(std::uint32_t first, std::uint32_t last) noexcept {
  row_count = last - first;
  for (std::uint32_t i = 0; i < row_count; ++i) rows[i] = first + i;
}

void SummaryTally::Values::take_inside(const ScannedChunk& chunk, std::uint32_t size) {
  const BlockTimes& times = chunk.reader.ticks();
  row_count = 0;
  for (std::uint32_t i = 0; i < size; ++i) {
    if (chunk.range.holds(times.begins[i], times.ends[i])) rows[row_count++] = i;
  }
}

void SummaryTally::Values::take_outside(const ScannedChunk& chunk, std::uint32_t size) {
  const BlockTimes& times = chunk.reader.ticks();
  row_count = 0;
  for (std::uint32_t i = 0; i < size; ++i) {
    const bool whole = chunk.range.begin <= times.begins[i] && times.ends[i] <= chunk.range.end;
    if (!whole || !chunk.range.holds(times.begins[i], times.ends[i])) rows[row_count++] = i;
  }
}

void SummaryTally::Values::clip(const ScannedChunk& chunk, const WaitNames& wait_names, TallySide side) {
  const ClockMap& clock = *chunk.lane.clock;
  const bool ticks_are_ns = clock.is_affine() && clock.ns_per_tick() == 1.0;
  const BlockTimes& times = chunk.reader.ticks();
  for (std::uint32_t r = 0; r < row_count; ++r) {
    const std::uint32_t i = rows[r];
    const std::int64_t begin = times.begins[i];
    const std::int64_t end = times.ends[i];
    const auto duration = static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin);
    const std::uint64_t shared = chunk.range.shared(begin, end);
    moved[i] = part_of(bytes[i], shared, duration);
    worked[i] = part_of(flops[i], shared, duration);
    counts[i] = 1;
    ticks[i] = shared;
    if (side == TallySide::outside) {
      const bool held = chunk.range.holds(begin, end);
      counts[i] = held ? 0 : 1;
      ticks[i] = duration - shared;
      moved[i] = held ? bytes[i] - moved[i] : bytes[i];
      worked[i] = held ? flops[i] - worked[i] : flops[i];
    }
    waits[i] = wait_names.contains(static_cast<StringId>(names[i]));
    busy[i] = waits[i] ? 0 : ticks[i];
    lengths_ns[i] = ticks_are_ns ? static_cast<std::int64_t>(duration) : clock.to_ns(end) - clock.to_ns(begin);
  }
}

// One loop per table: each fills the caches with its own sums only.
void SummaryTally::add_rows(const ScannedChunk& chunk, const SummaryColumns& columns, const Values& values) {
  const std::span rows(values.rows, values.row_count);
  SummaryTotals totals;
  for (const std::uint32_t i : rows) {
    totals.events += values.counts[i];
    totals.busy_ticks += values.busy[i];
    totals.wait_ticks += values.ticks[i] - values.busy[i];
    if (!values.waits[i] && values.counts[i] != 0) totals.waited_ns = capped_sum(totals.waited_ns, values.waited[i]);
    totals.bytes = capped_sum(totals.bytes, values.moved[i]);
    totals.flops = capped_sum(totals.flops, values.worked[i]);
  }
  totals_.add(totals);
  Table& names = table(SummaryTable::names);
  for (const std::uint32_t i : rows) {
    names.add(static_cast<std::uint32_t>(values.names[i]), values.counts[i], values.ticks[i], values.moved[i]);
  }
  Table& durations = table(SummaryTable::durations);
  for (const std::uint32_t i : rows) {
    durations.add(duration_bin(values.lengths_ns[i]), values.counts[i], values.ticks[i], 0);
  }
  if (values.bytes.any()) {
    Table& sizes = table(SummaryTable::sizes);
    for (const std::uint32_t i : rows) {
      if (!values.bytes.has(i)) continue;
      sizes.add(size_bin(values.bytes[i]), values.counts[i], values.ticks[i], values.moved[i]);
    }
  }
  for (std::size_t r = 0; values.lines.valid != 0 && r < rows.size(); ++r) {
    const std::uint32_t i = rows[r];
    if (!values.lines.has(i)) continue;
    add_text(0, chunk, *columns.line, values.lines.values[i], values.counts[i], values.busy[i], values.moved[i]);
  }
  for (std::size_t r = 0; values.layers.valid != 0 && r < rows.size(); ++r) {
    const std::uint32_t i = rows[r];
    if (!values.layers.has(i)) continue;
    add_text(1, chunk, *columns.layer, values.layers.values[i], values.counts[i], values.busy[i], values.worked[i]);
  }
}

void SummaryTally::add_text(std::size_t which, const ScannedChunk& chunk, const SummaryColumns::Text& column,
                            std::uint64_t value, std::uint32_t count, std::uint64_t busy_ticks, std::uint64_t amount) {
  if (column.type == ColumnType::string) {
    table(which == 0 ? SummaryTable::lines : SummaryTable::layers)
        .add(static_cast<StringId>(value), count, busy_ticks, amount);
    return;
  }
  TextEntry& entry = texts_[which][std::string(chunk.view.text(column.column, static_cast<std::uint32_t>(value)))];
  entry.count += count;
  entry.busy_ticks += busy_ticks;
  entry.amount = capped_sum(entry.amount, amount);
}

void SummaryTally::add(const SummaryStretch& stretch) {
  totals_.add(stretch.totals);
  for (std::size_t i = 0; i < kSummaryTables; ++i) {
    for (const SummaryEntry& entry : stretch.of(static_cast<SummaryTable>(i))) {
      tables_[i].add(entry.key, entry.count, entry.busy_ticks, entry.amount);
    }
  }
}

void SummaryTally::add(const PackedStretch& stretch) {
  totals_.add(stretch.totals());
  for (std::size_t i = 0; i < kSummaryTables; ++i) {
    stretch.for_each(static_cast<SummaryTable>(i), [&](const SummaryEntry& entry) {
      tables_[i].add(entry.key, entry.count, entry.busy_ticks, entry.amount);
    });
  }
}

SummaryStretch SummaryTally::take() {
  SummaryStretch stretch;
  stretch.totals = totals_;
  totals_ = {};
  std::size_t size = 0;
  for (const Table& table : tables_) size += table.entries.size();
  stretch.entries.reserve(size);
  for (std::size_t i = 0; i < kSummaryTables; ++i) {
    for (const SummaryEntry& entry : tables_[i].entries) {
      stretch.entries.push_back(entry);
      tables_[i].places[entry.key] = 0;
    }
    tables_[i].entries.clear();
    stretch.offsets[i + 1] = static_cast<std::uint32_t>(stretch.entries.size());
  }
  return stretch;
}

void SummaryTally::clear_texts() {
  for (Texts& texts : texts_) texts.clear();
}

}  // namespace accelscope::analysis
