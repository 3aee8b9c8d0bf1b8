// What the SQL panel knows about the text of a query without running it: its words, what could be typed next, which
// tables it names, and the values of the view that it may use as parameters. No drawing, not a parser.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/sql/base/sql.h"
#include "core/sql/base/tokens.h"

namespace accelscope::app {

using SqlToken = sql::Token;
using SqlTokenKind = sql::TokenKind;

// The comments are left out.
[[nodiscard]] std::vector<SqlToken> sql_tokens(std::string_view sql);

// Those of the tables that the query names, each once, in the order of the tables.
[[nodiscard]] std::vector<std::string> named_tables(std::string_view sql, std::span<const SqlTable> tables);

struct SqlCandidate {
  std::string text;    // what is put in place of the word
  std::string detail;  // "table", "column of slice", "function"
};
struct SqlCompletion {
  std::size_t begin = 0;  // the word at the caret: [begin, end) of the text is replaced
  std::size_t end = 0;
  std::vector<SqlCandidate> candidates;  // best first
};
// What may stand at the caret: after FROM and JOIN tables, after "table." its columns, elsewhere columns of the tables
// that the query names, functions, keywords. Nothing inside quotes and comments.
[[nodiscard]] SqlCompletion complete_sql(std::string_view sql, std::size_t caret, std::span<const SqlTable> tables);

// Values of the view that a query may name: :begin and :end of the visible range in ns, :selected, an event's id.
struct SqlParameters {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::optional<std::uint64_t> selected;
};
// The query with these parameters as numbers; :selected is NULL without a selection. Others stay as they are.
[[nodiscard]] std::string with_parameters(std::string_view sql, const SqlParameters& parameters);

}  // namespace accelscope::app
