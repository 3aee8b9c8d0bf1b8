#include <fmt/format.h>

#include <memory>
#include <ostream>

#include "app/commands/command.h"
#include "app/commands/quality_report.h"
#include "app/commands/session_input.h"
#include "capture/command_line/options.h"
#include "core/base/format.h"

namespace accelscope::app {
namespace {

struct IngestCheckCommand {
  std::string input;
  OpenSessionOptions input_options;

  int run(const CommandRun& run) const;
};

void print_json(std::ostream& out, const std::string& input, const Snapshot& snapshot) {
  std::string tables;
  for (const TableCount& count : table_counts(snapshot)) {
    tables += fmt::format("{}{{\"name\": {}, \"events\": {}, \"source_rows\": {}}}", tables.empty() ? "" : ", ",
                          json_quote(count.name), count.events,
                          count.source_rows.empty() ? "null" : json_quote(count.source_rows));
  }
  out << fmt::format(
      "{{\"file\": {}, \"events\": {}, \"begin_ns\": {}, \"end_ns\": {}, \"tables\": [{}], \"quality\": {}}}\n",
      json_quote(input), snapshot.event_count, snapshot.begin_ns, snapshot.end_ns, tables, quality_json(snapshot));
}

int IngestCheckCommand::run(const CommandRun& run) const {
  const auto session = open_input({input}, input_options, run);
  if (!session) return run.fail(session.message());
  const auto snapshot = session->store->snapshot();
  if (run.json) {
    print_json(run.streams.out, input, *snapshot);
    return kExitDone;
  }
  run.streams.out << fmt::format("{}: {} events from {} to {}\n\n", input, format_count(snapshot->event_count),
                                 format_time_exact(snapshot->begin_ns), format_time_exact(snapshot->end_ns));
  print_quality_report(run.streams.out, *snapshot);
  return kExitDone;
}

}  // namespace

CommandAction declare_ingest_check(command_line::OptionSet& options) {
  auto command = std::make_shared<IngestCheckCommand>();
  options.add_option("FILE", command->input, "Profile or session file").required();
  options.add_option("--format", command->input_options.format, "Format of the file instead of guessing it");
  return [command](const CommandRun& run) { return command->run(run); };
}

}  // namespace accelscope::app
