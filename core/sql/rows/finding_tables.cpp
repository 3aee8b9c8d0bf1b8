#include "core/sql/rows/finding_tables.h"

#include <algorithm>

#include "core/analysis/advice/advice.h"
#include "core/analysis/replay/bounds.h"
#include "core/sql/rows/work_tables.h"

namespace accelscope::sql {
namespace {

using FindingRows = Result<std::shared_ptr<const Rows>>;

FindingRows make_findings(Context& context) {
  const EventFilter filter = context.mask ? context.mask->filter() : EventFilter{};
  const auto advice = find_advice(context.query(), filter);
  if (!advice) return advice.error();
  auto rows = std::make_shared<ValueRows>(13);
  for (const Finding& each : (*advice)->findings) {
    const TimeRange range = each.events.range.value_or(each.places.front().range);
    rows->add({std::string(each.rule->name), text_or_null(each.device), each.headline, text_or_null(each.source),
               static_cast<std::int64_t>(each.count), each.saving_ns > 0 ? SqlValue(each.saving_ns) : SqlValue(),
               static_cast<std::int64_t>(each.is_replayed ? 1 : 0), each.share, text_or_null(each.change), each.remedy,
               range.begin_ns, range.end_ns, id_or_null(each.first)});
  }
  return std::shared_ptr<const Rows>(rows);
}

FindingRows make_bounds(Context& context) {
  const auto found = session_path(context.query(), asked_range(context));
  if (!found) return found.error();
  const auto bounds = bounds_of_path(context.query(), *found->graph, found->path, {});
  if (!bounds) return bounds.error();
  auto rows = std::make_shared<ValueRows>(5);
  const auto total = static_cast<double>(std::max<std::int64_t>(1, found->path.range.length_ns()));
  for (const BoundFigure& each : *bounds) {
    rows->add({std::string(path_bound_name(each.bound)), each.path_ns, static_cast<double>(each.path_ns) / total,
               each.ideal_ns ? SqlValue(*each.ideal_ns) : SqlValue(), text_or_null(each.rests_on)});
  }
  return std::shared_ptr<const Rows>(rows);
}

FindingRows make_gaps(Context& context) {
  const auto found = session_path(context.query(), asked_range(context));
  if (!found) return found.error();
  const auto gaps = path_gaps(context.query(), *found->graph, found->path);
  if (!gaps) return gaps.error();
  auto rows = std::make_shared<ValueRows>(7);
  const StringPool& strings = *context.snapshot->strings;
  for (const PathGap& each : *gaps) {
    rows->add({std::string(wait_reason_name(each.reason)), text_or_null(strings.text(each.name)),
               each.location == kNone ? SqlValue() : text_or_null(strings.text(each.location)),
               static_cast<std::int64_t>(each.count), each.gap_ns,
               each.saving_ns ? SqlValue(*each.saving_ns) : SqlValue(),
               each.longest == kNoNode ? SqlValue() : id_or_null(found->graph->whole_event(each.longest))});
  }
  return std::shared_ptr<const Rows>(rows);
}

}  // namespace

RowTableSpec finding_table() {
  return {"finding",
          {{"rule", "TEXT"},
           {"device", "TEXT"},
           {"headline", "TEXT"},
           {"line", "TEXT"},
           {"count", "INTEGER"},
           {"saving_ns", "INTEGER"},
           {"replayed", "INTEGER"},
           {"share", "REAL"},
           {"what_if", "TEXT"},
           {"remedy", "TEXT"},
           {"ts_ns", "INTEGER"},
           {"end_ns", "INTEGER"},
           {"event_id", "INTEGER"}},
          20,
          make_findings};
}

RowTableSpec bound_table() {
  return {"bound",
          {{"bound", "TEXT"}, {"path_ns", "INTEGER"}, {"share", "REAL"}, {"ideal_ns", "REAL"}, {"rests_on", "TEXT"}},
          kPathBounds,
          make_bounds};
}

RowTableSpec path_gap_table() {
  return {"path_gap",
          {{"cause", "TEXT"},
           {"name", "TEXT"},
           {"line", "TEXT"},
           {"count", "INTEGER"},
           {"gap_ns", "INTEGER"},
           {"saving_ns", "INTEGER"},
           {"event_id", "INTEGER"}},
          100,
          make_gaps};
}

}  // namespace accelscope::sql
