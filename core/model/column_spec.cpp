#include "core/model/column_spec.h"

namespace accelscope {

Column make_column(const ColumnSpec& spec) {
  return {.name = std::string(spec.name),
          .type = spec.type,
          .unit = std::string(spec.unit),
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

}  // namespace accelscope
