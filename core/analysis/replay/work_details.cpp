#include "core/analysis/replay/work_details.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>

#include "core/analysis/replay/graph_replay.h"
#include "core/analysis/time/track_devices.h"
#include "core/analysis/vendors/vendor.h"
#include "core/scan/column_values.h"
#include "core/scan/group_by.h"

namespace accelscope::analysis {
namespace {

std::optional<std::size_t> string_column(const Schema& schema, std::string_view name) {
  const auto column = schema.find(name);
  return column && schema.columns[*column].type == ColumnType::string ? column : std::nullopt;
}

class DetailScan {
 public:
  DetailScan(const QueryContext& query, const WorkGraph& graph, WorkDetails& details, bool wants_addresses)
      : query_(query), graph_(graph), details_(details), labels_(*graph.snapshot), wants_addresses_(wants_addresses) {
    query_.mask = nullptr;
    for (const GraphLane& lane : graph.lanes) {
      details.devices.push_back(static_cast<std::uint32_t>(labels_.of_lane(lane.lane)));
    }
    details.words = vendors().data();
  }

  Result<void> run() {
    for (std::uint32_t i = 0; i < graph_.lanes.size(); ++i) {
      const WorkKind kind = graph_.lanes[i].kind;
      if (kind != WorkKind::transfer && kind != WorkKind::compute) continue;
      if (!knows(i)) continue;
      place_[graph_.lanes[i].lane] = i;
      lanes_.push_back(graph_.lanes[i].lane);
    }
    triggers_ = graph_.triggers;
    std::ranges::sort(triggers_);
    details_.bytes.assign(graph_.count(), 0);
    places_.assign(graph_.count(), 0);
    auto addresses = gather(query_, lanes_, TimeRange{}, std::vector<WorkDetails::Address>(),
                            [&](const ScannedChunk& chunk, auto& found) {
                              const std::uint32_t place = place_.at(chunk.lane_index);
                              graph_.lanes[place].kind == WorkKind::transfer ? read_transfers(chunk, place)
                                                                             : read_work(chunk, place, found);
                            });
    if (!addresses) return addresses.error();
    merge_part(details_.addresses, std::move(*addresses));
    std::ranges::stable_sort(details_.addresses, {}, [](const auto& each) { return each.node; });
    join_transfers();
    find_round_trips();
    find_only_targets();
    return read_limits();
  }

 private:
  enum Place : std::uint8_t { kIntoChip = 1, kFromSpill = 2, kToSpill = 4 };

  // What an instruction that sets off a transfer says of that.
  struct TriggerPlace {
    NodeIndex node = kNoNode;
    bool into_chip = false, out_of_chip = false;
    std::uint64_t address = 0, bytes = 0;  // in device memory; bytes 0: unknown
  };

  // Whether there is anything to read of a lane.
  bool knows(std::uint32_t place) {
    const LaneSnapshot& lane = graph_.snapshot->lanes[graph_.lanes[place].lane];
    if (graph_.lanes[place].kind == WorkKind::transfer) return true;
    const Vendor* vendor = vendor_of_work(lane);
    if (vendor == nullptr) return false;
    details_.words = vendor;
    details_.flops.resize(graph_.count());
    details_.transposes.resize(graph_.count());
    return true;
  }

  void read_transfers(const ScannedChunk& chunk, std::uint32_t place) {
    const Schema& schema = *chunk.lane.schema;
    const NodeIndex first = graph_.first_node(place, chunk.chunk_index);
    const auto bytes = schema.find(Role::bytes);
    const auto from = string_column(schema, details_.words->from_column);
    const auto to = string_column(schema, details_.words->to_column);
    NumberBlock sizes;
    chunk.for_each_block([&](const ScannedBlock& block) {
      if (bytes) sizes.read(block.reader, *bytes, schema.columns[*bytes].type);
      const BlockValues froms = from ? block.reader.column(*from, ColumnType::string) : BlockValues{};
      const BlockValues tos = to ? block.reader.column(*to, ColumnType::string) : BlockValues{};
      const auto is = [&](const BlockValues& values, std::uint32_t i, std::string_view word) {
        return values.has(i) && graph_.snapshot->strings->text(static_cast<StringId>(values.values[i])) == word;
      };
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        const NodeIndex node = first + block.row(i);
        if (bytes) details_.bytes[node] = std::max<std::int64_t>(0, sizes[i]);
        std::uint8_t where = is(tos, i, details_.words->on_chip_place) ? kIntoChip : 0;
        if (is(froms, i, details_.words->spill_place)) where |= kFromSpill;
        if (is(tos, i, details_.words->spill_place)) where |= kToSpill;
        places_[node] = where;
      }
    });
  }

