#include "core/sql/base/context.h"

#include <fmt/format.h>

#include <limits>

#include "core/base/text.h"

namespace accelscope::sql {

const StringMap& Context::strings(std::uint32_t scope) {
  const auto known = scopes.find(scope);
  if (known != scopes.end()) return known->second;
  return scopes.emplace(scope, StringMap(snapshot->strings->scope_map(scope))).first->second;
}

std::string_view Context::look_up(StringId id) {
  const StringPool& strings_of_all = *snapshot->strings;
  std::string_view text = strings_of_all.text(id);
  if (text.data() == nullptr) text = "";
  if (texts.empty()) texts.resize(strings_of_all.size());
  if (id < texts.size()) texts[id] = text;
  return text;
}

void result_text(sqlite3_context* context, std::string_view text) {
  sqlite3_result_text64(context, text.empty() ? "" : text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

void result_pooled_text(sqlite3_context* context, std::string_view text) {
  sqlite3_result_text64(context, text.empty() ? "" : text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

void result_uint64(sqlite3_context* context, std::uint64_t value) {
  if (value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    sqlite3_result_int64(context, static_cast<std::int64_t>(value));
  } else {
    result_text(context, fmt::format("{}", value));
  }
}

std::string shown_name(std::string_view name) {
  std::string shown;
  for (const char c : name) {
    if (c == '\0') {
      shown += "\xE2\x90\x80";
    } else {
      shown += c;
    }
  }
  return shown;
}

std::string quoted_name(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : shown_name(name)) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  quoted += '"';
  return quoted;
}

}  // namespace accelscope::sql
