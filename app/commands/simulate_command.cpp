#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <ostream>

#include "app/commands/view/view_output.h"
#include "app/output/output_file.h"
#include "app/terminal/command.h"
#include "app/terminal/session_input.h"
#include "app/terminal/terminal.h"
#include "capture/command_line/options.h"
#include "capture/sim/output/simulator.h"
#include "capture/sources/base/sinks.h"
#include "core/base/format.h"
#include "core/base/json.h"
#include "core/scan/event_mask.h"

namespace accelscope::app::commands {
namespace {

struct SimulateCommand {
  std::string output;
  std::string format = "session";
  std::string chip = "trn1";
  bool slim = false;
  bool ranks = false;
  bool force = false;
  std::string late = "40us", clock_skew = "0";
  double slower_percent = 0;
  std::vector<std::string> facts;         // NAME=VALUE
  int diverging = 0;                      // 0: none
  int straggler = -1, missing_rank = -1;  // below 0: none
  capture::sim::SimulationOptions simulation;

  struct Written {
    std::uint64_t events = 0;
    std::int64_t ns = 0;
  };
  int run(const terminal::CommandRun& run) const;
  [[nodiscard]] Result<void> take_faults();
  [[nodiscard]] Result<std::unique_ptr<Store>> simulated(const capture::sim::SimulationOptions& options,
                                                         const std::string& path,
                                                         const terminal::CommandRun& run) const;
  [[nodiscard]] Result<Written> write_session(const std::string& path, const terminal::CommandRun& run) const;
  [[nodiscard]] Result<void> write_vendor_file(const std::string& path, const terminal::CommandRun& run) const;
};

Result<std::unique_ptr<Store>> SimulateCommand::simulated(const capture::sim::SimulationOptions& options,
                                                          const std::string& path,
                                                          const terminal::CommandRun& run) const {
  auto store =
      Store::create({.memory_budget_bytes = default_memory_budget(), .written_by = "accelscope " ACCELSCOPE_VERSION});
  if (!store) return store;
  const Result<void> done =
      terminal::with_progress("Simulating", run, [&](session::JobControl& control) -> Result<void> {
        control.set_unit(session::JobUnit::events);
        // Events are what the user asked for a number of.
        capture::sources::SupervisedSink sink(
            std::make_unique<StoreSink>(**store), [&] { return control.cancelled(); },
            [&](std::uint64_t events) { control.report(events, options.events); });
        Result<void> simulated = capture::sim::simulate(options, sink);
        if (simulated.ok() && control.cancelled()) return Error{path + ": the simulation was cancelled"};
        return simulated;
      });
  if (!done) return done.error();
  for (const std::string& fact : facts) {
    const std::size_t mark = fact.find('=', 1);
    TRY((*store)->define(0, MetaEntry{fact.substr(0, mark), fact.substr(mark + 1)}));
  }
  return store;
}

Result<SimulateCommand::Written> SimulateCommand::write_session(const std::string& path,
                                                                const terminal::CommandRun& run) const {
  const auto store = TRY(simulated(simulation, path, run));
  TRY(terminal::save_session(*store, path, run));
  const auto snapshot = store->snapshot();
  return Written{count_passing(*snapshot, nullptr), snapshot->end_ns - snapshot->begin_ns};
}

Result<void> SimulateCommand::write_vendor_file(const std::string& path, const terminal::CommandRun& run) const {
  const auto options = TRY(capture::sim::vendor_file_options(simulation));
  const auto file = TRY(output::OutputFile::open(path, run.data_out()));
  const auto store = TRY(simulated(options, path, run));
  TRY(write_json_tables(*store, {}, *file, "Writing " + path, run));
  return file->finish();
}

Result<void> SimulateCommand::take_faults() {
  for (const std::string& fact : facts) {
    if (fact.find('=', 1) == std::string::npos) return Error{fmt::format("--fact {}: write NAME=VALUE", fact)};
  }
  const auto late_ns = parse_time(late, 0, 0);
  if (!late_ns) return Error{"--late: " + late_ns.message()};
  const auto skew_ns = parse_time(clock_skew, 0, 0);
  if (!skew_ns) return Error{"--clock-skew: " + skew_ns.message()};
  if (straggler >= 0) simulation.faults.straggler = static_cast<std::uint32_t>(straggler);
  if (missing_rank >= 0) simulation.faults.missing = static_cast<std::uint32_t>(missing_rank);
  simulation.faults.late_ns = *late_ns;
  simulation.faults.clock_skew_ns = *skew_ns;
  return {};
}

int SimulateCommand::run(const terminal::CommandRun& run) const {
  const bool is_session = format == "session";
  const std::string name = !output.empty() ? output : is_session ? "simulated.accel" : "simulated.json";
  if (run.json && name == terminal::kStandardStream)
    return run.fail_usage("simulate", "-o - and --json both write to the output");
  // With -o the file is replaced, as ever: it can be made again.
  if (auto may = output::may_write(name, force || !output.empty(), {}); !may) return run.fail(may.message());
  const auto target = terminal::FileTarget::open(name, run);
  if (!target) return run.fail(target.message());
  Written session;
  if (is_session) {
    const auto written = write_session(target->path(), run);
    if (!written) return run.fail(written.message());
    session = *written;
  } else {
    if (const auto done = write_vendor_file(target->path(), run); !done) return run.fail(done.message());
  }
  std::error_code error;
  const auto size = static_cast<std::uint64_t>(std::filesystem::file_size(target->path(), error));
  if (auto given = target->finish(run); !given) return run.fail(given.message());
  if (run.json) {
    run.streams.out << json_line("output", name, "events", is_session ? JsonValue(session.events) : JsonValue(),
                                 "bytes", size);
    return terminal::kExitDone;
  }
  const std::string what =
      is_session ? fmt::format("{} events over {}", format_count(session.events), format_duration(session.ns))
                 : format_bytes(size);
  run.inform(fmt::format("{}: {}", name, what));
  return terminal::kExitDone;
}

}  // namespace

terminal::CommandAction declare_simulate(command_line::OptionSet& options) {
  auto command = std::make_shared<SimulateCommand>();
  options.add_option(
      "-o,--output", command->output,
      "File to write, replaced if it exists, - for the standard output; else simulated.accel, or .json, in this "
      "folder");
  options.add_option("--format", command->format, "session, or neuron-json as neuron-profile writes it")
      .one_of({"session", "neuron-json"});
  options.add_option("--chip", command->chip, "The chip whose cores are simulated: trn1, trn2 or trn3")
      .one_of({"trn1", "trn2", "trn3"});
  options.add_option("--seed", command->simulation.seed, "The same seed gives the same file");
  options.add_option("--events", command->simulation.events, "End after about so many events");
  options.add_option("--kernels", command->simulation.kernels, "End after so many passes through the layer");
  options.add_option("--devices", command->simulation.devices, "Logical NeuronCores, 1 to 64").in_range(1, 64);
  options.add_option(
      "--lnc", command->simulation.cores_per_device,
      "Physical cores of a logical one, as NEURON_LOGICAL_NC_CONFIG: 1, of trn2 and trn3 2 or 4 as well");
  options
      .add_option("--slower", command->slower_percent,
                  "Every operation takes so many percent longer: a change whose size is known")
      .in_range(0, 1000);
  options
      .add_option("--diverging-operation", command->diverging,
                  "The operation of each pass whose result differs from that of other runs, by its number (pc)")
      .in_range(1, 1'000'000);
  options
      .add_option("--fact", command->facts,
                  "NAME=VALUE, a fact of the session, such as capture.host=trn1-07, job.id=4711 or "
                  "capture.begin_unix_ns=1796000000000000000; may be given several times")
      .repeats();
  options.add_flag("--force", command->force, "Replace a file that -o does not name");
  const auto slim =
      options.add_flag("--slim", command->slim, "One schema of six columns instead of everything a profile holds");
  const auto ranks =
      options.add_flag("--ranks", command->ranks,
                       "Each device a rank, told by its collectives and the work between them: for many ranks");
  options.add_option("--straggler", command->straggler, "Of --ranks: a rank that comes late").in_range(0, 63);
  options.add_option("--late", command->late, "Of --ranks: by how much it does, such as 40us");
  options.add_option("--missing-rank", command->missing_rank, "Of --ranks: a rank that is not told of").in_range(0, 63);
  options.add_option("--clock-skew", command->clock_skew,
                     "Of --ranks: how far the clocks of hosts lie apart, such as 5us; 0: all share one");
  ranks.excludes(slim);
  return [command](const terminal::CommandRun& run) {
    command->simulation.shape.core = capture::sim::core_model(*analysis::neuron::chip_of_instance(command->chip));
    if (command->slim) command->simulation.detail = capture::sim::Detail::slim;
    if (command->diverging > 0)
      command->simulation.diverging_operation = static_cast<std::uint32_t>(command->diverging);
    command->simulation.slower = command->slower_percent / 100;
    if (command->ranks) command->simulation.detail = capture::sim::Detail::ranks;
    if (const auto good = capture::sim::check_logical_core(command->simulation); !good)
      return run.fail_usage("simulate", good.message());
    if (const auto taken = command->take_faults(); !taken) return run.fail_usage("simulate", taken.message());
    return command->run(run);
  };
}

}  // namespace accelscope::app::commands
