#include "app/mcp/arguments.h"

#include <fmt/format.h>

#include "capture/json/json_cursor.h"

namespace accelscope::app {

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

}  // namespace accelscope::app
