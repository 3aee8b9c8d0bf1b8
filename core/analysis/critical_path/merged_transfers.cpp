#include <map>
#include <tuple>
#include <unordered_map>

#include "core/analysis/critical_path/changed_graph.h"
#include "core/analysis/vendors/vendor.h"

namespace accelscope {
namespace {

struct WholeTransfer {
  std::vector<NodeIndex> nodes;  // in the graph's order
  double packets = 0, bytes = 0, length_ns = 0;
  [[nodiscard]] double packet_bytes() const { return packets > 0 ? bytes / packets : 0; }
};

class TransferMerger {
 public:
  TransferMerger(const WorkGraph& graph, const std::vector<std::int64_t>& bytes, ChangedGraph& changed)
      : graph_(graph), bytes_(bytes), changed_(changed) {
    std::unordered_map<std::uint64_t, std::size_t> places;
    for (const NodeIndex node : graph.order) {
      if (graph.lane(node).kind != WorkKind::transfer) continue;
      const auto [place, is_new] = places.try_emplace(transfer_of(graph, node), transfers_.size());
      if (is_new) transfers_.emplace_back();
      WholeTransfer& whole = transfers_[place->second];
      whole.nodes.push_back(node);
      if (!has_payload(graph, node)) continue;
      ++whole.packets;
      whole.bytes += static_cast<double>(bytes[node]);
      whole.length_ns += static_cast<double>(graph.end_ns[node] - graph.begin_ns[node]);
    }
  }

  void merge(StringId only, std::size_t most) {
    slope_ns_ = ns_of_a_byte();
    changed_.gone.resize(graph_.count(), ChangedGraph::kHere);
    changed_.instead.resize(graph_.count(), kNoNode);
    struct Group {
      const WholeTransfer* first = nullptr;
      std::size_t count = 0;
    };
    std::map<std::tuple<TrackNumber, StringId, StringId>, Group> open;  // by queue, tensor and line
    for (const WholeTransfer& whole : transfers_) {
      const NodeIndex head = whole.nodes.front();
      const StringId name = graph_.names[head];
      if (!is_small(whole) || (only != kNone && name != only)) continue;
      const StringId line = graph_.locations.empty() ? kNone : graph_.locations[head];
      Group& group = open[{graph_.lane(head).resource, name, line}];
      if (group.first == nullptr || group.count == most) {
        group = {&whole, 1};
        continue;
      }
      ++group.count;
      add(*group.first, whole);
    }
    changed_.factors.resize(graph_.count(), 1.0F);
    for (const auto& [node, longer_ns] : longer_ns_) {
      const auto length = static_cast<double>(graph_.end_ns[node] - graph_.begin_ns[node]);
      if (length > 0) changed_.factors[node] *= static_cast<float>(1 + longer_ns / length);
    }
  }

 private:
  [[nodiscard]] static bool is_small(const WholeTransfer& whole) {
    return whole.packets > 0 && whole.packet_bytes() < kSmallPacketBytes;
  }
  // What a further byte of a packet takes.
  [[nodiscard]] double ns_of_a_byte() const {
    WholeTransfer small, large;  // sums
    for (const WholeTransfer& whole : transfers_) {
      if (!is_small(whole) && whole.packet_bytes() < 2 * kSmallPacketBytes) continue;
      WholeTransfer& sum = is_small(whole) ? small : large;
      sum.packets += whole.packets;
      sum.bytes += whole.bytes;
      sum.length_ns += whole.length_ns;
    }
    const double stated = 1e9 / vendors().front().packet_rate;
    if (large.packets == 0 || small.packets == 0) return stated;
    const double slope = (large.length_ns / large.packets - small.length_ns / small.packets) /
                         (large.packet_bytes() - small.packet_bytes());
    return slope > 0 ? slope : stated;
  }

  void add(const WholeTransfer& first, const WholeTransfer& other) {
    for (const NodeIndex node : other.nodes) {
      const NodeIndex stays = part_like(first, node);
      changed_.instead[node] = stays;
      changed_.drop(graph_, node);
      if (has_payload(graph_, node)) longer_ns_[stays] += slope_ns_ * static_cast<double>(bytes_[node]);
    }
  }
  // The part that the same DMA engine does for the same purpose; where it does none, the last.
  [[nodiscard]] NodeIndex part_like(const WholeTransfer& first, NodeIndex node) const {
    for (const NodeIndex other : first.nodes) {
      if (graph_.lane(other).server == graph_.lane(node).server &&
          has_payload(graph_, other) == has_payload(graph_, node)) {
        return other;
      }
    }
    return first.nodes.back();
  }

  const WorkGraph& graph_;
  const std::vector<std::int64_t>& bytes_;
  ChangedGraph& changed_;
  std::vector<WholeTransfer> transfers_;  // in the graph's order
  std::unordered_map<NodeIndex, double> longer_ns_;
  double slope_ns_ = 0;
};

}  // namespace

void merge_transfers(const WorkGraph& graph, const WhatIfChange& change, const std::vector<std::int64_t>& bytes,
                     ChangedGraph& changed) {
  const StringId only = change.name.empty() ? kNone : graph.snapshot->strings->find(change.name);
  if (!change.name.empty() && only == kNone) return;
  TransferMerger(graph, bytes, changed).merge(only, static_cast<std::size_t>(change.factor));
}

}  // namespace accelscope
