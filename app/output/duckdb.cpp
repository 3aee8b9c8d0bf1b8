#include "app/output/duckdb.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "capture/sources/parquet/table_reader.h"
#include "capture/system/child_process.h"
#include "capture/system/descriptor.h"

namespace accelscope::app::output {
namespace {

namespace parquet = capture::sources::parquet;
namespace json = capture::json;

// Each runs the SQL that is the last of its arguments, and ends with a status other than 0 where that fails.
struct DuckDbProgram {
  std::string_view name;
  std::string_view program;
  std::vector<std::string> arguments;
};

[[nodiscard]] const std::array<DuckDbProgram, 4>& duckdb_programs() {
  static const std::array<DuckDbProgram, 4> all = {
      DuckDbProgram{"duckdb", "duckdb", {":memory:", "-bail", "-c"}},
      DuckDbProgram{
          "duckdb of python3", "python3", {"-c", "import duckdb, sys; duckdb.connect().execute(sys.argv[1])"}},
      DuckDbProgram{"@duckdb/node-api of node",
                    "node",
                    {"-e",
                     "const { DuckDBInstance } = require('@duckdb/node-api');"
                     "DuckDBInstance.create(':memory:').then(d => d.connect())"
                     ".then(async c => { const all = await c.extractStatements(process.argv[1]);"
                     "for (let i = 0; i < all.count; ++i) await (await all.prepare(i)).run(); })"
                     ".catch(e => { console.error(e.message); process.exit(1); });"}},
      DuckDbProgram{"duckdb of node",
                    "node",
                    {"-e",
                     "const d = require('duckdb'); new d.Database(':memory:').exec(process.argv[1], "
                     "e => { if (e) { console.error(e.message); process.exit(1); } });"}}};
  return all;
}

[[nodiscard]] listing::SqlValue parquet_cell(const json::JsonField& field) {
  if (field.kind == json::JsonKind::null) return {};
  if (field.kind == json::JsonKind::number) {
    // 3.0 is a real number, also where it is whole.
    if (field.text.find_first_of(".eE") == std::string_view::npos) {
      if (const auto whole = json::to_int64(field)) return *whole;
    }
    if (const auto real = json::to_double(field)) return *real;
  }
  if (field.kind == json::JsonKind::boolean) return std::int64_t{field.text == "true"};
  return std::string(field.text);
}

}  // namespace

Result<DuckDb> DuckDb::find(const std::function<bool()>& cancelled) {
  for (const DuckDbProgram& engine : duckdb_programs()) {
    const std::string program = capture::system::find_program(engine.program);
    if (program.empty()) continue;
    std::vector<std::string> command = {program};
    command.insert(command.end(), engine.arguments.begin(), engine.arguments.end());
    std::vector<std::string> trial = command;
    trial.emplace_back("SELECT 1");
    const auto ended = capture::system::run_child(trial, cancelled);
    if (ended && ended->cancelled) return Error{"the query was cancelled"};
    if (ended && ended->exit_code == 0) return DuckDb(std::string(engine.name), std::move(command));
  }
  return Error{
      "DuckDB is not found: put its program duckdb on the PATH (duckdb.org), or install its module for python3 (pip "
      "install duckdb) or node (npm install @duckdb/node-api, with NODE_PATH on its folder); or print the queries with "
      "--sql for another engine"};
}

Result<std::vector<listing::SqlResult>> DuckDb::run(std::string_view before, const std::vector<std::string>& selects,
                                                    const std::function<bool()>& cancelled) const {
  const auto folder = TRY(capture::system::PrivateFolder::make("fleet"));
  const auto file = [&](std::size_t number) { return fmt::format("{}/answer-{}.parquet", folder.path(), number); };
  std::string sql(before);
  for (std::size_t i = 0; i < selects.size(); ++i)
    sql += fmt::format("COPY (\n{}\n) TO '{}' (FORMAT parquet);\n", selects[i], file(i));
  std::vector<std::string> command = command_;
  command.push_back(std::move(sql));
  const auto ended = TRY(capture::system::run_child(command, cancelled));
  if (ended.cancelled) return Error{"the query was cancelled"};
  if (ended.exit_code != 0) return Error{fmt::format("{}: {}", name_, ended.output)};
  std::vector<listing::SqlResult> answers;
  for (std::size_t i = 0; i < selects.size(); ++i) {
    auto rows = TRY(read_parquet_rows(file(i)));
    answers.push_back(std::move(rows));
  }
  return answers;
}

Result<listing::SqlResult> read_parquet_rows(const std::string& path) {
  auto bytes = TRY(parquet::RandomBytes::open(path));
  const auto table = TRY(parquet::TableReader::open(std::move(bytes)));
  listing::SqlResult rows;
  for (const auto& sample : table->samples()) {
    if (sample.record.empty()) rows.columns.emplace_back(sample.field.key);
  }
  while (table->next()) {
    const std::size_t first = rows.cells.size();
    rows.cells.resize(first + rows.columns.size());
    for (const json::JsonField& field : table->fields()) {
      const auto column = std::ranges::find(rows.columns, field.key);
      if (column != rows.columns.end())
        rows.cells[first + static_cast<std::size_t>(column - rows.columns.begin())] = parquet_cell(field);
    }
  }
  if (!table->problems().empty())
    return Error{fmt::format("{}: {} {}", path, table->problems().front().column, table->problems().front().what)};
  return rows;
}

}  // namespace accelscope::app::output
