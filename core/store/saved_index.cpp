#include "core/store/saved_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/checksum.h"
#include "core/chunk/chunk_view.h"
#include "core/store/store_state.h"

namespace accelscope {
namespace {

enum IndexPart : std::int64_t { kPlaces = 0, kTree = 1, kTotals = 2 };
constexpr std::size_t kPieceBytes = 1U << 20;

template <typename T>
void put_value(Bytes& out, const T& value) {
  const auto* raw = reinterpret_cast<const std::byte*>(&value);
  out.insert(out.end(), raw, raw + sizeof value);
}

template <typename T>
Bytes pack_array(std::size_t count, const T& at) {
  Bytes blob;
  blob.reserve(count * sizeof(at(0)) + sizeof(std::uint64_t));
  for (std::size_t i = 0; i < count; ++i) put_value(blob, at(i));
  append_checksum(blob);
  return blob;
}

// False if the size does not fit the type.
template <typename T>
bool unpack_array(ByteView blob, std::vector<T>& into) {
  if (blob.size() % sizeof(T) != 0) return false;
  const std::size_t count = blob.size() / sizeof(T);
  if (count == 0) return true;
  into.resize(into.size() + count);
  std::memcpy(&into[into.size() - count], blob.data(), blob.size());
  return true;
}

struct StretchHead {
  std::uint32_t size;
  std::uint32_t retained;
  std::uint64_t events;
};

void pack_stretch(Bytes& blob, const NameTotals& totals, std::size_t level, std::uint32_t index) {
  const NameTotals::Stretch stretch = totals.stretch(level, index);
  put_value(blob, StretchHead{stretch.size, stretch.retained ? 1U : 0U, totals.stretch_events(level, index)});
  for (std::uint32_t k = 0; k < stretch.size; ++k) put_value(blob, stretch.totals[k]);
}

bool unpack_totals(ByteView blob, std::vector<NameTotals::Saved>& into) {
  ByteReader in(blob);
  while (in.remaining() > 0) {
    StretchHead head{};
    const ByteView raw = in.raw(sizeof head);
    if (!in.ok()) return false;
    std::memcpy(&head, raw.data(), sizeof head);
    const ByteView entries = in.raw(std::size_t{head.size} * sizeof(NameTotal));
    if (!in.ok()) return false;
    NameTotals::Saved& stretch = into.emplace_back();
    stretch.events = head.events;
    stretch.retained = head.retained != 0;
    if (!unpack_array(entries, stretch.totals)) return false;
  }
  return true;
}

constexpr std::uint32_t leaves_of(std::uint32_t count) noexcept { return (count + kBlockEvents - 1) / kBlockEvents; }
constexpr std::uint32_t events_of_leaf(const ChunkPlace& place, std::uint32_t leaf) noexcept {
  return std::min(kBlockEvents, place.count - leaf * kBlockEvents);
}

// The ticks that the events of each chunk cover, and of all before it: sums of stretches are differences.
class CoveredSums {
 public:
  explicit CoveredSums(std::size_t chunks) { before_.reserve(chunks + 1); }
  void add(std::uint64_t events, std::uint64_t busy) {
    before_.push_back({before_.back().events + events, before_.back().busy + busy});
  }
  [[nodiscard]] std::uint64_t events(std::size_t first, std::size_t last) const noexcept {
    return before_[last].events - before_[first].events;
  }
  [[nodiscard]] std::uint64_t busy(std::size_t first, std::size_t last) const noexcept {
    return before_[last].busy - before_[first].busy;
  }

