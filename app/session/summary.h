// The summary of a filter as the viewer asks for it on a worker: the mask of its terms is made where it needs one, and
// kept from the last answer while the terms and the session are the same.
#pragma once

#include <memory>

#include "core/analysis/selection/summary.h"
#include "core/scan/event_mask.h"

namespace accelscope::app {

struct SessionSummary {
  std::shared_ptr<const SelectionSummary> summary;
  std::shared_ptr<const EventMask> mask;  // of the terms alone; null where there are none
  double took_ms = 0;
  std::uint64_t events = 0;  // of any kind that a timeline shows; only where it was asked for
};

// `last` may be null. A wrong term is an error that says which.
[[nodiscard]] Result<std::shared_ptr<const SessionSummary>> summarise(
    const QueryContext& query, const EventFilter& filter, const std::shared_ptr<const SummaryIndex>& index,
    const std::shared_ptr<const SessionSummary>& last);

}  // namespace accelscope::app
