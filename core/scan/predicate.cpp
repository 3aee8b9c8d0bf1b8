#include "core/scan/predicate.h"

#include <algorithm>
#include <bit>
#include <span>

#include "core/chunk/chunk_format.h"
#include "core/scan/event_mask.h"

namespace accelscope {

void StringTest::answer_all(WorkerPool& workers, TaskControl& control) {
  constexpr std::size_t kAtOnce = 4096;
  workers.for_each((known_.size() + kAtOnce - 1) / kAtOnce, control, [&](std::size_t index, std::size_t) {
    const std::size_t end = std::min(known_.size(), (index + 1) * kAtOnce);
    for (std::size_t id = index * kAtOnce; id < end; ++id) {
      known_[id] = keeps_(pool_.text(static_cast<StringId>(id))) ? kRetained : kLeftOut;
    }
  });
}

bool StringTest::find_out(StringId id) const {
  const bool retained = keeps_(pool_.text(id));
  if (id < known_.size()) std::atomic_ref(known_[id]).store(retained ? kRetained : kLeftOut, std::memory_order_relaxed);
  return retained;
}

namespace {

constexpr auto kLastOrdinal = static_cast<std::int64_t>((std::uint64_t{1} << kOrdinalBits) - 1);

// Ticks t of the lane with bounds.holds(clock.to_ns(t)). Bounds that all of the lane meets are left out, so that the
// map is never asked for times far outside of it.
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

template <typename Holds>
std::uint64_t bits_of_all(Holds holds) {
  std::uint64_t bits = 0;
  for (std::uint32_t i = 0; i < kBlockEvents; ++i) bits |= static_cast<std::uint64_t>(holds(i)) << i;
  return bits;
}

// For tests that cost more than a comparison.
template <typename Holds>
std::uint64_t bits_of(std::uint64_t candidates, Holds holds) {
  std::uint64_t bits = 0;
  for (std::uint64_t left = candidates; left != 0; left &= left - 1) {
    const auto i = static_cast<std::uint32_t>(std::countr_zero(left));
    bits |= static_cast<std::uint64_t>(holds(i)) << i;
  }
  return bits;
}

template <typename T>
std::uint64_t bits_within(const std::vector<Bounds<T>>& alternatives, const std::uint64_t* values) {
  std::uint64_t bits = 0;
  for (const Bounds<T> bounds : alternatives) {
    bits |= bits_of_all([&](std::uint32_t i) { return bounds.holds(std::bit_cast<T>(values[i])); });
  }
  return bits;
}

// Those of the candidates for which the test holds, whatever `negated` says.
struct BlockTest {
  const Condition& condition;
  const BlockReader& reader;
  const std::uint64_t* values;
  std::uint64_t candidates;

