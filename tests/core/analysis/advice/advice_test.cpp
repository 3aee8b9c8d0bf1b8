// What holds of all findings, whatever the session: beside a naive computation over the same events, in ranges, behind
// filters, in windows, and in sessions that hold nothing.
#include "core/analysis/advice/advice.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

#include "core/analysis/advice/device_sums.h"
#include "core/search/filter_mask.h"
#include "tests/core/analysis/advice/planted_session.h"

using namespace accelscope;
using test::PlantedSession;

namespace {

struct NaiveEvent {
  int unit;  // 0 an engine's, 1 a transfer
  TrackNumber track;
  std::int64_t begin, end;
};

// Ns by ns.
std::array<std::int64_t, 4> naive_times(const std::vector<NaiveEvent>& events, std::int64_t from, std::int64_t to) {
  std::array<std::int64_t, 4> times{};
  for (std::int64_t ns = from; ns < to; ++ns) {
    std::size_t set = 0;
    for (const NaiveEvent& each : events) {
      if (each.begin <= ns && ns < each.end) set |= std::size_t{1} << static_cast<unsigned>(each.unit);
    }
    ++times[set];
  }
  return times;
}

void check_sound(const Advice& advice, const TimeRange& session) {
  std::set<std::string> keys;
  for (std::size_t i = 0; i < advice.findings.size(); ++i) {
    const Finding& each = advice.findings[i];
    CAPTURE(each.key);
    CHECK(each.saving_ns > 0);
    CHECK(each.saving_ns <= session.length_ns());
    CHECK(each.share > 0);
    CHECK(each.share <= 1);
    CHECK_FALSE(each.headline.empty());
    CHECK_FALSE(each.tab.empty());
    CHECK(keys.insert(each.key).second);
    REQUIRE_FALSE(each.places.empty());
    CHECK(std::is_sorted(each.places.begin(), each.places.end(), [](const FindingPlace& a, const FindingPlace& b) {
      return a.range.begin_ns < b.range.begin_ns;
    }));
    if (i > 0) CHECK(each.saving_ns <= advice.findings[i - 1].saving_ns);
    CHECK(std::find(advice.judged.begin(), advice.judged.end(), each.rule) != advice.judged.end());
  }
}

}  // namespace

