#include "core/analysis/replay/readings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/format.h"

namespace accelscope::analysis {
namespace {

// Packets become shorter that follow others of their transfer after a pause.
bool shortens_parts(const WorkGraph& graph, const ChangedGraph& changed) {
  if (changed.factors.empty() || graph.parts.empty()) return false;
  for (NodeIndex node = 0; node < graph.count(); ++node) {
    if (changed.factors[node] >= 1 || !follows_part(graph, node)) continue;
    if (graph.begin_ns[node] > graph.end_ns[graph.server_before[node]]) return true;
  }
  return false;
}

}  // namespace

Readings::Readings(const WorkGraph& graph, const ChangedGraph& changed) : graph_(graph), changed_(changed) {
  scales_parts_ = shortens_parts(graph, changed);
  const bool shortens_waits = changed.unknown_waits < 1 && !graph.unknown_waits.empty();
  if (graph.transfer_waits.inferred > 0) others_.push_back(ChangedGraph::Reading::doubtful);
  if (!changed.loose.empty() || shortens_waits || scales_parts_) others_.push_back(ChangedGraph::Reading::hopeful);
}

std::int64_t Readings::waited_ns(const TimeRange& range) const {
  std::vector<NodeIndex> loose = changed_.loose;
  std::ranges::sort(loose);
  std::map<std::uint32_t, std::int64_t> waited, busy_until;  // by server
  for (const NodeIndex node : graph_.order) {
    const GraphLane& lane = graph_.lane(node);
    if (lane.kind != WorkKind::compute) continue;
    const auto [until, is_first] = busy_until.try_emplace(lane.server, graph_.end_ns[node]);
    const std::int64_t free_ns = until->second;
    until->second = std::max(free_ns, graph_.end_ns[node]);
    if (is_first || changed_.is_left_out(node)) continue;
    if (graph_.begin_ns[node] < range.begin_ns || graph_.end_ns[node] > range.end_ns) continue;
    const auto edges = graph_.edges_of(node);
    const bool waits = std::ranges::any_of(
        edges, [&](const GraphEdge& edge) { return std::binary_search(loose.begin(), loose.end(), edge.source); });
    if (waits)
      waited[lane.server] += std::max<std::int64_t>(0, graph_.settled_ns(node) - std::max(free_ns, range.begin_ns));
  }
  std::int64_t longest = 0;
  for (const auto& [server, ns] : waited) longest = std::max(longest, ns);
  return longest;
}

std::string Readings::why() const {
  std::string why;
  const auto add = [&why](const std::string& text) { why += (why.empty() ? "" : "; ") + text; };
  if (!changed_.loose.empty()) {
    add("at least where what was read back still comes from what was written, at most where no engine waits for it");
  }
  if (scales_parts_) add("pauses between the packets of a transfer may stay or shrink with them");
  if (graph_.transfer_waits.inferred > 0) {
    add(fmt::format("waits that were joined with a transfer by the time of its end alone: {}",
                    format_count(graph_.transfer_waits.inferred)));
  }
  if (changed_.unknown_waits < 1 && !graph_.unknown_waits.empty()) {
    add(fmt::format("waits for transfers of which nothing tells which they are for: {}",
                    format_count(graph_.unknown_waits.size())));
  }
  return why;
}

}  // namespace accelscope::analysis
