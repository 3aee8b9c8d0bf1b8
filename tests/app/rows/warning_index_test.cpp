// The places and rows of findings, against looking at every one.
#include "app/rows/warning_index.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

using namespace accelscope;
using namespace accelscope::app::rows;
using namespace accelscope::app;

namespace {

std::optional<std::size_t> longest_of_all(const std::vector<TimeRange>& places, const TimeRange& view) {
  std::optional<std::size_t> longest;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!view.holds(places[i].begin_ns, places[i].end_ns)) continue;
    if (!longest || places[i].length_ns() > places[*longest].length_ns()) longest = i;
  }
  return longest;
}

std::vector<TimeRange> random_places(std::mt19937& random, std::size_t count, std::int64_t until,
                                     std::int64_t longest) {
  std::vector<TimeRange> places;
  for (std::size_t i = 0; i < count; ++i) {
    const auto begin = static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(until));
    places.push_back({begin, begin + static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(longest + 1))});
  }
  std::sort(places.begin(), places.end(), [](const auto& a, const auto& b) { return a.begin_ns < b.begin_ns; });
  return places;
}

}  // namespace

TEST_CASE("warning index: the place in view is the longest that touches it, as looking at all of them says") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const auto places = random_places(random, random() % 40, 1'000, round % 2 == 0 ? 30 : 900);
    const PlaceIndex index(places);
    for (int view = 0; view < 50; ++view) {
      const auto begin = static_cast<std::int64_t>(random() % 1'200) - 100;
      const TimeRange range{begin, begin + static_cast<std::int64_t>(random() % 400)};
      CHECK(index.longest(range) == longest_of_all(places, range));
    }
  }
  CHECK_FALSE(PlaceIndex().longest({0, 100}));
  CHECK(PlaceIndex({{5, 5}}).longest({0, 10}) == std::size_t{0});  // an instant
}

TEST_CASE("warning index: few of very many places are looked at") {
  std::mt19937 random(8);
  const auto places = random_places(random, 100'000, 1'000'000'000, 20'000);
  const PlaceIndex index(places);
  for (int view = 0; view < 100; ++view) {
    const auto begin = static_cast<std::int64_t>(random() % 900'000'000);
    const TimeRange range{begin, begin + 50'000'000};
    CHECK(index.longest(range) == longest_of_all(places, range));
    CHECK(index.looked_at() < 2'000);
  }
}

TEST_CASE("warning index: a finding has the rows of its tracks, and others once rows are composed anew") {
  auto advice = std::make_shared<analysis::Advice>();
  analysis::Finding finding;
  finding.tracks = {3, 7, 8};
  finding.places = {{{0, 10}, "a"}, {{20, 50}, "b"}, {{60, 65}, "c"}};
  advice->findings.push_back(finding);
  std::vector<std::set<TrackNumber>> rows = {{1}, {3}, {7, 9}, {}, {2}, {8}};
  WarningIndex index;
  int asked = 0;
  const auto tracks_of = [&](std::size_t row) {
    ++asked;
    return rows[row];
  };
  index.update(advice, 1, rows.size(), tracks_of);
  using Run = WarningIndex::RowRun;
  const auto runs = index.rows_of(0);
  CHECK(std::vector<Run>(runs.begin(), runs.end()) == std::vector<Run>{{1, 2}, {5, 5}});
  CHECK(index.longest_place(0, {0, 100})->note == "b");
  CHECK(index.longest_place(0, {55, 100})->note == "c");
  CHECK(index.longest_place(0, {5, 20})->note == "a");
  CHECK(index.longest_place(0, {70, 100}) == nullptr);
  index.update(advice, 1, rows.size(), tracks_of);
  CHECK(asked == 6);  // the same rows are not looked at again
  std::rotate(rows.begin(), rows.begin() + 1, rows.end());
  index.update(advice, 2, rows.size(), tracks_of);
  const auto moved = index.rows_of(0);
  CHECK(std::vector<Run>(moved.begin(), moved.end()) == std::vector<Run>{{0, 1}, {4, 4}});
}
