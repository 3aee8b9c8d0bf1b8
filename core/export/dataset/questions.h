// What a team asks of a data set of many sessions (dataset.h), as SQL that DuckDB, Spark and Trino run unchanged: no
// function and no syntax that one of them lacks, every division of real numbers, and no HUGEINT for sums.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace accelscope::exporting {

struct FleetQuestion {
  std::string_view name;     // a word for the command line
  std::string_view summary;  // what it answers
  std::string_view sql;      // with {since}, a date, and {limit}, a number of rows
  std::string_view no_rows;  // what it means that there are none
};

[[nodiscard]] std::span<const FleetQuestion> fleet_questions() noexcept;
// `since`: "2026-11-30"
[[nodiscard]] std::string fleet_sql(const FleetQuestion& question, std::string_view since, std::int64_t limit);

enum class SqlEngine : std::uint8_t { duckdb, spark, trino };

// Makes the tables that the queries name known to the engine: statements with semicolons. The others stay out: an
// engine may open each file of a table that it is told of.
[[nodiscard]] std::string fleet_tables_sql(SqlEngine engine, std::string_view folder, std::string_view queries);

}  // namespace accelscope::exporting
