#include "app/mcp/tool.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "capture/json/json_cursor.h"
#include "core/base/json.h"
#include "core/base/text.h"

namespace accelscope::app::mcp {

using capture::json::JsonField;
using capture::json::JsonKind;

Result<ToolArguments> ToolArguments::read(std::string_view object) {
  ToolArguments arguments;
  const bool whole = capture::json::each_member(object, [&](const JsonField& field) {
    if (field.kind == JsonKind::null) return true;
    const Kind kind = field.kind == JsonKind::string   ? Kind::text
                      : field.kind == JsonKind::number ? Kind::number
                      : field.kind == JsonKind::array  ? Kind::list
                                                       : Kind::other;
    arguments.values_.insert_or_assign(std::string(field.key), Value{kind, std::string(field.text)});
    return true;
  });
  if (!whole) return Error{"the arguments are not a JSON object"};
  return arguments;
}

const ToolArguments::Value* ToolArguments::find(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

bool ToolArguments::has(std::string_view name) const { return find(name) != nullptr; }

std::vector<std::string> ToolArguments::names() const {
  std::vector<std::string> all;
  for (const auto& [name, value] : values_) all.push_back(name);
  return all;
}

Result<std::string> ToolArguments::required_text(std::string_view name) const {
  auto value = text(name);
  if (value && value->empty()) return Error{fmt::format("{}: missing", name)};
  return value;
}

Result<std::string> ToolArguments::text(std::string_view name, std::string otherwise) const {
  const Value* value = find(name);
  if (value == nullptr) return otherwise;
  if (value->kind != Kind::text) return Error{fmt::format("{}: takes a text", name)};
  return value->text;
}

Result<std::int64_t> ToolArguments::integer(std::string_view name, std::int64_t otherwise, std::int64_t least,
                                            std::int64_t most) const {
  const Value* value = find(name);
  if (value == nullptr) return otherwise;
  JsonField field;
  field.kind = value->kind == Kind::text ? JsonKind::string : JsonKind::number;
  field.text = value->text;
  const auto number = value->kind == Kind::text || value->kind == Kind::number ? capture::json::to_int64(field)
                                                                               : std::optional<std::int64_t>();
  if (!number || *number < least || *number > most)
    return Error{fmt::format("{}: takes a whole number from {} to {}", name, least, most)};
  return *number;
}

Result<std::optional<std::uint64_t>> ToolArguments::id(std::string_view name) const {
  const Value* value = find(name);
  if (value == nullptr) return std::optional<std::uint64_t>();
  JsonField field;
  field.kind = value->kind == Kind::text ? JsonKind::string : JsonKind::number;
  field.text = value->text;
  const auto number = value->kind == Kind::text || value->kind == Kind::number ? capture::json::to_uint64(field)
                                                                               : std::optional<std::uint64_t>();
  if (!number) return Error{fmt::format("{}: takes the id of an event, as answers have it", name)};
  return number;
}

Result<std::vector<std::string>> ToolArguments::texts(std::string_view name) const {
  std::vector<std::string> all;
  const Value* value = find(name);
  if (value == nullptr) return all;
  if (value->kind == Kind::text) return std::vector<std::string>{value->text};
  const bool whole = value->kind == Kind::list && capture::json::each_element(value->text, [&](const JsonField& each) {
                       all.emplace_back(each.text);
                       return each.kind == JsonKind::string;
                     });
  if (!whole) return Error{fmt::format("{}: takes a list of texts", name)};
  return all;
}

namespace {

void add_schema(JsonWriter& json, const ToolArgument& argument) {
  const bool texts = argument.type == ArgumentType::texts;
  json.begin_object("type", texts ? "array" : argument.type == ArgumentType::text ? "string" : "integer");
  if (texts) json.key("items").object("type", "string");
  json.add("description", argument.description).end();
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
  std::vector<std::string> required;
  JsonWriter json;
  json.begin_object("name", tool.name, "title", tool.title, "description", tool.description);
  json.key("inputSchema").begin_object("type", "object").key("properties").begin_object();
  for (const ToolArgument& argument : tool.arguments) {
    add_schema(json.key(argument.name), argument);
    if (argument.required) required.emplace_back(argument.name);
  }
  json.end().add("required", required, "additionalProperties", false).end();
  json.key("annotations")
      .object("title", tool.title, "readOnlyHint", !tool.changes, "destructiveHint", false, "openWorldHint",
              tool.changes);
  return json.done();
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

}  // namespace accelscope::app::mcp
