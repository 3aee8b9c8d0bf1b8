#include "core/model/column_spec.h"

#include <algorithm>
#include <array>

#include "core/base/text.h"

namespace accelscope {
namespace {

constexpr std::array<std::string_view, 6> kOwnColumns = {"id", "track_id", "lane", "ts_ns", "dur_ns", "name"};

[[nodiscard]] bool is_own_column(std::string_view lower) noexcept {
  return std::find(kOwnColumns.begin(), kOwnColumns.end(), lower) != kOwnColumns.end();
}

}  // namespace

Column make_column(const ColumnSpec& spec) {
  return {.name = std::string(spec.name),
          .type = spec.type,
          .unit = std::string(spec.unit.name()),
          .group = std::string(spec.group),
          .title = std::string(spec.title),
          .explanation = std::string(spec.explanation),
          .role = spec.role,
          .required = spec.required};
}

void append_columns(Schema& schema, std::span<const ColumnSpec> columns) {
  for (const ColumnSpec& spec : columns) schema.columns.push_back(make_column(spec));
}

Schema make_schema(const SchemaSpec& spec, std::span<const ColumnSpec> columns) {
  Schema schema;
  schema.name = spec.name;
  schema.kind = spec.kind;
  schema.name_column = spec.name_column;
  schema.name_explanation = spec.name_explanation;
  schema.wait_names.assign(spec.wait_names.begin(), spec.wait_names.end());
  append_columns(schema, columns);
  return schema;
}

std::string table_name_column(const Schema& schema) {
  const bool own = schema.name_column.empty() || is_own_column(lower_case(schema.name_column));
  return own ? "name" : schema.name_column;
}

std::string table_column_name(const Schema& schema, std::string_view column) {
  const std::string lower = lower_case(column);
  if (!is_own_column(lower) && lower != lower_case(schema.name_column)) return std::string(column);
  std::string name = "arg_" + std::string(column);
  while (schema.find(name)) name.insert(0, "arg_");
  return name;
}

}  // namespace accelscope
