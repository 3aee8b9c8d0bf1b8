#include "capture/kinds/simulate/kind.h"

#include <fmt/format.h>

#include <cmath>

#include "capture/request/options.h"
#include "capture/sim/output/simulator.h"

namespace accelscope::capture {
namespace {

constexpr std::uint32_t kMostDevices = 64;

KindFacts declare_simulate() {
  KindFacts facts;
  facts.name = "simulate";
  facts.title = "Simulated accelerator";
  facts.explanation = "A seeded model of NeuronCores that run a tiled MLP and attention; needs no hardware.";
  facts.options = {
      // Fast enough to fill a screen within a second, slow enough to follow.
      {"rate", OptionType::rate, "100k", "Events per second by the wall clock; max: as fast as they can be made."},
      {"seconds", OptionType::number, "", "Ends after so many seconds, pauses not counted; without it, runs on."},
      {"events", OptionType::count, "", "Ends after so many events (50M); without it, runs on."},
      {"seed", OptionType::count, "1", "The same seed makes the same events."},
      {"devices", OptionType::count, "1", "NeuronCores, 1 to 64, each a rank of the collectives."},
      {"detail",
       OptionType::choice,
       "full",
       "full: all tables of a Neuron profile; slim: one table of six columns, made for rate.",
       {"full", "slim"}},
  };
  return facts;
}

std::vector<KindCheck> check_simulate() { return {{true, "needs nothing on this host"}}; }

Result<SimulationOptions> read_simulate_options(const KindChoice& choice) {
  const Result<OptionReader> options = OptionReader::read(declare_simulate(), choice);
  if (!options) return options.error();
  SimulationOptions simulation;
  simulation.rate_events_per_second = options->rate("rate");
  simulation.seconds = options->number("seconds");
  simulation.events = options->count("events");
  simulation.seed = options->count("seed");
  const std::uint64_t devices = options->count("devices");
  simulation.detail = options->text("detail") == "slim" ? Detail::slim : Detail::full;
  if (devices < 1 || devices > kMostDevices) {
    return Error{fmt::format("--devices: {} is out of range; write 1 to {}", devices, kMostDevices)};
  }
  simulation.devices = static_cast<std::uint32_t>(devices);
  if (simulation.seconds < 0) return Error{"--seconds: must not be below zero"};
  // Without a limit it runs until it is stopped.
  if (simulation.events == 0 && simulation.seconds == 0) simulation.kernels = ~std::uint64_t{0};
  return simulation;
}

Result<std::string> describe_simulate(const CaptureRequest& /*request*/, const KindChoice& choice,
                                      const std::string& /*work_folder*/) {
  const Result<SimulationOptions> options = read_simulate_options(choice);
  if (!options) return options.error();
  return fmt::format("simulated accelerator: {} device{}, seed {}", options->devices, options->devices == 1 ? "" : "s",
                     options->seed);
}

Result<void> run_simulate(const KindRun& run, EventSink& sink) {
  const Result<SimulationOptions> options = read_simulate_options(run.choice);
  if (!options) return options.error();
  return simulate(*options, sink);
}

// At its own pace it is cut into chunks by the wall clock.
bool repeats_simulate(const KindChoice& choice) {
  const Result<SimulationOptions> options = read_simulate_options(choice);
  return options && !std::isfinite(options->rate_events_per_second) && options->seconds == 0;
}

}  // namespace

CaptureKind simulate_kind() {
  return {.declare = declare_simulate,
          .check = check_simulate,
          .describe = describe_simulate,
          .run = run_simulate,
          .repeats = repeats_simulate,
          .own_time = true};
}

}  // namespace accelscope::capture
