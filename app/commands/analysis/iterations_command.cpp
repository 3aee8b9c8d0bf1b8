#include <fmt/format.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "app/export/iteration_output.h"
#include "app/export/output_file.h"
#include "app/terminal/command.h"
#include "app/terminal/filter_options.h"
#include "app/terminal/query_watch.h"
#include "app/terminal/session_input.h"
#include "capture/command_line/options.h"
#include "core/base/text.h"
#include "core/listing/base/write.h"
#include "core/listing/iterations.h"
#include "core/search/filter_mask.h"

namespace accelscope::app {
namespace {

struct IterationsCommand {
  std::string input;
  std::string by;
  std::vector<std::string> regions;
  std::string format = "text";
  std::string output_file;
  std::uint64_t rows = 12;
  bool force = false;
  FilterOptions filter;
  OpenSessionOptions input_options;

  int run(const CommandRun& run) const;

 private:
  struct Answer {
    std::shared_ptr<const IterationList> iterations;
    Listing regions;
  };
  [[nodiscard]] Result<Answer> answer(const OpenedSession& session, const std::vector<std::string>& wanted,
                                      const EventFilter& part, const CommandRun& run) const;
  [[nodiscard]] bool as_json(const CommandRun& run) const { return run.json || format == "json"; }
  void print(std::ostream& out, const Answer& found, const Snapshot& snapshot, const CommandRun& run) const;
};

Result<IterationsCommand::Answer> IterationsCommand::answer(const OpenedSession& session,
                                                            const std::vector<std::string>& wanted,
                                                            const EventFilter& part, const CommandRun& run) const {
  WorkerPool pool;
  const Interruptible interruptible;
  TaskControl control;
  const QueryWatch watch(control, interruptible, run);
  const auto query = TRY(masked({*session.store, session.store->snapshot(), pool, control}, part));
  Answer found;
  if (!wanted.empty()) {
    auto listing = TRY(list_regions(query, {part, wanted}));
    found.regions = std::move(listing);
    return found;
  }
  auto iterations = TRY(find_iterations(query, part.range.value_or(TimeRange{}), {by}));
  found.iterations = std::move(iterations);
  return found;
}

void IterationsCommand::print(std::ostream& out, const Answer& found, const Snapshot& snapshot,
                              const CommandRun& run) const {
  if (found.iterations) {
    const std::string note = iterations_note(*found.iterations, {by});
    if (as_json(run)) return write_iterations_json(out, *found.iterations, snapshot, note);
    return write_iterations_text(out, *found.iterations, snapshot, note, rows);
  }
  const auto output = make_query_output(as_json(run) ? "json" : "table", out, false);
  print_listing(found.regions, *output);
  output->finish();
  if (!found.regions.note.empty()) run.inform(fmt::format("accelscope: {}: {}", input, found.regions.note));
}

int IterationsCommand::run(const CommandRun& run) const {
  std::vector<std::string> wanted;
  for (const std::string& each : regions) {
    const auto names = names_of_list(each);
    if (!names) return run.fail_usage("iterations", "--regions: " + names.message());
    wanted.insert(wanted.end(), names->begin(), names->end());
  }
  if (!wanted.empty() && !by.empty())
    return run.fail_usage("iterations", "--by is for iterations; --regions names its kind itself");
  const std::string path = output_file.empty() ? std::string(kStandardOutput) : output_file;
  if (auto may = may_write(path, force, {input}); !may) return run.fail(may.message());
  const auto session = open_input({input}, input_options, run);
  if (!session) return run.fail(session.message());
  const auto part = read_filter(filter, *session->store);
  if (!part) return run.fail(fmt::format("{}: {}", input, part.message()));
  const auto found = answer(*session, wanted, *part, run);
  if (!found) return run.fail(fmt::format("{}: {}", input, found.message()));
  const auto output = OutputFile::open(path, is_data(format) ? run.data_out() : run.streams.out);
  if (!output) return run.fail(output.message());
  print((*output)->stream(), *found, *session->store->snapshot(), run);
  const Result<void> finished = (*output)->finish();
  return finished ? kExitDone : run.fail(finished.message());
}

}  // namespace

CommandAction declare_iterations(command_line::OptionSet& options) {
  auto command = std::make_shared<IterationsCommand>();
  options.add_option("FILE", command->input, "Session file or profile").required();
  options.add_option("--by", command->by,
                     "Iterations begin with events of this NAME, with or without a number behind it, or with the "
                     "session's markers: marker");
  options
      .add_option("--regions", command->regions,
                  "Regions instead: collective, layer, annotation, marker or NAME, and up to three of their names "
                  "behind it that are compared: annotation,forward,backward")
      .repeats();
  options.add_option("--format", command->format, "text or json").one_of({"text", "json"});
  options.add_option("--rows", command->rows, "So many operations of each loop in the text, those of most time");
  options.add_option("-o,--output-file", command->output_file, "File to write, - for the standard output");
  options.add_flag("--force", command->force, "Replace existing output");
  declare_filter(options, command->filter);
  options
      .add_option("--nki-source-root,--framework-source-root", command->input_options.source_roots,
                  "Folder in which named source files are looked for")
      .repeats();
  return [command](const CommandRun& run) { return command->run(run); };
}

}  // namespace accelscope::app
