#include <fmt/format.h>

#include <cmath>

#include "capture/kinds/base/kind_list.h"
#include "capture/request/options.h"
#include "capture/sim/output/simulator.h"

namespace accelscope::capture::kinds::simulate {
namespace {

request::KindFacts declare_simulate() {
  return {
      .name = "simulate",
      .title = "Simulated accelerator",
      .explanation = "A seeded model of NeuronCores that run a tiled MLP and attention; needs no hardware.",
      .options = {
          // Fast enough to fill a screen within a second, slow enough to follow.
          {"rate", request::OptionType::rate, "100k",
           "Events per second by the wall clock; max: as fast as they can be made."},
          {"seconds", request::OptionType::number, "",
           "Ends after so many seconds, pauses not counted; without it, runs on."},
          {"events", request::OptionType::count, "", "Ends after so many events (50M); without it, runs on."},
          {"seed", request::OptionType::count, "1", "The same seed makes the same events."},
          {"devices", request::OptionType::count, "1", "Logical NeuronCores, 1 to 64, each a rank of the collectives."},
          {"chip",
           request::OptionType::choice,
           "trn1",
           "The chip whose cores are simulated.",
           {"trn1", "trn2", "trn3"}},
          {.name = "lnc",
           .type = request::OptionType::count,
           .default_value = "1",
           .explanation = "Physical cores of a logical one, as NEURON_LOGICAL_NC_CONFIG: 1, 2 or 4.",
           .conditions = {{"chip", {"trn2", "trn3"}}}},
          {"detail",
           request::OptionType::choice,
           "full",
           "full: all tables of a Neuron profile; slim: one table of six columns, made for rate.",
           {"full", "slim"}},
      }};
}

std::vector<request::KindCheck> check_simulate() { return {{true, "needs nothing on this host"}}; }

sim::SimulationOptions read_simulate_options(const request::OptionReader& options) {
  sim::SimulationOptions simulation;
  simulation.rate_events_per_second = options.rate("rate");
  simulation.seconds = options.number("seconds");
  simulation.events = options.count("events");
  simulation.seed = options.count("seed");
  simulation.detail = options.text("detail") == "slim" ? sim::Detail::slim : sim::Detail::full;
  simulation.devices = static_cast<std::uint32_t>(options.count("devices"));
  simulation.cores_per_device = static_cast<std::uint32_t>(options.count("lnc"));
  if (const auto chip = analysis::neuron::chip_of_instance(options.text("chip")))
    simulation.shape.core = sim::core_model(*chip);
  // Without a limit it runs until it is stopped.
  if (simulation.events == 0 && simulation.seconds == 0) simulation.kernels = ~std::uint64_t{0};
  return simulation;
}

Result<void> accept_simulate(const request::OptionReader& options) {
  const std::uint64_t devices = options.count("devices");
  if (devices < 1 || devices > sim::kMostDevices) {
    return Error{fmt::format("--devices: {} is out of range; write 1 to {}", devices, sim::kMostDevices)};
  }
  if (options.number("seconds") < 0) return Error{"--seconds: must not be below zero"};
  if (options.count("lnc") > sim::kMostDevices) return Error{"--lnc: is out of range"};
  return sim::check_logical_core(read_simulate_options(options));
}

Result<std::string> describe_simulate(const request::CaptureRequest& /*request*/, const request::OptionReader& options,
                                      const std::string& /*work_folder*/) {
  const std::uint64_t devices = options.count("devices");
  const std::string chip = options.text("chip");
  const std::uint64_t cores = options.count("lnc");
  return fmt::format("simulated accelerator: {} device{}{}{}, seed {}", devices, devices == 1 ? "" : "s",
                     chip == "trn1" ? "" : " of " + chip,
                     cores == 1 ? "" : fmt::format(", {} physical cores each", cores), options.count("seed"));
}

Result<void> run_simulate(const request::KindRun& run, EventSink& sink) {
  return sim::simulate(read_simulate_options(*run.options), sink);
}

// At its own pace it is cut into chunks by the wall clock.
bool repeats_simulate(const request::OptionReader& options) {
  return !std::isfinite(options.rate("rate")) && options.number("seconds") == 0;
}

}  // namespace

request::CaptureKind simulate_kind() {
  return {.declare = declare_simulate,
          .check = check_simulate,
          .describe = describe_simulate,
          .run = run_simulate,
          .accept = accept_simulate,
          .repeats = repeats_simulate,
          .own_time = true};
}

}  // namespace accelscope::capture::kinds::simulate
