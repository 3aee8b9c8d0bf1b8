#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <ostream>

#include "app/output/duckdb.h"
#include "app/terminal/command.h"
#include "app/terminal/session_input.h"
#include "capture/command_line/options.h"
#include "core/base/format.h"
#include "core/base/text.h"
#include "core/export/dataset/dataset.h"
#include "core/export/dataset/questions.h"
#include "core/listing/base/write.h"

namespace accelscope::app::commands {
namespace {

namespace fs = std::filesystem;
using exporting::FleetQuestion;

struct FleetCommand {
  std::string folder;
  std::vector<std::string> questions;
  std::string since = "monday";
  int limit = 20;
  std::string format = "table";
  std::string engine = "duckdb";
  std::string query;
  bool sql = false;

  int run(const terminal::CommandRun& run) const;

 private:
  struct Asked {
    std::string title, sql;
    std::string_view no_rows;
  };
  [[nodiscard]] Result<std::vector<Asked>> asked() const;
  int print_sql(const std::vector<Asked>& all, std::ostream& out) const;
};

// "2026-11-30" of such a date, of the last day of that name, today included, or of "7d" for so many days ago; in UTC.
Result<std::string> fleet_date(const std::string& text, std::chrono::sys_days today) {
  constexpr std::array<std::string_view, 7> kDays = {"sunday",   "monday", "tuesday", "wednesday",
                                                     "thursday", "friday", "saturday"};
  const auto shown = [](std::chrono::sys_days day) {
    return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::chrono::system_clock::to_time_t(day)));
  };
  const std::string word = lower_case(text);
  const auto named = std::ranges::find(kDays, word);
  if (named != kDays.end()) {
    const std::chrono::weekday wanted(static_cast<unsigned>(named - kDays.begin()));
    return shown(today - (std::chrono::weekday(today) - wanted));
  }
  int days = 0;
  if (word.ends_with('d') && read_number(std::string_view(word).substr(0, word.size() - 1), days) && days >= 0 &&
      days < 100'000)
    return shown(today - std::chrono::days(days));
  int year = 0;
  unsigned month = 0, day = 0;
  if (word.size() == 10 && word[4] == '-' && word[7] == '-' && read_number(word.substr(0, 4), year) &&
      read_number(word.substr(5, 2), month) && read_number(word.substr(8, 2), day)) {
    const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)};
    if (date.ok()) return shown(date);
  }
  return Error{fmt::format("--since {}: is no day; write 2026-11-30, monday or 7d", text)};
}

Result<std::vector<FleetCommand::Asked>> FleetCommand::asked() const {
  if (!query.empty()) {
    if (!questions.empty()) return Error{"name a QUESTION, or ask with --query, not both"};
    return std::vector<Asked>{{"", query, ""}};
  }
  const auto now = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  const std::string date = TRY(fleet_date(since, now));
  const auto all = exporting::fleet_questions();
  for (const std::string& word : questions) {
    if (std::ranges::find(all, word, &FleetQuestion::name) != all.end()) continue;
    std::vector<std::string> names;
    for (const FleetQuestion& each : all) names.emplace_back(each.name);
    return Error{fmt::format("{}: is no question; there are {}", word, joined(names, ", "))};
  }
  std::vector<Asked> chosen;
  for (const FleetQuestion& each : all) {
    if (!questions.empty() && std::ranges::find(questions, each.name) == questions.end()) continue;
    const bool dated = each.sql.find("{since}") != std::string_view::npos;
    chosen.push_back({fmt::format("{}: {}{}", each.name, each.summary, dated ? ", since " + date : std::string()),
                      exporting::fleet_sql(each, date, limit), each.no_rows});
  }
  return chosen;
}

// How people read a column: by the end of its name.
[[nodiscard]] std::string fleet_unit(std::string_view column) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kEndings = {
      std::pair{"_ns", "ns"}, {"_bytes", "B"}, {"_share", "share"}};
  for (const auto& [ending, unit] : kEndings) {
    if (column.ends_with(ending) && !column.ends_with("unix_ns")) return std::string(unit);
  }
  return {};
}

void print_answer(const listing::SqlResult& rows, listing::QueryOutput& output) {
  std::vector<std::string> units;
  for (const std::string& column : rows.columns) units.push_back(fleet_unit(column));
  output.units(std::move(units));
  output.columns(rows.columns);
  for (std::size_t row = 0; row < rows.row_count(); ++row) {
    const auto first = rows.cells.begin() + static_cast<std::ptrdiff_t>(row * rows.columns.size());
    output.row({first, first + static_cast<std::ptrdiff_t>(rows.columns.size())});
  }
  output.finish();
}

