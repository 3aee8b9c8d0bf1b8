#include "app/session/summary.h"

#include <chrono>

namespace accelscope::app {

Result<std::shared_ptr<const SessionSummary>> summarise(const QueryContext& query, const EventFilter& filter,
                                                        const std::shared_ptr<const SummaryIndex>& index,
                                                        const std::shared_ptr<const SessionSummary>& last) {
  const auto begin = std::chrono::steady_clock::now();
  auto answer = std::make_shared<SessionSummary>();
  QueryContext masked = query;
  if (!filter.terms.empty()) {
    EventFilter terms;
    terms.terms = filter.terms;
    const EventMask* known = last && last->mask && last->mask->filter() == terms ? last->mask.get() : nullptr;
    if (known != nullptr && known->snapshot_version() == query.snapshot->version) {
      answer->mask = last->mask;
    } else {
      auto mask = event_mask(query, terms, known);
      if (!mask) return mask.error();
      answer->mask = *mask;
    }
    masked.mask = answer->mask;
  }
  auto summary = selection_summary(masked, filter, index.get());
  if (!summary) return summary.error();
  answer->summary = *summary;
  answer->took_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  return std::shared_ptr<const SessionSummary>(std::move(answer));
}

}  // namespace accelscope::app
