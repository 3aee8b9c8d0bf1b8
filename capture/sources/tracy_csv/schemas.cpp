#include "capture/sources/tracy_csv/schemas.h"

#include <fmt/format.h>

#include <string>

#include "core/model/column_spec.h"

namespace accelscope::capture::sources::tracy_csv {
namespace {

using namespace columns;

constexpr ColumnSpec kMessage[] = {{"message", kText, "", kOperation, "Message", "What the program said."}};
constexpr ColumnSpec kMarked[] = {
    {"source", kString, "", kOperation, "Source", "Where in the source it is marked.", Role::source_location}};
constexpr ColumnSpec kThread[] = {{"thread", kInt, "", kIds, "Thread", "The host's thread."}};
constexpr ColumnSpec kSample[] = {
    {"value", kReal, "", kOperation, "Value", "A sample of the plot.", Role::value, true}};

[[nodiscard]] Schema empty_schema(const TracyLayout& layout) {
  const std::string_view name = layout.names.front();
  switch (layout.table) {
    case TracyTable::zones:
      return make_schema({"tracy_zone", EventKind::slice, name}, kMarked);
    case TracyTable::gpu_zones:
      return make_schema({"tracy_gpu_zone", EventKind::slice, name}, kMarked);
    case TracyTable::messages:
      return make_schema({"tracy_message", EventKind::instant, name, "The beginning and end of the message."},
                         kMessage);
    case TracyTable::statistics:
      return make_schema({"tracy_statistics", EventKind::table, name}, kMarked);
  }
  return {};
}

}  // namespace

Schema tracy_schema(const TracyLayout& layout) {
  Schema schema = empty_schema(layout);
  if (layout.table == TracyTable::messages) return schema;
  const bool statistics = layout.table == TracyTable::statistics;
  if (layout.place(TracyColumn::thread) != TracyLayout::kAbsent) append_columns(schema, kThread);
  for (std::size_t i = 0; i < layout.names.size(); ++i) {
    if (layout.columns[i] != TracyColumn::other) continue;
    const std::string& name = layout.names[i];
    const bool is_real = name == "total_perc" || name == "mean_ns" || name == "std_ns";
    const std::string_view unit = statistics && name.ends_with("_ns") ? "ns" : name == "total_perc" ? "%" : "";
    schema.columns.push_back(make_column({name.empty() ? fmt::format("column_{}", i + 1) : name,
                                          !statistics ? kText
                                          : is_real   ? kReal
                                                      : kInt,
                                          unit, kOperation, "", "As the file has it."}));
  }
  return schema;
}

Schema tracy_plot_schema() { return make_schema({"tracy_plot", EventKind::counter}, kSample); }

}  // namespace accelscope::capture::sources::tracy_csv
