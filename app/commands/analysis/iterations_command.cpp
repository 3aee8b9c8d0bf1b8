#include <fmt/format.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "app/output/iteration_output.h"
#include "app/output/output_file.h"
#include "app/terminal/command.h"
#include "app/terminal/filter_options.h"
#include "app/terminal/query_watch.h"
#include "app/terminal/session_input.h"
#include "capture/command_line/options.h"
#include "core/base/text.h"
#include "core/listing/base/write.h"
#include "core/listing/iterations.h"
#include "core/search/filter_mask.h"

namespace accelscope::app::commands {
namespace {

struct IterationsCommand {
  std::string input;
  std::string by;
  std::vector<std::string> regions;
  std::string format = "text";
  std::string output_file;
  std::uint64_t rows = 12;
  bool force = false;
  terminal::FilterOptions filter;
  workspace::OpenSessionOptions input_options;

  int run(const terminal::CommandRun& run) const;

 private:
  struct Answer {
    std::shared_ptr<const analysis::IterationList> iterations;
    listing::Listing regions;
  };
  [[nodiscard]] Result<Answer> answer(const workspace::OpenedSession& session, const std::vector<std::string>& wanted,
                                      const EventFilter& part, const terminal::CommandRun& run) const;
  [[nodiscard]] bool as_json(const terminal::CommandRun& run) const { return run.json || format == "json"; }
  void print(std::ostream& out, const Answer& found, const Snapshot& snapshot, const terminal::CommandRun& run) const;
};

Result<IterationsCommand::Answer> IterationsCommand::answer(const workspace::OpenedSession& session,
                                                            const std::vector<std::string>& wanted,
                                                            const EventFilter& part,
                                                            const terminal::CommandRun& run) const {
  WorkerPool pool;
  terminal::QueryWatch watch(run);
  const auto query = TRY(search::masked({*session.store, session.store->snapshot(), pool, watch.control()}, part));
  Answer found;
  if (!wanted.empty()) {
    auto listing = TRY(listing::list_regions(query, {part, wanted}));
    found.regions = std::move(listing);
    return found;
  }
  auto iterations = TRY(analysis::find_iterations(query, part.range.value_or(TimeRange{}), {by}));
  found.iterations = std::move(iterations);
  return found;
}

void IterationsCommand::print(std::ostream& out, const Answer& found, const Snapshot& snapshot,
                              const terminal::CommandRun& run) const {
  if (found.iterations) {
    const std::string note = listing::iterations_note(*found.iterations, {by});
    if (as_json(run)) return output::write_iterations_json(out, *found.iterations, snapshot, note);
    return output::write_iterations_text(out, *found.iterations, snapshot, note, rows);
  }
  const auto output = listing::make_query_output(as_json(run) ? "json" : "table", out, false);
  listing::print_listing(found.regions, *output);
  output->finish();
  if (!found.regions.note.empty()) run.inform(fmt::format("accelscope: {}: {}", input, found.regions.note));
}

int IterationsCommand::run(const terminal::CommandRun& run) const {
  std::vector<std::string> wanted;
  for (const std::string& each : regions) {
    const auto names = names_of_list(each);
    if (!names) return run.fail_usage("iterations", "--regions: " + names.message());
    wanted.insert(wanted.end(), names->begin(), names->end());
  }
  if (!wanted.empty() && !by.empty())
    return run.fail_usage("iterations", "--by is for iterations; --regions names its kind itself");
  if (auto may = output::may_write(output_file, force, {input}); !may) return run.fail(may.message());
  const auto session = terminal::open_input({input}, input_options, run);
  if (!session) return run.fail(session.message());
  const auto part = terminal::read_filter(filter, *session->store);
  if (!part) return run.fail(fmt::format("{}: {}", input, part.message()));
  const auto found = answer(*session, wanted, *part, run);
  if (!found) return run.fail(fmt::format("{}: {}", input, found.message()));
  return terminal::write_answer(output_file, listing::is_data(format), run,
                                [&](std::ostream& out) { print(out, *found, *session->store->snapshot(), run); });
}

}  // namespace

terminal::CommandAction declare_iterations(command_line::OptionSet& options) {
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
  terminal::declare_filter(options, command->filter);
  terminal::declare_source_roots(options, command->input_options);
  return [command](const terminal::CommandRun& run) { return command->run(run); };
}

}  // namespace accelscope::app::commands
