#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <ostream>

#include "app/commands/command.h"
#include "app/commands/session_input.h"
#include "capture/command_line/options.h"
#include "capture/sim/neuron_json_writer.h"
#include "capture/sim/simulator.h"
#include "core/base/format.h"

namespace accelscope::app {
namespace {

struct SimulateCommand {
  std::string output;
  std::string format = "session";
  bool slim = false;
  capture::SimulationOptions simulation;

  int run(const CommandRun& run) const;
  int write_session(const CommandRun& run) const;
};

// Reports the events that have come, which is what the user asked for a number of.
class CountingSink final : public EventSink {
 public:
  CountingSink(Store& store, JobControl& control, std::uint64_t expected)
      : sink_(store), control_(control), expected_(expected) {}
  Result<void> define(const Definition& definition) override { return sink_.define(definition); }
  Result<void> append(SealedChunk chunk) override {
    events_ += chunk.count;
    control_.report(events_, expected_);
    return sink_.append(std::move(chunk));
  }
  [[nodiscard]] bool cancelled() const override { return control_.cancelled(); }

 private:
  StoreSink sink_;
  JobControl& control_;
  std::uint64_t expected_;
  std::uint64_t events_ = 0;
};

int SimulateCommand::write_session(const CommandRun& run) const {
  auto store = Store::create();
  if (!store) return run.fail(store.message());
  const Result<void> done = with_progress("Simulating", run, [&](JobControl& control) {
    control.set_unit(JobUnit::events);
    CountingSink sink(**store, control, simulation.events);
    return capture::simulate(simulation, sink);
  });
  if (!done) return run.fail(done.message());
  if (auto saved = save_session(**store, output, run); !saved) return run.fail(saved.message());
  const auto snapshot = (*store)->snapshot();
  run.say(fmt::format("{}: {} events over {}", output, format_count(snapshot->event_count),
                      format_duration(static_cast<double>(snapshot->end_ns - snapshot->begin_ns))));
  return kExitDone;
}

int SimulateCommand::run(const CommandRun& run) const {
  if (format == "session") return write_session(run);
  const Result<void> done = with_progress("Simulating into " + output, run,
                                          [&](JobControl&) { return capture::write_neuron_json(simulation, output); });
  if (!done) return run.fail(done.message());
  std::error_code error;
  const auto size = std::filesystem::file_size(output, error);
  if (!error) run.say(fmt::format("{}: {}", output, format_bytes(static_cast<double>(size))));
  return kExitDone;
}

}  // namespace

CommandAction declare_simulate(command_line::OptionSet& options) {
  auto command = std::make_shared<SimulateCommand>();
  options.add_option("-o,--output", command->output, "File to write").required();
  options.add_option("--format", command->format, "session, or neuron-json as neuron-profile writes it")
      .one_of({"session", "neuron-json"});
  options.add_option("--seed", command->simulation.seed, "The same seed gives the same file");
  options.add_option("--events", command->simulation.events, "End after about so many events");
  options.add_option("--kernels", command->simulation.kernels, "End after so many passes through the layer");
  options.add_option("--devices", command->simulation.devices, "NeuronCores, 1 to 64").in_range(1, 64);
  options.add_flag("--slim", command->slim, "One schema of six columns instead of everything a profile holds");
  return [command](const CommandRun& run) {
    if (command->slim) command->simulation.detail = capture::Detail::slim;
    return command->run(run);
  };
}

}  // namespace accelscope::app
