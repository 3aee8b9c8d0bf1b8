#include "core/analysis/critical_path/waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "core/base/capped.h"

namespace accelscope::analysis {
namespace {

constexpr std::array<std::string_view, kWaitReasonCount> kReasonNames = {"semaphore",  "dma",  "queue", "barrier",
                                                                         "dependency", "host", "issue", "unknown"};

// An idle stream shorter than that shows no more than how a stream follows its own work.
constexpr std::int64_t kShortestIdleNs = 1;

class WaitFinder {
 public:
  WaitFinder(const WorkGraph& graph, const TimeRange& range) : graph_(graph), range_(range) {}

  void look(NodeIndex node, WaitReport& report) const {
    if (graph_.waits[node] != 0) return look_at_wait(node, report);
    const GraphLane& lane = graph_.lane(node);
    if (lane.waits_recorded && graph_.wait_ns[node] > 0) {
      return add(node, graph_.begin_ns[node] - graph_.wait_ns[node], graph_.begin_ns[node], graph_.begin_hold(node),
                 true, report);
    }
    if (!lane.waits_when_idle || graph_.server_before[node] == kNoNode) return;
    const std::int64_t idle_since = graph_.end_ns[graph_.server_before[node]];
    if (graph_.begin_ns[node] - idle_since < kShortestIdleNs) return;
    add(node, idle_since, graph_.begin_ns[node], graph_.begin_hold(node), false, report);
  }

 private:
  void look_at_wait(NodeIndex node, WaitReport& report) const {
    const Hold hold = graph_.end_hold(node);
    if (hold.source == kNoNode && !graph_.edges_of(node).empty()) {
      ++report.held_already;
      return;
    }
    add(node, graph_.begin_ns[node], graph_.end_ns[node], hold, true, report);
  }

  void add(NodeIndex node, std::int64_t begin, std::int64_t end, const Hold& hold, bool recorded,
           WaitReport& report) const {
    if (end <= range_.begin_ns || begin >= range_.end_ns || end <= begin) return;
    AttributedWait wait;
    wait.node = node;
    wait.begin_ns = begin;
    wait.end_ns = end;
    wait.recorded = recorded;
    wait.reason = wait_reason(graph_, node, hold);
    // Its server is what it comes after, not what it waited for, where it says that it waited.
    const bool by_server = recorded && hold.kind == EdgeKind::server;
    if (!by_server) wait.source = hold.source;
    wait.confidence = hold.confidence;
    if (const SemaphoreCondition* condition = graph_.condition_of(node, wait.source)) {
      wait.semaphore = condition->semaphore;
      wait.value = condition->value;
    }
    report.total_ns = capped_sum(report.total_ns, wait.length_ns());
    if (wait.source == kNoNode) ++report.without_source;
    report.waits.push_back(wait);
  }

  const WorkGraph& graph_;
  TimeRange range_;
};

// By the semaphore that an event waited for.
WaitReason reason_of(const SemaphoreCondition* condition, WaitReason without) {
  if (condition == nullptr) return without;
  return condition->of_transfers ? WaitReason::dma : WaitReason::semaphore;
}

}  // namespace

std::string_view wait_reason_name(WaitReason reason) noexcept { return kReasonNames[static_cast<std::size_t>(reason)]; }

WaitReason wait_reason(const WorkGraph& graph, NodeIndex node, const Hold& hold) {
  const bool waited = graph.waits[node] != 0 || (!graph.wait_ns.empty() && graph.wait_ns[node] > 0);
  const WorkKind here = graph.lane(node).kind;
  if (hold.source == kNoNode || hold.kind == EdgeKind::server) {
    if (waited) return reason_of(graph.condition_of(node, kNoNode), WaitReason::unknown);
    if (hold.source == kNoNode) return WaitReason::unknown;
    const bool same_transfer =
        !graph.parts.empty() && graph.parts[node] != kNone && graph.parts[node] == graph.parts[hold.source];
    if (same_transfer) return WaitReason::dma;  // what a DMA engine needs between two packets
    // Between two of its calls a thread of the host runs what its source does not record.
    if (here == WorkKind::host) return WaitReason::host;
    if (hold.reached_ns() < graph.begin_ns[node]) return WaitReason::unknown;
    return here == WorkKind::transfer || graph.lane(node).waits_when_idle ? WaitReason::queue : WaitReason::issue;
  }
  const WorkKind there = graph.lane(hold.source).kind;
  if (there == WorkKind::host) return WaitReason::host;
  if (here == WorkKind::collective || there == WorkKind::collective) return WaitReason::barrier;
  if (here == WorkKind::transfer || there == WorkKind::transfer) return WaitReason::dma;
  if (hold.kind == EdgeKind::issue) return WaitReason::issue;
  // What an instruction set off is done later than itself, also where no transfer tells of it.
  if (graph.sets_off_transfers(hold.source)) return WaitReason::dma;
  return reason_of(graph.condition_of(node, hold.source), WaitReason::dependency);
}

Result<WaitReport> attribute_waits(const WorkGraph& graph, const TimeRange& range, WorkerPool& pool,
                                   TaskControl& control) {
  constexpr std::size_t kPiece = std::size_t{1} << 18;
  const std::size_t pieces = (graph.count() + kPiece - 1) / kPiece;
  std::vector<WaitReport> reports(pieces);
  const WaitFinder finder(graph, range);
  control.add_total(pieces);
  pool.for_each(pieces, control, [&](std::size_t piece, std::size_t) {
    const std::size_t last = std::min(graph.count(), (piece + 1) * kPiece);
    for (std::size_t node = piece * kPiece; node < last; ++node) {
      finder.look(static_cast<NodeIndex>(node), reports[piece]);
    }
    control.add_done(1);
  });
  if (control.cancelled()) return cancelled_error();
  WaitReport all;
  for (WaitReport& report : reports) {
    all.waits.insert(all.waits.end(), report.waits.begin(), report.waits.end());
    all.held_already += report.held_already;
    all.without_source += report.without_source;
    all.total_ns = capped_sum(all.total_ns, report.total_ns);
    report = {};
  }
  std::ranges::sort(all.waits, [](const AttributedWait& a, const AttributedWait& b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.node < b.node;
  });
  return all;
}

std::string semaphore_text(const AttributedWait& wait) {
  return wait.semaphore == kNone ? std::string() : fmt::format("S[{}]>={}", wait.semaphore, wait.value);
}

std::vector<WaitSum> sum_waits(const WorkGraph& graph, const WaitReport& report, WaitsBy by) {
  std::map<std::uint64_t, WaitSum> sums;
  for (const AttributedWait& wait : report.waits) {
    std::uint64_t key = static_cast<std::uint64_t>(wait.reason);
    if (by == WaitsBy::source) key = wait.source == kNoNode ? 0 : graph.names[wait.source];
    if (by == WaitsBy::line) key = graph.locations.empty() ? 0 : graph.locations[wait.node];
    WaitSum& sum = sums[key];
    ++sum.count;
    sum.wait_ns = capped_sum(sum.wait_ns, wait.length_ns());
  }
  std::vector<WaitSum> list;
  for (auto& [key, sum] : sums) {
    sum.label = by == WaitsBy::reason ? std::string(wait_reason_name(static_cast<WaitReason>(key)))
                                      : std::string(graph.snapshot->strings->text(static_cast<StringId>(key)));
    list.push_back(std::move(sum));
  }
  std::ranges::stable_sort(list, std::ranges::greater{}, &WaitSum::wait_ns);
  return list;
}

}  // namespace accelscope::analysis
