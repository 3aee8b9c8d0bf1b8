// Rows of a query as they are printed: a table for people, CSV by RFC 4180, one JSON array of objects. CSV and JSON
// stream; a table is kept back until its widths are known, at most kTableRows rows of it.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

#include "core/query/sql.h"

namespace accelscope::app {

inline constexpr std::size_t kTableRows = 10'000;

class QueryOutput : public SqlRowVisitor {
 public:
  virtual void finish() = 0;  // after the last row
  // What was left out, "" if nothing.
  [[nodiscard]] virtual std::string note() const { return {}; }
};

// format: table, csv or json.
[[nodiscard]] std::unique_ptr<QueryOutput> make_query_output(std::string_view format, std::ostream& out);

}  // namespace accelscope::app
