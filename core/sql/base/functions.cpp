#include "core/sql/base/functions.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <string_view>

namespace accelscope::sql {
namespace {

std::string_view value_text(sqlite3_value* value) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  return text == nullptr ? std::string_view()
                         : std::string_view(text, static_cast<std::size_t>(sqlite3_value_bytes(value)));
}

// The compiled pattern is kept with the statement.
void regexp(sqlite3_context* context, int, sqlite3_value** values) {
  if (sqlite3_value_type(values[0]) == SQLITE_NULL || sqlite3_value_type(values[1]) == SQLITE_NULL) return;
  auto* expression = static_cast<re2::RE2*>(sqlite3_get_auxdata(context, 0));
  if (expression == nullptr) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    const std::string_view pattern = value_text(values[0]);
    expression = new re2::RE2({pattern.data(), pattern.size()}, options);
    if (!expression->ok()) {
      const std::string message = fmt::format("regular expression \"{}\": {}", pattern, expression->error());
      delete expression;
      return sqlite3_result_error(context, message.c_str(), -1);
    }
    sqlite3_set_auxdata(context, 0, expression, [](void* retained) { delete static_cast<re2::RE2*>(retained); });
    expression = static_cast<re2::RE2*>(sqlite3_get_auxdata(context, 0));
    if (expression == nullptr) return sqlite3_result_error_nomem(context);
  }
  const std::string_view text = value_text(values[1]);
  sqlite3_result_int(context, re2::RE2::PartialMatch({text.data(), text.size()}, *expression) ? 1 : 0);
}

}  // namespace

int register_functions(sqlite3* database) {
  return sqlite3_create_function_v2(database, "regexp", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
                                    nullptr, regexp, nullptr, nullptr, nullptr);
}

}  // namespace accelscope::sql
