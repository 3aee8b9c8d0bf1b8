#include "capture/sources/tracy_csv/schemas.h"

#include <fmt/format.h>

#include <string>

#include "capture/sources/tracy/read/tables.h"
#include "core/model/column_spec.h"

namespace accelscope::capture::sources::tracy_csv {
namespace {

using namespace columns;

[[nodiscard]] tracy::TracyTableKind kind_of(TracyTable table) noexcept {
  return table == TracyTable::gpu_zones ? tracy::TracyTableKind::gpu_zone : tracy::TracyTableKind::zone;
}

[[nodiscard]] Schema statistics_schema(const TracyLayout& layout) {
  Schema schema = make_schema({"tracy_statistics", EventKind::table, layout.names.front()});
  schema.columns.push_back(tracy::tracy_column(tracy::TracyTableKind::zone, "source"));
  for (std::size_t i = 0; i < layout.names.size(); ++i) {
    if (layout.columns[i] != TracyColumn::other) continue;
    const std::string& name = layout.names[i];
    const bool is_real = name == "total_perc" || name == "mean_ns" || name == "std_ns";
    const std::string_view unit = name.ends_with("_ns") ? "ns" : name == "total_perc" ? "%" : "";
    schema.columns.push_back(make_column({name.empty() ? fmt::format("column_{}", i + 1) : name, is_real ? kReal : kInt,
                                          unit, kOperation, "", "As the file has it."}));
  }
  return schema;
}

}  // namespace

Schema tracy_schema(const TracyLayout& layout) {
  if (layout.table == TracyTable::statistics) return statistics_schema(layout);
  if (layout.table == TracyTable::messages) {
    Schema schema = tracy::tracy_table_without_columns(tracy::TracyTableKind::message, layout.names.front());
    schema.columns.push_back(tracy::tracy_column(tracy::TracyTableKind::message, "message"));
    return schema;
  }
  const tracy::TracyTableKind kind = kind_of(layout.table);
  Schema schema = tracy::tracy_table_without_columns(kind, layout.names.front());
  schema.columns.push_back(tracy::tracy_column(kind, "source"));
  if (layout.place(TracyColumn::thread) != TracyLayout::kAbsent) {
    schema.columns.push_back(tracy::tracy_column(kind, "thread"));
  }
  for (std::size_t i = 0; i < layout.names.size(); ++i) {
    if (layout.columns[i] != TracyColumn::other) continue;
    const std::string& name = layout.names[i];
    Column column = tracy::tracy_column(kind, name.empty() ? fmt::format("column_{}", i + 1) : name);
    column.type = ColumnType::text;
    schema.columns.push_back(std::move(column));
  }
  return schema;
}

Schema tracy_plot_schema() { return tracy::tracy_table(tracy::TracyTableKind::plot); }

}  // namespace accelscope::capture::sources::tracy_csv
