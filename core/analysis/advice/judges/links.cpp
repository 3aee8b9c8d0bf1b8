// Links of a chip's network that are asked for more than they carry.
#include <fmt/format.h>

#include <algorithm>

#include "core/analysis/advice/judgement.h"
#include "core/analysis/tenstorrent/link_demand.h"
#include "core/base/format.h"

namespace accelscope::analysis {

Result<void> judge_links(const Judgement& judgement, const std::vector<DeviceSum>& devices) {
  const auto demand = TRY(tenstorrent::link_demand(judgement.query, judgement.range));
  if (demand.links.empty() || demand.links.front().most_demand <= 0) return {};
  judgement.judged(RuleId::crowded_links);
  const tenstorrent::LinkLoad& most = demand.links.front();
  const auto crowded =
      std::ranges::count_if(demand.links, [](const tenstorrent::LinkLoad& link) { return link.crowded_ns > 0; });
  for (const DeviceSum& device : devices) {
    if (device.device != most.device || crowded == 0) continue;
    Finding found = judgement.finding(RuleId::crowded_links, device, demand.crowded_ns);
    found.headline = tenstorrent::demand_text(demand);
    found.tab = most.name + " crowded";
    found.count = static_cast<std::uint64_t>(crowded);
    found.first = most.first;
    found.tracks = {most.track};
    found.events.tracks = found.tracks;
    found.evidence =
        fmt::format("{} of {} links are asked for more than they carry at some time", crowded, demand.links.size());
    set_places(found, {{most.most_range, ""}});
    judgement.tell(std::move(found));
  }
  return {};
}

}  // namespace accelscope::analysis
