// A capture over a line that loses, doubles, delays and alters packets: TCP mends what its checksum finds, the frames'
// own proofs the rest, and whatever happens every event is there once or its loss is told.
// ACCELSCOPE_FAULTS_ROUNDS=N takes N times as many events, on N lines.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/faults/counted_events.h"
#include "tests/faults/real_capture.h"
#include "tests/faults/trial_folder.h"
#include "tests/support/faults/bad_link.h"

namespace accelscope::capture {
namespace {

namespace fs = std::filesystem;
using test::BadLink;

int rounds_of_link() {
  const char* rounds = std::getenv("ACCELSCOPE_FAULTS_ROUNDS");
  return rounds == nullptr ? 1 : std::max(1, std::atoi(rounds));
}

void capture_over(const BadLink& link, std::uint64_t events) {
  const TrialFolder folder;
  const fs::path token = folder.path / "token", output = folder.path / "run.accel";
  std::ofstream(token) << "a-secret-that-is-long-enough\n";
  fs::permissions(token, fs::perms::owner_read | fs::perms::owner_write);
  const auto beside = [&](const char* name) { return retained_in((folder.path / name).string()); };
  SimulatingAgent agent(link.at_agent(with_environment(
      beside("agent"), SimulatingAgent::command({"--once", "--detail", "slim", "--rate", "max", "--events",
                                                 fmt::format("{}", events), "--token-file", token.string(), "--listen",
                                                 fmt::format("{}:0", BadLink::kAgentHost)}))));
  const Recorded recorded = run_recorder(link.at_viewer(with_environment(
      beside("viewer"),
      record_command(agent.address(), output.string(), {"--accept-new-agent", "--token-file", token.string()}))));
  const std::string said = recorded.output + agent.process().output();
  const auto made = agent.made();
  REQUIRE_MESSAGE(made.has_value(), said);
  const CountedEvents counted = count_events(output.string());
  CHECK_MESSAGE(counted.of_chunks + recorded.number("lost_events") == *made, said);
  CHECK_MESSAGE(counted.of_chunks == recorded.number("events"), said);
  CHECK(recorded.complete() == (recorded.number("lost_events") == 0));
  // A line whose TCP connections come about again and again loses nothing.
  CHECK_MESSAGE(recorded.status == 0, said);
  CHECK_MESSAGE(counted.wrong.empty(), counted.wrong);
}

TEST_CASE("a capture over a line that loses, doubles, delays and alters packets is gapless") {
  if (!has_recorder()) return;
  const int rounds = rounds_of_link();
  for (int round = 0; round < rounds; ++round) {
    const BadLink link({.lost = 0.01,
                        .doubled = 0.01,
                        .late = 0.01,
                        .damaged = 0.005,
                        .forged = 0.02,
                        .seed = static_cast<unsigned>(round + 1)});
    if (!link.there()) {
      MESSAGE("skipped: two hosts cannot be made here: " << link.problem());
      return;
    }
    capture_over(link, 200'000 * static_cast<std::uint64_t>(rounds));
    const test::LinkCounts counts = link.counts();
    MESSAGE(fmt::format("{} packets: {} lost, {} doubled, {} late, {} damaged, {} so that TCP does not notice",
                        counts.embedded, counts.lost, counts.doubled, counts.late, counts.damaged, counts.forged));
    CHECK(counts.lost > 0);
    CHECK(counts.late > 0);
    CHECK(counts.forged > 0);
  }
}

}  // namespace
}  // namespace accelscope::capture