int FleetCommand::print_sql(const std::vector<Asked>& all, std::ostream& out) const {
  const auto dialect = engine == "spark"   ? exporting::SqlEngine::spark
                       : engine == "trino" ? exporting::SqlEngine::trino
                                           : exporting::SqlEngine::duckdb;
  std::string queries;
  for (const Asked& each : all) queries += each.sql;
  out << exporting::fleet_tables_sql(dialect, folder, queries);
  for (const Asked& each : all)
    out << fmt::format("\n-- {}\n{};\n", each.title.empty() ? "--query" : each.title, each.sql);
  return terminal::kExitDone;
}

int FleetCommand::run(const terminal::CommandRun& run) const {
  const auto all = asked();
  if (!all) return run.fail_usage("fleet", all.message());
  if (sql) return print_sql(*all, run.data_out());
  const std::string shown_as = run.json ? "json" : format;
  if (listing::is_data(shown_as) && all->size() > 1)
    return run.fail_usage("fleet", fmt::format("name one QUESTION for {}: each has columns of its own", shown_as));
  for (const exporting::DatasetTable& table : exporting::dataset_tables()) {
    std::error_code error;
    if (fs::is_directory(fs::path(folder) / table.name, error)) continue;
    return run.fail(fmt::format("{}: holds no {} of a data set; write one with accelscope export --parquet {} FILE...",
                                folder, table.name, folder));
  }
  std::vector<listing::SqlResult> answers;
  const Result<void> done =
      terminal::with_progress("Asking DuckDB", run, [&](session::JobControl& job) -> Result<void> {
        const auto cancelled = [&] { return job.cancelled(); };
        const auto duckdb = TRY(output::DuckDb::find(cancelled));
        std::vector<std::string> selects;
        for (const Asked& each : *all) selects.push_back(each.sql);
        const std::string tables =
            exporting::fleet_tables_sql(exporting::SqlEngine::duckdb, folder, joined(selects, "\n"));
        answers = TRY(duckdb.run(tables, selects, cancelled));
        return {};
      });
  if (!done) return run.fail(done.message());
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (all->size() > 1) run.streams.out << fmt::format("{}{}\n\n", i == 0 ? "" : "\n", (*all)[i].title);
    const auto printed = listing::make_query_output(
        shown_as, listing::is_data(shown_as) ? run.data_out() : run.streams.out, run.streams.out_is_terminal);
    print_answer(answers[i], *printed);
    if (answers[i].row_count() == 0 && !listing::is_data(shown_as) && !(*all)[i].no_rows.empty())
      run.streams.out << (*all)[i].no_rows << '\n';
  }
  return terminal::kExitDone;
}

// "slower, stragglers, ..."
std::string question_help() {
  std::string text;
  for (const FleetQuestion& each : exporting::fleet_questions())
    text += fmt::format("{}{} ({})", text.empty() ? "" : "; ", each.name, each.summary);
  return text;
}

}  // namespace

terminal::CommandAction declare_fleet(command_line::OptionSet& options) {
  auto command = std::make_shared<FleetCommand>();
  options.add_option("DIR", command->folder, "Folder that accelscope export --parquet wrote; with --sql also a URL")
      .required();
  options.add_option("QUESTION", command->questions, "Else all of them: " + question_help());
  options
      .add_option("--since", command->since,
                  "What is recent: 2026-11-30, the last monday, 7d; slower and growth set it against what is older, "
                  "others leave that out")
      .shows_default();
  options.add_option("--limit", command->limit, "Rows of each answer at most").positive().shows_default();
  options.add_option("--query", command->query, "A SELECT of your own over the tables of the data set");
  options.add_flag("--sql", command->sql, "Print the tables and queries as SQL instead of asking DuckDB");
  options
      .add_option("--for", command->engine,
                  "For whom --sql declares the tables; the queries are the same: duckdb, spark or trino")
      .one_of({"duckdb", "spark", "trino"});
  options.add_option("--format", command->format, "table, csv or json").one_of({"table", "csv", "json"});
  return [command](const terminal::CommandRun& run) { return command->run(run); };
}

}  // namespace accelscope::app::commands
