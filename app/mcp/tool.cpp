#include "app/mcp/tool.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/mcp/json_text.h"
#include "app/mcp/tool_rows.h"
#include "core/base/natural_order.h"

namespace accelscope::app {
namespace {

std::string argument_schema(const ToolArgument& argument) {
  JsonObject schema;
  switch (argument.type) {
    case ArgumentType::text:
      schema.text("type", "string");
      break;
    case ArgumentType::integer:
      schema.text("type", "integer");
      break;
    case ArgumentType::texts:
      schema.text("type", "array").raw("items", JsonObject().text("type", "string").done());
      break;
  }
  return schema.text("description", argument.description).done();
}

}  // namespace

const std::vector<Tool>& tools() {
  static const std::vector<Tool> all = [] {
    std::vector<Tool> rows = session_tools();
    for (const auto& more : {table_tools(), event_tools(), compare_tools(), program_tools()})
      rows.insert(rows.end(), more.begin(), more.end());
    return rows;
  }();
  return all;
}

const Tool* find_tool(std::string_view name) {
  const auto found = std::find_if(tools().begin(), tools().end(), [&](const Tool& tool) { return tool.name == name; });
  return found == tools().end() ? nullptr : &*found;
}

std::string tool_json(const Tool& tool) {
  JsonObject properties;
  JsonList required;
  for (const ToolArgument& argument : tool.arguments) {
    properties.raw(argument.name, argument_schema(argument));
    if (argument.required) required.text(argument.name);
  }
  const std::string schema = JsonObject()
                                 .text("type", "object")
                                 .raw("properties", properties.done())
                                 .raw("required", required.done())
                                 .flag("additionalProperties", false)
                                 .done();
  const std::string hints = JsonObject()
                                .text("title", tool.title)
                                .flag("readOnlyHint", !tool.changes)
                                .flag("destructiveHint", false)
                                .flag("openWorldHint", tool.changes)
                                .done();
  return JsonObject()
      .text("name", tool.name)
      .text("title", tool.title)
      .text("description", tool.description)
      .raw("inputSchema", schema)
      .raw("annotations", hints)
      .done();
}

Result<ToolAnswer> run_tool(const Tool& tool, ToolCall& call) {
  std::vector<std::string> known;
  for (const ToolArgument& argument : tool.arguments) {
    if (argument.required && !call.arguments.has(argument.name))
      return Error{fmt::format("{}: missing; {}", argument.name, argument.description)};
    known.emplace_back(argument.name);
  }
  for (const std::string& name : call.arguments.names()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string nearest = nearest_name(name, known);
    return Error{fmt::format("{}: {} has no such argument{}; it takes {}", name, tool.name,
                             nearest.empty() ? "" : fmt::format(", did you mean {}?", nearest),
                             fmt::join(known, ", "))};
  }
  return tool.run(call);
}

}  // namespace accelscope::app
