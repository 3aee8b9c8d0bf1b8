// Kernels by what their names tell: those that only go over memory, of which one that comes right after another is of a
// chain that nobody has fused, and products that pass the matrix units by. And by what counters tell: those during
// which the device's memory is at its peak.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "core/analysis/advice/judgement.h"
#include "core/analysis/replay/graph_replay.h"
#include "core/analysis/roofline/roofline.h"
#include "core/analysis/roofline/sampled_amounts.h"
#include "core/base/format.h"
#include "core/names/name_class.h"
#include "core/names/name_forms.h"

namespace accelscope::analysis {
namespace {

// Those of one device that have something in common, the longest first.
struct KernelSum {
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

Result<KernelChains> find_chains(const Judgement& judgement, const KernelSum& kernels) {
  const auto graph = TRY(session_graph(judgement.query));
  std::set<StringId> names;
  std::set<TrackNumber> tracks;
  for (const Hotspot* row : kernels.rows) {
    names.insert(row->name);
    tracks.insert(row->tracks.begin(), row->tracks.end());
  }
  const auto is_one = [&](NodeIndex node) { return node != kNoNode && names.contains(graph->names[node]); };
  KernelChains chains;
  ChangedGraph changed(*graph);
  for (const GraphLane& lane : graph->lanes) {
    if (lane.is_thread || !tracks.contains(lane.track)) continue;
    for (NodeIndex node = lane.first; node < lane.first + lane.count; ++node) {
      if (!is_one(node) || !is_one(graph->server_before[node])) continue;
      ++chains.count;
      chains.total_ns += graph->end_ns[node] - graph->begin_ns[node];
      changed.scale(*graph, node, 0);
    }
  }
  if (chains.count == 0) return chains;
  const auto replay = TRY(GraphReplay::run(judgement.query, *graph, changed));
  chains.saved_ns = std::clamp<std::int64_t>(graph->end_of_all_ns - replay->end_of_all_ns(), 0, chains.total_ns);
  return chains;
}

template <typename IsOne>
KernelSum sum_kernels(const Judgement& judgement, const DeviceSum& device, const HotspotList& kernels, IsOne is_one) {
  KernelSum sum;
  for (const Hotspot& row : kernels.rows) {
    if (row.work != WorkKind::compute || !is_of(row, device)) continue;
    if (!is_one(judgement.snapshot().strings->text(row.name))) continue;
    sum.rows.push_back(&row);
    sum.count += row.count;
    sum.total_ns += row.total_ns;
  }
  return sum;
}

void rest_on(Finding& found, const Judgement& judgement, const KernelSum& kernels) {
  constexpr std::size_t kMostNamed = 3;
  const StringPool& strings = *judgement.snapshot().strings;
  found.first = kernels.rows.front()->longest;
  std::set<TrackNumber> tracks;
  for (const Hotspot* row : kernels.rows) tracks.insert(row->tracks.begin(), row->tracks.end());
  found.tracks.assign(tracks.begin(), tracks.end());
  found.events.tracks = found.tracks;
  found.events.terms.push_back({quoted_term("name", strings.text(kernels.rows.front()->name)), false});
  found.evidence =
      fmt::format("{} such kernels take {}", format_count(kernels.count), format_duration(kernels.total_ns));
  for (std::size_t i = 0; i < std::min(kMostNamed, kernels.rows.size()); ++i) {
    const Hotspot& row = *kernels.rows[i];
    found.evidence += fmt::format("; {} of {}, {}", format_count(row.count), usual_name(strings.text(row.name)),
                                  format_duration(row.total_ns));
  }
}

Result<void> judge_chains(const Judgement& judgement, const DeviceSum& device, const KernelSum& kernels) {
  const double least = rule_of(RuleId::unfused_kernels).threshold * static_cast<double>(device.active_ns());
  if (kernels.count < 2 || static_cast<double>(kernels.total_ns) <= least) return {};
  const auto chains = TRY(find_chains(judgement, kernels));
  if (static_cast<double>(chains.total_ns) <= least) return {};
  Finding found = judgement.finding(RuleId::unfused_kernels, device, static_cast<double>(chains.saved_ns));
  found.count = chains.count;
  found.headline = fmt::format("{} elementwise, copy and reduction kernels come right after another, {}",
                               format_count(chains.count), format_duration(chains.total_ns));
  found.tab = "unfused kernels";
  rest_on(found, judgement, kernels);
  judgement.tell(std::move(found));
  return {};
}

// Memory may bound them whatever units they use; those whose operations are known are judged by these.
void judge_plain_products(const Judgement& judgement, const DeviceSum& device, KernelSum products) {
  if (std::ranges::any_of(products.rows, [](const Hotspot* row) { return row->flops_ns > 0; })) return;
  const PeakList peaks = peaks_of_device(judgement.snapshot(), device.device);
  const auto peak_of = [&](const char* type) {
    const Peak* const peak = peaks.compute_in(type);
    return peak == nullptr ? 0 : peak->value.value_or(0);
  };
  const double plain = peak_of("fp32"), by_units = std::max({peak_of("tf32"), peak_of("bf16"), peak_of("fp16")});
  if (plain <= 0 || by_units <= plain) return;
  judgement.judged(RuleId::plain_products);
  const double share = share_of(products.total_ns, device.active_ns());
  if (share <= rule_of(RuleId::plain_products).threshold) return;
  Finding found = judgement.finding(RuleId::plain_products, device,
                                    static_cast<double>(products.total_ns) * (1 - plain / by_units));
  found.count = products.count;
  found.headline = fmt::format("GEMMs and convolutions in fp32 without tensor cores or other matrix units, {} of {}",
                               format_share(share), format_duration(device.active_ns()));
  found.tab = "fp32 without matrix units";
  rest_on(found, judgement, products);
  found.evidence +=
      fmt::format("; {} in fp32, {} in the types of the matrix units", format_value(plain, Unit::flop_per_second),
                  format_value(by_units, Unit::flop_per_second));
  judgement.tell(std::move(found));
}

[[nodiscard]] double share_of_peak(const RoofPoint& point, double bytes_per_second) {
  return point.busy_ns > 0 ? point.bytes[0] / static_cast<double>(point.busy_ns) * 1e9 / bytes_per_second : 0;
}

void judge_bytes(const Judgement& judgement, const DeviceSum& device, const HotspotList& kernels,
                 const Roofline& line) {
  const PeakList peaks = peaks_of_device(judgement.snapshot(), device.device);
  const Peak* const memory = line.memories.empty() ? nullptr : peaks.find(line.memories.front().peak);
  if (!line.is_sampled || memory == nullptr || !memory->value) return;
  judgement.judged(RuleId::memory_bound);
  const Peak* const compute = peaks.best_compute();
  std::map<std::string, double, std::less<>> shares;  // by name
  double saving_ns = 0;
  for (const RoofPoint& point : line.points) {
    const double share = share_of_peak(point, *memory->value);
    if (share <= rule_of(RuleId::memory_bound).threshold) continue;
    shares.emplace(point.text, share);
    const double computing_ns = compute == nullptr ? 0 : point.flops / *compute->value * 1e9;
    saving_ns += std::max(0.0, static_cast<double>(point.busy_ns) - computing_ns);
  }
  const KernelSum bound =
      sum_kernels(judgement, device, kernels, [&](std::string_view name) { return shares.find(name) != shares.end(); });
  if (bound.rows.empty()) return;
  const std::string main(judgement.snapshot().strings->text(bound.rows.front()->name));
  Finding found = judgement.finding(RuleId::memory_bound, device, saving_ns);
  found.count = bound.count;
  found.headline = fmt::format("DRAM at {} of its peak of {} while {} runs, {}", format_share(shares.at(main)),
                               format_value(*memory->value, Unit::bytes_per_second), usual_name(main),
                               format_duration(bound.rows.front()->total_ns));
  found.tab = fmt::format("DRAM at {}", format_share(shares.at(main)));
  rest_on(found, judgement, bound);
  judgement.tell(std::move(found));
}

}  // namespace

Result<void> judge_memory_bound(const Judgement& judgement, const std::vector<DeviceSum>& devices,
                                const HotspotList& kernels) {
  const auto is_memory = [](const TrackSnapshot& each) {
    return std::ranges::count(kMemoryCounters, each.track->name) > 0;
  };
  if (std::ranges::none_of(judgement.snapshot().tracks, is_memory)) return {};
  const auto rooflines = TRY(device_rooflines(judgement.query, judgement.range, RoofGrouping::name));
  for (const DeviceSum& device : devices) {
    const auto line = std::ranges::find(rooflines->devices, device.device, &Roofline::device);
    if (device.has_streams && line != rooflines->devices.end()) judge_bytes(judgement, device, kernels, *line);
  }
  return {};
}

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
    judge_plain_products(judgement, device, sum_kernels(judgement, device, kernels, is_plain_fp32_product));
    const KernelSum over_memory = sum_kernels(judgement, device, kernels, goes_over_memory);
    if (const Result<void> judged = judge_chains(judgement, device, over_memory); !judged) return judged;
  }
  return {};
}

}  // namespace accelscope::analysis
