// The real programs where memory is refused: an error that says so, never the end of the program by a signal.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "capture/sim/neuron_json_writer.h"
#include "capture/sim/simulator.h"
#include "core/store/store.h"
#include "tests/faults/faulty_place.h"

namespace accelscope::capture {
namespace {

// Every command must end by itself, and well only with its whole result.
void check_without_memory(const std::vector<std::string>& command, const std::filesystem::path& output,
                          const FaultyPlace& place) {
  const Ended whole = place.run_without_memory(command, {});
  REQUIRE_MESSAGE(whole.status == 0, whole.output);
  const std::uint64_t events = events_in_session(output);
  const long calls = place.calls();
  REQUIRE(events > 0);
  REQUIRE(calls > 3);
  const long step = step_of_calls(calls, 25);
  for (const char* kind : {"once", "full"}) {
    for (long at = 1; at <= calls; at += step) {
      CAPTURE(kind);
      CAPTURE(at);
      std::filesystem::remove(output);
      const Ended ended = place.run_without_memory(command, {kind, at});
      CHECK_MESSAGE(ended.status >= 0, ended.output);
      if (ended.status == 0) CHECK(events_in_session(output) == events);
      if (ended.status > 0) CHECK_MESSAGE(contains(ended.output, "memory"), ended.output);
    }
  }
  MESSAGE(fmt::format("{} wishes for memory, every {}th refused", calls, step));
}

}  // namespace

TEST_CASE("an import and a capture that are refused memory end with an error") {
  if (!has_programs(true)) return;
  const FaultyPlace place;
  const std::filesystem::path profile = place.other / "profile.json", output = place.other / "out.accel";
  SimulationOptions options;
  options.detail = Detail::full;
  options.events = 4'000;
  options.kernels = 1;
  REQUIRE(write_neuron_json(options, profile.string()).ok());
  check_without_memory({kViewerProgram, "import", profile.string(), "-o", output.string(), "--force"}, output, place);
  check_without_memory(
      {kAgentProgram, "run", "-o", output.string(), "--force", "--kind", "simulate", "--events", "20000"}, output,
      place);
}

}  // namespace accelscope::capture
