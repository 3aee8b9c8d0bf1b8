#include "core/analysis/replay/mendings.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

namespace accelscope {
namespace {

// Where what came from one of the merged comes from the one that stays.
void redirect(Mending& mending, const std::unordered_map<std::uint32_t, std::uint32_t>& merged) {
  for (std::uint32_t& source : mending.change.sources) {
    if (const auto found = merged.find(source); found != merged.end()) source = found->second;
  }
}

}  // namespace

Mendings::Mendings(const WorkReplay& replay, const Snapshot& snapshot)
    : replay_(replay),
      nodes_(replay.nodes()),
      words_(vendors().front()),
      multiply_(snapshot.strings->find(words_.multiply_name)),
      weights_(snapshot.strings->find(words_.weights_name)),
      copy_(snapshot.strings->find(words_.copy_name)),
      uses_(nodes_.size(), 0),
      triggered_(nodes_.size(), kNoReplayNode) {
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    for (std::uint32_t e = 0; e < nodes_[i].edge_count; ++e) {
      const std::uint32_t source = replay.edges()[nodes_[i].first_edge + e].source;
      ++uses_[source];
      const bool sets_off = nodes_[i].kind == ReplayKind::transfer || nodes_[i].kind == ReplayKind::collective;
      if (sets_off && nodes_[source].kind == ReplayKind::work) triggered_[source] = i;
    }
  }
}

bool Mendings::is_trigger(std::uint32_t node) const { return triggered_[node] != kNoReplayNode && uses_[node] == 1; }

void Mendings::take_out_wait(Mending& mending, std::uint32_t node) const {
  const std::uint32_t before = nodes_[node].before;
  if (before != kNoReplayNode && nodes_[before].kind == ReplayKind::wait && replay_.wait_of(node) == before) {
    mending.change.modes[before] = ReplayMode::removed;
  }
}

// With what sets it off, and the wait for that.
void Mendings::take_out(Mending& mending, std::uint32_t transfer, ReplayMode mode) const {
  mending.change.modes[transfer] = mode;
  for (std::uint32_t e = 0; e < nodes_[transfer].edge_count; ++e) {
    const std::uint32_t source = replay_.edges()[nodes_[transfer].first_edge + e].source;
    if (!is_trigger(source)) continue;
    mending.change.modes[source] = mode;
    take_out_wait(mending, source);
  }
}

// Each is asked for where the one `ring` before it was, the first ones together: so it is written in a program that has
// twice the buffers.
void Mendings::move_forward(Mending& mending, const std::vector<std::uint32_t>& loads, std::size_t ring) const {
  const auto trigger_of = [this](std::uint32_t load) {
    for (std::uint32_t e = 0; e < nodes_[load].edge_count; ++e) {
      const std::uint32_t source = replay_.edges()[nodes_[load].first_edge + e].source;
      if (is_trigger(source)) return source;
    }
    return kNoReplayNode;
  };
  for (std::size_t n = ring; n < loads.size(); ++n) {
    const std::uint32_t place = loads[n < 2 * ring ? ring - 1 : n - ring];
    mending.change.places[loads[n]] = place;
    const std::uint32_t trigger = trigger_of(loads[n]), there = trigger_of(place);
    if (trigger == kNoReplayNode || there == kNoReplayNode) continue;
    mending.change.places[trigger] = there;
    const std::uint32_t before = nodes_[trigger].before;
    if (before != kNoReplayNode && nodes_[before].kind == ReplayKind::wait) mending.change.places[before] = there;
  }
}