  std::uint64_t operator()(AnyValue) const { return candidates; }
  template <typename T>
  std::uint64_t operator()(const std::vector<Bounds<T>>& alternatives) const {
    return bits_within(alternatives, values) & candidates;
  }
  std::uint64_t operator()(const std::shared_ptr<const StringTest>& test) const {
    const StringTest& strings = *test;
    if (condition.place.source == ValuePlace::Source::column && condition.place.type == ColumnType::text) {
      return bits_of(candidates, [&](std::uint32_t i) {
        return strings.keeps(reader.view().text(condition.place.column, static_cast<std::uint32_t>(values[i])));
      });
    }
    return bits_of(candidates, [&](std::uint32_t i) { return strings.keeps(static_cast<StringId>(values[i])); });
  }
};

std::uint64_t tested(const Condition& condition, BlockReader& reader, std::uint64_t candidates) {
  const BlockValues block = reader.values(condition.place);
  const std::uint64_t with_value = candidates & block.valid;
  if (std::holds_alternative<AnyValue>(condition.test))
    return condition.negated ? candidates & ~block.valid : with_value;
  if (with_value == 0) return 0;
  const std::uint64_t bits = std::visit(BlockTest{condition, reader, block.values, with_value}, condition.test);
  return condition.negated ? with_value & ~bits : bits;
}

// Whether a test may hold for a value between the least and the greatest of a column.
template <typename T>
bool may_hold(const Condition& condition, const Bounds<T>& values) noexcept {
  const auto* alternatives = std::get_if<std::vector<Bounds<T>>>(&condition.test);
  if (alternatives == nullptr) return true;
  if (condition.negated) {
    return std::ranges::none_of(*alternatives, [&](const Bounds<T>& bounds) { return bounds.covers(values); });
  }
  return std::ranges::any_of(*alternatives,
                             [&](const Bounds<T>& bounds) { return !bounds.empty() && bounds.meets(values); });
}

bool may_hold(const Condition& condition, const ChunkView& view) noexcept {
  if (condition.place.source != ValuePlace::Source::column) return true;
  const bool asks_for_none = condition.negated && std::holds_alternative<AnyValue>(condition.test);
  if (condition.place.column >= view.column_count()) return asks_for_none;
  const ColumnEntry& entry = view.entry(condition.place.column);
  if ((entry.flags & kAbsent) != 0) return asks_for_none;
  switch (condition.place.type) {
    case ColumnType::int64:
      return may_hold(condition, IntegerBounds{static_cast<std::int64_t>(entry.min ^ kSignBit),
                                               static_cast<std::int64_t>(entry.max ^ kSignBit)});
    case ColumnType::uint64:
      return may_hold(condition, UnsignedBounds{entry.min, entry.max});
    case ColumnType::boolean:
      return may_hold(condition, IntegerBounds{entry.min != 0 ? 1 : 0, entry.max != 0 ? 1 : 0});
    default:
      return true;
  }
}

}  // namespace

bool holds(const ValueTest& test, std::int64_t value) noexcept {
  if (std::holds_alternative<AnyValue>(test)) return true;
  const auto* alternatives = std::get_if<std::vector<IntegerBounds>>(&test);
  return alternatives != nullptr &&
         std::ranges::any_of(*alternatives, [value](const IntegerBounds& bounds) { return bounds.holds(value); });
}

LanePredicate::LanePredicate(const LaneSnapshot& lane, std::uint32_t lane_index, const EventMask* mask)
    : lane_(&lane), lane_index_(lane_index), mask_(mask), ordinals_{0, kLastOrdinal} {
  nothing_ = lane.event_count == 0 || (mask != nullptr && mask->count(lane_index) == 0);
}

void LanePredicate::add(const ValuePlace& place, const ValueTest& test, bool negated) {
  using Source = ValuePlace::Source;
  const Source source = place.source;
  const auto* integers = std::get_if<std::vector<IntegerBounds>>(&test);
  const bool one_range = !negated && integers != nullptr && integers->size() == 1;
  if (nothing_) return;
  if (source == Source::none) {
    nothing_ = !negated || !std::holds_alternative<AnyValue>(test);
    return;
  }
  if (source == Source::constant) {
    nothing_ = holds(test, static_cast<std::int64_t>(place.constant)) == negated;
    return;
  }
  if (one_range && integers->front().empty()) return add_nothing();
  if (one_range && source == Source::begin) return begin_ticks_.intersect(to_ticks(*lane_, integers->front()));
  if (one_range && source == Source::end) return end_ticks_.intersect(to_ticks(*lane_, integers->front()));
  if (one_range && source == Source::id) {
    const auto first = static_cast<std::int64_t>(make_event_id(lane_->number(), 0));
    IntegerBounds ids{first, first + kLastOrdinal};
    ids.intersect(integers->front());
    if (ids.empty()) return add_nothing();
    return ordinals_.intersect({ids.min - first, ids.max - first});
  }
  if (one_range && source == Source::duration) {
    if (integers->front().max < 0) return add_nothing();
    shortest_ns_ = std::max(shortest_ns_, integers->front().min);
    if (integers->front().min <= 0 && integers->front().max == IntegerBounds::kGreatest) return;
  }
  conditions_.push_back({place, test, negated});
  const StringTest* strings = conditions_.back().strings();
  if (source == Source::name && strings != nullptr) name_tests_.push_back({strings, negated});
}

bool LanePredicate::nothing() const noexcept {
  return nothing_ || begin_ticks_.empty() || end_ticks_.empty() || ordinals_.empty();
}

ChunkSpan LanePredicate::chunks() const noexcept {
  if (nothing()) return {};
  const std::int64_t first_end = std::max(begin_ticks_.min, end_ticks_.min);
  const std::int64_t last_begin = std::min(begin_ticks_.max, end_ticks_.max);
  // The first chunk from `low` on for which `before` is false; chunks are sorted by it.
  const auto partition = [this](std::uint32_t low, auto before) {
    std::uint32_t high = lane_->chunk_count;
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      if (before(lane_->chunk(middle))) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };
  const std::uint32_t first = partition(0, [&](const ChunkPlace& place) {
    return place.end_ticks < first_end || static_cast<std::int64_t>(place.first_ordinal) + place.count <= ordinals_.min;
  });
  return {first, partition(first, [&](const ChunkPlace& place) {
            return place.begin_ticks <= last_begin && static_cast<std::int64_t>(place.first_ordinal) <= ordinals_.max;
          })};
}

ChunkPart LanePredicate::part(std::uint32_t chunk) const noexcept {
  const ChunkPlace& place = lane_->chunk(chunk);
  ChunkPart part;
  const IntegerBounds ordinals{static_cast<std::int64_t>(place.first_ordinal),
                               static_cast<std::int64_t>(place.first_ordinal) + place.count - 1};
  const IntegerBounds ticks{place.begin_ticks, place.end_ticks};
  if (nothing_ || !begin_ticks_.meets(ticks) || !end_ticks_.meets(ticks) || !ordinals_.meets(ordinals)) return part;
  if (mask_ != nullptr) {
    const std::uint32_t passing = mask_->passing_in(lane_index_, place);
    if (passing == 0) return part;
    part.mask = passing < place.count;
  }
  part.any = true;
  part.times = !begin_ticks_.covers(ticks) || !end_ticks_.covers(ticks);
  part.ordinals = !ordinals_.covers(ordinals);
  return part;
}

bool LanePredicate::names_may_match(std::uint32_t chunk) const {
  if (name_tests_.empty() || chunk >= lane_->totals.stretches[0]) return true;
  const NameTotals::Stretch stretch = lane_->data->totals.stretch(0, chunk);
  if (!stretch.retained) return true;
  const std::span totals(stretch.totals, stretch.size);
  return std::ranges::any_of(totals, [this](const NameTotal& total) { return keeps_name(total.name); });
}

bool LanePredicate::may_match(const ChunkView& view) const noexcept {
  return std::ranges::all_of(conditions_, [&](const Condition& condition) { return may_hold(condition, view); });
}

// By the times and the covered time of the leaf that the block is.
bool LanePredicate::skips(const BlockReader& reader, const ChunkPart& part) const noexcept {
  const auto first = static_cast<std::int64_t>(reader.place().first_ordinal + reader.first_row());
  if (first > ordinals_.max || first + kBlockEvents <= ordinals_.min) return true;
  const bool by_duration = shortest_ns_ > 0 && lane_->clock->is_affine();
  const std::uint32_t leaf = reader.place().first_leaf + reader.block();
  if ((!part.times && !by_duration) || leaf >= lane_->tree.nodes[0]) return false;
  IntegerBounds ticks;
  std::uint64_t covered = 0;
  if (lane_->data->kind == EventKind::counter) {
    const CounterNode& node = lane_->data->counters.node(0, leaf);
    ticks = {node.begin, node.end};
  } else {
    const SliceNode& node = lane_->data->slices.node(0, leaf);
    ticks = {node.begin, node.end};
    covered = node.busy + node.wait;
  }
  if (!begin_ticks_.meets(ticks) || !end_ticks_.meets(ticks)) return true;
  if (!by_duration) return false;
  // A duration in ns is at most one more than its ticks at the clock's rate; the rest is for rounding.
  const double longest_ns = static_cast<double>(covered) * lane_->clock->ns_per_tick();
  return longest_ns + 2 + longest_ns * 1e-9 < static_cast<double>(shortest_ns_);
}

std::uint64_t LanePredicate::matches(BlockReader& reader, const ChunkPart& part) const {
  if (skips(reader, part)) return 0;
  std::uint64_t bits = reader.all();
  if (part.mask) bits &= mask_->bits(lane_index_, reader.place().first_leaf + reader.block());
  if (part.ordinals) {
    const auto first = static_cast<std::int64_t>(reader.place().first_ordinal + reader.first_row());
    bits &= bits_of_all([&](std::uint32_t i) { return ordinals_.holds(first + i); });
  }
  if (part.times && bits != 0) {
    const BlockTimes& times = reader.ticks();
    if (!begin_ticks_.unbounded()) {
      bits &= bits_of_all([&](std::uint32_t i) { return begin_ticks_.holds(times.begins[i]); });
    }
    if (!end_ticks_.unbounded()) bits &= bits_of_all([&](std::uint32_t i) { return end_ticks_.holds(times.ends[i]); });
  }
  for (const Condition& condition : conditions_) {
    if (bits == 0) return 0;
    bits = tested(condition, reader, bits);
  }
  return bits;
}

}  // namespace accelscope
