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
  const bool tells =
      !(*advice)->findings.empty() &&
      (!verdict->cause_range || verdict->cause_range->length_ns() < (*advice)->findings.front().saving_ns);
  return verdict->text() + (tells ? "; " + advice_text(**advice) : "");
}

}  // namespace accelscope::app