TEST_CASE("advice: what is under way at once is added up as a naive count does, in any range") {
  std::mt19937_64 random(11);
  for (int round = 0; round < 12; ++round) {
    PlantedSession session;
    std::vector<NaiveEvent> events;
    const std::vector<std::pair<int, TrackNumber>> tracks = {{0, session.engine("Tensor")},
                                                             {0, session.engine("Vector")},
                                                             {1, session.queue("q0")},
                                                             {1, session.queue("q1")}};
    for (const auto& [unit, track] : tracks) {
      std::int64_t at = static_cast<std::int64_t>(random() % 50);
      for (int i = 0; i < 25; ++i) {
        const auto length = static_cast<std::int64_t>(random() % 60);  // instants too
        if (unit == 0) session.work(track, at, length);
        if (unit == 1) session.move(track, at, length, {});
        events.push_back({unit, track, at, at + length});
        at += static_cast<std::int64_t>(random() % 70);  // they overlap: further sub-lanes
      }
    }
    REQUIRE(session.writer.finish());
    const QueryContext query{*session.store, session.store->snapshot(), session.pool, session.control};
    EventFilter filter;
    if (round % 2 == 1) filter.range = TimeRange{300, 900};
    const auto sums = device_sums(query, filter);
    REQUIRE(sums.ok());
    REQUIRE(sums->size() == 1);
    const DeviceSum& device = sums->front();
    const TimeRange range = filter.range.value_or(TimeRange{0, 3'000});
    const auto naive = naive_times(events, range.begin_ns, range.end_ns);
    CHECK(device.times_ns[1] == naive[1]);
    CHECK(device.times_ns[2] == naive[2]);
    CHECK(device.times_ns[3] == naive[3]);
    CHECK(device.compute_ns == naive[1] + naive[3]);
    for (const EngineSum& engine : device.engines) {
      std::vector<NaiveEvent> own;
      std::copy_if(events.begin(), events.end(), std::back_inserter(own),
                   [&](const NaiveEvent& each) { return each.track == engine.track; });
      CHECK(engine.busy_ns == naive_times(own, range.begin_ns, range.end_ns)[1]);
    }
  }
}

TEST_CASE("advice: findings are ranked, told apart, and save no more than there is") {
  std::mt19937_64 random(5);
  for (int round = 0; round < 10; ++round) {
    PlantedSession session;
    session.tensor("w1", 4'096);
    const TrackNumber engine = session.engine("Tensor"), other = session.engine("Vector"), queue = session.queue("q0"),
                      throttle = session.throttle();
    std::int64_t at = 0;
    for (int i = 0; i < 200; ++i) {
      const auto step = static_cast<std::int64_t>(10 + random() % 200);
      if (random() % 2 == 0) session.multiply(engine, at, step, 1'000, random() % 3 == 0);
      if (random() % 2 == 0) session.work(other, at, step);
      if (random() % 2 == 0) session.move(queue, at, step, {.bytes = random() % 2 == 0 ? 512 : 4'096});
      if (random() % 8 == 0) session.limit(throttle, at, step, 0.5);
      at += step;
    }
    const auto advice = session.advice();
    const auto snapshot = session.store->snapshot();
    CHECK_FALSE(advice->findings.empty());
    check_sound(*advice, {snapshot->begin_ns, snapshot->end_ns});
    EventFilter half;
    half.range = TimeRange{at / 4, at / 2};
    check_sound(*session.advice(half), *half.range);
  }
}

TEST_CASE("advice: a filter leaves out what does not pass it") {
  PlantedSession session;
  session.tensor("w1", 65'536);
  session.tensor("w2", 65'536);
  const TrackNumber queue = session.queue("q0"), engine = session.engine("Scalar");
  for (int i = 0; i < 6; ++i) {
    session.move(queue, 100 + i * 2'000, 900, {.bytes = 65'536});
    session.move(queue, 1'100 + i * 2'000, 900, {.tensor = "w2", .bytes = 65'536});
  }
  session.work(engine, 0, 10);
  session.work(engine, 13'000, 10);
  CHECK(session.advice()->findings.size() == 2);
  EventFilter filter;
  filter.terms.push_back({"name=w2"});
  REQUIRE(session.writer.finish());
  QueryContext query{*session.store, session.store->snapshot(), session.pool, session.control};
  auto mask = event_mask(query, filter);
  REQUIRE(mask.ok());
  query.mask = *mask;
  const auto masked = find_advice(query, filter);
  REQUIRE(masked.ok());
  REQUIRE((*masked)->findings.size() == 1);
  CHECK((*masked)->findings.front().headline.starts_with("w2 "));
}

TEST_CASE("advice: gaps are the same however many windows the events take") {
  PlantedSession session;
  const TrackNumber stream = session.stream("stream 7");
  constexpr std::int64_t kKernels = 700'000;  // three windows
  std::int64_t planted = 0;
  for (std::int64_t i = 0; i < kKernels; ++i) {
    session.work(stream, i * 10'000, 6'000, "gemm");
    if (i > 0) planted += 4'000;
  }
  const Finding* found = session.found(RuleId::launch_gaps);
  REQUIRE(found != nullptr);
  CHECK(found->saving_ns == planted);
  CHECK(found->count == kKernels - 1);
  CHECK(found->places.size() == Finding::kMostPlaces);
}

TEST_CASE("advice: nothing is found where nothing was recorded, and a task that is cancelled says so") {
  PlantedSession empty;
  const auto nothing = empty.advice();
  CHECK(nothing->findings.empty());
  CHECK(nothing->judged.empty());
  CHECK(advice_text(*nothing).empty());
  PlantedSession session;
  const TrackNumber engine = session.engine("Tensor");
  session.work(engine, 0, 0);
  CHECK(session.advice()->findings.empty());
  session.control.cancel();
  CHECK_FALSE(find_advice({*session.store, session.store->snapshot(), session.pool, session.control}, {}).ok());
}

TEST_CASE("advice: the place in view is the longest that touches it") {
  Finding finding;
  finding.places = {{{0, 10}, "a"}, {{20, 50}, "b"}, {{60, 65}, "c"}};
  CHECK(longest_place(finding, {0, 100})->note == "b");
  CHECK(longest_place(finding, {55, 100})->note == "c");
  CHECK(longest_place(finding, {5, 20})->note == "a");
  CHECK(longest_place(finding, {70, 100}) == nullptr);
}

TEST_CASE("advice: every rule says what it needs, from where on it is told, by whom, and what to try") {
  std::set<std::string_view> names;
  for (const AdviceRule& rule : advice_rules()) {
    CAPTURE(rule.name);
    CHECK(names.insert(rule.name).second);
    for (const std::string_view text :
         {rule.title, rule.needs, rule.told, rule.source, rule.cost, rule.explanation, rule.remedy, rule.page}) {
      CHECK_FALSE(text.empty());
    }
    CHECK(&rule_of(rule.id) == &rule);
  }
}
