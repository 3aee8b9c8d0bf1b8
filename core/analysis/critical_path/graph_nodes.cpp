#include <algorithm>
#include <limits>
#include <set>

#include "core/analysis/critical_path/graph_scan.h"
#include "core/analysis/time/sorted_runs.h"
#include "core/analysis/time/track_devices.h"
#include "core/analysis/time/work_kind.h"
#include "core/analysis/vendors/vendor.h"
#include "core/scan/column_values.h"
#include "core/scan/group_by.h"
#include "core/scan/wait_names.h"

namespace accelscope::analysis {
namespace {

// The vendor whose tables a lane has, as far as signals go.
struct LaneSignals {
  const Vendor* vendor = nullptr;
  std::optional<std::size_t> operands, semaphore, part, unit, queue, engine, bytes;
};

std::optional<std::size_t> column_named(const Schema& schema, std::string_view name) {
  return name.empty() ? std::nullopt : schema.find(name);
}

LaneSignals signals_of(const Schema& schema) {
  LaneSignals found;
  for (const Vendor& vendor : vendors()) {
    if (vendor.signals == nullptr) continue;
    for (const Vendor::DetailedTable& table : vendor.detailed_tables) {
      if (table.detail != schema.name || table.part_column.empty()) continue;
      found.part = column_named(schema, table.part_column);
      found.semaphore = column_named(schema, vendor.signals->semaphore_column);
      found.unit = column_named(schema, vendor.signals->unit_column);
      found.queue = column_named(schema, vendor.signals->queue_column);
      found.bytes = schema.find(Role::bytes);
      found.vendor = &vendor;
    }
    if (found.vendor == nullptr && schema.find(Role::operands) && schema.find(vendor.signals->engine_column)) {
      found.operands = schema.find(Role::operands);
      found.engine = schema.find(vendor.signals->engine_column);
      found.vendor = &vendor;
    }
  }
  return found;
}

// The lanes of devices that are in the graph, and which of them are one server.
class LaneChoice {
 public:
  explicit LaneChoice(const QueryContext& query)
      : snapshot_(*query.snapshot), kinds_(snapshot_), devices_(snapshot_), streams_(snapshot_) {
    for (const TrackSnapshot& track : snapshot_.tracks) {
      const auto stream = streams_.of_track(track.track->number);
      if (stream && track.track->kind == "engine") engines_.insert(*stream);
    }
  }

  void choose(WorkGraph& graph) {
    std::map<std::tuple<int, std::size_t, std::int64_t>, std::uint32_t> servers;
    std::uint64_t nodes = 0;
    for (std::uint32_t i = 0; i < snapshot_.lanes.size(); ++i) {
      const LaneSnapshot& lane = snapshot_.lanes[i];
      if (!wanted(i)) continue;
      const TrackSnapshot* track = snapshot_.find_track(lane.track);
      GraphLane chosen;
      chosen.lane = i;
      chosen.track = chosen.resource = lane.track;
      chosen.kind = kinds_.of_lane(i);
      chosen.first = static_cast<NodeIndex>(nodes);
      chosen.count = static_cast<std::uint32_t>(lane.event_count);
      chosen.waits_recorded = lane.schema->find(Role::wait_ns).has_value();
      auto server = std::tuple(0, std::size_t{lane.track}, std::int64_t{0});
      if (const auto stream = streams_.of_track(lane.track)) {
        server = {1, *stream, 0};
        // The operations of a core follow each other as its program has them.
        chosen.waits_when_idle = !chosen.waits_recorded && !engines_.contains(*stream);
      }
      if (const auto unit = first_number(lane, i)) {
        server = {2, devices_.of_lane(i), *unit};
        chosen.shares_server = true;
        if (track->track->parent != kNone) chosen.resource = track->track->parent;
      }
      chosen.server = servers.try_emplace(server, static_cast<std::uint32_t>(servers.size())).first->second;
      nodes += lane.event_count;
      graph.lanes.push_back(chosen);
      graph.positions.emplace_back(graph.snapshot->lanes[i]);
    }
    graph.server_latencies_ns.assign(servers.size(), 0);
    total_ = nodes;
  }
  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
  void read_units(const QueryContext& query) {
    for (std::uint32_t i = 0; i < snapshot_.lanes.size(); ++i) {
      const LaneSnapshot& lane = snapshot_.lanes[i];
      if (lane.event_count == 0 || !lane.schema) continue;
      const LaneSignals signals = signals_of(*lane.schema);
      if (!signals.unit || !wanted(i)) continue;
      // All packets of a lane were served by one engine: the first tells which.
      const Result<void> read = scan_chunks(query, std::vector<ChunkRequest>{{i, 0, TickRange{}}},
                                            [&](const ScannedChunk& chunk, std::size_t) {
                                              const ColumnType type = lane.schema->columns[*signals.unit].type;
                                              if (const auto unit = number_at(chunk.view, *signals.unit, type, 0))
                                                units_[i] = *unit;
                                            });
      if (!read) continue;  // it is a server of its own then
    }
  }

