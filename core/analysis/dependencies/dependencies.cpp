#include "core/analysis/dependencies/dependencies.h"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "core/analysis/time/sorted_runs.h"
#include "core/base/checksum.h"
#include "core/scan/column_values.h"
#include "core/scan/group_by.h"
#include "core/store/retained_answers.h"

namespace accelscope::analysis {
namespace {

// A source's own id of an event. Equal keys of different sources are different events.
struct Key {
  std::uint32_t scope = 0;
  std::uint64_t value = 0;  // the number, or the checksum of a text
  bool operator==(const Key&) const = default;
};
// One end of a dependency: an event, or the key of one.
struct End {
  EventId event = kNoEvent;
  Key key;
};

// The columns in which a schema names one end of its dependencies.
struct EndColumns {
  std::optional<std::size_t> key;
  std::optional<std::size_t> event;
  [[nodiscard]] bool any() const noexcept { return key || event; }
};

struct RawDependency {
  End source;
  End target;
  EventId flow = kNoEvent;
  StringId kind = 0;
};

std::optional<Key> key_at(const ScannedChunk& chunk, const StringPool& strings, std::optional<std::size_t> column,
                          std::uint32_t row) {
  if (!column || *column >= chunk.view.column_count() || !chunk.view.has_value(*column, row)) return std::nullopt;
  const ColumnType type = chunk.lane.schema->columns[*column].type;
  const std::uint32_t scope = scope_of(chunk.lane.number());
  if (!is_text(type)) return Key{scope, static_cast<std::uint64_t>(*number_at(chunk.view, *column, type, row))};
  const std::string_view text = text_at(chunk, strings, *column, type, row);
  if (text.empty()) return std::nullopt;
  return Key{scope, checksum(std::as_bytes(std::span(text)))};
}

// The end that a row names, if it names one.
std::optional<End> end_at(const ScannedChunk& chunk, const StringPool& strings, const EndColumns& columns,
                          std::uint32_t row) {
  if (const auto key = key_at(chunk, strings, columns.key, row)) return End{kNoEvent, *key};
  if (!columns.event) return std::nullopt;
  const ColumnType type = chunk.lane.schema->columns[*columns.event].type;
  const std::optional<std::int64_t> number = number_at(chunk.view, *columns.event, type, row);
  if (!number || *number < 0) return std::nullopt;
  const auto id = static_cast<EventId>(*number);
  const LaneNumber lane = scoped_number(scope_of(chunk.lane.number()), local_of(lane_of(id)));
  return End{make_event_id(lane, ordinal_of(id)), {}};
}

bool is_event(const Snapshot& snapshot, EventId id) noexcept {
  if (id == kNoEvent) return false;
  const LaneSnapshot* lane = snapshot.find_lane(lane_of(id));
  return lane != nullptr && lane->chunk_of_ordinal(ordinal_of(id)) < lane->chunk_count;
}

template <typename Body>
void for_each_row(const ScannedChunk& chunk, Body&& body) {
  for (std::uint32_t row = 0; row < chunk.view.count(); ++row) body(row);
}

void collect_chunk(const ScannedChunk& chunk, const StringPool& strings, std::vector<RawDependency>& found) {
  const Schema& schema = *chunk.lane.schema;
  const EndColumns source_columns{schema.find(Role::flow_source), schema.find(Role::flow_source_event)};
  const EndColumns target_columns{schema.find(Role::flow_target), schema.find(Role::flow_target_event)};
  const bool states_both = source_columns.any() && target_columns.any();
  for_each_row(chunk, [&](std::uint32_t row) {
    const EventId id = chunk.event_id(row);
    const std::optional<End> source = end_at(chunk, strings, source_columns, row);
    const std::optional<End> target = end_at(chunk, strings, target_columns, row);
    if (states_both ? !source || !target : !source && !target) return;
    RawDependency dependency;
    dependency.source = source.value_or(End{id, {}});
    dependency.target = target.value_or(End{id, {}});
    dependency.flow = id;
    dependency.kind = chunk.session_string(chunk.view.name(row));
    found.push_back(dependency);
  });
}

// Keys that are asked for, and the first event that has each: a table with open addressing, since there may be as many
// keys as events.
class KeyIndex {
 public:
  void want(const End& end) {
    if (end.event != kNoEvent) return;
    if (3 * (count_ + 1) > 2 * slots_.size()) grow();
    Slot& slot = slots_[place_of(slots_, end.key)];
    if (slot.taken) return;
    slot.key = end.key;
    slot.taken = true;
    mark(end.key);
    ++count_;
  }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  // By several threads, once all are wanted. The smallest id wins, so that the answer does not depend on them.
  void offer(const Key& key, EventId event) noexcept {
    if (!may_be_wanted(key)) return;
    Slot& slot = slots_[place_of(slots_, key)];
    if (!slot.taken) return;
    const std::atomic_ref<EventId> known(slot.event);
    EventId current = known.load(std::memory_order_relaxed);
    while (event < current && !known.compare_exchange_weak(current, event, std::memory_order_relaxed)) {
    }
  }
  [[nodiscard]] EventId find(const End& end) const noexcept {
    return end.event != kNoEvent ? end.event : slots_[place_of(slots_, end.key)].event;
  }

