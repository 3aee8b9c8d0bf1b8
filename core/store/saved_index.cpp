#include "core/store/saved_index.h"

#include <algorithm>
#include <cstring>

#include "core/base/checksum.h"
#include "core/chunk/chunk_format.h"

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

// add(elements, count); false if the size does not fit the type.
template <typename T, typename Add>
bool unpack_array(ByteView blob, const Add& add) {
  if (blob.size() % sizeof(T) != 0) return false;
  add(blob.data(), blob.size() / sizeof(T));
  return true;
}

struct StretchHead {
  std::uint32_t size;
  std::uint32_t kept;
  std::uint64_t events;
};

void pack_stretch(Bytes& blob, const NameTotals& totals, std::size_t level, std::uint32_t index) {
  const NameTotals::Stretch stretch = totals.stretch(level, index);
  put_value(blob, StretchHead{stretch.size, stretch.kept ? 1U : 0U, totals.stretch_events(level, index)});
  for (std::uint32_t k = 0; k < stretch.size; ++k) put_value(blob, stretch.totals[k]);
}

bool unpack_totals(ByteView blob, std::size_t level, NameTotals& totals) {
  ByteReader in(blob);
  std::vector<NameTotal> list;
  while (in.remaining() > 0) {
    StretchHead head{};
    const ByteView raw = in.raw(sizeof head);
    if (!in.ok()) return false;
    std::memcpy(&head, raw.data(), sizeof head);
    const ByteView entries = in.raw(std::size_t{head.size} * sizeof(NameTotal));
    if (!in.ok()) return false;
    list.resize(head.size);
    if (head.size > 0) std::memcpy(list.data(), entries.data(), entries.size());
    totals.restore(level, list, head.kept != 0, head.events);
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
  Result<Statement> insert = target.prepare(kInsertLaneIndex);
  if (!insert) return insert.error();
  for (const LaneSnapshot& lane : snapshot.lanes) {
    if (lane.chunk_count == 0) continue;
    if (Result<void> result = write_lane_index(*insert, lane); !result)
      return target.error("its index cannot be written");
  }
  return target.execute("COMMIT;");
}

bool read_lane_index(LaneData& data, std::int64_t part, std::int64_t saved_level, ByteView sealed) {
  const auto level = static_cast<std::size_t>(saved_level);
  const std::optional<ByteView> content = checked_content(sealed);
  if (!content) return false;
  const ByteView blob = *content;
  if (part == kPlaces) {
    return unpack_array<ChunkPlace>(blob,
                                    [&](const void* places, std::size_t count) { data.chunks.append(places, count); });
  }
  if (part == kTree && level < kTreeLevels) {
    const auto restore = [&](auto& tree) {
      return [&tree, level](const void* nodes, std::size_t count) { tree.restore(level, nodes, count); };
    };
    return data.kind == EventKind::counter ? unpack_array<CounterNode>(blob, restore(data.counters))
                                           : unpack_array<SliceNode>(blob, restore(data.slices));
  }
  return part != kTotals || level >= NameTotals::kLevels || unpack_totals(blob, level, data.totals);
}

bool is_consistent(const LaneData& data) {
  std::uint64_t ordinal = 0;
  std::uint64_t leaf = 0;
  for (std::size_t i = 0; i < data.chunks.size(); ++i) {
    const ChunkPlace& place = data.chunks[i];
    if (place.count == 0 || place.count > kMaxChunkEvents || place.first_ordinal < ordinal ||
        place.first_leaf != leaf || place.end_ticks < place.begin_ticks) {
      return false;
    }
    ordinal = place.first_ordinal + place.count;
    leaf += (place.count + kBlockEvents - 1) / kBlockEvents;
  }
  const TreeCounts tree = data.kind == EventKind::counter ? data.counters.counts() : data.slices.counts();
  if (tree.nodes[0] != leaf) return false;
  for (std::size_t level = 1; level < kTreeLevels; ++level) {
    if (tree.nodes[level] != tree.nodes[level - 1] / kTreeFanout) return false;
  }
  const NameTotals::Counts totals = data.totals.counts();
  if (totals.stretches[0] != data.chunks.size()) return false;
  for (std::size_t level = 1; level < NameTotals::kLevels; ++level) {
    if (totals.stretches[level] != totals.stretches[level - 1] / NameTotals::kFanout) return false;
  }
  return true;
}

}  // namespace accelscope
