// Answers of DuckDB, where it is installed: its command line, or the module of Python or of Node.js. It is looked for
// at run time; nothing links it.
//
//   Result<DuckDb> duckdb = DuckDb::find();
//   Result<std::vector<listing::SqlResult>> answers = duckdb->run(views, {"SELECT ...", "SELECT ..."}, cancelled);
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/listing/base/rows.h"

namespace accelscope::app::output {

class DuckDb {
 public:
  // The first that is there: duckdb, python3 with the module duckdb, node with duckdb or @duckdb/node-api. `cancelled`
  // is asked while programs are tried. Fails with how to get one.
  [[nodiscard]] static Result<DuckDb> find(const std::function<bool()>& cancelled);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  // The rows of each SELECT, after statements that prepare for them.
  [[nodiscard]] Result<std::vector<listing::SqlResult>> run(std::string_view before,
                                                            const std::vector<std::string>& selects,
                                                            const std::function<bool()>& cancelled) const;

 private:
  DuckDb(std::string name, std::vector<std::string> command) : name_(std::move(name)), command_(std::move(command)) {}

  std::string name_;                  // "duckdb of python3"
  std::vector<std::string> command_;  // the SQL is its last argument
};

// Rows of a Parquet file; nested values as JSON.
[[nodiscard]] Result<listing::SqlResult> read_parquet_rows(const std::string& path);

}  // namespace accelscope::app::output
