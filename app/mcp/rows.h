// Rows as JSON within limits: {"columns": [...], "rows": [[...]], "left_out": "..."}.
#pragma once

#include <cstdint>
#include <string>

#include "app/mcp/json_text.h"
#include "core/sql/base/sql.h"

namespace accelscope::app {

struct RowLimits {
  std::size_t rows = 30;
  std::size_t bytes = 16'000;       // of all rows
  std::size_t cell_bytes = 400;     // of a text; what is longer is cut, and says by how much
  std::uint64_t counted = 200'000;  // rows beyond the limits are counted so far
};

class LimitedRows final : public SqlRowVisitor {
 public:
  explicit LimitedRows(const RowLimits& limits) : limits_(limits) {}
  bool columns(const std::vector<std::string>& names) override;
  bool row(const std::vector<SqlValue>& values) override;

  void add_to(JsonObject& answer) const;

 private:
  RowLimits limits_;
  std::string columns_ = "[]";
  JsonList rows_;
  std::size_t bytes_ = 0, kept_ = 0;
  std::uint64_t seen_ = 0;
  bool counted_all_ = true;
};

}  // namespace accelscope::app