 private:
  [[nodiscard]] bool wanted(std::uint32_t i) const {
    const LaneSnapshot& lane = snapshot_.lanes[i];
    if (lane.event_count == 0 || !lane.schema || lane.data->kind != EventKind::slice) return false;
    const WorkKind kind = kinds_.of_lane(i);
    return is_device_work(kind) && kinds_.covers_time(i);
  }
  [[nodiscard]] std::optional<std::int64_t> first_number(const LaneSnapshot&, std::uint32_t i) const {
    const auto found = units_.find(i);
    return found == units_.end() ? std::nullopt : std::optional(found->second);
  }

  const Snapshot& snapshot_;
  WorkKinds kinds_;
  TrackDevices devices_;
  DeviceStreams streams_;
  std::set<std::size_t> engines_;  // streams that are cores
  std::map<std::uint32_t, std::int64_t> units_;
  std::uint64_t total_ = 0;
};

// What one thread found beside the plain columns.
struct NodeFinds {
  std::vector<SemaphoreCondition> conditions;
  std::vector<SemaphoreUpdate> updates;
  std::vector<TransferTrigger> triggers;
  std::map<StringId, std::int64_t> semaphores;  // of names
  auto measures() { return std::tie(conditions, updates, triggers); }
};

// Keys are the source's own: two hosts count alike.
[[nodiscard]] std::uint64_t scoped_key(const LaneSnapshot& lane, std::int64_t key) noexcept {
  constexpr unsigned kScopeShift = 48;
  return static_cast<std::uint64_t>(key) ^ std::uint64_t{scope_of(lane.number())} << kScopeShift;
}

// Events that a vendor lists beside their packets, by their keys: a table with open addressing, since every packet
// asks.
class KeyedTransfers {
 public:
  struct Transfer {
    std::uint64_t key = 0;
    EventId event = kNoEvent;
    StringId location = 0;
    bool operator<(const Transfer& other) const { return std::pair(key, event) < std::pair(other.key, other.event); }
  };
  // Of equal keys the first event has the packets.
  void take(std::vector<Transfer> all) {
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end(), [](const Transfer& a, const Transfer& b) { return a.key == b.key; }),
              all.end());
    transfers_ = std::move(all);
    std::size_t size = 16;
    while (size < 2 * transfers_.size()) size *= 2;
    slots_.assign(size, kNone);
    for (std::uint32_t i = 0; i < transfers_.size(); ++i) slots_[slot_of(transfers_[i].key)] = i;
  }
  [[nodiscard]] const std::vector<Transfer>& all() const noexcept { return transfers_; }
  [[nodiscard]] std::uint32_t find(std::uint64_t key) const noexcept {
    return slots_.empty() ? kNone : slots_[slot_of(key)];
  }

 private:
  // Of the key, or where it would be.
  [[nodiscard]] std::size_t slot_of(std::uint64_t key) const noexcept {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = (key * 0x9E3779B97F4A7C15U >> 32U) & mask;
    while (slots_[slot] != kNone && transfers_[slots_[slot]].key != key) slot = (slot + 1) & mask;
    return slot;
  }
  std::vector<Transfer> transfers_;   // by key
  std::vector<std::uint32_t> slots_;  // into transfers_; a power of two
};

class NodeScan {
 public:
  NodeScan(const QueryContext& query, WorkGraph& graph, GraphParts& parts)
      : query_(query), graph_(graph), parts_(parts) {}