 private:
  struct Sums {
    std::uint64_t events = 0;
    std::uint64_t busy = 0;
  };
  std::vector<Sums> before_{Sums{}};
};

bool places_are_rows(const SavedLane& saved, std::span<const ChunkRow> rows) {
  if (saved.places.size() > rows.size()) return false;
  std::uint64_t ordinal = 0;
  std::uint64_t leaf = 0;
  std::int64_t ticks = INT64_MIN;
  for (std::size_t i = 0; i < saved.places.size(); ++i) {
    const ChunkPlace& place = saved.places[i];
    const ChunkRow& row = rows[i];
    const bool is_row = place.row == row.id && static_cast<std::int64_t>(place.first_ordinal) == row.first_ordinal &&
                        std::int64_t{place.count} == row.count && place.begin_ticks == row.begin_ticks &&
                        place.end_ticks == row.end_ticks;
    if (!is_row || place.count == 0 || place.count > kMaxChunkEvents || place.first_ordinal < ordinal ||
        place.first_ordinal >> kOrdinalBits != 0 || place.first_leaf != leaf || place.begin_ticks < ticks ||
        place.end_ticks < place.begin_ticks) {
      return false;
    }
    ordinal = place.first_ordinal + place.count;
    leaf += leaves_of(place.count);
    ticks = place.end_ticks;
  }
  return true;
}

// What its events cover; nothing if it cannot be that.
std::optional<std::uint64_t> covered_by(const SliceNode& leaf, std::uint32_t events) {
  const std::uint64_t length = static_cast<std::uint64_t>(leaf.end) - static_cast<std::uint64_t>(leaf.begin);
  if (leaf.count != events || leaf.busy > length || leaf.wait > length - leaf.busy || leaf.colour > 0xffffffU) {
    return std::nullopt;
  }
  return leaf.busy + leaf.wait;
}
std::optional<std::uint64_t> covered_by(const CounterNode& leaf, std::uint32_t) {
  if (!(leaf.min <= leaf.max) || !std::isfinite(leaf.last)) return std::nullopt;
  return 0;
}

// Leaf by leaf in the times of their chunks, and nothing in them that events could not add up to.
template <typename Node>
bool add_leaves(const std::vector<Node>& leaves, const std::vector<ChunkPlace>& places, CoveredSums& sums) {
  std::size_t at = 0;
  for (const ChunkPlace& place : places) {
    std::int64_t ticks = place.begin_ticks;
    std::uint64_t busy = 0;
    const std::uint32_t count = leaves_of(place.count);
    if (count > leaves.size() - at) return false;
    for (std::uint32_t i = 0; i < count; ++i, ++at) {
      const Node& leaf = leaves[at];
      if (leaf.begin < ticks || leaf.end < leaf.begin || leaf.end > place.end_ticks) return false;
      const std::optional<std::uint64_t> covered = covered_by(leaf, events_of_leaf(place, i));
      if (!covered) return false;
      busy += *covered;
      ticks = leaf.end;
    }
    sums.add(place.count, busy);
  }
  return at == leaves.size();
}

// One of the stretches that are kept: its names once each, in order, of the lane's scope, and their sums those of the
// chunks below it.
bool is_sound(const NameTotals::Saved& stretch, std::uint64_t events, std::uint64_t busy,
              const std::vector<bool>& names) {
  if (stretch.events != events || stretch.retained == stretch.totals.empty()) return false;
  if (!stretch.retained) return true;
  std::uint64_t counted = 0;
  std::uint64_t summed = 0;
  bool saturated = false;
  StringId last = 0;
  for (std::size_t i = 0; i < stretch.totals.size(); ++i) {
    const NameTotal& total = stretch.totals[i];
    if (total.name >= names.size() || !names[total.name] || (i > 0 && total.name <= last) || total.count == 0 ||
        total.busy > busy) {
      return false;
    }
    last = total.name;
    counted += total.count;
    summed += total.busy;
    saturated = saturated || total.count == UINT32_MAX;
  }
  return summed == busy && (saturated ? counted <= events : counted == events);
}

std::vector<bool> names_of_scope(const StringPool& strings, std::uint32_t scope) {
  std::vector<bool> names(strings.size());
  names[0] = true;  // of events without a name
  for (const StringId name : strings.scope_map(scope)) names[name] = true;
  return names;
}

bool totals_are_sums(const SavedLane& saved, const CoveredSums& sums, const std::vector<bool>& names) {
  std::size_t stretches = saved.places.size();
  std::size_t chunks = 1;  // of a stretch
  for (std::size_t level = 0; level < NameTotals::kLevels; ++level) {
    const auto& list = saved.totals[level];
    if (list.size() != stretches) return false;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::size_t first = i * chunks;
      if (!is_sound(list[i], sums.events(first, first + chunks), sums.busy(first, first + chunks), names)) return false;
    }
    stretches /= NameTotals::kFanout;
    chunks *= NameTotals::kFanout;
  }
  return true;
}

}  // namespace

