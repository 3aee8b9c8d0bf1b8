// Kernels that only go over memory: many of them, one after another, are a chain that nobody has fused.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/analysis/advice/judgement.h"
#include "core/base/format.h"
#include "core/names/name_forms.h"

namespace accelscope {
namespace {

// Those of one device, the longest first.
struct MemoryKernels {
  std::vector<const Hotspot*> rows;
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;
};

void tell_kernels(const Judgement& judgement, const DeviceSum& device, const MemoryKernels& kernels) {
  constexpr std::size_t kMostNamed = 3;
  const StringPool& strings = *judgement.snapshot().strings;
  Finding found = judgement.finding(RuleId::unfused_kernels, device, static_cast<double>(kernels.total_ns));
  if (found.share <= rule_of(RuleId::unfused_kernels).threshold) return;
  found.count = kernels.count;
  found.first = kernels.rows.front()->longest;
  std::set<TrackNumber> tracks;
  for (const Hotspot* row : kernels.rows) tracks.insert(row->tracks.begin(), row->tracks.end());
  found.tracks.assign(tracks.begin(), tracks.end());
  found.events.tracks = found.tracks;
  found.events.terms.push_back({quoted_term("name", strings.text(kernels.rows.front()->name)), false});
  found.headline = fmt::format("{} elementwise, copy and reduction kernels take {}", format_count(kernels.count),
                               format_duration(static_cast<double>(kernels.total_ns)));
  found.tab = "unfused kernels";
  for (std::size_t i = 0; i < std::min(kMostNamed, kernels.rows.size()); ++i) {
    const Hotspot& row = *kernels.rows[i];
    found.evidence +=
        fmt::format("{}{} of {}, {}", found.evidence.empty() ? "" : "; ", format_count(row.count),
                    usual_name(strings.text(row.name)), format_duration(static_cast<double>(row.total_ns)));
  }
  judgement.tell(std::move(found));
}

}  // namespace

void judge_kernels(const Judgement& judgement, const std::vector<DeviceSum>& devices, const HotspotList& kernels) {
  judgement.judged(RuleId::unfused_kernels);
  for (const DeviceSum& device : devices) {
    if (!device.has_streams) continue;
    MemoryKernels found;
    for (const Hotspot& row : kernels.rows) {
      const bool is_its = std::any_of(row.tracks.begin(), row.tracks.end(), [&](TrackNumber track) {
        return std::find(device.tracks.begin(), device.tracks.end(), track) != device.tracks.end();
      });
      if (!is_its || row.work != WorkKind::compute) continue;
      if (!goes_over_memory(judgement.snapshot().strings->text(row.name))) continue;
      found.rows.push_back(&row);
      found.count += row.count;
      found.total_ns += row.total_ns;
    }
    if (found.count > 1) tell_kernels(judgement, device, found);
  }
}

}  // namespace accelscope