  void read_work(const ScannedChunk& chunk, std::uint32_t place, std::vector<WorkDetails::Address>& found) {
    const Schema& schema = *chunk.lane.schema;
    const NodeIndex first = graph_.first_node(place, chunk.chunk_index);
    const Vendor& vendor = *vendor_of_work(chunk.lane);
    const std::unique_ptr<EventWork> work = vendor.event_work(chunk.lane, *graph_.snapshot->strings);
    const auto operands = schema.find(vendor.operands_column);
    const bool has_operands = wants_addresses_ && operands && schema.columns[*operands].type == ColumnType::text;
    if (!triggers_.empty() && vendor.signals != nullptr) read_triggers(chunk, first, vendor);
    chunk.for_each_block([&](const ScannedBlock& block) {
      work->read(block.reader);
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        const NodeIndex node = first + block.row(i);
        details_.flops[node] = static_cast<float>(work->at(i));
        details_.transposes[node] = work->transposes(i) ? 1 : 0;
        if (!has_operands || graph_.waits[node] != 0) continue;
        vendor.visit_operands(chunk.view.text(*operands, block.row(i)), [&](std::uint64_t address, bool written) {
          found.push_back({node, address, written});
        });
      }
    });
  }

  // Columns of bytes that the transfers of an instruction bring to the chip, or take from it.
  static std::optional<std::size_t> moved_column(const Schema& schema, const Vendor& vendor, bool into_chip) {
    if (vendor.memory == nullptr) return std::nullopt;
    for (const MemoryPathWords& path : vendor.memory->paths) {
      if (path.of == MemoryPathWords::Of::transfers && (into_chip ? path.to : path.from) == vendor.on_chip_pool)
        return schema.find(path.column);
    }
    return std::nullopt;
  }

  void read_triggers(const ScannedChunk& chunk, NodeIndex first, const Vendor& vendor) {
    const Schema& schema = *chunk.lane.schema;
    const auto operands = schema.find(vendor.operands_column);
    if (!operands || schema.columns[*operands].type != ColumnType::text) return;
    const auto in = moved_column(schema, vendor, true), out = moved_column(schema, vendor, false);
    const auto moved = [&](std::optional<std::size_t> column, std::uint32_t row) {
      return column && number_at(chunk.view, *column, schema.columns[*column].type, row).value_or(0) > 0;
    };
    for (std::uint32_t row = 0; row < chunk.view.count(); ++row) {
      TriggerPlace place{first + row};
      if (!std::binary_search(triggers_.begin(), triggers_.end(), place.node)) continue;
      place.into_chip = moved(in, row);
      place.out_of_chip = moved(out, row);
      if (place.into_chip != place.out_of_chip) {
        vendor.signals->range(chunk.view.text(*operands, row), place.out_of_chip, place.address, place.bytes);
      }
      const std::scoped_lock lock(mutex_);
      trigger_places_.push_back(place);
    }
  }

  // What is written to device memory and read back from there was only for the while no longer on the chip.
  void find_round_trips() {
    if (trigger_places_.empty()) return;
    std::ranges::sort(trigger_places_, {}, &TriggerPlace::node);
    struct Written {
      std::uint64_t begin = 0, end = 0;
      std::uint32_t transfer = 0;
    };
    std::vector<std::uint32_t> by_begin;
    for (std::uint32_t i = 0; i < details_.transfers.size(); ++i) {
      if (details_.transfers[i].trigger != kNoNode) by_begin.push_back(i);
    }
    std::ranges::stable_sort(by_begin, [&](std::uint32_t a, std::uint32_t b) {
      return graph_.begin_ns[details_.transfers[a].trigger] < graph_.begin_ns[details_.transfers[b].trigger];
    });
    std::map<std::uint32_t, std::vector<Written>> written;  // by device, the last ones
    for (const std::uint32_t i : by_begin) {
      WholeTransfer& transfer = details_.transfers[i];
      const auto place = std::ranges::lower_bound(trigger_places_, transfer.trigger, {}, &TriggerPlace::node);
      if (place == trigger_places_.end() || place->node != transfer.trigger) continue;
      transfer.into_chip = transfer.into_chip || (place->into_chip && !place->out_of_chip);
      if (place->bytes == 0) continue;
      std::vector<Written>& before = written[transfer.device];
      const std::uint64_t begin = place->address, end = begin + place->bytes;
      const auto overlaps = [&](const Written& each) { return each.begin < end && begin < each.end; };
      if (place->out_of_chip) {
        std::erase_if(before, [&](const Written& each) { return begin <= each.begin && each.end <= end; });
        before.push_back({begin, end, i});
        continue;
      }
      for (const Written& each : before) {
        if (!overlaps(each)) continue;
        transfer.from_spill = transfer.is_round_trip = true;
        details_.transfers[each.transfer].to_spill = details_.transfers[each.transfer].is_round_trip = true;
      }
    }
  }