  Result<void> run() {
    LaneIndices lanes;
    for (std::size_t i = 0; i < graph_.lanes.size(); ++i) {
      const Schema& schema = *query_.snapshot->lanes[graph_.lanes[i].lane].schema;
      lanes.push_back(graph_.lanes[i].lane);
      place_[graph_.lanes[i].lane] = static_cast<std::uint32_t>(i);
      signals_.push_back(signals_of(schema));
      locations_.push_back(schema.find(Role::source_location));
      waits_.emplace_back(&schema, *query_.snapshot->strings);
      if (graph_.lanes[i].waits_recorded) graph_.wait_ns.resize(graph_.count());
      if (locations_.back()) graph_.locations.resize(graph_.count());
      if (signals_.back().part) {
        graph_.parts.resize(graph_.count(), kNone);
        graph_.has_signal.resize(graph_.count());
      }
    }
    parts_.engine_of_lane.assign(graph_.lanes.size(), kNone);
    parts_.queue_of_lane.assign(graph_.lanes.size(), -1);
    if (!graph_.parts.empty()) {
      if (const Result<void> done = read_transfers(); !done) return done;
    }
    auto finds = gather(query_, lanes, TimeRange{}, NodeFinds{}, [&](const ScannedChunk& chunk, NodeFinds& part) {
      read(chunk, place_.at(chunk.lane_index), part);
    });
    if (!finds) return finds.error();
    keep(std::move(*finds));
    join_packets();
    return {};
  }

 private:
  void read(const ScannedChunk& chunk, std::uint32_t place, NodeFinds& finds) {
    const NodeIndex first = graph_.first_node(place, chunk.chunk_index);
    const LaneSignals& signals = signals_[place];
    const Schema& schema = *chunk.lane.schema;
    const StringPool& strings = *query_.snapshot->strings;
    NumberBlock waited, bytes;
    const auto wait_column = schema.find(Role::wait_ns);
    chunk.for_each_block([&](const ScannedBlock& block) {
      NodeIndex node = first + block.row(block.first);
      if (wait_column && !is_text(schema.columns[*wait_column].type)) {
        waited.read(block.reader, *wait_column, schema.columns[*wait_column].type);
      }
      if (signals.bytes) bytes.read(block.reader, *signals.bytes, schema.columns[*signals.bytes].type);
      const BlockValues lines = locations_[place] && schema.columns[*locations_[place]].type == ColumnType::string
                                    ? block.reader.column(*locations_[place], ColumnType::string)
                                    : BlockValues{};
      for (std::uint32_t i = block.first; i < block.last; ++i, ++node) {
        graph_.begin_ns[node] = block.begin_ns(i);
        graph_.end_ns[node] = std::max(block.end_ns(i), block.begin_ns(i));
        graph_.names[node] = block.name(i);
        graph_.graph_lane[node] = place;
        if (wait_column) {
          const std::int64_t wait = std::clamp<std::int64_t>(waited[i], 0, std::numeric_limits<std::int32_t>::max());
          graph_.wait_ns[node] = static_cast<std::int32_t>(wait);
        }
        if (lines.has(i)) graph_.locations[node] = static_cast<StringId>(lines.values[i]);
        if (!waits_[place].empty() && waits_[place].contains(graph_.names[node])) graph_.waits[node] = 1;
        if (signals.vendor == nullptr) continue;
        const std::uint32_t row = block.row(i);
        if (signals.operands) {
          read_operands(text_at(chunk, strings, *signals.operands, schema.columns[*signals.operands].type, row), node,
                        *signals.vendor, finds);
        }
        if (signals.part) {
          const auto key = number_at(chunk.view, *signals.part, schema.columns[*signals.part].type, row);
          if (key) graph_.parts[node] = transfers_.find(scoped_key(chunk.lane, *key));
          if (signals.bytes && bytes[i] <= signals.vendor->no_payload_bytes) graph_.has_signal[node] = 1;
        }
        if (signals.semaphore && (graph_.has_signal.empty() || graph_.has_signal[node] != 0)) {
          read_semaphore(chunk, strings, signals, row, node, finds);
        }
      }
    });
    if (signals.engine && chunk.chunk_index == 0) {
      const std::string_view engine = text_at(chunk, strings, *signals.engine, schema.columns[*signals.engine].type, 0);
      parts_.engine_of_lane[place] = engine.empty() ? kNone : strings.find(engine);
    }
    if (signals.queue && chunk.chunk_index == 0) {
      parts_.queue_of_lane[place] =
          number_at(chunk.view, *signals.queue, schema.columns[*signals.queue].type, 0).value_or(-1);
    }
  }

