// What a log means does not depend on the order of its rows.
#include <random>

#include "capture/sources/tt_metal/write/marker_runs.h"
#include "tests/capture/sources/tt_metal/device_log.h"

namespace accelscope::capture {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at + 1));
    at = end + 1;
  }
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

// Everything that a session says about its events, as one text.
std::string everything(const Imported& session) {
  std::string text;
  for (const char* table : {"zone", "zone_total", "ts_data", "ts_event", "perf_counter"}) {
    std::vector<std::string> events;
    for (const EventValues& event : session.events(table)) {
      std::string line = event.track + "|" + event.device + "|" + event.name + "|" + std::to_string(event.begin) + "|" +
                         std::to_string(event.end) + "|" + std::to_string(event.depth);
      for (const auto& [name, value] : event.integers) line += "|" + name + "=" + std::to_string(value);
      for (const auto& [name, value] : event.strings) line += "|" + name + "=" + value;
      events.push_back(line + "\n");
    }
    std::sort(events.begin(), events.end());
    for (const std::string& event : events) text += event;
  }
  return text;
}

}  // namespace

TEST_CASE("a log whose rows were shuffled gives the same events") {
  test::TtLogOptions options;
  options.programs = 30;
  options.zones = 5;
  options.totals = options.events = options.counters = options.traced = true;
  const std::string text = test::tt_log_text(options);
  const std::string expected = everything(import_log(text));
  std::vector<std::string> lines = lines_of(text);
  std::mt19937_64 random(5);
  for (int i = 0; i < 5; ++i) {
    std::shuffle(lines.begin() + 2, lines.end(), random);
    CHECK(everything(import_log(joined(lines))) == expected);
  }
}

TEST_CASE("a damaged log gives the same events in any order, markers of one time among them") {
  test::TtLogOptions options;
  options.cores_x = options.cores_y = 1;
  options.zones = 6;
  options.events = true;
  std::mt19937_64 random(17);
  for (int round = 0; round < 60; ++round) {
    // Few different times, and a third of the rows lost: ends and begins without each other, and many ties.
    std::vector<std::string> lines = lines_of(test::tt_log_header(options));
    test::generate_tt_rows(options, [&](const test::TtRow& row) {
      if (random() % 3 == 0) return;
      test::TtRow crowded = row;
      crowded.time = row.time / 300;
      std::string line;
      test::append_tt_row(crowded, options, line);
      lines.push_back(line);
      if (random() % 10 == 0) lines.push_back(line);
    });
    const Imported first = import_log(joined(lines));
    const std::uint64_t accounted = 2 * first.count("zone") - quality_count(first, "unmatched_begins") +
                                    first.count("ts_event") + first.count("ts_data") +
                                    quality_count(first, "duplicate_rows");
    CHECK(accounted == lines.size() - 2);
    std::shuffle(lines.begin() + 2, lines.end(), random);
    const Imported second = import_log(joined(lines));
    REQUIRE(everything(second) == everything(first));
  }
}

TEST_CASE("markers come out sorted and complete, however they come and wherever they are kept") {
  std::mt19937_64 random(3);
  for (const std::int64_t disorder : {std::int64_t{0}, std::int64_t{50}, std::int64_t{5000}, std::int64_t{1} << 40}) {
    for (const std::size_t memory : {std::size_t{0}, std::size_t{1} << 30}) {
      CAPTURE(disorder);
      CAPTURE(memory);
      sources::ChunkSpill spill(memory);
      sources::tt_metal::MarkerRuns runs;
      std::vector<sources::tt_metal::LogMarker> expected;
      for (std::int64_t i = 0; i < 20'000; ++i) {
        sources::tt_metal::LogMarker marker;
        marker.time = 1'000'000'000'000 + i * 3 + (disorder == 0 ? 0 : static_cast<std::int64_t>(random()) % disorder);
        marker.data = random() % 3 == 0 ? random() : 0;
        marker.extra = random() % 300;
        marker.site = static_cast<std::uint32_t>(random() % 70'000);
        marker.context = static_cast<std::uint32_t>(i);
        expected.push_back(marker);
        REQUIRE(runs.add(marker, spill).ok());
      }
      REQUIRE(runs.finish(spill).ok());
      const auto by_time = [](const sources::tt_metal::LogMarker& a, const sources::tt_metal::LogMarker& b) {
        return std::tie(a.time, a.context) < std::tie(b.time, b.context);
      };
      std::sort(expected.begin(), expected.end(), by_time);
      CHECK(runs.first_time() == expected.front().time);
      CHECK(runs.last_time() == expected.back().time);
      if (disorder <= 50) CHECK(runs.run_count() == 1);
      std::vector<sources::tt_metal::LogMarker> found;
      REQUIRE(runs.merge(spill,
                         [&](std::vector<sources::tt_metal::LogMarker>& of_one_time) {
                           CHECK((found.empty() || found.back().time < of_one_time.front().time));
                           std::sort(of_one_time.begin(), of_one_time.end(), by_time);
                           found.insert(found.end(), of_one_time.begin(), of_one_time.end());
                           return true;
                         })
                  .ok());
      CHECK(found == expected);
    }
  }
}

}  // namespace accelscope::capture