  void join_transfers() {
    details_.transfer_of.assign(graph_.count(), kNone);
    std::vector<std::uint32_t> of_part(graph_.transfers.size(), kNone);
    IdleStretches devices(graph_);
    for (const NodeIndex node : graph_.order) {
      const std::uint32_t place = graph_.graph_lane[node];
      const std::uint32_t stretch = devices.before(node).stretch;
      devices.after(node, IdleStretches::kNoTime);
      if (graph_.lanes[place].kind != WorkKind::transfer || !details_.holds(graph_, node)) continue;
      const std::uint32_t part = graph_.parts.empty() ? kNone : graph_.parts[node];
      std::uint32_t known = part == kNone ? kNone : of_part[part];
      if (known == kNone) {
        known = static_cast<std::uint32_t>(details_.transfers.size());
        if (part != kNone) of_part[part] = known;
        details_.transfers.push_back({.event = graph_.whole_event(node),
                                      .begin_ns = graph_.begin_ns[node],
                                      .end_ns = graph_.end_ns[node],
                                      .name = graph_.names[node],
                                      .line = graph_.locations.empty() ? 0 : graph_.locations[node],
                                      .queue = graph_.lanes[place].resource,
                                      .device = details_.devices[place],
                                      .stretch = stretch,
                                      .trigger = graph_.trigger_of(node)});
      }
      details_.transfer_of[node] = known;
      add_part(details_.transfers[known], node);
    }
  }
  void add_part(WholeTransfer& whole, NodeIndex node) const {
    whole.nodes.push_back(node);
    whole.begin_ns = std::min(whole.begin_ns, graph_.begin_ns[node]);
    whole.end_ns = std::max(whole.end_ns, graph_.end_ns[node]);
    whole.into_chip = whole.into_chip || (places_[node] & kIntoChip) != 0;
    whole.from_spill = whole.from_spill || (places_[node] & kFromSpill) != 0;
    whole.to_spill = whole.to_spill || (places_[node] & kToSpill) != 0;
    if (!graph_.has_signal.empty() && graph_.has_signal[node] != 0) return;
    ++whole.packets;
    whole.bytes += details_.bytes[node];
    whole.packets_ns += static_cast<double>(graph_.end_ns[node] - graph_.begin_ns[node]);
  }

  void find_only_targets() {
    constexpr NodeIndex kSeveral = kNoNode - 1;
    details_.only_target.assign(graph_.count(), kNoNode);
    for (NodeIndex node = 0; node < graph_.count(); ++node) {
      const std::uint32_t transfer = details_.transfer_of[node];
      const NodeIndex target = transfer == kNone ? node : details_.transfers[transfer].nodes.front();
      for (const GraphEdge& edge : graph_.edges_of(node)) {
        if (edge.kind != EdgeKind::dependency) continue;
        NodeIndex& known = details_.only_target[edge.source];
        known = known == kNoNode || known == target ? target : kSeveral;
      }
    }
    for (NodeIndex& target : details_.only_target) {
      if (target == kSeveral) target = kNoNode;
    }
  }

