#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>

#include "app/commands/command.h"
#include "app/commands/query_output.h"
#include "app/commands/session_input.h"
#include "core/base/format.h"

namespace accelscope::app {
namespace {

struct QueryCommand {
  std::string input;
  std::string sql;
  std::string format = "table";
  bool tables = false;

  int run(const CommandRun& run) const;
};

void print_tables(std::ostream& out, const SqlSession& sql) {
  for (const SqlTable& table : sql.tables()) {
    out << fmt::format("{}({})\n", table.name, fmt::join(table.columns, ", "));
    if (!table.hidden_columns.empty()) out << fmt::format("    also {}\n", fmt::join(table.hidden_columns, ", "));
  }
}

int QueryCommand::run(const CommandRun& run) const {
  if (sql.empty() && !tables) return run.fail_usage("query", "a query is missing");
  const auto session = open_input({input}, {}, run);
  if (!session) return run.fail(session.message());
  WorkerPool pool;
  SqlSession sql_session(*session->store, session->store->snapshot(), pool);
  if (tables) {
    print_tables(run.streams.out, sql_session);
    return kExitDone;
  }
  const auto output = make_query_output(run.json ? "json" : format, run.streams.out);
  TaskControl control;
  const Result<void> done = sql_session.visit(sql, *output, control);
  if (!done) return run.fail("SQL: " + done.message());
  output->finish();
  if (!run.streams.out.good()) return run.fail("the output could not be written; is the disk full?");
  if (const std::string note = sql_session.note(); !note.empty()) run.say("accelscope: " + input + ": " + note);
  if (const std::string note = output->note(); !note.empty()) run.say("accelscope: " + note);
  return kExitDone;
}

}  // namespace

CommandAction declare_query(CLI::App& options) {
  auto command = std::make_shared<QueryCommand>();
  options.add_option("FILE", command->input, "Session file or profile")->required();
  options.add_option("SQL", command->sql, "One SELECT");
  options.add_option("--format", command->format, "table, csv (RFC 4180) or json (one array of objects)")
      ->check(CLI::IsMember({"table", "csv", "json"}));
  options.add_flag("--tables", command->tables, "List the tables and their columns");
  return [command](const CommandRun& run) { return command->run(run); };
}

}  // namespace accelscope::app
