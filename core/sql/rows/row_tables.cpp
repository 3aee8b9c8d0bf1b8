#include "core/sql/rows/row_tables.h"

#include <algorithm>
#include <cmath>

#include "core/analysis/advice/advice.h"
#include "core/analysis/critical_path/critical_path.h"
#include "core/analysis/critical_path/waits.h"
#include "core/analysis/iterations/iterations.h"
#include "core/analysis/replay/bounds.h"

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

namespace {

using LoopRows = Result<std::shared_ptr<const Rows>>;

SqlValue whole(double value) { return static_cast<std::int64_t>(std::llround(value)); }
SqlValue whole(std::uint64_t value) { return static_cast<std::int64_t>(value); }

TimeRange loop_range(const Context& context) {
  return context.mask ? context.mask->filter().range.value_or(TimeRange{}) : TimeRange{};
}

QueryContext loop_query(Context& context) {
  QueryContext query = context.query();
  query.mask = context.mask;
  return query;
}

Result<std::shared_ptr<const IterationList>> whole_list(Context& context) {
  return find_iterations(loop_query(context), loop_range(context));
}

void add_values(std::vector<SqlValue>& cells, const FoldedValues& values) {
  for (const double value : {values.median, values.p10, values.p90, values.min, values.max})
    cells.push_back(whole(value));
}

LoopRows make_loops(Context& context) {
  const auto list = whole_list(context);
  if (!list) return list.error();
  auto rows = std::make_shared<ValueRows>(17);
  std::uint64_t id = 0;
  for (const IterationLoop& loop : (*list)->loops) {
    const FoldedLoop& folded = loop.folded;
    std::vector<SqlValue> cells = {whole(id++), whole(std::uint64_t{loop.track}), whole(std::uint64_t{loop.depth}),
                                   whole(std::uint64_t{loop.level}), whole(folded.iterations.size())};
    add_values(cells, folded.duration_ns);
    cells.push_back(folded.interval_ns.count > 0 ? whole(folded.interval_ns.median) : SqlValue());
    cells.push_back(whole(std::uint64_t{folded.duration_ns.outliers}));
    cells.push_back(whole(std::uint64_t{folded.warm_up}));
    cells.push_back(folded.iterations.empty() ? SqlValue() : SqlValue(folded.iterations.front().length_ns()));
    cells.push_back(whole(folded.steady_ns));
    cells.emplace_back(loop.share);
    cells.push_back(whole(std::uint64_t{loop.partial}));
    rows->add(std::move(cells));
  }
  return std::shared_ptr<const Rows>(rows);
}

LoopRows make_iterations(Context& context) {
  const auto list = whole_list(context);
  if (!list) return list.error();
  auto rows = std::make_shared<ValueRows>(7);
  std::uint64_t id = 0;
  for (const IterationLoop& loop : (*list)->loops) {
    const auto& all = loop.folded.iterations;
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::vector<SqlValue> cells = {whole(id), whole(std::uint64_t{i + 1}), all[i].begin_ns, all[i].length_ns()};
      cells.emplace_back();
      if (i + 1 < all.size()) cells.back() = all[i + 1].begin_ns - all[i].begin_ns;
      cells.push_back(whole(std::uint64_t{i < loop.folded.warm_up ? 1U : 0U}));
      cells.push_back(whole(std::uint64_t{all[i].outlier ? 1U : 0U}));
      rows->add(std::move(cells));
    }
    ++id;
  }
  return std::shared_ptr<const Rows>(rows);
}

LoopRows make_operations(Context& context) {
  const auto list = whole_list(context);
  if (!list) return list.error();
  auto rows = std::make_shared<ValueRows>(13);
  std::uint64_t id = 0;
  for (const IterationLoop& loop : (*list)->loops) {
    for (const LoopOperation& each : loop.folded.body) {
      const std::string_view name = each.numbered.empty() ? context.snapshot->strings->text(each.name) : each.numbered;
      std::vector<SqlValue> cells = {whole(id), std::string(name), whole(std::uint64_t{each.place} + 1),
                                     whole(std::uint64_t{each.times}), whole(each.offset_ns.median)};
      add_values(cells, each.duration_ns);
      cells.push_back(each.first_ns < 0 ? SqlValue() : SqlValue(each.first_ns));
      cells.push_back(whole(std::uint64_t{each.duration_ns.count}));
      cells.push_back(whole(std::uint64_t{each.duration_ns.outliers}));
      rows->add(std::move(cells));
    }
    ++id;
  }
  return std::shared_ptr<const Rows>(rows);
}

LoopRows make_named_regions(Context& context) {
  auto rows = std::make_shared<ValueRows>(12);
  for (const char* kind : {"collective", "layer", "annotation", IterationQuestion::kMarkers}) {
    const auto list = find_regions(loop_query(context), loop_range(context), kind);
    if (!list) return list.error();
    for (const NamedRegion& each : (*list)->regions) {
      std::vector<SqlValue> cells = {std::string(kind), each.name, whole(std::uint64_t{each.duration_ns.count}),
                                     each.total_ns};
      add_values(cells, each.duration_ns);
      cells.push_back(whole(std::uint64_t{each.duration_ns.outliers}));
      cells.emplace_back(each.first.length_ns());
      cells.emplace_back(each.longest.begin_ns);
      rows->add(std::move(cells));
    }
  }
  return std::shared_ptr<const Rows>(rows);
}

void add_value_columns(std::vector<RowColumn>& columns) {
  for (const char* name : {"median_ns", "p10_ns", "p90_ns", "min_ns", "max_ns"}) columns.push_back({name, "INTEGER"});
}

std::vector<RowColumn> with_values(std::vector<RowColumn> before, std::vector<RowColumn> after) {
  add_value_columns(before);
  before.insert(before.end(), after.begin(), after.end());
  return before;
}

}  // namespace

RowTableSpec loop_table() {
  return {"loop",
          with_values({{"id", "INTEGER", true},
                       {"track_id", "INTEGER"},
                       {"lane", "INTEGER"},
                       {"level", "INTEGER"},
                       {"iterations", "INTEGER"}},
                      {{"interval_ns", "INTEGER"},
                       {"outliers", "INTEGER"},
                       {"warm_up", "INTEGER"},
                       {"first_ns", "INTEGER"},
                       {"steady_ns", "INTEGER"},
                       {"share", "REAL"},
                       {"cut_off", "INTEGER"}}),
          16, make_loops};
}

RowTableSpec iteration_table() {
  return {"iteration",
          {{"loop_id", "INTEGER"},
           {"number", "INTEGER"},
           {"ts_ns", "INTEGER"},
           {"dur_ns", "INTEGER"},
           {"interval_ns", "INTEGER"},
           {"warm_up", "INTEGER"},
           {"outlier", "INTEGER"}},
          1'000,
          make_iterations};
}

RowTableSpec loop_operation_table() {
  return {"loop_operation",
          with_values({{"loop_id", "INTEGER"},
                       {"name", "TEXT"},
                       {"place", "INTEGER"},
                       {"times", "INTEGER"},
                       {"offset_ns", "INTEGER"}},
                      {{"first_ns", "INTEGER"}, {"count", "INTEGER"}, {"outliers", "INTEGER"}}),
          1'000, make_operations};
}

RowTableSpec named_region_table() {
  return {"named_region",
          with_values({{"kind", "TEXT"}, {"name", "TEXT"}, {"count", "INTEGER"}, {"total_ns", "INTEGER"}},
                      {{"outliers", "INTEGER"}, {"first_ns", "INTEGER"}, {"longest_ts_ns", "INTEGER"}}),
          100, make_named_regions, true};
}

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