std::optional<Mending> Mendings::keep_tensor(StringId name, std::uint64_t size) const {
  Mending made{replay_.no_change(), {}, 0};
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> loaded;  // by device and pause
  std::vector<std::uint32_t> first_loads;
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    const ReplayNode& node = nodes_[i];
    if (node.kind != ReplayKind::transfer || node.name != name || !node.into_chip || node.from_spill) continue;
    std::uint64_t& so_far = loaded[{node.device, node.idle_before}];
    if (so_far < size) {
      first_loads.push_back(i);
    } else {
      take_out(made, i, ReplayMode::removed);
      made.nodes.push_back(i);
      made.bytes += node.bytes;
    }
    so_far += node.bytes;
  }
  if (made.nodes.empty()) return std::nullopt;
  for (const std::uint32_t load : first_loads) {
    for (std::uint32_t e = 0; e < nodes_[load].edge_count; ++e) {
      const std::uint32_t trigger = replay_.edges()[nodes_[load].first_edge + e].source;
      if (!is_trigger(trigger)) continue;
      for (std::uint32_t t = 0; t < nodes_[trigger].edge_count; ++t) {
        std::uint32_t& source = made.change.sources[nodes_[trigger].first_edge + t];
        if (source != kNoReplayNode && nodes_[source].kind == ReplayKind::work) source = kNoReplayNode;
      }
    }
  }
  return made;
}

std::optional<Mending> Mendings::drop_spills() const {
  Mending made{replay_.no_change(), {}, 0};
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    const ReplayNode& node = nodes_[i];
    if (node.kind != ReplayKind::transfer || (!node.from_spill && !node.to_spill)) continue;
    take_out(made, i, ReplayMode::bypassed);
    if (node.from_spill) made.nodes.push_back(i);
    made.bytes += node.bytes;
  }
  return made.nodes.empty() ? std::nullopt : std::optional(std::move(made));
}

std::optional<Mending> Mendings::merge_transfers(double least, double good) const {
  struct Class {
    double length_ns = 0, packet_bytes = 0, count = 0;
    void add(const ReplayNode& node, std::span<const ReplayShare> shares) {
      double length = static_cast<double>(node.length_ns());  // of a packet
      if (!shares.empty()) {
        length = 0;
        for (const ReplayShare& share : shares) length += static_cast<double>(share.length_ns) / node.packets;
      }
      length_ns += length;
      packet_bytes += static_cast<double>(node.bytes) / node.packets;
      ++count;
    }
  };
  Class small, large;
  const auto size_of = [](const ReplayNode& node) { return static_cast<double>(node.bytes) / node.packets; };
  for (const ReplayNode& node : nodes_) {
    if (node.kind != ReplayKind::transfer || node.packets == 0) continue;
    if (size_of(node) < least) small.add(node, replay_.shares(node));
    if (size_of(node) >= good) large.add(node, replay_.shares(node));
  }
  if (small.count == 0) return std::nullopt;
  const double more = large.count > 0 ? large.packet_bytes / large.count - small.packet_bytes / small.count : 0;
  const double slope = more > 0 ? (large.length_ns / large.count - small.length_ns / small.count) / more
                                : 1e9 / words_.packet_rate;  // ns for each further byte of a packet
  Mending made{replay_.no_change(), {}, 0};
  std::unordered_map<std::uint32_t, std::uint32_t> merged;
  struct Group {
    std::uint32_t first = kNoReplayNode;
    double packet_bytes = 0;
  };
  std::map<std::tuple<std::uint32_t, StringId, StringId>, Group> open;  // by track, tensor and line
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    const ReplayNode& node = nodes_[i];
    if (node.kind != ReplayKind::transfer || node.packets == 0 || size_of(node) >= least) continue;
    made.nodes.push_back(i);
    Group& group = open[{node.track, node.name, node.line}];
    if (group.first == kNoReplayNode || group.packet_bytes + size_of(node) > good) {
      group = {i, size_of(node)};
      continue;
    }
    group.packet_bytes += size_of(node);
    const double of_each = node.part_count > 0 ? static_cast<double>(node.bytes) / node.part_count : size_of(node);
    made.change.lengths_ns[group.first] += std::llround(slope * of_each);
    take_out(made, i, ReplayMode::removed);
    merged.emplace(i, group.first);
  }
  if (merged.empty()) return std::nullopt;
  redirect(made, merged);
  return made;
}