  static void read_operands(std::string_view text, NodeIndex node, const Vendor& vendor, NodeFinds& finds) {
    vendor.signals->visit(
        text,
        [&](std::uint32_t semaphore, std::int64_t value, bool exactly, bool of_transfers) {
          finds.conditions.push_back({node, semaphore, value, exactly, of_transfers});
        },
        [&](std::uint32_t semaphore) {
          finds.updates.push_back({node, semaphore});
        });
    TransferTrigger trigger{node, 0, 0};
    if (vendor.signals->signal(text, trigger.semaphore, trigger.increment)) finds.triggers.push_back(trigger);
  }

  static void read_semaphore(const ScannedChunk& chunk, const StringPool& strings, const LaneSignals& signals,
                             std::uint32_t row, NodeIndex node, NodeFinds& finds) {
    const ColumnType type = chunk.lane.schema->columns[*signals.semaphore].type;
    if (type != ColumnType::string || !chunk.view.has_value(*signals.semaphore, row)) return;
    const StringId name = chunk.session_string(chunk.view.stored(*signals.semaphore, row));
    const auto known = finds.semaphores.find(name);
    const std::int64_t number =
        known != finds.semaphores.end()
            ? known->second
            : finds.semaphores.emplace(name, signals.vendor->signals->number(strings.text(name))).first->second;
    if (number >= 0) finds.updates.push_back({node, static_cast<std::uint32_t>(number)});
  }

  void keep(NodeFinds&& finds) {
    merge_part(graph_.conditions, std::move(finds.conditions));
    merge_part(graph_.updates, std::move(finds.updates));
    merge_part(parts_.triggers, std::move(finds.triggers));
    std::ranges::stable_sort(graph_.conditions, {}, [](const auto& each) { return each.node; });
    // What packets tell of, an instruction that names it only sets off.
    std::set<std::uint32_t> of_packets;
    for (const SemaphoreUpdate& update : graph_.updates) {
      if (!graph_.parts.empty() && graph_.lane(update.node).kind == WorkKind::transfer) {
        of_packets.insert(update.semaphore);
      }
    }
    std::erase_if(graph_.updates, [&](const SemaphoreUpdate& update) {
      return graph_.lane(update.node).kind != WorkKind::transfer && of_packets.contains(update.semaphore);
    });
    sort_updates(graph_.updates);
  }

  Result<void> read_transfers() {
    LaneIndices lanes;
    const Snapshot& snapshot = *query_.snapshot;
    for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
      const LaneSnapshot& lane = snapshot.lanes[i];
      if (!lane.schema || lane.event_count == 0 || place_.contains(i) || !lane.schema->find(Role::key)) continue;
      for (const Vendor& vendor : vendors()) {
        for (const Vendor::DetailedTable& table : vendor.detailed_tables) {
          if (table.table == lane.schema->name && !table.part_column.empty()) lanes.push_back(i);
        }
      }
    }
    auto all = gather(query_, lanes, TimeRange{}, std::vector<KeyedTransfers::Transfer>(),
                      [&](const ScannedChunk& chunk, auto& found) {
                        const Schema& schema = *chunk.lane.schema;
                        const std::size_t column = *schema.find(Role::key);
                        const auto line = schema.find(Role::source_location);
                        const bool has_line = line && schema.columns[*line].type == ColumnType::string;
                        for (std::uint32_t row = 0; row < chunk.view.count(); ++row) {
                          const auto key = number_at(chunk.view, column, schema.columns[column].type, row);
                          if (!key) continue;
                          KeyedTransfers::Transfer transfer{scoped_key(chunk.lane, *key), chunk.event_id(row), 0};
                          if (has_line && chunk.view.has_value(*line, row)) {
                            transfer.location = chunk.session_string(chunk.view.stored(*line, row));
                          }
                          found.push_back(transfer);
                        }
                      });
    if (!all) return all.error();
    transfers_.take(std::move(*all));
    return {};
  }

  // Transfers that any packet names, with their packets.
  void join_packets() {
    if (graph_.parts.empty()) return;
    const std::vector<KeyedTransfers::Transfer>& all = transfers_.all();
    std::vector<std::uint32_t> counts(all.size(), 0);
    for (const std::uint32_t part : graph_.parts) {
      if (part != kNone) ++counts[part];
    }
    std::vector<std::uint32_t> places(all.size(), kNone);
    std::vector<std::uint32_t> next;
    std::uint32_t packets = 0;
    bool any_line = false;
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      if (counts[i] == 0) continue;
      places[i] = static_cast<std::uint32_t>(graph_.transfers.size());
      graph_.transfers.push_back(all[i].event);
      parts_.transfer_places.emplace(all[i].event, places[i]);
      next.push_back(packets);
      packets += counts[i];
      any_line = any_line || all[i].location != 0;
    }
    parts_.first_packet = next;
    parts_.first_packet.push_back(packets);
    parts_.packets.resize(packets);
    if (any_line) graph_.locations.resize(graph_.count());
    for (NodeIndex node = 0; node < graph_.count(); ++node) {
      std::uint32_t& part = graph_.parts[node];
      if (part == kNone) continue;
      // What its transfer is for, a packet is for.
      if (any_line && graph_.locations[node] == 0) graph_.locations[node] = all[part].location;
      part = places[part];
      parts_.packets[next[part]++] = node;
    }
  }

  const QueryContext& query_;
  WorkGraph& graph_;
  GraphParts& parts_;
  std::unordered_map<std::uint32_t, std::uint32_t> place_;  // of lanes of the snapshot in the graph
  std::vector<LaneSignals> signals_;
  std::vector<std::optional<std::size_t>> locations_;
  std::vector<WaitNames> waits_;
  KeyedTransfers transfers_;
};

