#include "app/commands/view_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/content/fact_tables.h"
#include "app/export/output_file.h"
#include "app/export/query_output.h"
#include "app/terminal/query_watch.h"
#include "app/terminal/session_input.h"
#include "core/base/nearest_name.h"

namespace accelscope::app {
namespace {

[[nodiscard]] Error unknown_table(const TableViewRequest& request, const Snapshot& snapshot,
                                  const std::vector<std::string>& known) {
  std::vector<std::string> without_time;
  for (const FactTable& table : fact_tables(snapshot)) without_time.push_back(table.name);
  const std::string nearest = nearest_name(request.table, known);
  return Error{
      fmt::format("{}: it has no table {}{}; without time it has {}; accelscope query {} --tables lists all",
                  request.input, request.table, nearest.empty() ? "" : fmt::format(", did you mean {}?", nearest),
                  without_time.empty() ? "none" : fmt::format("{}", fmt::join(without_time, ", ")), request.input)};
}

}  // namespace

int view_table(const TableViewRequest& request, const CommandRun& run) {
  const std::string path = request.output_file.empty() ? std::string(kStandardOutput) : request.output_file;
  if (auto may = may_write(path, request.force, {request.input}); !may) return run.fail(may.message());
  const auto session = open_input({request.input}, request.input_options, run);
  if (!session) return run.fail(session.message());
  const auto snapshot = session->store->snapshot();
  WorkerPool pool;
  SqlSession sql(*session->store, snapshot, pool);
  std::vector<std::string> known;
  for (const SqlTable& table : sql.tables()) known.push_back(table.name);
  if (std::find(known.begin(), known.end(), request.table) == known.end()) {
    return run.fail(unknown_table(request, *snapshot, known).message);
  }
  const auto output = OutputFile::open(path, run.streams.out);
  if (!output) return run.fail(output.message());
  const auto rows = make_query_output(run.json ? "json" : request.format, (*output)->stream(),
                                      path == kStandardOutput && run.streams.out_is_terminal);
  const Interruptible interruptible;
  TaskControl control;
  Result<void> done;
  {
    QueryWatch watch(control, interruptible, run);
    watch.hide_progress();
    done = sql.visit(sql_of_table(*snapshot, request.table), *rows, control);
  }
  if (!done && control.cancelled() && interruptible.interrupted()) {
    (void)run.fail(fmt::format("{}: interrupted; the table is not complete", request.input));
    return kExitInterrupted;
  }
  if (!done) return run.fail(fmt::format("{}: {}", request.input, done.message()));
  rows->finish();
  const Result<void> finished = (*output)->finish();
  if (!finished) return run.fail(finished.message());
  if (const std::string note = sql.note(); !note.empty())
    run.say(fmt::format("accelscope: {}: {}", request.input, note));
  return kExitDone;
}

}  // namespace accelscope::app