  Result<void> read_limits() {
    LaneIndices lanes;
    const Snapshot& snapshot = *graph_.snapshot;
    for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
      const LaneSnapshot& lane = snapshot.lanes[i];
      if (!lane.schema || !lane.schema->find(details_.words->limit_column)) continue;
      if (track_kind_of(labels_.track_of_lane(i).track->kind).alert == Alert::throttling) lanes.push_back(i);
    }
    const Result<void> scanned = scan_chunks(query_, lanes, TimeRange{}, [&](const ScannedChunk& chunk, std::size_t) {
      LimitBlock limits(*chunk.lane.schema, *snapshot.strings);
      if (!limits.is_known()) return;
      const std::scoped_lock lock(mutex_);
      chunk.for_each_block([&](const ScannedBlock& block) {
        limits.read(block.reader);
        for (std::uint32_t i = block.first; i < block.last; ++i) {
          if (details_.limits.size() == WorkDetails::kMostLimits) return;
          const double limit = limits.at(i, block.name(i));
          if (limit >= 1 || block.begin_ns(i) >= block.end_ns(i)) continue;
          details_.limits.emplace_back(
              static_cast<std::uint32_t>(labels_.of_lane(chunk.lane_index)),
              DeviceLimit{block.begin_ns(i), block.end_ns(i), limit, limits.warms_up(block.name(i))});
        }
      });
    });
    std::ranges::sort(details_.limits, [](const auto& a, const auto& b) {
      return std::pair(a.first, a.second.begin_ns) < std::pair(b.first, b.second.begin_ns);
    });
    return scanned;
  }

  QueryContext query_;
  const WorkGraph& graph_;
  WorkDetails& details_;
  TrackDevices labels_;
  bool wants_addresses_;
  LaneIndices lanes_;
  std::unordered_map<std::uint32_t, std::uint32_t> place_;  // of lanes of the snapshot in the graph
  std::vector<std::uint8_t> places_;                        // Place, by node
  std::vector<NodeIndex> triggers_;                         // sorted
  std::vector<TriggerPlace> trigger_places_;
  std::mutex mutex_;
};

}  // namespace

std::vector<DeviceLimit> lowest_limits(const std::vector<DeviceLimit>& limits) {
  struct Step {
    std::int64_t time_ns = 0;
    std::pair<double, bool> limit;  // and whether it warms up
    bool begins = false;
  };
  std::vector<Step> steps;
  for (const DeviceLimit& each : limits) {
    steps.push_back({each.begin_ns, {each.limit, each.warms_up}, true});
    steps.push_back({each.end_ns, {each.limit, each.warms_up}, false});
  }
  std::ranges::sort(steps, {}, &Step::time_ns);
  std::multiset<std::pair<double, bool>> holding;
  std::vector<DeviceLimit> lowest;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    if (steps[i].begins) {
      holding.insert(steps[i].limit);
    } else if (const auto found = holding.find(steps[i].limit); found != holding.end()) {
      holding.erase(found);
    }
    if (holding.empty() || steps[i].time_ns == steps[i + 1].time_ns) continue;
    lowest.push_back({steps[i].time_ns, steps[i + 1].time_ns, holding.begin()->first, holding.begin()->second});
  }
  return lowest;
}

Result<WorkDetails> WorkDetails::read(const QueryContext& query, const WorkGraph& graph, const TimeRange& range,
                                      bool wants_addresses) {
  WorkDetails details;
  details.range = range;
  TRY(DetailScan(query, graph, details, wants_addresses).run());
  return details;
}

bool WorkDetails::reuses_buffer(NodeIndex source, NodeIndex node) const noexcept {
  const auto of = [this](NodeIndex which) {
    return std::equal_range(addresses.begin(), addresses.end(), Address{which, 0, false},
                            [](const Address& a, const Address& b) { return a.node < b.node; });
  };
  const auto [source_first, source_last] = of(source);
  const auto [node_first, node_last] = of(node);
  bool over_read = false;
  for (auto a = source_first; a != source_last; ++a) {
    for (auto b = node_first; b != node_last; ++b) {
      if (a->address != b->address) continue;
      if (a->written && !b->written) return false;  // it reads what the source wrote
      over_read = over_read || (!a->written && b->written);
    }
  }
  return over_read;
}

std::uint64_t WorkDetails::written_address(NodeIndex node) const noexcept {
  auto at = std::ranges::lower_bound(addresses, node, {}, &Address::node);
  for (; at != addresses.end() && at->node == node; ++at) {
    if (at->written) return at->address;
  }
  return 0;
}

}  // namespace accelscope::analysis