void find_ends(WorkGraph& graph) {
  graph.begin_of_all_ns = graph.count() == 0 ? 0 : INT64_MAX;
  graph.end_of_all_ns = graph.count() == 0 ? 0 : INT64_MIN;
  for (NodeIndex node = 0; node < graph.count(); ++node) {
    graph.begin_of_all_ns = std::min(graph.begin_of_all_ns, graph.begin_ns[node]);
    graph.end_of_all_ns = std::max(graph.end_of_all_ns, graph.end_ns[node]);
  }
}

void find_shortest_waits(WorkGraph& graph) {
  // Of all lanes of a table: one lane may have long waits only.
  std::map<std::string_view, std::int64_t> shortest;
  const auto table_of = [&](const GraphLane& lane) -> std::string_view {
    return graph.snapshot->lanes[lane.lane].schema->name;
  };
  for (const GraphLane& lane : graph.lanes) {
    std::int64_t& least = shortest.try_emplace(table_of(lane), INT64_MAX).first->second;
    for (NodeIndex node = lane.first; node < lane.first + lane.count; ++node) {
      if (graph.waits[node] != 0) least = std::min(least, graph.end_ns[node] - graph.begin_ns[node]);
    }
  }
  for (const GraphLane& lane : graph.lanes) {
    const std::int64_t least = shortest[table_of(lane)];
    graph.shortest_wait_ns.push_back(least == INT64_MAX ? 0 : least);
  }
}

}  // namespace

Result<void> scan_graph_nodes(const QueryContext& query, const Dependencies& dependencies, WorkGraph& graph,
                              GraphParts& parts) {
  LaneChoice choice(query);
  choice.read_units(query);
  choice.choose(graph);
  if (choice.total() >= kNoNode) return Error{"the session has more events than a graph of its work can hold"};
  const auto count = static_cast<std::size_t>(choice.total());
  graph.resize(count, false);
  if (const Result<void> scanned = NodeScan(query, graph, parts).run(); !scanned) return scanned;
  for (const Vendor& vendor : vendors()) {
    if (vendor.signals == nullptr) continue;
    for (const std::string_view name : vendor.signals->transfer_names) {
      if (const StringId id = graph.snapshot->strings->find(name); id != kNone) graph.transfer_names.push_back(id);
    }
  }
  std::ranges::sort(graph.transfer_names);
  find_shortest_waits(graph);
  if (const Result<void> added = parts.host.add(query, dependencies, graph); !added) return added;
  parts.engine_of_lane.resize(graph.lanes.size(), kNone);
  parts.queue_of_lane.resize(graph.lanes.size(), -1);
  find_ends(graph);
  return {};
}

