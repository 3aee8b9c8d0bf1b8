#include "core/analysis/collectives/arrivals.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>

#include "core/analysis/time/track_devices.h"
#include "core/analysis/time/work_kind.h"
#include "core/names/collective_words.h"
#include "core/scan/column_values.h"
#include "core/scan/event_mask.h"

namespace accelscope::analysis {
namespace {

constexpr std::string_view kCollectiveTrack = "collective";

struct FactsHash {
  [[nodiscard]] std::size_t operator()(const CollectiveFacts& facts) const noexcept {
    std::uint64_t hash = facts.bytes;
    for (const std::uint64_t part :
         {std::uint64_t{facts.name}, std::uint64_t{facts.operation_text}, std::uint64_t{facts.algorithm},
          std::uint64_t{facts.type}, std::uint64_t{facts.group}, std::uint64_t{facts.group_size},
          std::uint64_t{facts.schema}, std::uint64_t{facts.size_column}, facts.size_value}) {
      hash = (hash ^ part) * 0x9e3779b97f4a7c15ULL;
      hash ^= hash >> 29;
    }
    return hash;
  }
};

// Which lanes hold parts of collectives, and whether all of their events are.
struct CollectiveLanes {
  explicit CollectiveLanes(const Snapshot& snapshot, const TrackDevices& devices) {
    std::set<std::size_t> reported;  // devices that have tracks of their own for them
    for (const bool own : {true, false}) {
      for (std::size_t t = 0; t < snapshot.tracks.size(); ++t) {
        const TrackSnapshot& track = snapshot.tracks[t];
        const bool is_own = track.track->kind == kCollectiveTrack;
        const bool fits =
            own ? is_own : work_kind_of(track) == WorkKind::compute && !reported.contains(devices.of_track(t));
        if (!fits || !track.schema || track.schema->kind != EventKind::slice) continue;
        for (const std::uint32_t lane : track.lanes) {
          if (snapshot.lanes[lane].event_count == 0) continue;
          lanes.push_back(lane);
          if (own) reported.insert(devices.of_track(t));
          if (!own) by_name.insert(lane);
        }
      }
    }
  }
  LaneIndices lanes;
  std::set<std::uint32_t> by_name;  // only events whose names say so
};

// What one worker has found of the chunks that it read.
class FoundArrivals {
 public:
  void read(const ScannedChunk& chunk, const EventMask* mask, const StringPool& strings, bool by_name,
            std::int64_t longest_ns, std::vector<CollectiveArrival>& into) {
    const CollectiveColumns columns(*chunk.lane.schema);
    chunk.for_each_block([&](const ScannedBlock& block) {
      const std::uint64_t* names = block.reader.names();
      if (by_name && !any_named(names, block, strings)) return;
      Values values(block.reader, *chunk.lane.schema, columns);
      const std::uint64_t passing =
          mask == nullptr ? ~std::uint64_t{0} : mask->bits(chunk.lane_index, chunk.place.first_leaf + block.block);
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        const auto name = static_cast<StringId>(names[i]);
        if (by_name && !is_named(name, strings)) continue;
        CollectiveArrival each;
        each.event = block.id(i);
        each.begin_ns = block.begin_ns(i);
        each.end_ns = std::max(each.begin_ns, block.end_ns(i));
        const std::int64_t waited = values.wait[i];
        // No longer than the session lasts: a damaged value must not move everybody's arrival.
        each.arrival_ns = each.begin_ns - std::clamp<std::int64_t>(waited, 0, longest_ns);
        has_waits |= (values.wait.valid() >> i & 1) != 0;
        each.id = values.id.has(i) ? values.id.values[i] : 0;
        each.facts = index_of(values.facts(i, name, strings));
        each.hidden = (passing >> i & 1) == 0;
        into.push_back(each);
      }
    });
  }

  std::vector<CollectiveFacts> facts;
  bool has_waits = false;

