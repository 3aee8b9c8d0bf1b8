#include "core/sql/rows/iteration_tables.h"

#include <cmath>

#include "core/analysis/iterations/iterations.h"
#include "core/analysis/iterations/regions.h"

namespace accelscope::sql {
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

}  // namespace accelscope::sql
