#include "core/sql/base/hint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "core/base/natural_order.h"
#include "core/base/text.h"
#include "core/sql/base/context.h"
#include "core/sql/base/tokens.h"

namespace accelscope::sql {
namespace {

std::vector<std::string> all_columns(const SqlTable& table) {
  std::vector<std::string> columns = table.columns;
  columns.insert(columns.end(), table.hidden_columns.begin(), table.hidden_columns.end());
  return columns;
}

// Tables whose names the query holds; all of them if its tokens cannot be read.
std::vector<const SqlTable*> tables_of(std::string_view sql, const std::vector<SqlTable>& tables) {
  const auto tokens = tokens_of(sql);
  std::vector<const SqlTable*> used;
  for (const SqlTable& table : tables) {
    const auto names_it = [&](const Token& token) {
      return token.is_name() && lower_case(token.text) == lower_case(table.name);
    };
    if (!tokens || std::any_of(tokens->begin(), tokens->end(), names_it)) used.push_back(&table);
  }
  return used;
}

bool is_table_or_column(std::string_view word, const std::vector<SqlTable>& tables) {
  const auto is_it = [&](const std::string& name) { return lower_case(name) == lower_case(word); };
  return std::any_of(tables.begin(), tables.end(), [&](const SqlTable& table) {
    const std::vector<std::string> columns = all_columns(table);
    return is_it(table.name) || std::any_of(columns.begin(), columns.end(), is_it);
  });
}

std::string table_hint(std::string_view wanted, const std::vector<SqlTable>& tables) {
  std::vector<std::string> names;
  for (const SqlTable& table : tables) names.push_back(table.name);
  const std::string nearest = nearest_name(wanted, names);
  if (!nearest.empty()) return fmt::format("; did you mean {}?", nearest);
  return fmt::format("; there are {}", fmt::join(names, ", "));
}

std::string column_hint(std::string_view wanted, std::string_view sql, const std::vector<SqlTable>& tables) {
  const std::vector<const SqlTable*> used = tables_of(sql, tables);
  std::vector<std::string> columns;
  for (const SqlTable* table : used) std::ranges::copy(all_columns(*table), std::back_inserter(columns));
  const std::string nearest = nearest_name(wanted, columns);
  if (!nearest.empty() && lower_case(nearest) != lower_case(wanted)) return fmt::format("; did you mean {}?", nearest);
  std::vector<std::string> elsewhere;
  for (const SqlTable& table : tables) {
    const std::vector<std::string> names = all_columns(table);
    const bool has_it = std::any_of(names.begin(), names.end(),
                                    [&](const std::string& name) { return lower_case(name) == lower_case(wanted); });
    if (has_it) elsewhere.push_back(table.name);
  }
  if (!elsewhere.empty()) return fmt::format("; it is a column of {}", fmt::join(elsewhere, ", "));
  std::string hint;
  for (const SqlTable* table : used) hint += fmt::format("; {} has {}", table->name, fmt::join(table->columns, ", "));
  return hint;
}

}  // namespace

std::string hint_for(std::string_view message, std::string_view sql, const std::vector<SqlTable>& tables) {
  constexpr std::string_view kTable = "no such table: ";
  constexpr std::string_view kColumn = "no such column: ";
  // Names may come with what they belong to: temp.slyce, s.dur.
  const std::string_view wanted = message.substr(std::max(message.rfind('.') + 1, message.rfind(' ') + 1));
  if (message.starts_with("near \"") && message.ends_with("\": syntax error")) {
    const std::string_view word = message.substr(6, message.size() - 6 - 15);
    return is_table_or_column(word, tables) ? fmt::format("; {0} is a word of SQL too: write \"{0}\"", word) : "";
  }
  if (message.starts_with(kTable)) return table_hint(wanted, tables);
  if (message.starts_with(kColumn)) return column_hint(wanted, sql, tables);
  return {};
}

}  // namespace accelscope::sql