 private:
  // The largest of some columns, 0 where none has a value, and which it is.
  struct Sizes {
    std::array<std::int64_t, kBlockEvents> values{};
    std::array<std::uint32_t, kBlockEvents> columns{};
  };
  // The columns of a block that say something of an operation.
  struct Values {
    Values(BlockReader& reader, const Schema& schema, const CollectiveColumns& columns) : schema_number(schema.number) {
      const auto texts = [&](const std::optional<std::size_t>& column) {
        const bool is_string = column && schema.columns[*column].type == ColumnType::string;
        return is_string ? reader.column(*column, ColumnType::string) : BlockValues{};
      };
      const auto numbers = [&](const std::optional<std::size_t>& column, NumberBlock& into) {
        if (column) into.read(reader, *column, schema.columns[*column].type);
      };
      numbers(columns.wait, wait);
      numbers(columns.group_size, group_size);
      largest(reader, schema, columns.bytes, bytes);
      largest(reader, schema, columns.elements, elements);
      operation = texts(columns.operation);
      algorithm = texts(columns.algorithm);
      type = texts(columns.type);
      group = texts(columns.group);
      if (columns.id && !is_text(schema.columns[*columns.id].type))
        id = reader.column(*columns.id, schema.columns[*columns.id].type);
    }
    static void largest(BlockReader& reader, const Schema& schema, const std::vector<std::size_t>& columns,
                        Sizes& into) {
      for (const std::size_t column : columns) {
        NumberBlock block;
        block.read(reader, column, schema.columns[column].type);
        if (block.valid() == 0) continue;
        for (std::uint32_t i = 0; i < kBlockEvents; ++i) {
          if (block[i] <= into.values[i]) continue;
          into.values[i] = block[i];
          into.columns[i] = static_cast<std::uint32_t>(column);
        }
      }
    }
    [[nodiscard]] CollectiveFacts facts(std::uint32_t i, StringId name, const StringPool& strings) const {
      const auto text = [i](const BlockValues& of) { return of.has(i) ? static_cast<StringId>(of.values[i]) : 0; };
      CollectiveFacts found{.name = name,
                            .operation_text = text(operation),
                            .algorithm = text(algorithm),
                            .type = text(type),
                            .group = text(group)};
      found.schema = schema_number;
      const Sizes& said = elements.values[i] > 0 ? elements : bytes;
      if (said.values[i] > 0) found.size_column = said.columns[i];
      found.size_value = static_cast<std::uint64_t>(said.values[i]);
      found.bytes = found.size_value * (elements.values[i] > 0 ? element_bytes(strings.text(found.type)) : 1);
      found.group_size =
          static_cast<std::uint32_t>(std::clamp<std::int64_t>(group_size[i], 0, std::numeric_limits<int>::max()));
      return found;
    }
    NumberBlock wait, group_size;
    Sizes bytes, elements;
    SchemaNumber schema_number;
    BlockValues operation, algorithm, type, group, id;
  };

  [[nodiscard]] std::uint32_t index_of(const CollectiveFacts& wanted) {
    if (last_ < facts.size() && facts[last_] == wanted) return last_;
    const auto [place, is_new] = places_.try_emplace(wanted, static_cast<std::uint32_t>(facts.size()));
    if (is_new) facts.push_back(wanted);
    last_ = place->second;
    return last_;
  }
  [[nodiscard]] bool is_named(StringId name, const StringPool& strings) {
    const auto [place, is_new] = named_.try_emplace(name, false);
    if (is_new) place->second = names_collective(strings.text(name));
    return place->second;
  }
  [[nodiscard]] bool any_named(const std::uint64_t* names, const ScannedBlock& block, const StringPool& strings) {
    for (std::uint32_t i = block.first; i < block.last; ++i) {
      if (is_named(static_cast<StringId>(names[i]), strings)) return true;
    }
    return false;
  }

  std::unordered_map<CollectiveFacts, std::uint32_t, FactsHash> places_;
  std::unordered_map<StringId, bool> named_;
  std::uint32_t last_ = 0;
};

// Those of all workers under one numbering: what each worker's numbers have become.
std::vector<std::vector<std::uint32_t>> join_facts(const std::vector<FoundArrivals>& workers,
                                                   std::vector<CollectiveFacts>& facts) {
  std::unordered_map<CollectiveFacts, std::uint32_t, FactsHash> places;
  std::vector<std::vector<std::uint32_t>> moved;
  for (const FoundArrivals& worker : workers) {
    std::vector<std::uint32_t>& numbers = moved.emplace_back();
    for (const CollectiveFacts& each : worker.facts) {
      const auto [place, is_new] = places.try_emplace(each, static_cast<std::uint32_t>(facts.size()));
      if (is_new) facts.push_back(each);
      numbers.push_back(place->second);
    }
  }
  return moved;
}

}  // namespace