void sort_updates(std::vector<SemaphoreUpdate>& updates) {
  std::vector<DigitKey> keys;
  keys.reserve(updates.size());
  for (const SemaphoreUpdate& each : updates) keys.push_back({std::uint64_t{each.node} << 32 | each.semaphore, 0});
  sort_by_digits(keys);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    updates[i] = {static_cast<NodeIndex>(keys[i].key >> 32), static_cast<std::uint32_t>(keys[i].key)};
  }
}

void order_servers(const QueryContext& query, WorkGraph& graph) {
  graph.server_before.assign(graph.count(), kNoNode);
  std::vector<std::vector<std::uint32_t>> lanes(graph.server_latencies_ns.size());
  for (std::uint32_t i = 0; i < graph.lanes.size(); ++i) lanes[graph.lanes[i].server].push_back(i);
  query.pool.for_each(lanes.size(), query.control, [&](std::size_t server, std::size_t) {
    std::int64_t least = INT64_MAX;
    // What runs beside another event of the server does not show how it follows its own.
    const auto put = [&](NodeIndex node, NodeIndex before, bool alone) {
      graph.server_before[node] = before;
      if (alone) least = std::min(least, graph.begin_ns[node] - graph.end_ns[before]);
    };
    if (lanes[server].size() == 1) {
      const GraphLane& lane = graph.lanes[lanes[server][0]];
      for (NodeIndex node = lane.first + 1; node < lane.first + lane.count; ++node) {
        if (graph.end_ns[node - 1] <= graph.begin_ns[node]) put(node, node - 1, true);
      }
    } else {
      std::vector<NodeIndex> by_begin, by_end;
      for (const std::uint32_t i : lanes[server]) {
        for (NodeIndex k = 0; k < graph.lanes[i].count; ++k) by_begin.push_back(graph.lanes[i].first + k);
      }
      by_end = by_begin;
      std::ranges::sort(by_begin, [&](NodeIndex a, NodeIndex b) {
        return std::tuple(graph.begin_ns[a], graph.end_ns[a], a) < std::tuple(graph.begin_ns[b], graph.end_ns[b], b);
      });
      std::ranges::sort(by_end, [&](NodeIndex a, NodeIndex b) {
        return std::tuple(graph.end_ns[a], graph.begin_ns[a], a) < std::tuple(graph.end_ns[b], graph.begin_ns[b], b);
      });
      std::size_t ended = 0;
      std::int64_t taken_until = INT64_MIN;
      for (std::size_t i = 0; i < by_begin.size(); ++i) {
        const NodeIndex node = by_begin[i];
        const bool alone = taken_until <= graph.begin_ns[node] &&
                           (i + 1 == by_begin.size() || graph.begin_ns[by_begin[i + 1]] >= graph.end_ns[node]);
        taken_until = std::max(taken_until, graph.end_ns[node]);
        while (ended < by_end.size() && graph.end_ns[by_end[ended]] <= graph.begin_ns[node]) ++ended;
        std::size_t last = ended;
        // What takes no time ends as it begins: of several at once each comes after those with smaller numbers.
        while (last > 0 && graph.begin_ns[by_end[last - 1]] == graph.begin_ns[node] && by_end[last - 1] >= node) --last;
        if (last > 0) put(node, by_end[last - 1], alone);
      }
    }
    graph.server_latencies_ns[server] = least;
  });
  // Of all servers of a kind: one that is seldom used shows long pauses only.
  std::vector<WorkKind> kinds(lanes.size(), WorkKind::none);
  for (const GraphLane& lane : graph.lanes) {
    WorkKind& kind = kinds[lane.server];
    if (kind == WorkKind::none || lane.kind < kind) kind = lane.kind;
  }
  std::map<WorkKind, std::int64_t> shortest;
  for (std::size_t server = 0; server < kinds.size(); ++server) {
    std::int64_t& least = shortest.try_emplace(kinds[server], INT64_MAX).first->second;
    least = std::min(least, graph.server_latencies_ns[server]);
  }
  for (std::size_t server = 0; server < kinds.size(); ++server) {
    const std::int64_t least = shortest[kinds[server]];
    // Collectives, transfers and calls of a host do not follow each other by themselves: their pauses have other
    // reasons.
    const bool follows = kinds[server] == WorkKind::compute;
    graph.server_latencies_ns[server] = !follows || least == INT64_MAX ? 0 : std::max<std::int64_t>(least, 0);
  }
}

}  // namespace accelscope::analysis