 private:
  struct Slot {
    Key key;
    EventId event = kNoEvent;
    bool taken = false;
  };
  static std::uint64_t hash_of(const Key& key) noexcept {
    const std::uint64_t hash = (key.value ^ std::uint64_t{key.scope} << 48U) * 0x9E3779B97F4A7C15U;
    return hash ^ hash >> 32U;
  }
  // Of the key, or where it would be.
  static std::size_t place_of(const std::vector<Slot>& slots, const Key& key) noexcept {
    const std::size_t mask = slots.size() - 1;
    std::size_t place = hash_of(key) & mask;
    while (slots[place].taken && !(slots[place].key == key)) place = (place + 1) & mask;
    return place;
  }
  void mark(const Key& key) noexcept {
    const std::uint64_t bit = hash_of(key) & (64 * marks_.size() - 1);
    marks_[bit / 64] |= std::uint64_t{1} << bit % 64;
  }
  [[nodiscard]] bool may_be_wanted(const Key& key) const noexcept {
    const std::uint64_t bit = hash_of(key) & (64 * marks_.size() - 1);
    return (marks_[bit / 64] >> bit % 64 & 1) != 0;
  }
  void grow() {
    std::vector<Slot> larger(std::max<std::size_t>(1024, 2 * slots_.size()));
    marks_.assign(larger.size() / 8, 0);
    for (const Slot& slot : slots_) {
      if (!slot.taken) continue;
      larger[place_of(larger, slot.key)] = slot;
      mark(slot.key);
    }
    slots_ = std::move(larger);
  }
  std::vector<Slot> slots_;  // a power of two
  std::vector<std::uint64_t>
      marks_;  // eight bits a slot: most keys that are offered nobody wants, and they fit a cache
  std::size_t count_ = 0;
};

// Those of which both ends are events, on the pool.
std::vector<Dependency> resolved(const QueryContext& query, const std::vector<RawDependency>& raw,
                                 const KeyIndex& index) {
  constexpr std::size_t kPiece = std::size_t{1} << 15;
  std::vector<std::vector<Dependency>> pieces((raw.size() + kPiece - 1) / kPiece);
  query.pool.for_each(pieces.size(), query.control, [&](std::size_t piece, std::size_t) {
    const std::size_t last = std::min(raw.size(), (piece + 1) * kPiece);
    for (std::size_t i = piece * kPiece; i < last; ++i) {
      const Dependency each{index.find(raw[i].source), index.find(raw[i].target), raw[i].flow, raw[i].kind};
      if (is_event(*query.snapshot, each.source) && is_event(*query.snapshot, each.target)) {
        pieces[piece].push_back(each);
      }
    }
  });
  std::vector<Dependency> all;
  all.reserve(raw.size());
  for (auto& piece : pieces) {
    all.insert(all.end(), piece.begin(), piece.end());
    piece = {};
  }
  return all;
}

// By target, then source, then flow.
void sort_by_target(std::vector<Dependency>& all) {
  std::vector<DigitKey> targets(all.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) targets[i] = {all[i].target, i};
  sort_by_digits(targets);
  std::vector<Dependency> sorted;
  sorted.reserve(all.size());
  for (const DigitKey& target : targets) sorted.push_back(all[target.value]);
  all = std::move(sorted);
  for (auto first = all.begin(); first != all.end();) {
    const auto last =
        std::find_if(first, all.end(), [&](const Dependency& each) { return each.target != first->target; });
    std::sort(first, last, [](const Dependency& a, const Dependency& b) {
      return std::pair(a.source, a.flow) < std::pair(b.source, b.flow);
    });
    first = last;
  }
}

LaneIndices lanes_that_depend(const Snapshot& snapshot) {
  LaneIndices lanes;
  for (const Role role : {Role::flow_source, Role::flow_target, Role::flow_source_event, Role::flow_target_event}) {
    const LaneIndices more = lanes_with_role(snapshot, role);
    lanes.insert(lanes.end(), more.begin(), more.end());
  }
  std::ranges::sort(lanes);
  lanes.erase(std::unique(lanes.begin(), lanes.end()), lanes.end());
  return lanes;
}

}  // namespace

Result<std::shared_ptr<const Dependencies>> Dependencies::build(const QueryContext& query) {
  const Snapshot& snapshot = *query.snapshot;
  auto raw = gather(query, lanes_that_depend(snapshot), {}, std::vector<RawDependency>(),
                    [&](const ScannedChunk& chunk, auto& part) { collect_chunk(chunk, *snapshot.strings, part); });
  if (!raw) return raw.error();

  KeyIndex index;
  for (const RawDependency& dependency : *raw) {
    index.want(dependency.source);
    index.want(dependency.target);
  }
  LaneIndices keyed = lanes_with_role(snapshot, Role::key);
  std::erase_if(keyed, [&](std::uint32_t lane) { return snapshot.lanes[lane].data->kind == EventKind::flow; });
  if (index.empty()) keyed.clear();
  const Result<void> filled = scan_chunks(query, keyed, {}, [&](const ScannedChunk& chunk, std::size_t) {
    const std::optional<std::size_t> column = chunk.lane.schema->find(Role::key);
    for_each_row(chunk, [&](std::uint32_t row) {
      if (const auto key = key_at(chunk, *snapshot.strings, column, row)) index.offer(*key, chunk.event_id(row));
    });
  });
  if (!filled) return filled.error();

  auto result = std::make_shared<Dependencies>();
  result->snapshot_version_ = snapshot.version;
  std::vector<Dependency>& all = result->by_target_;
  all = resolved(query, *raw, index);
  if (query.control.cancelled()) return cancelled_error();
  result->unresolved_ = raw->size() - all.size();
  *raw = {};
  sort_by_target(all);
  std::vector<DigitKey> sources(all.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) sources[i] = {all[i].source, i};
  sort_by_digits(sources);
  result->by_source_.reserve(all.size());
  for (const DigitKey& source : sources) result->by_source_.push_back(source.value);
  return std::shared_ptr<const Dependencies>(result);
}

DependencyList Dependencies::predecessors(EventId event, std::size_t limit) const {
  const auto first = std::ranges::lower_bound(by_target_, event, {}, &Dependency::target);
  const auto last =
      std::upper_bound(first, by_target_.end(), event, [](EventId id, const Dependency& d) { return id < d.target; });
  DependencyList list;
  list.total = static_cast<std::uint64_t>(last - first);
  const auto shown = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(list.total, limit));
  list.dependencies.assign(first, first + shown);
  return list;
}

DependencyList Dependencies::successors(EventId event, std::size_t limit) const {
  const auto first = std::lower_bound(by_source_.begin(), by_source_.end(), event,
                                      [this](std::uint32_t i, EventId id) { return by_target_[i].source < id; });
  const auto last = std::upper_bound(first, by_source_.end(), event,
                                     [this](EventId id, std::uint32_t i) { return id < by_target_[i].source; });
  DependencyList list;
  list.total = static_cast<std::uint64_t>(last - first);
  const auto shown = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(list.total, limit));
  for (auto it = first; it != first + shown; ++it) list.dependencies.push_back(by_target_[*it]);
  return list;
}

Result<std::shared_ptr<const Dependencies>> session_dependencies(const QueryContext& query) {
  const QueryContext whole = query.unmasked();
  return query.store.retained().find<Dependencies>(query.snapshot, query.control,
                                                   [&] { return Dependencies::build(whole); });
}

}  // namespace accelscope::analysis
