// The virtual table over rows that are not events: tracks, markers, metrics, resolved flows, paired allocations, and
// the listings of analysis. A table is a list of columns and a function that makes its rows, which runs when the table
// is first read.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/sql/base/context.h"
#include "core/sql/base/sql.h"
#include "core/sql/virtual/virtual_table.h"

namespace accelscope::sql {

struct RowColumn {
  std::string name;
  std::string type;     // SQL type
  bool key = false;     // an integer that rows are often looked up by: equality is answered by an index
  bool hidden = false;  // may be named, but SELECT * leaves it out
};

class Rows {
 public:
  Rows() = default;
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  virtual ~Rows() = default;
  [[nodiscard]] virtual std::size_t size() const = 0;
  virtual void result(sqlite3_context* context, std::size_t row, std::size_t column) const = 0;
  // Of a column that the table declares as a key.
  [[nodiscard]] virtual std::int64_t key(std::size_t row, std::size_t column) const = 0;
  [[nodiscard]] virtual std::vector<RowColumn> columns() const { return {}; }  // of a table that asks for them
};

// Rows that lie ready as values.
class ValueRows final : public Rows {
 public:
  explicit ValueRows(std::size_t columns, std::vector<listing::SqlValue> cells = {})
      : columns_(columns), cells_(std::move(cells)) {}
  void add(std::vector<listing::SqlValue> row) {
    for (listing::SqlValue& value : row) cells_.push_back(std::move(value));
  }
  [[nodiscard]] std::size_t size() const override { return cells_.size() / columns_; }
  void result(sqlite3_context* context, std::size_t row, std::size_t column) const override;
  [[nodiscard]] std::int64_t key(std::size_t row, std::size_t column) const override;

 private:
  std::size_t columns_;
  std::vector<listing::SqlValue> cells_;
};

struct RowTableSpec {
  std::string name;
  std::vector<RowColumn> columns;
  std::uint64_t row_estimate = 0;
  std::function<Result<std::shared_ptr<const Rows>>(Context&)> make;
  bool changes = false;  // made anew for every run (markers); else once per session
  bool varies = false;   // the columns are those that its rows have, once they are made
  // Connected when a query first names it, and costs nothing before. An event table of its name goes before it.
  bool on_demand = false;
};

// The specification must outlive the table.
[[nodiscard]] Result<std::unique_ptr<VirtualTable>> make_row_table(Context& context, const RowTableSpec& spec);

}  // namespace accelscope::sql
