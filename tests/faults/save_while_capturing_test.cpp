// A session that is saved while its capture comes in as fast as the wire brings it: what was there when the save began
// is in the file, once, and the save ends.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "capture/ingest/stream_ingest.h"
#include "tests/capture/wire/wire_support.h"
#include "tests/faults/counted_events.h"
#include "tests/faults/trial_folder.h"
#include "tests/support/process.h"
#include "tests/support/wait.h"

namespace accelscope::capture {
namespace {

TEST_CASE("a save while a capture comes in at full rate ends, and writes about what was there") {
  const TrialFolder folder;
  const std::string path = (folder.path / "run.accel").string();
  RunningAgent agent(endless_source());
  const std::unique_ptr<Store> store = Store::create().value();
  ingest::StoreScopes scopes(*store);
  client::AgentFeed feed(scopes, {.clock = std::make_shared<ingest::SessionClock>()});
  client::Connection connection(connection_to(agent.address()), feed);
  connection.begin();
  constexpr std::uint64_t kBefore = 3'000'000, kMost = 30'000'000;
  const auto has_come = [&](std::uint64_t events) { return store->snapshot()->event_count >= events; };
  REQUIRE(test::step_until([&] { return has_come(kBefore); },
                           [] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }));

  const std::uint64_t written_before = test::written_bytes(::getpid());
  // One that follows what comes in would never end.
  const Result<void> saved = store->save(path, [&](std::uint64_t, std::uint64_t) { return !has_come(kMost); });
  const std::uint64_t written = test::written_bytes(::getpid()) - written_before;
  connection.stop();
  REQUIRE(connection.wait_for(kPatience));
  REQUIRE_MESSAGE(saved.ok(), saved.message());
  const CountedEvents counted = count_events(path);
  CHECK_MESSAGE(counted.wrong.empty(), counted.wrong);
  CHECK(counted.of_chunks >= kBefore);
  CHECK(counted.of_chunks <= store->snapshot()->event_count);
  const std::uint64_t size = std::filesystem::file_size(path);
  CHECK_MESSAGE(written < size * 3 / 2, fmt::format("{} bytes written for a file of {}", written, size));
}

}  // namespace
}  // namespace accelscope::capture
