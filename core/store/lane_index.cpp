#include "core/store/lane_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/model/palette.h"
#include "core/model/time_range.h"

namespace accelscope {
namespace {

constexpr std::uint8_t kWaitBit = 16;
constexpr double kLargestShown = 1e38;  // of a counter, on its way to a float

Error out_of_order() {
  return Error{"chunk: its events are not in order; its bytes are damaged or its source is broken"};
}

// In order within the block and after what came before, as int64: then no sum has overflowed.
bool times_in_order(const BlockTimes& times, std::uint32_t size, std::int64_t last_end) {
  bool ordered = times.begins[0] >= last_end && times.ends[0] >= times.begins[0];
  for (std::uint32_t i = 1; i < size; ++i) {
    ordered &= times.begins[i] >= times.ends[i - 1];
    ordered &= times.ends[i] >= times.begins[i];
  }
  return ordered;
}

// The mean colour of a leaf from the time each palette slot covers; from counts if all are instants.
std::uint32_t mean_colour(const std::array<std::uint64_t, 32>& by_slot, std::size_t first) {
  double red = 0;
  double green = 0;
  double blue = 0;
  double all = 0;
  for (std::size_t slot = 0; slot < kSlicePalette.size(); ++slot) {
    const auto weight = static_cast<double>(by_slot[first + slot]);
    red += weight * (kSlicePalette[slot] >> 16 & 0xff);
    green += weight * (kSlicePalette[slot] >> 8 & 0xff);
    blue += weight * (kSlicePalette[slot] & 0xff);
    all += weight;
  }
  if (all <= 0) return 0;
  const auto channel = [all](double sum) { return static_cast<std::uint32_t>(std::lround(sum / all)); };
  return channel(red) << 16 | channel(green) << 8 | channel(blue);
}

SliceNode finish_leaf(SliceNode leaf, std::array<std::uint64_t, 32>& by_slot, const std::uint64_t* names,
                      std::uint32_t size, const std::vector<std::uint8_t>& slots) {
  for (std::size_t slot = 0; slot < kSlicePalette.size(); ++slot) {
    leaf.busy += by_slot[slot];
    leaf.wait += by_slot[kWaitBit + slot];
  }
  if (leaf.busy == 0 && leaf.wait == 0) {
    for (std::uint32_t i = 0; i < size; ++i) by_slot[slots[names[i]]] += 1;
    leaf.colour = mean_colour(by_slot, 0);
    if (leaf.colour == 0) leaf.colour = mean_colour(by_slot, kWaitBit);
    return leaf;
  }
  leaf.colour = mean_colour(by_slot, leaf.busy > 0 ? 0 : kWaitBit);
  return leaf;
}

}  // namespace

void NameTable::refresh() {
  if (names_.size() == pool_->scope_size(scope_) && !names_.empty()) return;
  for (const StringId id : pool_->scope_map(scope_, names_.size())) {
    names_.push_back({id, pool_->slot(id)});
    largest_session_id_ = std::max(largest_session_id_, id);
  }
  if (names_.empty()) names_.push_back({});
}

const std::vector<std::uint8_t>& NameTable::slots(const Schema& schema) {
  auto found = std::find_if(schema_slots_.begin(), schema_slots_.end(),
                            [&schema](const SchemaSlots& s) { return s.schema == schema.number; });
  if (found == schema_slots_.end()) {
    schema_slots_.push_back({schema.number, {}});
    found = schema_slots_.end() - 1;
  }
  std::vector<std::uint8_t>& slots = found->slots;
  for (std::size_t local = slots.size(); local < names_.size(); ++local) {
    const std::string_view text = pool_->text(names_[local].session_id);
    const bool waits = std::find(schema.wait_names.begin(), schema.wait_names.end(), text) != schema.wait_names.end();
    slots.push_back(static_cast<std::uint8_t>(names_[local].slot + (waits ? kWaitBit : 0)));
  }
  return slots;
}

Result<void> LaneIndexer::add(LaneData& lane, const Schema& schema, const ChunkView& chunk, std::int64_t row,
                              NameTable& names) {
  if (chunk.column_count() != schema.columns.size()) {
    return Error{fmt::format("chunk of lane {}: it has {} columns, its schema {} has {}", lane.lane.number,
                             chunk.column_count(), schema.name, schema.columns.size())};
  }
  if (!is_near_enough(chunk.header().begin_ticks) || !is_near_enough(chunk.header().end_ticks)) {
    return Error{fmt::format("chunk of lane {}: its times lie beyond all that can be told apart", lane.lane.number)};
  }
  names.refresh();
  slice_leaves_.clear();
  counter_leaves_.clear();
  totals_.clear();
  if (schema.kind == EventKind::counter) {
    if (Result<void> result = index_counters(lane.counters, chunk, schema); !result) return result;
  } else {
    if (Result<void> result = index_slices(chunk, names, names.slots(schema)); !result) return result;
    collect_totals();
  }

  std::uint32_t first_leaf = 0;
  if (!lane.chunks.empty()) {
    const ChunkPlace& last = lane.chunks[lane.chunks.size() - 1];
    first_leaf = last.first_leaf + (last.count + kBlockEvents - 1) / kBlockEvents;
  }
  for (const SliceNode& leaf : slice_leaves_) lane.slices.add_leaf(leaf);
  for (const CounterNode& leaf : counter_leaves_) lane.counters.add_leaf(leaf);
  lane.totals.add_chunk(totals_, chunk.count());
  lane.chunks.push_back({row, chunk.header().first_ordinal, first_leaf, chunk.count(), chunk.header().begin_ticks,
                         chunk.header().end_ticks});
  return {};
}

Result<void> LaneIndexer::index_slices(const ChunkView& chunk, NameTable& names,
                                       const std::vector<std::uint8_t>& slots) {
  const std::vector<NameTable::Name>& known = names.names();
  const std::size_t pool_size = std::size_t{names.largest_session_id()} + 1;
  if (sums_.size() < pool_size) sums_.resize(pool_size);
  touched_.clear();

  BlockTimes times;
  std::array<std::uint64_t, kBlockEvents> local;
  std::int64_t last_end = chunk.header().begin_ticks;
  Result<void> result;
  for (std::uint32_t block = 0; block < chunk.block_count(); ++block) {
    const std::uint32_t size = chunk.block_size(block);
    chunk.times(block, times);
    chunk.names(block, local.data());
    std::uint64_t largest = 0;
    for (std::uint32_t i = 0; i < size; ++i) largest = std::max(largest, local[i]);
    if (!times_in_order(times, size, last_end)) {
      result = out_of_order();
      break;
    }
    if (largest >= known.size()) {
      result = Error{fmt::format("chunk: it uses string {}, but only {} were announced", largest, known.size() - 1)};
      break;
    }
    last_end = times.ends[size - 1];

    std::array<std::uint64_t, 32> by_slot{};
    for (std::uint32_t i = 0; i < size; ++i) {
      const auto duration = static_cast<std::uint64_t>(times.ends[i] - times.begins[i]);
      by_slot[slots[local[i]]] += duration;
      const StringId name = known[local[i]].session_id;
      Total& sum = sums_[name];
      if (sum.count == 0) touched_.push_back(name);
      ++sum.count;
      sum.busy += duration;
    }
    const SliceNode leaf{times.begins[0], last_end, 0, 0, 0, size};
    slice_leaves_.push_back(finish_leaf(leaf, by_slot, local.data(), size, slots));
  }
  if (result && last_end != chunk.header().end_ticks) result = out_of_order();
  if (!result) {
    for (const StringId name : touched_) sums_[name] = {};
  }
  return result;
}

void LaneIndexer::collect_totals() {
  const bool usable = touched_.size() <= kMaxNamesForTotals;
  if (usable) std::sort(touched_.begin(), touched_.end());
  for (const StringId name : touched_) {
    if (usable) totals_.push_back({name, sums_[name].count, sums_[name].busy});
    sums_[name] = {};
  }
}

Result<void> LaneIndexer::index_counters(const LaneTree<CounterNode>& tree, const ChunkView& chunk,
                                         const Schema& schema) {
  if (schema.columns.empty()) return Error{fmt::format("counter schema {} has no column for the value", schema.name)};
  const bool is_float = schema.columns[0].type == ColumnType::float64;
  const bool is_signed = schema.columns[0].type == ColumnType::int64;
  BlockTimes times;
  std::array<std::uint64_t, kBlockEvents> stored;
  std::int64_t last_end = chunk.header().begin_ticks;
  const std::uint32_t leaves = tree.counts().nodes[0];
  double value = leaves == 0 ? 0 : tree.node(0, leaves - 1).last;  // a sample without a value repeats the one before
  for (std::uint32_t block = 0; block < chunk.block_count(); ++block) {
    const std::uint32_t size = chunk.block_size(block);
    chunk.times(block, times);
    chunk.values(0, block, stored.data());
    if (!times_in_order(times, size, last_end)) return out_of_order();
    last_end = times.ends[size - 1];
    CounterNode leaf{times.begins[0], times.begins[size - 1], 0, 0, 0, 0};
    const std::uint64_t valid = chunk.validity(0, block);
    for (std::uint32_t i = 0; i < size; ++i) {
      if (i > 0) leaf.integral += value * static_cast<double>(times.begins[i] - times.begins[i - 1]);
      if (valid >> i & 1) {
        const double next = is_float ? chunk.to_float64(0, stored[i])
                            : is_signed
                                ? static_cast<double>(static_cast<std::int64_t>(stored[i] ^ (std::uint64_t{1} << 63)))
                                : static_cast<double>(stored[i]);
        // What is no number is not shown, and what no float holds is cut: sums and pictures stay numbers.
        if (std::isfinite(next)) value = std::clamp(next, -kLargestShown, kLargestShown);
      }
      const auto narrow = static_cast<float>(value);
      leaf.min = i == 0 ? narrow : std::min(leaf.min, narrow);
      leaf.max = i == 0 ? narrow : std::max(leaf.max, narrow);
    }
    leaf.last = value;
    counter_leaves_.push_back(leaf);
  }
  if (last_end != chunk.header().end_ticks) return out_of_order();
  return {};
}

}  // namespace accelscope
