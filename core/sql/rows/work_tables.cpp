#include "core/sql/rows/work_tables.h"

#include "core/analysis/critical_path/critical_path.h"
#include "core/analysis/critical_path/waits.h"

namespace accelscope::sql {

SqlValue id_or_null(EventId event) {
  return event == kNoEvent ? SqlValue() : SqlValue(static_cast<std::int64_t>(event));
}
SqlValue text_or_null(std::string_view text) { return text.empty() ? SqlValue() : SqlValue(std::string(text)); }

TimeRange asked_range(const Context& context) {
  return context.mask ? context.mask->filter().range.value_or(TimeRange{}) : TimeRange{};
}

namespace {

using WorkRows = Result<std::shared_ptr<const Rows>>;

SqlValue line_of(const WorkGraph& graph, NodeIndex node) {
  if (node == kNoNode || graph.locations.empty()) return {};
  return text_or_null(graph.snapshot->strings->text(graph.locations[node]));
}

WorkRows make_waits(Context& context) {
  const auto graph = session_graph(context.query());
  if (!graph) return graph.error();
  const QueryContext query = context.query();
  const auto report = attribute_waits(**graph, asked_range(context), query.pool, query.control);
  if (!report) return report.error();
  auto rows = std::make_shared<ValueRows>(12);
  const StringPool& strings = *context.snapshot->strings;
  for (const AttributedWait& wait : report->waits) {
    const EventId event = (*graph)->event(wait.node);
    if (context.mask && !context.mask->passes(*context.snapshot, event)) continue;
    const bool known = wait.source != kNoNode;
    rows->add({static_cast<std::int64_t>(event), static_cast<std::int64_t>((*graph)->track(wait.node)), wait.begin_ns,
               wait.length_ns(), std::string(wait_reason_name(wait.reason)),
               wait.semaphore == kNone ? SqlValue() : SqlValue(static_cast<std::int64_t>(wait.semaphore)),
               wait.semaphore == kNone ? SqlValue() : SqlValue(wait.value),
               id_or_null(known ? (*graph)->whole_event(wait.source) : kNoEvent),
               known ? text_or_null(strings.text((*graph)->names[wait.source])) : SqlValue(),
               line_of(**graph, wait.node), static_cast<std::int64_t>(wait.recorded ? 1 : 0),
               known ? SqlValue(std::string(edge_confidence_name(wait.confidence))) : SqlValue()});
  }
  return std::shared_ptr<const Rows>(rows);
}

WorkRows make_path(Context& context) {
  const auto found = session_path(context.query(), asked_range(context));
  if (!found) return found.error();
  const WorkGraph& graph = *found->graph;
  auto rows = std::make_shared<ValueRows>(9);
  std::int64_t place = 0;
  for (const PathSegment& segment : found->path.segments) {
    const NodeIndex node = segment.node;
    const EventId event = node == kNoNode ? kNoEvent : graph.whole_event(node);
    SqlValue resource, name;
    if (node != kNoNode) {
      const TrackSnapshot* track = context.snapshot->find_track(graph.lane(node).resource);
      if (track != nullptr) resource = track->track->name;
      name = text_or_null(context.snapshot->strings->text(graph.names[node]));
    }
    rows->add({place++, segment.is_gap ? SqlValue() : id_or_null(event), segment.begin_ns, segment.length_ns(),
               segment.is_gap ? SqlValue(std::string(wait_reason_name(segment.reason))) : SqlValue(),
               segment.is_gap ? id_or_null(event) : SqlValue(), std::move(name), std::move(resource),
               line_of(graph, node)});
  }
  return std::shared_ptr<const Rows>(rows);
}

}  // namespace

RowTableSpec wait_table() {
  return {"wait",
          {{"id", "INTEGER", true},
           {"track_id", "INTEGER"},
           {"ts_ns", "INTEGER"},
           {"dur_ns", "INTEGER"},
           {"cause", "TEXT"},
           {"semaphore", "INTEGER"},
           {"value", "INTEGER"},
           {"signaller_id", "INTEGER"},
           {"signaller", "TEXT"},
           {"line", "TEXT"},
           {"recorded", "INTEGER"},
           {"confidence", "TEXT"}},
          10'000,
          make_waits};
}

RowTableSpec critical_path_table() {
  return {"critical_path",
          {{"ord", "INTEGER"},
           {"id", "INTEGER"},
           {"ts_ns", "INTEGER"},
           {"dur_ns", "INTEGER"},
           {"cause", "TEXT"},
           {"waiting_id", "INTEGER"},
           {"name", "TEXT"},
           {"resource", "TEXT"},
           {"line", "TEXT"}},
          10'000,
          make_path};
}

}  // namespace accelscope::sql