std::optional<Mending> Mendings::widen_tiles() const {
  Mending made{replay_.no_change(), {}, 0};
  std::unordered_map<std::uint32_t, std::uint32_t> merged;
  struct Group {
    std::uint32_t first = kNoReplayNode;
    StringId line = 0;
    double columns = 0, each = 0;
  };
  std::map<std::uint32_t, Group> open;  // by track
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    const ReplayNode& node = nodes_[i];
    if (node.name != multiply_ || (node.flops <= 0 && !node.transposes)) continue;
    Group& group = open[node.track];
    const double columns = node.flops / words_.column_flops;
    if (node.transposes || node.line == 0 || 2 * columns > words_.widest_columns) {
      group = {};
      continue;
    }
    made.nodes.push_back(i);
    const bool joins = group.first != kNoReplayNode && group.line == node.line && group.each == columns &&
                       group.columns + columns <= words_.widest_columns;
    if (!joins) {
      group = {i, node.line, columns, columns};
      continue;
    }
    group.columns += columns;
    made.change.lengths_ns[group.first] += std::llround(columns / words_.columns_per_ns);
    made.change.modes[i] = ReplayMode::removed;
    merged.emplace(i, group.first);
    for (std::uint32_t e = 0; e < node.edge_count; ++e) {
      const std::uint32_t source = replay_.edges()[node.first_edge + e].source;
      if (nodes_[source].name == weights_) made.change.modes[source] = ReplayMode::removed;
    }
  }
  if (merged.empty()) return std::nullopt;
  redirect(made, merged);
  return made;
}

std::optional<Mending> Mendings::lift_limits(const std::vector<Throttled>& throttled) const {
  Mending made{replay_.no_change(), {}, 0};
  for (const Throttled& each : throttled) {
    std::vector<DeviceLimit> limits(each.limits.begin(), each.limits.end());
    std::sort(limits.begin(), limits.end(),
              [](const DeviceLimit& a, const DeviceLimit& b) { return a.begin_ns < b.begin_ns; });
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      const ReplayNode& node = nodes_[i];
      if (node.device != each.device || (node.flops <= 0 && !node.transposes)) continue;
      auto limit = std::upper_bound(limits.begin(), limits.end(), node.begin_ns,
                                    [](std::int64_t ns, const DeviceLimit& a) { return ns < a.begin_ns; });
      if (limit == limits.begin()) continue;
      --limit;
      if (node.begin_ns >= limit->end_ns) continue;
      made.change.lengths_ns[i] = std::llround(static_cast<double>(node.length_ns()) * limit->limit);
      made.nodes.push_back(i);
    }
  }
  return made.nodes.empty() ? std::nullopt : std::optional(std::move(made));
}

std::optional<Mending> Mendings::drop_transposes() const {
  Mending made{replay_.no_change(), {}, 0};
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    const ReplayNode& node = nodes_[i];
    if (node.transposes) {
      made.change.modes[i] = ReplayMode::bypassed;
      made.nodes.push_back(i);
      take_out_wait(made, i);
      for (std::uint32_t e = 0; e < node.edge_count; ++e) {
        const std::uint32_t source = replay_.edges()[node.first_edge + e].source;
        if (nodes_[source].name == weights_) made.change.modes[source] = ReplayMode::bypassed;
      }
      continue;
    }
    if (node.name != copy_ || node.edge_count == 0) continue;
    bool copies_turned = false;
    for (std::uint32_t e = 0; e < node.edge_count; ++e) {
      copies_turned = copies_turned || nodes_[replay_.edges()[node.first_edge + e].source].transposes;
    }
    if (!copies_turned) continue;
    made.change.modes[i] = ReplayMode::bypassed;
    take_out_wait(made, i);
  }
  return made.nodes.empty() ? std::nullopt : std::optional(std::move(made));
}

