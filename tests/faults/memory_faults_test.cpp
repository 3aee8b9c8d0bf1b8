// The real programs where memory is refused: an error that says so, never the end of the program by a signal.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "capture/ingest/stream_ingest.h"
#include "capture/sim/output/simulator.h"
#include "core/store/store.h"
#include "tests/faults/faulty_place.h"
#include "tests/support/neuron/simulated_profile.h"

namespace accelscope::capture {
namespace {

// Of the wishes that were counted last, some 25, each refused once, and with all that come after it.
template <typename Try>
void refuse_each(const FaultyPlace& place, const Try& attempt) {
  const long calls = place.calls();
  REQUIRE(calls > 3);
  const long step = step_of_calls(calls, 25);
  for (const char* kind : {"once", "full"}) {
    for (long at = 1; at <= calls; at += step) {
      CAPTURE(kind);
      CAPTURE(at);
      attempt(Fault{kind, at});
    }
  }
  MESSAGE(fmt::format("{} wishes for memory, every {}th refused", calls, step));
}

// Every command must end by itself, and well only with its whole result.
void check_without_memory(const std::vector<std::string>& command, const std::filesystem::path& output,
                          const FaultyPlace& place) {
  const Ended whole = place.run_without_memory(command, {});
  REQUIRE_MESSAGE(whole.status == 0, whole.output);
  const std::uint64_t events = events_in_session(output);
  REQUIRE(events > 0);
  refuse_each(place, [&](const Fault& fault) {
    std::filesystem::remove(output);
    const Ended ended = place.run_without_memory(command, fault);
    CHECK_MESSAGE(ended.status >= 0, ended.output);
    if (ended.status == 0) CHECK(events_in_session(output) == events);
    if (ended.status > 0) CHECK_MESSAGE(contains(ended.output, "memory"), ended.output);
  });
}

struct ServedCapture {
  client::AgentStatus viewer;
  int agent = 0;  // its exit status
  std::string output;
};

// An agent that has to serve one capture, and a viewer that has all the memory it wants.
ServedCapture serve_without_memory(const FaultyPlace& place, const Fault& fault) {
  const std::string label = "listening on ";
  ServedCapture served;
  test::Process agent =
      place
          .start({kAgentProgram, "simulate", "--listen", "127.0.0.1:0", "--once", "--rate", "max", "--events", "20000"},
                 fault, "65536")
          .value();
  if (const auto line = agent.wait_for(label, kPatience)) {
    const std::unique_ptr<Store> store = Store::create().value();
    ingest::StoreScopes scopes(*store);
    client::AgentFeed feed(scopes, {.clock = std::make_shared<ingest::SessionClock>()});
    const std::string words = line->substr(line->find(label) + label.size());
    client::ConnectionOptions options =
        connection_to(system::parse_address(words.substr(0, words.find_first_of(" ,\n"))).value());
    options.give_up = options.begin_limit = std::chrono::milliseconds(500);
    client::Connection connection(options, feed);
    connection.begin();
    CHECK(connection.wait_for(kPatience));
    served.viewer = connection.status();
    CHECK(store->snapshot()->event_count == served.viewer.events);
    // It ends with its capture; one that never began leaves it waiting for the next.
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(3);
    while (agent.resident_bytes() > 0 && std::chrono::steady_clock::now() < until)
      (void)agent.read_line(std::chrono::milliseconds(20));
    if (agent.resident_bytes() > 0) agent.interrupt();
  }
  served.agent = agent.finish(kPatience);
  served.output = agent.output();
  return served;
}

}  // namespace

TEST_CASE("an agent that is refused memory tells its viewer or ends with an error, and no event is lost unsaid") {
  if (!has_programs(false)) return;
  const FaultyPlace place;
  const ServedCapture whole = serve_without_memory(place, {});
  REQUIRE_MESSAGE(whole.viewer.phase == client::CapturePhase::ended, whole.viewer.message);
  REQUIRE(whole.viewer.events > 0);
  refuse_each(place, [&](const Fault& fault) {
    const ServedCapture served = serve_without_memory(place, fault);
    CHECK_MESSAGE(served.agent >= 0, served.output);
    const bool complete =
        served.viewer.phase == client::CapturePhase::ended && served.viewer.outcome == wire::Outcome::complete;
    if (complete) CHECK(served.viewer.events == whole.viewer.events);
    if (!complete) CHECK_MESSAGE(contains(served.output + served.viewer.message, "memory"), served.output);
  });
}

TEST_CASE("an import and a capture that are refused memory end with an error") {
  if (!has_programs(true)) return;
  const FaultyPlace place;
  const std::filesystem::path profile = place.other / "profile.json", output = place.other / "out.accel";
  sim::SimulationOptions options;
  options.detail = sim::Detail::full;
  options.events = 4'000;
  options.kernels = 1;
  REQUIRE(write_simulated_profile(options, profile.string()).ok());
  check_without_memory({kViewerProgram, "import", profile.string(), "-o", output.string(), "--force"}, output, place);
  check_without_memory(
      {kAgentProgram, "run", "-o", output.string(), "--force", "--kind", "simulate", "--events", "20000"}, output,
      place);
}

}  // namespace accelscope::capture
