// Hosts whose clocks show different times, brought onto the time of the session's first agent.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "capture/client/connection.h"
#include "tests/capture/recording_sink.h"
#include "tests/capture/wire/wire_support.h"

using namespace accelscope;
using namespace accelscope::capture;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// A host whose capture began at `begun` of true time, and whose clock runs `ppm` fast.
struct Host {
  std::int64_t begun = 0;
  double ppm = 0;
  [[nodiscard]] std::int64_t clock(std::int64_t truth) const {
    return (truth - begun) + static_cast<std::int64_t>(static_cast<double>(truth - begun) * ppm * 1e-6);
  }
};

// The viewer's own clock is none of the hosts'.
std::int64_t viewer_clock(std::int64_t truth) { return 77 * kSecond + truth + truth / 20'000; }

ClockPair exchange(const Host& host, std::int64_t truth, std::mt19937_64& random) {
  std::exponential_distribution<double> there(1.0 / 90'000);
  std::exponential_distribution<double> back(1.0 / 15'000);
  const std::int64_t sent = viewer_clock(truth - 20'000 - static_cast<std::int64_t>(there(random)));
  const std::int64_t came = viewer_clock(truth + 20'000 + static_cast<std::int64_t>(back(random)));
  return {host.clock(truth), sent + (came - sent) / 2, (came - sent + 1) / 2};
}

struct Side {
  Side(const std::shared_ptr<ingest::SessionClock>& clock, bool reference)
      : provider(sink), feed(provider, {.place = "box", .clock = clock, .reference = reference}) {}
  RecordingSink sink;
  OneSink provider;
  client::AgentFeed feed;
};

// The last definition of a clock, as the store would use it.
Clock clock_in(const RecordingSink& sink, ClockNumber number) {
  Clock last;
  for (const Bytes& bytes : sink.definition_bytes) {
    const Definition definition = *decode_definition(bytes).value();
    if (const auto* clock = std::get_if<Clock>(&definition); clock != nullptr && clock->number == number) last = *clock;
  }
  return last;
}

void take(client::AgentFeed& feed, const Definition& definition) {
  const std::uint64_t next = feed.counts().last_sequence() + 1;
  REQUIRE(feed.take(wire::make_frame(wire::FrameType::definition, encode(definition), next)).ok());
}

}  // namespace

TEST_CASE("events of hosts whose clocks differ and drift meet on the session's time within the stated uncertainty") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const Host first{.begun = 5 * kSecond, .ppm = -30};
    const Host second{.begun = 40 * kSecond, .ppm = 80};  // joins late
    const auto session = std::make_shared<ingest::SessionClock>();
    Side reference(session, true);
    Side other(session, false);
    REQUIRE(other.feed.begin(wire::Started{.capture_id = "c"}, "box").ok());
    take(other.feed, Track{.number = 1, .name = "host time", .kind = "engine"});
    take(other.feed, Clock{.number = 2, .name = "device", .ticks_per_ns = 1.4});
    take(other.feed, Track{.number = 2, .name = "device time", .kind = "engine", .clock = 2});
    std::int64_t worst_exchange = 0;
    for (std::int64_t truth = 6 * kSecond; truth < 100 * kSecond; truth += kSecond / 2) {
      REQUIRE(reference.feed.add_clock(exchange(first, truth, random)).ok());
      if (truth < second.begun) continue;
      const ClockPair pair = exchange(second, truth + 1'000, random);
      worst_exchange = std::max(worst_exchange, pair.uncertainty_ns);
      REQUIRE(other.feed.add_clock(pair).ok());
      REQUIRE(other.feed.tick().ok());
    }
    REQUIRE(other.feed.tick(true).ok());

    CHECK(other.sink.tracks.at(1).clock == ingest::kHostClock);
    CHECK(other.sink.tracks.at(1).host == "box");
    CHECK(other.sink.tracks.at(2).clock == 2);
    const ClockMap host_map(clock_in(other.sink, ingest::kHostClock));
    const ClockMap device_map(clock_in(other.sink, 2));
    const double stated = other.feed.clock().fit().residual_ns() + reference.feed.clock().fit().residual_ns() +
                          2.0 * static_cast<double>(worst_exchange);
    double worst = 0;
    for (std::int64_t truth = 41 * kSecond; truth < 99 * kSecond; truth += kSecond / 7) {
      const std::int64_t expected = first.clock(truth);
      const std::int64_t own = second.clock(truth);
      const std::int64_t by_host = host_map.to_ns(own);
      worst = std::max(worst, std::abs(static_cast<double>(by_host - expected)));
      const std::int64_t by_device = device_map.to_ns(static_cast<std::int64_t>(static_cast<double>(own) * 1.4));
      REQUIRE(std::abs(by_device - by_host) <= 4);
    }
    CHECK(worst <= stated);
    CHECK(worst < 150'000);  // exchanges take 145 us on average, and nothing tells how it splits
    CHECK(other.sink.meta.contains("clock.box.residual_ns"));
  }
}

TEST_CASE("the first agent of a session keeps its own time to the tick") {
  const auto session = std::make_shared<ingest::SessionClock>();
  Side reference(session, true);
  std::mt19937_64 random(1);
  const Track track{.number = 1, .name = "host time", .kind = "engine"};
  const Clock device{.number = 2, .name = "device", .ticks_per_ns = 1.4};
  take(reference.feed, track);
  take(reference.feed, device);
  for (std::int64_t truth = 0; truth < 60 * kSecond; truth += kSecond) {
    REQUIRE(reference.feed.add_clock(exchange({.ppm = 40}, truth, random)).ok());
    REQUIRE(reference.feed.tick().ok());
  }
  REQUIRE(reference.feed.tick(true).ok());
  CHECK(reference.sink.tracks.at(1) == track);
  CHECK(clock_in(reference.sink, 2) == device);
  CHECK(reference.sink.definition_bytes.size() == 2);
}

TEST_CASE("clocks are told anew with rising versions, and only when it matters") {
  const auto session = std::make_shared<ingest::SessionClock>();
  Side reference(session, true);
  Side other(session, false);
  take(other.feed, Track{.number = 1, .name = "host time", .kind = "engine"});
  const ClockPair same{kSecond, 3 * kSecond, 50'000};
  REQUIRE(reference.feed.add_clock(same).ok());
  REQUIRE(other.feed.add_clock(same).ok());
  for (int i = 0; i < 50; ++i) REQUIRE(other.feed.tick().ok());
  const Clock reported = clock_in(other.sink, ingest::kHostClock);
  CHECK(reported.version == 1);
  CHECK(ClockMap(reported).to_ns(123) == 123);
  const std::size_t definitions = other.sink.definition_bytes.size();
  REQUIRE(other.feed.add_clock({2 * kSecond, 4 * kSecond + 10'000, 50'000}).ok());
  REQUIRE(other.feed.tick().ok());
  CHECK(other.sink.definition_bytes.size() == definitions);  // within what was known anyway
}

TEST_CASE("a host whose clock cannot be brought close is named in the quality report") {
  const auto session = std::make_shared<ingest::SessionClock>();
  Side reference(session, true);
  Side other(session, false);
  REQUIRE(other.feed.begin(wire::Started{.capture_id = "c"}, "box").ok());
  std::mt19937_64 random(4);
  for (std::int64_t truth = 0; truth < 100 * kSecond; truth += kSecond) {
    REQUIRE(reference.feed.add_clock({truth, viewer_clock(truth), 10'000}).ok());
    const auto error = static_cast<std::int64_t>(random() % 30'000'000) - 15'000'000;
    REQUIRE(other.feed.add_clock({truth + 1, viewer_clock(truth) + error, 15'000'000}).ok());
  }
  REQUIRE(other.feed.tick(true).ok());
  REQUIRE(other.sink.qualities.size() == 1);
  CHECK(other.sink.qualities[0].kind == "clock_residual");
  CHECK(contains(other.sink.qualities[0].detail, "the clock of box"));
}