std::vector<Mendings::BufferWait> Mendings::double_buffers() const {
  constexpr std::size_t kMostClasses = 16;
  struct Class {
    bool loads = false;
    std::map<std::uint32_t, std::vector<std::uint32_t>> edges;  // by device
    std::map<std::uint32_t, std::set<std::uint64_t>> buffers;   // by device
    std::map<std::uint32_t, std::uint32_t> first;               // by device: the first node that waits
    std::vector<std::uint32_t> nodes;
  };
  std::map<std::tuple<StringId, StringId, StringId>, Class> classes;  // line, name and what it waits for
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    const ReplayNode& node = nodes_[i];
    if (node.kind != ReplayKind::work) continue;
    const bool trigger = is_trigger(i) && nodes_[triggered_[i]].into_chip && !nodes_[triggered_[i]].from_spill;
    for (std::uint32_t e = node.first_edge; e < node.first_edge + node.edge_count; ++e) {
      const std::uint32_t source = replay_.edges()[e].source;
      if (nodes_[source].kind != ReplayKind::work || nodes_[source].track == node.track) continue;
      if (!trigger && !replay_.reuses_buffer(source, i)) continue;
      const ReplayNode& waits = trigger ? nodes_[triggered_[i]] : node;
      Class& found = classes[{waits.line, waits.name, nodes_[source].name}];
      found.loads = trigger;
      found.edges[node.device].push_back(e);
      found.first.try_emplace(node.device, trigger ? triggered_[i] : i);
      if (!trigger) found.buffers[node.device].insert(replay_.written_address(i));
      found.nodes.push_back(trigger ? triggered_[i] : i);
    }
  }
  std::vector<BufferWait> all;
  for (auto& [key, found] : classes) {
    if (all.size() == kMostClasses) break;
    Mending made{replay_.no_change(), std::move(found.nodes), 0};
    for (const auto& [device, edges] : found.edges) {
      std::size_t ring = found.loads ? 0 : found.buffers[device].size();
      std::vector<std::uint32_t> loads;  // of the tensor and line, by when they began
      if (found.loads) {
        double before = 0, after = 0;  // loads until the first that waits, and from there
        for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
          const ReplayNode& node = nodes_[i];
          if (node.kind != ReplayKind::transfer || node.device != device || node.name != std::get<1>(key) ||
              node.line != std::get<0>(key)) {
            continue;
          }
          (i < found.first[device] ? before : after) += 1;
          loads.push_back(i);
        }
        ring =
            static_cast<std::size_t>(std::llround(before * static_cast<double>(edges.size()) / std::max(1.0, after)));
      }
      if (ring == 0) continue;
      for (std::size_t n = edges.size(); n-- > 0;) {
        made.change.sources[edges[n]] = n >= ring ? replay_.edges()[edges[n - ring]].source : kNoReplayNode;
      }
      move_forward(made, loads, ring);
    }
    all.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), found.loads, std::move(made)});
  }
  return all;
}

std::vector<Mending> Mendings::early_collectives() const {
  std::map<std::pair<StringId, StringId>, Mending> found;  // by name and line
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    const ReplayNode& node = nodes_[i];
    if (node.kind != ReplayKind::collective) continue;
    std::uint32_t trigger = kNoReplayNode, data = 0;
    for (std::uint32_t e = 0; e < node.edge_count; ++e) {
      const std::uint32_t source = replay_.edges()[node.first_edge + e].source;
      if (is_trigger(source)) {
        trigger = source;
      } else {
        ++data;
      }
    }
    if (trigger == kNoReplayNode || data == 0) continue;
    auto [each, is_new] = found.try_emplace({node.name, node.line});
    Mending& made = each->second;
    if (is_new) made.change = replay_.no_change();
    made.change.modes[trigger] = ReplayMode::removed;
    take_out_wait(made, trigger);
    made.nodes.push_back(i);
  }
  std::vector<Mending> all;
  for (auto& [key, made] : found) all.push_back(std::move(made));
  return all;
}

}  // namespace accelscope
