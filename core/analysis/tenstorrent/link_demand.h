// The links of a chip's network that are asked for most: of tt-npe's timelines by the demand that it simulates, of
// traces of the network by the bytes that go into each core over each network, as their routes are not recorded.
#pragma once

#include <string>
#include <vector>

#include "core/model/time_range.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::analysis::tenstorrent {

struct LinkLoad {
  std::string name;  // "NOC0_SOUTH of core 5,1", "NOC_1 into core 4,2"
  std::string device;
  double most_demand = 0;  // of what the link can carry, where 1 is all; 0: not known
  TimeRange most_range{0, 0};
  double crowded_ns = 0;    // that it takes longer than if the link carried all
  double bytes = 0;         // of traces
  std::uint64_t count = 0;  // steps of more than it can carry; of traces transfers
  EventId first = kNoEvent;
  TrackNumber track = 0;
};

struct LinkDemand {
  std::vector<LinkLoad> links;  // the most asked for first
  double crowded_ns = 0;        // of the most crowded link of each moment
  double bytes = 0;             // of all, of traces
};

[[nodiscard]] Result<LinkDemand> link_demand(const QueryContext& query, const TimeRange& range);

// "NOC0_SOUTH of core 5,1 is asked for 168.6 % of what it carries"; "" where the session has no network.
[[nodiscard]] std::string demand_text(const LinkDemand& demand);

}  // namespace accelscope::analysis::tenstorrent
