#include <fmt/format.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "app/terminal/command.h"
#include "app/terminal/filter_options.h"
#include "app/terminal/query_watch.h"
#include "app/terminal/session_input.h"
#include "capture/command_line/options.h"
#include "core/base/format.h"
#include "core/base/json.h"
#include "core/listing/base/write.h"
#include "core/sql/base/sql.h"

namespace accelscope::app::commands {
namespace {

struct QueryCommand {
  std::string input;
  std::string sql;
  std::string format = "table";
  bool tables = false;
  terminal::FilterOptions filter;

  int run(const terminal::CommandRun& run) const;
  int ask(sql::Session& sql_session, const terminal::CommandRun& run) const;
};

void print_tables_as_json(std::ostream& out, const sql::Session& sql) {
  JsonWriter json(JsonLayout::rows);
  json.array(sql.tables(), [&](const sql::ListedTable& table) {
    json.object("name", table.name, "columns", table.columns, "hidden_columns", table.hidden_columns);
  });
  out << json.done() << '\n';
}

void print_tables(std::ostream& out, const sql::Session& sql) {
  for (const sql::ListedTable& table : sql.tables()) {
    out << fmt::format("{}({})\n", table.name, fmt::join(table.columns, ", "));
    if (!table.hidden_columns.empty()) out << fmt::format("    also {}\n", fmt::join(table.hidden_columns, ", "));
  }
}

// Prints the rows; the first of them takes the progress line's place on a terminal.
class PrintedRows final : public listing::SqlRowVisitor {
 public:
  PrintedRows(listing::QueryOutput& output, terminal::QueryWatch& watch, bool out_is_terminal)
      : output_(output), watch_(watch), out_is_terminal_(out_is_terminal) {}
  bool columns(const std::vector<std::string>& names) override { return output_.columns(names); }
  bool row(const std::vector<listing::SqlValue>& values) override {
    if (rows_++ == 0 && out_is_terminal_) watch_.hide_progress();
    return output_.row(values);
  }
  [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }

 private:
  listing::QueryOutput& output_;
  terminal::QueryWatch& watch_;
  bool out_is_terminal_;
  std::uint64_t rows_ = 0;
};

int QueryCommand::ask(sql::Session& sql_session, const terminal::CommandRun& run) const {
  const auto output = listing::make_query_output(run.json ? "json" : format,
                                                 listing::is_data(format) ? run.data_out() : run.streams.out,
                                                 run.streams.out_is_terminal);
  terminal::QueryWatch watch(run);
  PrintedRows printed(*output, watch, run.streams.out_is_terminal);
  const Result<void> done = sql_session.visit(sql, printed, watch.control());
  watch.hide_progress();
  if (!done && watch.interrupted()) {
    output->finish();
    (void)run.fail(fmt::format("{}: the query was interrupted after {} rows", input, format_count(printed.rows())));
    return terminal::kExitInterrupted;
  }
  if (!done) return run.fail("SQL: " + done.message());
  output->finish();
  if (const std::string note = sql_session.note(); !note.empty()) run.inform("accelscope: " + input + ": " + note);
  return terminal::kExitDone;
}

int QueryCommand::run(const terminal::CommandRun& run) const {
  const auto session = terminal::open_input({input}, {}, run);
  if (!session) return run.fail(session.message());
  const auto filtered = terminal::make_filter(filter, *session->store, &run);
  if (!filtered) return run.fail(filtered.message());
  if (!filter.empty()) run.inform(fmt::format("accelscope: {}: {}", input, filtered->text()));
  WorkerPool pool;
  sql::Session sql_session(*session->store, session->store->snapshot(), pool, filtered->mask);
  if (!sql.empty() && !tables) return ask(sql_session, run);
  if (run.json || format == "json") {
    print_tables_as_json(run.data_out(), sql_session);
  } else {
    print_tables(run.streams.out, sql_session);
  }
  return terminal::kExitDone;
}

}  // namespace

terminal::CommandAction declare_query(command_line::OptionSet& options) {
  auto command = std::make_shared<QueryCommand>();
  options.add_option("FILE", command->input, "Session file or profile").required();
  options.add_option("SQL", command->sql, "One SELECT; without it, the tables and their columns are listed");
  options
      .add_option("--format", command->format,
                  "table, csv (RFC 4180) or json (one array of objects); blobs come as hexadecimal digits, infinity in "
                  "JSON as 1e999")
      .one_of({"table", "csv", "json"});
  options.add_flag("--tables", command->tables, "List the tables and their columns");
  terminal::declare_filter(options, command->filter);
  return [command](const terminal::CommandRun& run) { return command->run(run); };
}

}  // namespace accelscope::app::commands
