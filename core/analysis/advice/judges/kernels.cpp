// Kernels that only go over memory: those that come right after another of them are a chain that nobody has fused.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/analysis/advice/judgement.h"
#include "core/analysis/replay/graph_replay.h"
#include "core/base/format.h"
#include "core/names/name_class.h"
#include "core/names/name_forms.h"

namespace accelscope {
namespace {

// Those of one device, the longest first.
struct MemoryKernels {
  std::vector<const Hotspot*> rows;
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;
};

// Those of them that come right after another one on their stream: that could hand its result on.
struct KernelChains {
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t saved_ns = 0;  // what the session would be shorter by without them, at most
};

Result<KernelChains> find_chains(const Judgement& judgement, const MemoryKernels& kernels) {
  const auto graph = session_graph(judgement.query);
  if (!graph) return graph.error();
  std::set<StringId> names;
  std::set<TrackNumber> tracks;
  for (const Hotspot* row : kernels.rows) {
    names.insert(row->name);
    tracks.insert(row->tracks.begin(), row->tracks.end());
  }
  const auto is_one = [&](NodeIndex node) { return node != kNoNode && names.contains((*graph)->names[node]); };
  KernelChains chains;
  ChangedGraph changed(**graph);
  for (const GraphLane& lane : (*graph)->lanes) {
    if (lane.is_thread || !tracks.contains(lane.track)) continue;
    for (NodeIndex node = lane.first; node < lane.first + lane.count; ++node) {
      if (!is_one(node) || !is_one((*graph)->server_before[node])) continue;
      ++chains.count;
      chains.total_ns += (*graph)->end_ns[node] - (*graph)->begin_ns[node];
      changed.scale(**graph, node, 0);
    }
  }
  if (chains.count == 0) return chains;
  const auto replay = GraphReplay::run(judgement.query, **graph, changed);
  if (!replay) return replay.error();
  chains.saved_ns = std::clamp<std::int64_t>((*graph)->end_of_all_ns - (*replay)->end_of_all_ns(), 0, chains.total_ns);
  return chains;
}

Result<void> judge_chains(const Judgement& judgement, const DeviceSum& device, const MemoryKernels& kernels) {
  constexpr std::size_t kMostNamed = 3;
  const double least = rule_of(RuleId::unfused_kernels).threshold * static_cast<double>(device.active_ns());
  if (static_cast<double>(kernels.total_ns) <= least) return {};
  const auto chains = find_chains(judgement, kernels);
  if (!chains) return chains.error();
  if (static_cast<double>(chains->total_ns) <= least) return {};
  const StringPool& strings = *judgement.snapshot().strings;
  Finding found = judgement.finding(RuleId::unfused_kernels, device, static_cast<double>(chains->saved_ns));
  found.count = chains->count;
  found.first = kernels.rows.front()->longest;
  std::set<TrackNumber> tracks;
  for (const Hotspot* row : kernels.rows) tracks.insert(row->tracks.begin(), row->tracks.end());
  found.tracks.assign(tracks.begin(), tracks.end());
  found.events.tracks = found.tracks;
  found.events.terms.push_back({quoted_term("name", strings.text(kernels.rows.front()->name)), false});
  found.headline = fmt::format("{} elementwise, copy and reduction kernels come right after another, {}",
                               format_count(chains->count), format_duration(static_cast<double>(chains->total_ns)));
  found.tab = "unfused kernels";
  found.evidence = fmt::format("{} such kernels take {}", format_count(kernels.count),
                               format_duration(static_cast<double>(kernels.total_ns)));
  for (std::size_t i = 0; i < std::min(kMostNamed, kernels.rows.size()); ++i) {
    const Hotspot& row = *kernels.rows[i];
    found.evidence += fmt::format("; {} of {}, {}", format_count(row.count), usual_name(strings.text(row.name)),
                                  format_duration(static_cast<double>(row.total_ns)));
  }
  judgement.tell(std::move(found));
  return {};
}

}  // namespace

Result<void> judge_kernels(const Judgement& judgement, const std::vector<DeviceSum>& devices,
                           const HotspotList& kernels) {
  constexpr std::uint64_t kMostEvents = 4'000'000;
  if (judgement.snapshot().event_count > kMostEvents) {
    judgement.not_judged(RuleId::unfused_kernels, "takes a session of at most 4 million events");
    return {};
  }
  if (!judgement.judges(RuleId::unfused_kernels)) return {};
  for (const DeviceSum& device : devices) {
    if (!device.has_streams) continue;
    MemoryKernels found;
    for (const Hotspot& row : kernels.rows) {
      if (row.work != WorkKind::compute || !is_of(row, device)) continue;
      if (!goes_over_memory(judgement.snapshot().strings->text(row.name))) continue;
      found.rows.push_back(&row);
      found.count += row.count;
      found.total_ns += row.total_ns;
    }
    if (found.count < 2) continue;
    if (const Result<void> judged = judge_chains(judgement, device, found); !judged) return judged;
  }
  return {};
}

}  // namespace accelscope