Result<CollectiveArrivals> read_arrivals(const QueryContext& query) {
  const Snapshot& snapshot = *query.snapshot;
  const TrackDevices devices(snapshot);
  const CollectiveLanes lanes(snapshot, devices);
  std::vector<ChunkRequest> requests;
  for (const std::uint32_t lane : lanes.lanes) {
    for (std::uint32_t c = 0; c < snapshot.lanes[lane].chunk_count; ++c) requests.push_back({lane, c, TickRange{}});
  }
  struct Part {
    std::vector<CollectiveArrival> events;
    std::size_t worker = 0;
  };
  std::vector<Part> parts(requests.size());
  std::vector<FoundArrivals> workers(query.pool.concurrency());
  const QueryContext all = query.unmasked();
  const Result<void> scanned = scan_chunks(all, requests, [&](const ScannedChunk& chunk, std::size_t worker) {
    Part& part = parts[chunk.request];
    part.worker = worker;
    workers[worker].read(chunk, query.mask.get(), *snapshot.strings, lanes.by_name.contains(chunk.lane_index),
                         std::max<std::int64_t>(0, snapshot.end_ns - snapshot.begin_ns), part.events);
  });
  if (!scanned) return scanned.error();

  CollectiveArrivals found;
  const auto moved = join_facts(workers, found.facts);
  for (const FoundArrivals& worker : workers) found.has_waits |= worker.has_waits;
  std::map<std::size_t, std::vector<CollectiveArrival>> by_device;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].events.empty()) continue;
    for (CollectiveArrival& each : parts[i].events) each.facts = moved[parts[i].worker][each.facts];
    std::vector<CollectiveArrival>& events = by_device[devices.of_lane(requests[i].lane)];
    events.insert(events.end(), parts[i].events.begin(), parts[i].events.end());
  }
  const auto earlier = [](const CollectiveArrival& a, const CollectiveArrival& b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.event < b.event;
  };
  for (auto& [device, events] : by_device) {
    if (!std::ranges::is_sorted(events, earlier)) std::ranges::sort(events, earlier);
    found.ranks.push_back({device, std::move(events)});
  }
  return found;
}

namespace {

constexpr std::array<std::string_view, 2> kByteColumns = {"input_size", "output_size"};
constexpr std::array<std::string_view, 2> kElementColumns = {"In msg nelems", "Out msg nelems"};
constexpr std::array<std::string_view, 1> kTypeColumns = {"dtype"};
constexpr std::array<std::string_view, 2> kGroupColumns = {"replica_group", "Process Group Ranks"};
constexpr std::array<std::string_view, 1> kGroupSizeColumns = {"Group size"};
constexpr std::array<std::string_view, 1> kAlgorithmColumns = {"algorithm"};
constexpr std::array<std::string_view, 1> kOperationColumns = {"Collective name"};
constexpr std::array<std::string_view, 2> kIdColumns = {"op_id", "Seq"};

template <std::size_t Size>
[[nodiscard]] std::optional<std::size_t> first_of(const Schema& schema,
                                                  const std::array<std::string_view, Size>& names) {
  for (const std::string_view name : names) {
    if (const auto found = schema.find(name)) return found;
  }
  return std::nullopt;
}

template <std::size_t Size>
[[nodiscard]] std::vector<std::size_t> all_of(const Schema& schema, const std::array<std::string_view, Size>& names) {
  std::vector<std::size_t> columns;
  for (const std::string_view name : names) {
    if (const auto found = schema.find(name)) columns.push_back(*found);
  }
  return columns;
}

}  // namespace

CollectiveColumns::CollectiveColumns(const Schema& schema)
    : wait(schema.find(Role::wait_ns)),
      bytes(all_of(schema, kByteColumns)),
      elements(all_of(schema, kElementColumns)),
      type(first_of(schema, kTypeColumns)),
      group(first_of(schema, kGroupColumns)),
      group_size(first_of(schema, kGroupSizeColumns)),
      algorithm(first_of(schema, kAlgorithmColumns)),
      operation(first_of(schema, kOperationColumns)),
      id(first_of(schema, kIdColumns)) {
  if (!bytes.empty()) elements.clear();
  if (bytes.empty()) {
    if (const auto moved = schema.find(Role::bytes)) bytes.push_back(*moved);
  }
}

}  // namespace accelscope::analysis
