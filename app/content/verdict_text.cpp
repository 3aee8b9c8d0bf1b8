#include "app/content/verdict_text.h"

#include <algorithm>

#include "core/analysis/advice/advice.h"
#include "core/analysis/figures/verdict.h"
#include "core/analysis/time/session_activity.h"

namespace accelscope::app {

Result<std::string> verdict_text(const QueryContext& query, const TimeRange& range, const Dependencies* dependencies) {
  auto active = find_active_stretch(query);
  if (!active) return active.error();
  if (*active) {
    **active = {std::max((**active).begin_ns, range.begin_ns), std::min((**active).end_ns, range.end_ns)};
  }
  const auto lines = source_lines(query, range);
  if (!lines) return lines.error();
  const Result<Verdict> verdict = session_verdict(query, *active, **lines);
  if (!verdict) return verdict.error();
  EventFilter filter;
  if (range != TimeRange{}) filter.range = range;
  const auto advice = find_advice(query, filter, dependencies);
  if (!advice) return advice.error();
  const Finding* const error = reported_error(**advice);
  const Finding* const costliest = costliest_finding(**advice);
  const std::string text = verdict->text();
  const auto is_said = [&text](const Finding& finding) { return text.find(finding.headline) != std::string::npos; };
  const bool tells = costliest != nullptr && costliest->saving_ns > 0 && !is_said(*costliest) &&
                     (!verdict->cause_range || verdict->cause_range->length_ns() < costliest->saving_ns);
  return (error == nullptr || is_said(*error) ? "" : error->headline + "; ") + text +
         (tells ? "; " + advice_text(**advice) : "");
}

}  // namespace accelscope::app
