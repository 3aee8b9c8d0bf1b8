#include "core/analysis/replay/repairs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

namespace accelscope::analysis {

Repairs::Repairs(const WorkGraph& graph, const WorkDetails& details)
    : graph_(graph),
      details_(details),
      words_(*details.words),
      multiply_(graph.snapshot->strings->find(words_.multiply_name)),
      weights_(graph.snapshot->strings->find(words_.weights_name)),
      copy_(graph.snapshot->strings->find(words_.copy_name)) {}

template <typename Body>
void Repairs::each_trigger(const WholeTransfer& transfer, Body&& body) const {
  if (transfer.trigger != kNoNode) return body(transfer.trigger);
  NodeIndex last = kNoNode;  // of several packets each names it
  for (const NodeIndex node : transfer.nodes) {
    for (const GraphEdge& edge : graph_.edges_of(node)) {
      if (edge.kind != EdgeKind::dependency || edge.source == last) continue;
      if (!details_.is_trigger(graph_, edge.source, transfer.nodes.front())) continue;
      last = edge.source;
      body(last);
    }
  }
}

NodeIndex Repairs::wait_before(NodeIndex node) const noexcept {
  const NodeIndex before = graph_.server_before[node];
  return before != kNoNode && graph_.is_wait(before) ? before : kNoNode;
}

void Repairs::add(Repaired& repaired, NodeIndex node) const {
  repaired.events.push_back({graph_.event(node), graph_.begin_ns[node], graph_.end_ns[node], 0, line_of(node),
                             details_.devices[graph_.graph_lane[node]]});
}

void Repairs::add(Repaired& repaired, const WholeTransfer& transfer) const {
  repaired.events.push_back({transfer.event, transfer.begin_ns, transfer.end_ns,
                             static_cast<std::uint64_t>(transfer.bytes), transfer.line, transfer.device});
}

// By a change before this one.
bool Repairs::is_gone(const WholeTransfer& transfer, const ChangedGraph& changed) {
  return changed.is_left_out(transfer.nodes.front());
}

void Repairs::take_out_wait(NodeIndex node, ChangedGraph& changed, ChangedGraph::Gone how) const {
  const NodeIndex wait = wait_before(node);
  if (wait != kNoNode) changed.take_out(graph_, wait, how);
}

// With what sets it off, and the wait for that.
void Repairs::take_out(const WholeTransfer& transfer, ChangedGraph::Gone how, ChangedGraph& changed) const {
  for (const NodeIndex node : transfer.nodes) changed.take_out(graph_, node, how);
  if (transfer.is_round_trip) changed.loose.insert(changed.loose.end(), transfer.nodes.begin(), transfer.nodes.end());
  each_trigger(transfer, [&](NodeIndex trigger) {
    changed.take_out(graph_, trigger, how);
    if (transfer.is_round_trip) changed.loose.push_back(trigger);
    take_out_wait(trigger, changed, how);
  });
}

std::optional<Repaired> Repairs::keep_tensor(StringId name, std::int64_t size, ChangedGraph& changed) const {
  Repaired made;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> loaded;  // by device and pause
  std::vector<const WholeTransfer*> stay;
  for (const WholeTransfer& transfer : details_.transfers) {
    if (transfer.name != name || !transfer.into_chip || transfer.from_spill || is_gone(transfer, changed)) continue;
    std::int64_t& so_far = loaded[{transfer.device, transfer.stretch}];
    if (so_far < size) {
      stay.push_back(&transfer);
    } else {
      take_out(transfer, ChangedGraph::kGone, changed);
      add(made, transfer);
      made.bytes += static_cast<std::uint64_t>(transfer.bytes);
    }
    so_far += transfer.bytes;
  }
  if (made.events.empty()) return std::nullopt;
  // What stays has a place of its own: what sets it off waits for none to come free.
  for (const WholeTransfer* transfer : stay) {
    each_trigger(*transfer, [&](NodeIndex trigger) {
      changed.take_out(graph_, trigger, ChangedGraph::kWaitsForNothing);
      take_out_wait(trigger, changed);
    });
  }
  return made;
}

std::optional<Repaired> Repairs::drop_spills(ChangedGraph& changed) const {
  Repaired made;
  for (const WholeTransfer& transfer : details_.transfers) {
    if ((!transfer.from_spill && !transfer.to_spill) || is_gone(transfer, changed)) continue;
    take_out(transfer, ChangedGraph::kBypassed, changed);
    if (transfer.from_spill) add(made, transfer);
    made.bytes += static_cast<std::uint64_t>(transfer.bytes);
  }
  return made.events.empty() ? std::nullopt : std::optional(std::move(made));
}

namespace {

[[nodiscard]] bool is_small(const WholeTransfer& transfer) {
  return transfer.packets > 0 && transfer.bytes > 0 && transfer.packet_bytes() < kSmallPacketBytes;
}

}  // namespace

// What a further byte of a packet takes.
double Repairs::ns_of_a_byte() const {
  WholeTransfer small, large;  // sums
  for (const WholeTransfer& transfer : details_.transfers) {
    if (!is_small(transfer) && transfer.packet_bytes() < 2 * kSmallPacketBytes) continue;
    WholeTransfer& sum = is_small(transfer) ? small : large;
    sum.packets += transfer.packets;
    sum.bytes += transfer.bytes;
    sum.packets_ns += transfer.packets_ns;
  }
  const double stated = 1e9 / words_.packet_rate;
  if (large.packets == 0 || small.packets == 0) return stated;
  const double slope = (large.packets_ns / large.packets - small.packets_ns / small.packets) /
                       (large.packet_bytes() - small.packet_bytes());
  return slope > 0 ? slope : stated;
}

std::size_t Repairs::transfers_of(double good) const {
  double bytes = 0, packets = 0;
  for (const WholeTransfer& transfer : details_.transfers) {
    if (!is_small(transfer)) continue;
    bytes += static_cast<double>(transfer.bytes);
    packets += transfer.packets;
  }
  return bytes > 0 ? std::max<std::size_t>(2, static_cast<std::size_t>(good * packets / bytes)) : 2;
}

std::optional<Repaired> Repairs::merge_transfers(StringId only, std::size_t most, ChangedGraph& changed) const {
  struct Group {
    const WholeTransfer* first = nullptr;
    std::size_t count = 0;
  };
  const double slope_ns = ns_of_a_byte();
  std::map<std::tuple<TrackNumber, StringId, StringId>, Group> open;  // by queue, tensor and line
  std::unordered_map<NodeIndex, double> longer_ns;
  Repaired made;
  // The part that the same DMA engine does for the same purpose; where it does none, the last.
  const auto has_payload = [&](NodeIndex node) { return graph_.has_signal.empty() || graph_.has_signal[node] == 0; };
  const auto part_like = [&](const WholeTransfer& first, NodeIndex node) {
    for (const NodeIndex other : first.nodes) {
      if (graph_.lane(other).server == graph_.lane(node).server && has_payload(other) == has_payload(node))
        return other;
    }
    return first.nodes.back();
  };
  bool any = false;
  for (const WholeTransfer& transfer : details_.transfers) {
    if (!is_small(transfer) || (only != kNone && transfer.name != only) || is_gone(transfer, changed)) continue;
    add(made, transfer);
    Group& group = open[{transfer.queue, transfer.name, transfer.line}];
    if (group.first == nullptr || group.count == most) {
      group = {&transfer, 1};
      continue;
    }
    ++group.count;
    any = true;
    take_out(transfer, ChangedGraph::kGone, changed);
    for (const NodeIndex node : transfer.nodes) {
      const NodeIndex stays = part_like(*group.first, node);
      changed.take_out_for(graph_, node, stays);
      if (has_payload(node)) longer_ns[stays] += slope_ns * static_cast<double>(details_.bytes[node]);
    }
  }
  for (const auto& [node, ns] : longer_ns) changed.lengthen(graph_, node, ns);
  return any ? std::optional(std::move(made)) : std::nullopt;
}

std::optional<Repaired> Repairs::widen_tiles(ChangedGraph& changed) const {
  if (details_.flops.empty()) return std::nullopt;
  struct Group {
    NodeIndex first = kNoNode;
    StringId line = 0;
    double columns = 0, each = 0;
  };
  std::map<std::uint32_t, Group> open;  // by server
  std::unordered_map<NodeIndex, double> longer_ns;
  Repaired made;
  for (const NodeIndex node : graph_.order) {
    const double flops = static_cast<double>(details_.flops[node]);
    const bool transposes = details_.transposes[node] != 0;
    if (graph_.names[node] != multiply_ || (flops <= 0 && !transposes) || !held(node)) continue;
    if (changed.is_left_out(node)) continue;
    Group& group = open[graph_.lane(node).server];
    const double columns = flops / words_.column_flops;
    const StringId line = line_of(node);
    if (transposes || line == 0 || 2 * columns > words_.widest_columns) {
      group = {};
      continue;
    }
    add(made, node);
    const bool joins = group.first != kNoNode && group.line == line && group.each == columns &&
                       group.columns + columns <= words_.widest_columns;
    if (!joins) {
      group = {node, line, columns, columns};
      continue;
    }
    group.columns += columns;
    longer_ns[group.first] += columns / words_.columns_per_ns;
    changed.take_out_for(graph_, node, group.first);
    for (const GraphEdge& edge : graph_.edges_of(node)) {
      if (graph_.names[edge.source] != weights_ || edge.kind != EdgeKind::dependency) continue;
      const auto of_first = graph_.edges_of(group.first);
      const bool shared =
          std::ranges::any_of(of_first, [&](const GraphEdge& other) { return other.source == edge.source; });
      if (!shared) changed.take_out(graph_, edge.source, ChangedGraph::kGone);
    }
  }
  if (longer_ns.empty()) return std::nullopt;
  for (const auto& [node, ns] : longer_ns) changed.lengthen(graph_, node, ns);
  return made;
}

double Repairs::columns_of(EventId multiplication) const {
  const NodeIndex node = graph_.find(multiplication);
  return node == kNoNode ? 0 : static_cast<double>(details_.flops[node]) / words_.column_flops;
}

std::optional<Repaired> Repairs::lift_limits(ChangedGraph& changed) const {
  if (details_.flops.empty() || details_.limits.empty()) return std::nullopt;
  std::map<std::uint32_t, std::vector<DeviceLimit>> limits;
  for (const auto& [device, limit] : details_.limits) limits[device].push_back(limit);
  for (auto& [device, of] : limits) of = lowest_limits(of);
  Repaired made;
  for (NodeIndex node = 0; node < graph_.count(); ++node) {
    if (!held(node) || (details_.flops[node] <= 0 && details_.transposes[node] == 0)) continue;
    const auto found = limits.find(details_.devices[graph_.graph_lane[node]]);
    if (found == limits.end()) continue;
    // Under a limit it does less: the rest of its time it takes anyway.
    double lost_ns = 0;
    auto limit = std::upper_bound(found->second.begin(), found->second.end(), graph_.begin_ns[node],
                                  [](std::int64_t time, const DeviceLimit& each) { return time < each.end_ns; });
    for (; limit != found->second.end() && limit->begin_ns < graph_.end_ns[node]; ++limit) {
      const std::int64_t under_ns =
          std::min(limit->end_ns, graph_.end_ns[node]) - std::max(limit->begin_ns, graph_.begin_ns[node]);
      lost_ns += static_cast<double>(under_ns) * (1 - limit->limit);
    }
    if (lost_ns <= 0) continue;
    changed.lengthen(graph_, node, -lost_ns);
    ++changed.touched;
    add(made, node);
  }
  return made.events.empty() ? std::nullopt : std::optional(std::move(made));
}

std::optional<Repaired> Repairs::drop_transposes(ChangedGraph& changed) const {
  if (details_.transposes.empty()) return std::nullopt;
  Repaired made;
  for (NodeIndex node = 0; node < graph_.count(); ++node) {
    if (!held(node) || changed.is_left_out(node)) continue;
    if (details_.transposes[node] != 0) {
      changed.take_out(graph_, node, ChangedGraph::kBypassed);
      add(made, node);
      take_out_wait(node, changed);
      for (const GraphEdge& edge : graph_.edges_of(node)) {
        if (graph_.names[edge.source] == weights_ && edge.kind == EdgeKind::dependency) {
          changed.take_out(graph_, edge.source, ChangedGraph::kBypassed);
        }
      }
      continue;
    }
    if (graph_.names[node] != copy_) continue;
    const auto edges = graph_.edges_of(node);
    const bool copies_turned = std::ranges::any_of(edges, [&](const GraphEdge& edge) {
      return edge.kind == EdgeKind::dependency && details_.transposes[edge.source] != 0;
    });
    if (!copies_turned) continue;
    changed.take_out(graph_, node, ChangedGraph::kBypassed);
    take_out_wait(node, changed);
  }
  return made.events.empty() ? std::nullopt : std::optional(std::move(made));
}

std::vector<Repairs::BufferWait> Repairs::buffer_waits() const {
  struct Class {
    bool loads = false;
    std::map<std::uint32_t, BufferWait::OfDevice> devices;
    std::map<std::uint32_t, std::set<std::uint64_t>> buffers;  // by device
    Repaired repaired;
  };
  std::map<std::tuple<StringId, StringId, StringId>, Class> classes;  // line, name and what it waits for
  for (const NodeIndex node : graph_.order) {
    if (graph_.lane(node).kind != WorkKind::compute || graph_.waits[node] != 0 || !held(node)) continue;
    const NodeIndex target = details_.only_target[node];
    const std::uint32_t transfer = target == kNoNode ? kNone : details_.transfer_of[target];
    const bool trigger =
        transfer != kNone && details_.transfers[transfer].into_chip && !details_.transfers[transfer].from_spill;
    const std::uint32_t device = details_.devices[graph_.graph_lane[node]];
    for (std::uint32_t e = graph_.edges_from[node]; e < graph_.edges_from[node + 1]; ++e) {
      const GraphEdge& edge = graph_.edges[e];
      if (edge.kind != EdgeKind::dependency || graph_.lane(edge.source).kind != WorkKind::compute) continue;
      if (graph_.waits[edge.source] != 0 || graph_.lane(edge.source).track == graph_.lane(node).track) continue;
      if (!trigger && !details_.reuses_buffer(edge.source, node)) continue;
      const StringId line = trigger ? details_.transfers[transfer].line : line_of(node);
      const StringId name = trigger ? details_.transfers[transfer].name : graph_.names[node];
      Class& found = classes[{line, name, graph_.names[edge.source]}];
      found.loads = trigger;
      BufferWait::OfDevice& of = found.devices[device];
      of.device = device;
      of.edges.push_back(e);
      of.waiting.push_back(node);
      if (trigger) {
        add(found.repaired, details_.transfers[transfer]);
      } else {
        found.buffers[device].insert(details_.written_address(node));
        add(found.repaired, node);
      }
    }
  }
  std::vector<BufferWait> all;
  for (auto& [key, found] : classes) {
    BufferWait wait{std::get<0>(key), std::get<1>(key), std::get<2>(key), found.loads, {}, std::move(found.repaired)};
    for (auto& [device, of] : found.devices) {
      of.buffers = found.buffers[device].size();
      for (std::uint32_t t = 0; found.loads && t < details_.transfers.size(); ++t) {
        const WholeTransfer& transfer = details_.transfers[t];
        if (transfer.device == device && transfer.name == wait.name && transfer.line == wait.line) {
          of.transfers.push_back(t);
        }
      }
      wait.devices.push_back(std::move(of));
    }
    all.push_back(std::move(wait));
  }
  std::ranges::stable_sort(all, [](const BufferWait& a, const BufferWait& b) {
    return a.repaired.events.size() > b.repaired.events.size();
  });
  return all;
}

std::optional<Repaired> Repairs::double_buffers(const BufferWait& wait, ChangedGraph& changed) const {
  bool any = false;
  for (const BufferWait::OfDevice& of : wait.devices) {
    std::size_t ring = of.buffers;
    if (wait.loads) {
      // Loads until the first that waits, and from there.
      const std::uint32_t first = details_.transfer_of[details_.only_target[of.waiting.front()]];
      const auto before =
          static_cast<double>(std::ranges::count_if(of.transfers, [first](std::uint32_t t) { return t < first; }));
      const double after = std::max(1.0, static_cast<double>(of.transfers.size()) - before);
      ring = static_cast<std::size_t>(std::llround(before * static_cast<double>(of.edges.size()) / after));
    }
    if (ring == 0) continue;
    any = true;
    for (std::size_t n = 0; n < of.edges.size(); ++n) {
      const NodeIndex old = graph_.edges[of.edges[n]].source;
      const NodeIndex source = n >= ring ? graph_.edges[of.edges[n - ring]].source : kNoNode;
      changed.sources[of.edges[n]] = source;
      ++changed.touched;
      // The wait before it says so too.
      const NodeIndex before = wait_before(of.waiting[n]);
      if (before == kNoNode) continue;
      for (std::uint32_t e = graph_.edges_from[before]; e < graph_.edges_from[before + 1]; ++e) {
        if (graph_.edges[e].source == old) changed.sources[e] = source;
      }
    }
    if (wait.loads) move_forward(of, ring, changed);
  }
  return any ? std::optional(wait.repaired) : std::nullopt;
}

// Each is asked for where the one `ring` before it was, the first ones together: so it is written in a program that has
// twice the buffers.
void Repairs::move_forward(const BufferWait::OfDevice& of, std::size_t ring, ChangedGraph& changed) const {
  const auto trigger_of = [this](const WholeTransfer& transfer) {
    NodeIndex found = kNoNode;
    each_trigger(transfer, [&](NodeIndex trigger) { found = trigger; });
    return found;
  };
  for (std::size_t n = ring; n < of.transfers.size(); ++n) {
    const WholeTransfer& load = details_.transfers[of.transfers[n]];
    const WholeTransfer& place = details_.transfers[of.transfers[n < 2 * ring ? ring - 1 : n - ring]];
    if (load.stretch != place.stretch) continue;
    for (const NodeIndex node : load.nodes) changed.places[node] = place.nodes.back();
    const NodeIndex trigger = trigger_of(load), there = trigger_of(place);
    if (trigger == kNoNode || there == kNoNode) continue;
    changed.places[trigger] = there;
    if (const NodeIndex wait = wait_before(trigger); wait != kNoNode) changed.places[wait] = there;
  }
}

std::vector<Repairs::LateCollective> Repairs::late_collectives() const {
  std::map<std::pair<StringId, StringId>, LateCollective> found;  // by name and line
  for (const NodeIndex node : graph_.order) {
    if (graph_.lane(node).kind != WorkKind::collective || !held(node)) continue;
    NodeIndex trigger = kNoNode;
    std::size_t data = 0;
    for (const GraphEdge& edge : graph_.edges_of(node)) {
      if (edge.kind != EdgeKind::dependency) continue;
      if (details_.is_trigger(graph_, edge.source, node)) {
        trigger = edge.source;
      } else {
        ++data;
      }
    }
    if (trigger == kNoNode || data == 0) continue;
    LateCollective& late = found[{graph_.names[node], line_of(node)}];
    late.name = graph_.names[node];
    late.line = line_of(node);
    late.triggers.push_back(trigger);
    add(late.repaired, node);
  }
  std::vector<LateCollective> all;
  for (auto& [key, late] : found) all.push_back(std::move(late));
  return all;
}

std::optional<Repaired> Repairs::ask_early(const LateCollective& late, ChangedGraph& changed) const {
  for (const NodeIndex trigger : late.triggers) {
    changed.take_out(graph_, trigger, ChangedGraph::kGone);
    take_out_wait(trigger, changed);
  }
  return late.triggers.empty() ? std::nullopt : std::optional(late.repaired);
}

}  // namespace accelscope::analysis
