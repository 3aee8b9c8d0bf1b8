#include <doctest/doctest.h>

#include <filesystem>
#include <random>

#include "capture/client/record.h"
#include "core/store/store.h"
#include "tests/capture/recording_sink.h"
#include "tests/capture/wire/wire_support.h"

namespace accelscope::capture {
namespace {

std::uint64_t events_in(const Store& store) { return store.snapshot()->event_count; }

std::unique_ptr<Store> empty_store() {
  Result<std::unique_ptr<Store>> store = Store::create();
  REQUIRE(store.ok());
  return std::move(store).value();
}

TEST_CASE("every event that the agent makes is in the viewer's store, lane by lane") {
  RunningAgent agent(synthetic_source({.events = 200'001, .lanes = 3}));
  const auto store = empty_store();
  StoreSink sink(*store);
  TestConnection connection(connection_to(agent.address()), sink);
  REQUIRE(connection.wait_for(kPatience));
  const client::AgentStatus status = connection.status();
  CHECK(status.phase == client::CapturePhase::ended);
  CHECK(status.message == "");
  CHECK(status.events == 200'001);
  CHECK(status.lost_events == 0);
  CHECK(status.outcome == wire::Outcome::complete);
  CHECK(events_in(*store) == 200'001);
  CHECK(store->snapshot()->lanes.size() == 3);
  CHECK(store->status().lost == 0);
  CHECK(store->status().duplicates == 0);
}

TEST_CASE("a recording is a session file with every event, and the agent learns that it is safe") {
  RunningAgent agent(synthetic_source({.events = 50'000}), {.once = true});
  const std::string path = std::filesystem::temp_directory_path() /
                           (std::to_string(std::random_device{}()) + "accelscope_record_test.accel");
  client::RecordOptions options;
  options.plan.places = {agent.address().text()};
  options.output_path = path;
  options.limits = quick_limits();
  const Result<client::RecordReport> report = client::record(options);
  REQUIRE_MESSAGE(report.ok(), report.message());
  CHECK(report.value().events == 50'000);
  CHECK(report.value().complete);
  CHECK(agent.join().ok());
  CHECK(contains(agent.log(), "saved everything up to frame"));
  const Result<std::unique_ptr<Store>> saved = Store::open(path);
  REQUIRE(saved.ok());
  CHECK(events_in(*saved.value()) == 50'000);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace accelscope::capture
