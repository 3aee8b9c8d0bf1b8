// Rows of values: what SQL answers with, what listings consist of, and what writers of tables take.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace accelscope::listing {

struct SqlBlob {
  std::string bytes;
  bool operator==(const SqlBlob&) const = default;
};
using SqlValue = std::variant<std::monostate, std::int64_t, double, std::string, SqlBlob>;  // monostate: NULL

struct SqlResult {
  std::vector<std::string> columns;
  std::vector<SqlValue> cells;  // row by row
  bool truncated = false;       // a limit was reached: there are more rows
  // Of chunks that could not be read: their rows are missing. The note says so in a sentence, and which tables could
  // not be made; "" if nothing is missing.
  std::uint64_t skipped_events = 0;
  std::string note;

  [[nodiscard]] std::size_t row_count() const noexcept { return columns.empty() ? 0 : cells.size() / columns.size(); }
  [[nodiscard]] const SqlValue& at(std::size_t row, std::size_t column) const {
    return cells[row * columns.size() + column];
  }
};

// Takes the rows of a result as they come. Returning false ends the run without an error.
class SqlRowVisitor {
 public:
  virtual ~SqlRowVisitor() = default;
  virtual bool columns(const std::vector<std::string>& names) = 0;
  virtual bool row(const std::vector<SqlValue>& values) = 0;
};

}  // namespace accelscope::listing
