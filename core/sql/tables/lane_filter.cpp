#include "core/sql/tables/lane_filter.h"

#include <array>
#include <bit>
#include <cmath>

#include "core/chunk/chunk_format.h"

namespace accelscope::sql {
namespace {

// First chunk for which `before` is false; chunks are sorted by it.
template <typename Before>
std::uint32_t partition_point(std::uint32_t first, std::uint32_t last, Before before) {
  while (first < last) {
    const std::uint32_t middle = first + (last - first) / 2;
    if (before(middle)) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first;
}

std::uint64_t low_bits(std::uint32_t count) {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

template <typename Keeps>
std::uint64_t matches(std::uint64_t candidates, Keeps keeps) {
  std::uint64_t mask = 0;
  for (std::uint32_t i = 0; i < kBlockEvents; ++i) mask |= static_cast<std::uint64_t>(keeps(i)) << i;
  return mask & candidates;
}

// For tests that cost more than a comparison.
template <typename Keeps>
std::uint64_t matches_of_candidates(std::uint64_t candidates, Keeps keeps) {
  std::uint64_t mask = 0;
  for (std::uint64_t left = candidates; left != 0; left &= left - 1) {
    const auto i = static_cast<std::uint32_t>(std::countr_zero(left));
    mask |= static_cast<std::uint64_t>(keeps(i)) << i;
  }
  return mask;
}

}  // namespace

IntegerBounds to_ticks(const LaneSnapshot& lane, const IntegerBounds& bounds) {
  IntegerBounds ticks;
  if (bounds.unbounded()) return ticks;
  const std::int64_t first = lane.clock->to_ns(lane.begin_ticks);
  const std::int64_t last = lane.clock->to_ns(lane.end_ticks);
  if (bounds.empty() || bounds.min > last || bounds.max < first) {
    ticks.clear();
    return ticks;
  }
  if (bounds.min > first) ticks.at_least(lane.clock->to_ticks(bounds.min));
  if (bounds.max < last) ticks.at_most(lane.clock->to_ticks(bounds.max + 1) - 1);
  return ticks;
}

std::string_view track_kind(const Snapshot& snapshot, const LaneSnapshot& lane) {
  const TrackSnapshot* track = snapshot.find_track(lane.track);
  return track == nullptr ? std::string_view() : std::string_view(track->track->kind);
}

LaneFilter::LaneFilter(Context& context, const LaneSnapshot& lane, const EventFilter& filter,
                       const std::vector<int>& schema_columns)
    : context_(context),
      lane_(lane),
      filter_(filter),
      mask_(context.mask_of(lane)),
      lane_index_(static_cast<std::uint32_t>(&lane - context.snapshot->lanes.data())) {
  compile(schema_columns);
  choose_chunks();
}

void LaneFilter::compile(const std::vector<int>& schema_columns) {
  const std::uint32_t scope = scope_of(lane_.number());
  for (const auto& test : filter_.names) {
    test->prepare_for(*context_.snapshot->strings);
    name_answers_.push_back(&test->answers(context_, scope));
  }
  for (const FieldTest& test : filter_.fields) {
    const int column = schema_columns[test.table_column];
    if (column < 0) {
      if (test.category && test.strings->keeps(track_kind(*context_.snapshot, lane_))) continue;
      ordinals_.clear();  // null everywhere: no comparison holds
      return;
    }
    const auto index = static_cast<std::size_t>(column);
    tests_.push_back({&test, index, lane_.schema->columns[index].type,
                      test.strings ? &test.strings->answers(context_, scope) : nullptr});
  }
}

void LaneFilter::choose_chunks() {
  const auto lane_first = static_cast<std::int64_t>(make_event_id(lane_.number(), 0));
  const bool track_fits = filter_.track.holds(lane_.track) && filter_.lane_depth.holds(lane_.data->lane.depth);
  if (filter_.nothing || ordinals_.empty() || !track_fits || lane_.event_count == 0) return;
  if (mask_ != nullptr && mask_->count(lane_index_) == 0) return;
  ordinals_.at_least(0);
  ordinals_.at_most(static_cast<std::int64_t>(lane_.chunk(lane_.chunk_count - 1).first_ordinal) +
                    lane_.chunk(lane_.chunk_count - 1).count - 1);
  if (filter_.id.max < lane_first) return;
  ordinals_.at_most(filter_.id.max - lane_first);
  if (filter_.id.min > lane_first) ordinals_.at_least(filter_.id.min - lane_first);
  begin_ticks_ = to_ticks(lane_, filter_.ts_ns);
  end_ticks_ = to_ticks(lane_, filter_.end_ns);
  if (ordinals_.empty() || begin_ticks_.empty() || end_ticks_.empty() || filter_.dur_ns.empty()) return;
  tests_duration_ = !filter_.dur_ns.unbounded();
  tests_times_ = tests_duration_ || !begin_ticks_.unbounded() || !end_ticks_.unbounded();

  const std::int64_t first_end = std::max(begin_ticks_.min, end_ticks_.min);
  const std::int64_t last_begin = std::min(begin_ticks_.max, end_ticks_.max);
  first_chunk_ = partition_point(0, lane_.chunk_count, [&](std::uint32_t i) {
    const ChunkPlace& place = lane_.chunk(i);
    return place.end_ticks < first_end || static_cast<std::int64_t>(place.first_ordinal) + place.count <= ordinals_.min;
  });
  last_chunk_ = partition_point(first_chunk_, lane_.chunk_count, [&](std::uint32_t i) {
    const ChunkPlace& place = lane_.chunk(i);
    return place.begin_ticks <= last_begin && static_cast<std::int64_t>(place.first_ordinal) <= ordinals_.max;
  });
}

bool LaneFilter::keeps_all_of(std::uint32_t chunk) const {
  if (!filter_.names.empty() || !tests_.empty() || tests_times_) return false;
  const ChunkPlace& place = lane_.chunk(chunk);
  if (mask_ != nullptr && mask_->passing_in(lane_index_, place) < place.count) return false;
  const auto first = static_cast<std::int64_t>(place.first_ordinal);
  return first >= ordinals_.min && first + place.count - 1 <= ordinals_.max;
}

FilteredChunk LaneFilter::run(std::uint32_t chunk) const {
  FilteredChunk filtered;
  filtered.chunk = chunk;
  context_.control->add_done(1);
  if (skips_chunk(chunk)) return filtered;
  const ChunkPlace& place = lane_.chunk(chunk);
  const auto loaded = context_.load(lane_, chunk);
  if (!loaded) {
    context_.report.skip(place.count, loaded.message());
    return filtered;
  }
  const ChunkView& view = (*loaded)->view;
  if (skips_loaded_chunk(view)) return filtered;
  filtered.matches.resize(view.block_count());
  for (Pass pass{place, view}; pass.block < view.block_count(); ++pass.block) {
    if (skips_block(pass)) continue;
    filtered.matches[pass.block] = block_matches(pass);
    filtered.count += static_cast<std::uint64_t>(std::popcount(filtered.matches[pass.block]));
  }
  if (filtered.count > 0) filtered.loaded = *loaded;
  return filtered;
}

// By the mask or the totals by name, without its bytes.
bool LaneFilter::skips_chunk(std::uint32_t chunk) const {
  if (mask_ != nullptr && mask_->passing_in(lane_index_, lane_.chunk(chunk)) == 0) return true;
  if (filter_.names.empty() || chunk >= lane_.totals.stretches[0]) return false;
  const NameTotals::Stretch stretch = lane_.data->totals.stretch(0, chunk);
  if (!stretch.kept) return false;
  const StringPool& pool = *context_.snapshot->strings;
  for (std::uint32_t i = 0; i < stretch.size; ++i) {
    const bool kept = std::all_of(filter_.names.begin(), filter_.names.end(), [&](const auto& test) {
      return test->keeps_session_string(pool, stretch.totals[i].name);
    });
    if (kept) return false;
  }
  return true;
}

// By the least and greatest value of its columns.
bool LaneFilter::skips_loaded_chunk(const ChunkView& view) const {
  return std::any_of(tests_.begin(), tests_.end(), [&](const CompiledTest& test) {
    const ColumnEntry& entry = view.entry(test.column);
    if ((entry.flags & kAbsent) != 0) return true;
    if (test.type == ColumnType::int64) {
      const IntegerBounds& bounds = test.test->integers;
      return bounds.empty() || static_cast<std::int64_t>(entry.max ^ kSignBit) < bounds.min ||
             static_cast<std::int64_t>(entry.min ^ kSignBit) > bounds.max;
    }
    if (test.type == ColumnType::uint64) {
      const Bounds<std::uint64_t>& bounds = test.test->unsigneds;
      return bounds.empty() || entry.max < bounds.min || entry.min > bounds.max;
    }
    return false;
  });
}

bool LaneFilter::leaf_times(const Pass& pass, std::int64_t& begin, std::int64_t& end, std::uint64_t& covered) const {
  const std::uint32_t leaf = pass.place.first_leaf + pass.block;
  if (leaf >= lane_.tree.nodes[0]) return false;
  if (lane_.data->kind == EventKind::counter) {
    const CounterNode& node = lane_.data->counters.node(0, leaf);
    begin = node.begin;
    end = node.end;
    covered = 0;
  } else {
    const SliceNode& node = lane_.data->slices.node(0, leaf);
    begin = node.begin;
    end = node.end;
    covered = node.busy + node.wait;
  }
  return true;
}

bool LaneFilter::skips_block(const Pass& pass) const {
  const auto first = static_cast<std::int64_t>(pass.place.first_ordinal + pass.block * kBlockEvents);
  if (first > ordinals_.max || first + kBlockEvents <= ordinals_.min) return true;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::uint64_t covered = 0;
  if (!tests_times_ || !leaf_times(pass, begin, end, covered)) return false;
  if (end < std::max(begin_ticks_.min, end_ticks_.min) || begin > std::min(begin_ticks_.max, end_ticks_.max))
    return true;
  if (!tests_duration_ || filter_.dur_ns.min <= 0 || !lane_.clock->is_affine()) return false;
  // A duration in ns is at most one more than its ticks at the clock's rate; the rest is for rounding.
  const double longest_ns = static_cast<double>(covered) * lane_.clock->ns_per_tick();
  return longest_ns + 2 + longest_ns * 1e-9 < static_cast<double>(filter_.dur_ns.min);
}

std::uint64_t LaneFilter::block_matches(const Pass& pass) const {
  std::uint64_t mask = low_bits(pass.view.block_size(pass.block));
  if (mask_ != nullptr) mask &= mask_->bits(lane_index_, pass.place.first_leaf + pass.block);
  const auto first = static_cast<std::int64_t>(pass.place.first_ordinal + pass.block * kBlockEvents);
  if (first < ordinals_.min) mask &= ~low_bits(static_cast<std::uint32_t>(ordinals_.min - first));
  if (first + kBlockEvents - 1 > ordinals_.max) mask &= low_bits(static_cast<std::uint32_t>(ordinals_.max - first + 1));
  if (tests_times_ && mask != 0) mask &= time_matches(pass);
  if (!name_answers_.empty() && mask != 0) mask = name_matches(pass, mask);
  for (const CompiledTest& test : tests_) {
    if (mask == 0) break;
    mask = field_matches(pass, test, mask);
  }
  return mask;
}

std::uint64_t LaneFilter::time_matches(const Pass& pass) const {
  BlockTimes block;
  pass.view.times(pass.block, block);
  std::uint64_t mask = low_bits(pass.view.block_size(pass.block));
  if (!begin_ticks_.unbounded())
    mask = matches(mask, [&](std::uint32_t i) { return begin_ticks_.holds(block.begins[i]); });
  if (!end_ticks_.unbounded()) mask = matches(mask, [&](std::uint32_t i) { return end_ticks_.holds(block.ends[i]); });
  if (!tests_duration_) return mask;
  if (lane_.clock->is_identity()) {
    return matches(mask, [&](std::uint32_t i) {
      const std::uint64_t duration =
          static_cast<std::uint64_t>(block.ends[i]) - static_cast<std::uint64_t>(block.begins[i]);
      return filter_.dur_ns.holds(static_cast<std::int64_t>(duration));
    });
  }
  return matches_of_candidates(mask, [&](std::uint32_t i) {
    return filter_.dur_ns.holds(lane_.clock->to_ns(block.ends[i]) - lane_.clock->to_ns(block.begins[i]));
  });
}

std::uint64_t LaneFilter::name_matches(const Pass& pass, std::uint64_t candidates) const {
  std::array<std::uint64_t, kBlockEvents> ids;
  pass.view.names(pass.block, ids.data());
  for (StringTest::Answers* answers : name_answers_) {
    candidates = matches_of_candidates(candidates, [&](std::uint32_t i) { return answers->keeps(ids[i]); });
  }
  return candidates;
}

std::uint64_t LaneFilter::field_matches(const Pass& pass, const CompiledTest& test, std::uint64_t candidates) const {
  candidates &= pass.view.validity(test.column, pass.block);
  if (candidates == 0) return 0;
  std::array<std::uint64_t, kBlockEvents> values;
  pass.view.values(test.column, pass.block, values.data());
  switch (test.type) {
    case ColumnType::int64:
      return matches(candidates, [&](std::uint32_t i) {
        return test.test->integers.holds(static_cast<std::int64_t>(values[i] ^ kSignBit));
      });
    case ColumnType::boolean:
      return matches(candidates, [&](std::uint32_t i) { return test.test->integers.holds(values[i] != 0 ? 1 : 0); });
    case ColumnType::uint64:
      return matches(candidates, [&](std::uint32_t i) { return test.test->unsigneds.holds(values[i]); });
    case ColumnType::float64:
      return matches_of_candidates(candidates, [&](std::uint32_t i) {
        return test.test->reals.holds(pass.view.to_float64(test.column, values[i]));
      });
    case ColumnType::string:
      if (test.answers == nullptr) return candidates;
      return matches_of_candidates(candidates, [&](std::uint32_t i) { return test.answers->keeps(values[i]); });
    case ColumnType::text:
      return candidates;
  }
  return candidates;
}

}  // namespace accelscope::sql
