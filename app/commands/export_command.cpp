#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <ostream>

#include "app/library/library.h"
#include "app/output/dataset_folder.h"
#include "app/terminal/command.h"
#include "app/terminal/session_input.h"
#include "app/terminal/terminal.h"
#include "capture/command_line/options.h"
#include "capture/request/option_cli.h"
#include "core/base/format.h"
#include "core/base/json.h"
#include "core/base/text.h"

namespace accelscope::app::commands {
namespace {

namespace fs = std::filesystem;

struct ExportCommand {
  std::vector<std::string> inputs;
  std::string folder;
  std::string tables;
  workspace::OpenSessionOptions input_options;

  int run(const terminal::CommandRun& run) const;
  [[nodiscard]] Result<exporting::ExportReport> add(const std::string& input, const std::vector<std::string>& chosen,
                                                    const terminal::CommandRun& run) const;
};

// A folder stands for the sessions in it; one without any is an input like others, as a folder of ranks.
std::vector<std::string> exported_sessions(const std::vector<std::string>& inputs) {
  std::vector<std::string> found;
  for (const std::string& input : inputs) {
    const std::size_t before = found.size();
    std::error_code error;
    if (fs::is_directory(input, error)) {
      for (const library::LibraryEntry& entry : library::scan_library({input}).entries) {
        if (entry.is_session) found.push_back(entry.path);
      }
    }
    if (found.size() == before) found.push_back(input);
  }
  return found;
}

Result<exporting::ExportReport> ExportCommand::add(const std::string& input, const std::vector<std::string>& chosen,
                                                   const terminal::CommandRun& run) const {
  const auto session = TRY(terminal::open_input({input}, input_options, run));
  const library::LibraryEntry entry = library::read_entry(input, "");
  std::error_code error;
  const exporting::DatasetSession facts{.title = entry.name.empty() ? session.title : entry.name,
                                        .file = fs::absolute(input, error).lexically_normal().string(),
                                        .tags = library::join_tags(entry.tags),
                                        .project = entry.project,
                                        .saved_unix_s = entry.when_unix_s()};
  exporting::ExportReport report;
  const Result<void> done =
      terminal::with_progress("Exporting " + input, run, [&](session::JobControl& job) -> Result<void> {
        job.set_unit(session::JobUnit::events);
        WorkerPool pool;
        TaskControl control;
        const exporting::ExportRequest request{.query = {*session.store, session.store->snapshot(), pool, control},
                                               .progress = [&](std::uint64_t events, std::uint64_t total) {
                                                 if (!job.report(events, total)) control.cancel();
                                               }};
        report = TRY(output::add_to_dataset(folder, request, facts, chosen));
        return {};
      });
  if (!done) return Error{fmt::format("{}: {}", input, done.message())};
  return report;
}

int ExportCommand::run(const terminal::CommandRun& run) const {
  const std::vector<std::string> chosen = capture::request::split_names(tables);
  for (const std::string& name : chosen) {
    const auto& known = exporting::dataset_tables();
    if (std::ranges::find(known, name, &exporting::DatasetTable::name) != known.end()) continue;
    std::vector<std::string> names;
    for (const exporting::DatasetTable& table : known) names.emplace_back(table.name);
    return run.fail_usage("export", fmt::format("--tables {}: there are {}", name, joined(names, ", ")));
  }
  exporting::ExportReport sum;
  std::size_t failed = 0;
  const std::vector<std::string> sessions = exported_sessions(inputs);
  for (const std::string& input : sessions) {
    const auto report = add(input, chosen, run);
    if (!report) {
      (void)run.fail(report.message());
      if (terminal::interrupted_status() != 0) return terminal::kExitFailed;
      ++failed;
      continue;
    }
    sum.rows += report->rows;
    sum.bytes += report->bytes;
  }
  const std::size_t written = sessions.size() - failed;
  if (run.json) {
    run.streams.out << json_line("output", folder, "sessions", written, "failed", failed, "rows", sum.rows, "bytes",
                                 sum.bytes);
  } else {
    run.inform(fmt::format("{}: {}, {} events and samples, {}", folder, counted(written, "session"),
                           format_count(sum.rows), format_bytes(sum.bytes)));
  }
  if (failed > 0) return run.fail(fmt::format("{} could not be exported", counted(failed, "session")));
  return terminal::kExitDone;
}

}  // namespace

terminal::CommandAction declare_export(command_line::OptionSet& options) {
  auto command = std::make_shared<ExportCommand>();
  options
      .add_option("FILE", command->inputs, "Sessions, profiles, and folders, which stand for the session files in them")
      .required();
  options
      .add_option("--parquet", command->folder,
                  "Folder of the data set, with a folder for each table, partitioned by date and session; a session "
                  "that is in it already is replaced")
      .value_word("DIR")
      .required();
  std::vector<std::string> names;
  for (const exporting::DatasetTable& table : exporting::dataset_tables()) names.emplace_back(table.name);
  options.add_option("--tables", command->tables,
                     fmt::format("Only these, with commas between: {}", joined(names, ", ")));
  options.add_option("--format", command->input_options.format, "Format of the input instead of guessing it");
  return [command](const terminal::CommandRun& run) { return command->run(run); };
}

}  // namespace accelscope::app::commands