Result<void> write_lane_index(Statement& insert, const LaneSnapshot& lane, std::int64_t first_row) {
  const auto put = [&](std::int64_t part, std::size_t level, const Bytes& blob) {
    return insert.run(std::int64_t{lane.number()}, part, static_cast<std::int64_t>(level), ByteView(blob));
  };
  // Elements [first, first + count) of one part and level make one row.
  const auto in_pieces = [&](std::int64_t part, std::size_t level, std::size_t count, std::size_t element_bytes,
                             const auto& pack) -> Result<void> {
    const std::size_t at_once = std::max<std::size_t>(1, kPieceBytes / element_bytes);
    for (std::size_t first = 0; first < count; first += at_once) {
      Result<void> done = put(part, level, pack(first, std::min(at_once, count - first)));
      if (!done) return done;
    }
    return {};
  };
  const LaneData& data = *lane.data;
  const auto place = [&](std::size_t i) {
    ChunkPlace at = data.chunks[i];
    if (first_row != 0) at.row = first_row + static_cast<std::int64_t>(i);
    return at;
  };
  Result<void> result = in_pieces(kPlaces, 0, lane.chunk_count, sizeof(ChunkPlace), [&](auto first, auto count) {
    return pack_array(count, [&](std::size_t i) { return place(first + i); });
  });
  for (std::size_t level = 0; result && level < kTreeLevels && lane.tree.nodes[level] > 0; ++level) {
    result = in_pieces(kTree, level, lane.tree.nodes[level], sizeof(SliceNode), [&](auto first, auto count) {
      return data.kind == EventKind::counter
                 ? pack_array(count, [&](std::size_t i) { return data.counters.node(level, first + i); })
                 : pack_array(count, [&](std::size_t i) { return data.slices.node(level, first + i); });
    });
  }
  for (std::size_t level = 0; result && level < NameTotals::kLevels; ++level) {
    Bytes piece;
    for (std::uint32_t i = 0; result && i < lane.totals.stretches[level]; ++i) {
      pack_stretch(piece, data.totals, level, i);
      if (piece.size() < kPieceBytes && i + 1 < lane.totals.stretches[level]) continue;
      append_checksum(piece);
      result = put(kTotals, level, piece);
      piece.clear();
    }
  }
  return result;
}

Result<void> write_lane_indexes(Database& target, const Snapshot& snapshot) {
  if (Result<void> result = target.execute("BEGIN; DELETE FROM lane_index;"); !result) return result;
  Statement insert = TRY(target.prepare(kInsertLaneIndex));
  for (const LaneSnapshot& lane : snapshot.lanes) {
    if (lane.chunk_count == 0) continue;
    if (Result<void> result = write_lane_index(insert, lane); !result)
      return target.error("its index cannot be written");
  }
  return target.execute("COMMIT;");
}

bool is_read(std::int64_t part, std::int64_t level) noexcept {
  if (part == kTotals) return level >= 0 && level < static_cast<std::int64_t>(NameTotals::kLevels);
  return (part == kPlaces || part == kTree) && level == 0;
}

void SavedLane::add(EventKind kind, std::int64_t part, std::int64_t level, ByteView sealed) {
  if (!is_read(part, level)) return;
  const std::optional<ByteView> content = checked_content(sealed);
  bool whole = content.has_value();
  if (whole && part == kPlaces) {
    whole = unpack_array(*content, places);
  } else if (whole && part == kTree) {
    whole = kind == EventKind::counter ? unpack_array(*content, counters) : unpack_array(*content, slices);
  } else if (whole) {
    whole = unpack_totals(*content, totals[static_cast<std::size_t>(level)]);
  }
  damaged = damaged || !whole;
}

