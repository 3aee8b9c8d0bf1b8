// Logical cores that are made of several physical ones, as NEURON_LOGICAL_NC_CONFIG makes them.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "capture/sim/output/simulator.h"
#include "tests/capture/imported.h"

namespace accelscope::capture {
namespace {

sim::SimulationOptions options_of(analysis::neuron::Chip chip, std::uint32_t cores) {
  sim::SimulationOptions options{.seed = 7, .kernels = 2, .cores_per_device = cores};
  options.shape.core = sim::core_model(chip);
  return options;
}

Imported simulated(const sim::SimulationOptions& options) {
  return Imported::by([&](EventSink& sink) { return sim::simulate(options, sink); });
}

std::map<std::string, double> stated_of(const Imported& session, std::string_view device) {
  std::map<std::string, double> figures;
  for (const Metric& metric : session.snapshot().metrics) {
    if (metric.device == device) figures[metric.name] = metric.value;
  }
  return figures;
}

}  // namespace

TEST_CASE("a simulated logical core has the tracks of each physical core, and the figures of each and of all") {
  const Imported one = simulated(options_of(analysis::neuron::Chip::trn2, 1));
  const std::map<std::string, double> single = stated_of(one, "");
  for (const std::uint32_t cores : {2U, 4U}) {
    CAPTURE(cores);
    const Imported session = simulated(options_of(analysis::neuron::Chip::trn2, cores));
    std::string whole;
    std::map<std::string, std::set<std::string>> tracks;
    for (const TrackSnapshot& track : session.snapshot().tracks)
      tracks[track.track->device].insert(track.track->kind + " " + track.track->name);
    for (std::uint32_t core = 0; core < cores; ++core) {
      const std::string name = "nc" + std::to_string(core);
      whole += (core == 0 ? "" : "+") + name;
      CHECK(tracks.at(name) == tracks.at("nc0"));
      CHECK(stated_of(session, name).at("tensor_engine_instruction_count") ==
            single.at("tensor_engine_instruction_count"));
    }
    CHECK(tracks.size() == cores + 1);
    CHECK(tracks.contains(whole));
    CHECK(session.count("instruction") == cores * one.count("instruction"));

    const std::map<std::string, double> all = stated_of(session, whole);
    CHECK(all.at("tensor_engine_instruction_count") == cores * single.at("tensor_engine_instruction_count"));
    CHECK(all.at("hardware_flops") == cores * single.at("hardware_flops"));
    CHECK(all.at("total_time") == doctest::Approx(single.at("total_time")).epsilon(0.01));
    // Of all cores the peak, as profiles of two state it; the ratio is of one core's peak and the bandwidth of all.
    constexpr double kPeak = 2.0 * 128 * 128 * 2.4e9;
    CHECK(all.at("hfu_estimated_percent") ==
          doctest::Approx(all.at("hardware_flops") / (all.at("total_time") * cores * kPeak)));
    CHECK(all.at("peak_flops_bandwidth_ratio") == doctest::Approx(kPeak / (cores * 2.9e12 / 8)));
    CHECK(session.snapshot().meta_value("metadata.num_physical_cores") == std::to_string(cores));
    CHECK(all.contains("throttle_active_nc1_time_ns"));
  }
}

TEST_CASE("the physical cores of a simulated logical core end each pass together, engine by engine") {
  const Imported session = simulated(options_of(analysis::neuron::Chip::trn3, 2));
  std::map<std::int64_t, std::vector<EventValues>> barriers;
  for (const EventValues& event : session.events("core_barrier"))
    barriers[event.integer("id").value()].push_back(event);
  CHECK(barriers.size() == 2 * 5);
  for (const auto& [id, parts] : barriers) {
    CAPTURE(id);
    REQUIRE(parts.size() == 2);
    CHECK(parts[0].name == parts[1].name);
    CHECK(parts[0].device != parts[1].device);
    CHECK(parts[0].end == parts[1].end);
    CHECK(std::min(parts[0].end - parts[0].begin, parts[1].end - parts[1].begin) == 16);  // of the last to come
  }
  CHECK(simulated(options_of(analysis::neuron::Chip::trn3, 1)).count("core_barrier") == 0);
}

TEST_CASE("a logical core that the chip cannot have is refused with what it can have") {
  const auto refused = [](const sim::SimulationOptions& options) {
    const Result<void> good = sim::check_logical_core(options);
    return good ? std::string() : good.message();
  };
  CHECK(refused(options_of(analysis::neuron::Chip::trn1, 2)) ==
        "--lnc: trn1 has no logical cores of 2 physical ones; write 1");
  CHECK(refused(options_of(analysis::neuron::Chip::trn2, 3)) ==
        "--lnc: trn2 has no logical cores of 3 physical ones; write 1 or 2 or 4");
  CHECK(refused(options_of(analysis::neuron::Chip::trn3, 4)).empty());
  sim::SimulationOptions many = options_of(analysis::neuron::Chip::trn2, 4);
  many.devices = 32;
  CHECK(refused(many).find("128 physical cores") != std::string::npos);
}

}  // namespace accelscope::capture
