#include "capture/sources/tracy_csv/schemas.h"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace accelscope::capture::sources::tracy_csv {

Schema tracy_schema(const TracyLayout& layout) {
  Schema schema;
  schema.name_column = layout.names.front();
  const bool statistics = layout.table == TracyTable::statistics;
  switch (layout.table) {
    case TracyTable::zones:
      schema.name = "tracy_zone";
      break;
    case TracyTable::gpu_zones:
      schema.name = "tracy_gpu_zone";
      break;
    case TracyTable::messages:
      schema.name = "tracy_message";
      schema.kind = EventKind::instant;
      schema.name_explanation = "The beginning and end of the message.";
      schema.columns.push_back({"message", ColumnType::text, "", "Operation", "Message", "What the program said."});
      return schema;
    case TracyTable::statistics:
      schema.name = "tracy_statistics";
      schema.kind = EventKind::table;
      break;
  }
  schema.columns.push_back({"source", ColumnType::string, "", "Operation", "Source",
                            "Where in the source it is marked.", Role::source_location});
  if (layout.place(TracyColumn::thread) != TracyLayout::kAbsent)
    schema.columns.push_back({"thread", ColumnType::int64, "", "IDs", "Thread", "The host's thread."});
  for (std::size_t i = 0; i < layout.names.size(); ++i) {
    if (layout.columns[i] != TracyColumn::other) continue;
    const bool is_real = layout.names[i] == "total_perc" || layout.names[i] == "mean_ns" || layout.names[i] == "std_ns";
    const ColumnType type = !statistics ? ColumnType::text : is_real ? ColumnType::float64 : ColumnType::int64;
    std::string unit = statistics && layout.names[i].ends_with("_ns") ? "ns"
                       : layout.names[i] == "total_perc"              ? "%"
                                                                      : "";
    schema.columns.push_back({layout.names[i].empty() ? fmt::format("column_{}", i + 1) : layout.names[i], type,
                              std::move(unit), "Operation", "", "As the file has it."});
  }
  return schema;
}

Schema tracy_plot_schema() {
  Schema schema;
  schema.name = "tracy_plot";
  schema.kind = EventKind::counter;
  schema.columns = {
      {"value", ColumnType::float64, "", "Operation", "Value", "A sample of the plot.", Role::value, true}};
  return schema;
}

}  // namespace accelscope::capture::sources::tracy_csv