bool is_sound(const SavedLane& saved, EventKind kind, std::span<const ChunkRow> rows, const std::vector<bool>& names) {
  if (saved.damaged || !places_are_rows(saved, rows)) return false;
  CoveredSums sums(saved.places.size());
  const bool fits = kind == EventKind::counter ? add_leaves(saved.counters, saved.places, sums)
                                               : add_leaves(saved.slices, saved.places, sums);
  return fits && totals_are_sums(saved, sums, names);
}

bool is_as_indexed(const LaneSnapshot& lane, std::uint32_t chunk, ByteView bytes) {
  const Result<ChunkView> view = ChunkView::parse(bytes);
  if (!view) return false;
  const ChunkPlace& place = lane.chunk(chunk);
  const bool is_counter = lane.data->kind == EventKind::counter;
  BlockTimes times;
  std::int64_t last_end = place.begin_ticks;
  for (std::uint32_t block = 0; block < view->block_count(); ++block) {
    view->times(block, times);
    const std::uint32_t size = view->block_size(block);
    std::uint64_t covered = 0;
    bool in_order = true;
    for (std::uint32_t i = 0; i < size; ++i) {
      in_order = in_order && times.begins[i] >= last_end && times.ends[i] >= times.begins[i];
      last_end = times.ends[i];
      covered += static_cast<std::uint64_t>(times.ends[i]) - static_cast<std::uint64_t>(times.begins[i]);
    }
    if (!in_order) return false;
    const std::size_t leaf = std::size_t{place.first_leaf} + block;
    if (is_counter) {
      const CounterNode& node = lane.data->counters.node(0, leaf);
      if (node.begin != times.begins[0] || node.end != times.begins[size - 1]) return false;
    } else {
      const SliceNode& node = lane.data->slices.node(0, leaf);
      if (node.begin != times.begins[0] || node.end != last_end || node.busy + node.wait != covered) return false;
    }
  }
  return last_end == place.end_ticks;
}

bool Store::Implementation::is_checked(const LaneSnapshot& lane, std::uint32_t chunk, ByteView bytes) {
  {
    const std::lock_guard lock(unchecked_mutex);
    const auto found = unchecked.find(lane.number());
    if (found == unchecked.end() || chunk >= found->second.size() || !found->second[chunk]) return true;
  }
  if (!is_as_indexed(lane, chunk, bytes)) return false;
  const std::lock_guard lock(unchecked_mutex);
  unchecked[lane.number()][chunk] = false;
  return true;
}

void take_saved(const SavedLane& saved, LaneData& data) {
  data.chunks.append(saved.places.data(), saved.places.size());
  for (const SliceNode& leaf : saved.slices) data.slices.add_leaf(leaf);
  for (const CounterNode& leaf : saved.counters) data.counters.add_leaf(leaf);
  data.totals.restore(saved.totals);
}

// --- Opening: what the index of each lane is made of. ---

Result<void> Store::Implementation::load_lane_indexes() {
  const std::vector<std::vector<ChunkRow>> listed = TRY(list_chunk_rows());
  const std::vector<std::vector<ChunkRow>>& rows = listed;

  Statement select = TRY(database->prepare("SELECT lane, part, level, payload FROM lane_index ORDER BY rowid"));
  // Lane by lane, as they were written: what is read of one is let go before the next.
  std::unordered_map<std::uint32_t, std::vector<bool>> names;  // by scope
  std::vector<bool> settled(lane_data.size());
  std::optional<std::size_t> current;
  SavedLane saved;
  const auto settle = [&] {
    if (!current || settled[*current]) return;
    LaneData& data = *lane_data[*current];
    const std::uint32_t scope = scope_of(data.lane.number);
    const auto [has, is_new] = names.try_emplace(scope);
    if (is_new) has->second = names_of_scope(*strings, scope);
    settled[*current] = true;
    if (is_sound(saved, data.kind, rows[*current], has->second)) {
      take_saved(saved, data);
      unchecked[data.lane.number].assign(saved.places.size(), true);
      LaneSnapshot& lane = lanes[*current];
      for (const ChunkPlace& place : saved.places) lane.event_count += place.count;
      chunk_count += saved.places.size();
      event_count += lane.event_count;
      refresh_lane(*current);
    } else {
      count_quality({"index_rebuilt", 1, "the index of a lane was damaged and was made again"});
    }
    saved = {};
  };
  for (;;) {
    const Result<bool> row = select.step();
    if (!row) return database->error("its index cannot be read");
    if (!*row) break;
    const auto found = lane_by_number.find(static_cast<LaneNumber>(select.integer(0)));
    if (found == lane_by_number.end() || !is_read(select.integer(1), select.integer(2))) continue;
    if (current != found->second) {
      settle();
      current = found->second;
    }
    // What comes of a lane again, after another one, is not read: its first part was judged without it.
    if (!settled[*current]) saved.add(lane_data[*current]->kind, select.integer(1), select.integer(2), select.blob(3));
  }
  settle();

  for (std::size_t i = 0; i < lane_data.size(); ++i) {
    for (std::size_t k = lane_data[i]->chunks.size(); k < rows[i].size(); ++k) {
      if (index_row(i, rows[i][k])) continue;
      count_quality({"damaged_chunks", 1, "chunks of the file are damaged and were skipped"});
    }
  }
  return {};
}

// By lane and ordinal, without their payloads.
Result<std::vector<std::vector<ChunkRow>>> Store::Implementation::list_chunk_rows() {
  Statement select =
      TRY(database->prepare("SELECT id, lane, first_ordinal, count, begin_ticks, end_ticks FROM chunk ORDER BY id"));
  std::vector<std::vector<ChunkRow>> rows(lane_data.size());
  for (;;) {
    const Result<bool> row = select.step();
    if (!row) return database->error("its chunks cannot be listed");
    if (!*row) break;
    const std::int64_t number = select.integer(1);
    const auto found = lane_by_number.find(static_cast<LaneNumber>(number));
    if (found == lane_by_number.end() || number != std::int64_t{found->first}) {
      count_quality({"orphan_chunks", 1, "chunks of lanes that the file does not describe were skipped"});
      continue;
    }
    rows[found->second].push_back(
        {select.integer(0), select.integer(2), select.integer(3), select.integer(4), select.integer(5)});
  }
  const auto earlier = [](const ChunkRow& a, const ChunkRow& b) {
    return std::pair(a.first_ordinal, a.id) < std::pair(b.first_ordinal, b.id);
  };
  for (auto& of_lane : rows) {
    if (!std::is_sorted(of_lane.begin(), of_lane.end(), earlier)) std::sort(of_lane.begin(), of_lane.end(), earlier);
  }
  return rows;
}

// Reads the chunk and indexes it behind those of its lane.
Result<void> Store::Implementation::index_row(std::size_t lane_index, const ChunkRow& row) {
  LaneData& data = *lane_data[lane_index];
  const Bytes bytes = TRY(chunk_rows->read_from_database(row.id));
  const ChunkView view = TRY(ChunkView::parse(bytes));
  if (Result<void> whole = view.verify_checksums(); !whole) return whole;
  const ChunkHeader& header = view.header();
  const LaneNumber number = data.lane.number;
  const bool is_row = header.lane == number && static_cast<std::int64_t>(header.first_ordinal) == row.first_ordinal &&
                      std::int64_t{header.count} == row.count && header.begin_ticks == row.begin_ticks &&
                      header.end_ticks == row.end_ticks;
  if (!is_row) return Error{fmt::format("chunk {} is not the one that its row describes", row.id)};
  if (!data.chunks.empty()) {
    const ChunkPlace& last = data.chunks[data.chunks.size() - 1];
    if (header.first_ordinal < last.first_ordinal + last.count || header.begin_ticks < last.end_ticks) {
      return Error{fmt::format("chunk {} lies before the end of the one before it", row.id)};
    }
  }
  Scope& scope = scope_state(scope_of(number));
  if (Result<void> done = scope.indexer.add(data, *lanes[lane_index].schema, view, row.id, *scope.names); !done) {
    return done;
  }
  chunk_bytes += bytes.size();
  publish(lane_index, view);
  return {};
}

}  // namespace accelscope
