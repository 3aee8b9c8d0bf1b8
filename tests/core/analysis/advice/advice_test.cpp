// What holds of all findings, whatever the session: beside a naive computation over the same events, in ranges, behind
// filters, in windows, and in sessions that hold nothing.
#include "core/analysis/advice/advice.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

#include "core/analysis/advice/device_sums.h"
#include "core/analysis/advice/idle_causes.h"
#include "core/analysis/advice/judgement.h"
#include "core/search/filter_mask.h"
#include "tests/core/analysis/advice/planted_session.h"

using namespace accelscope;
using namespace accelscope::analysis;
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
  auto mask = search::event_mask(query, filter);
  REQUIRE(mask.ok());
  query.mask = *mask;
  const auto masked = find_advice(query, filter);
  REQUIRE(masked.ok());
  REQUIRE((*masked)->findings.size() == 1);
  CHECK((*masked)->findings.front().headline.starts_with("w2 "));
}

TEST_CASE("advice: rules that rest on idleness are not judged where a filter leaves work out") {
  PlantedSession session;
  const TrackNumber first = session.stream("stream 7"), second = session.stream("stream 13"),
                    copies = session.copies("memcpy stream 7");
  for (int i = 0; i < 100; ++i) {
    session.work(first, i * 20'000, 10'000, "gemm");
    session.work(second, i * 20'000 + 10'000, 9'000, "relu");
    session.work(copies, i * 20'000 + 19'000, 1'000, "Memcpy HtoD");
  }
  const auto holds = [](const Advice& advice, RuleId rule) {
    return std::find(advice.judged.begin(), advice.judged.end(), &rule_of(rule)) != advice.judged.end();
  };
  const auto whole = session.advice();
  CHECK(whole->findings.empty());
  CHECK(holds(*whole, RuleId::launch_gaps));
  CHECK(holds(*whole, RuleId::tiny_kernels));
  EventFilter range;
  range.range = TimeRange{0, 1'000'000};
  CHECK(session.advice(range)->judged == whole->judged);

  EventFilter tracks;
  tracks.tracks = {first, copies};
  EventFilter terms;
  terms.terms.push_back({"name=gemm"});
  QueryContext query{*session.store, session.store->snapshot(), session.pool, session.control};
  for (const EventFilter& filter : {tracks, terms}) {
    query.mask = nullptr;
    const auto bare = find_advice(query, filter);
    REQUIRE(bare.ok());
    if (!filter.tracks.empty()) CHECK((*bare)->judged.empty());
    auto mask = search::event_mask(query, filter);
    REQUIRE(mask.ok());
    query.mask = *mask;
    const auto masked = find_advice(query, filter);
    REQUIRE(masked.ok());
    CHECK((*masked)->findings.empty());
    CHECK((*masked)->judged.empty());
  }
  // A mask of the range alone, as exports and summaries have it, leaves out no work inside it.
  query.mask = nullptr;
  auto mask = search::filter_mask(query, range);
  REQUIRE(mask.ok());
  query.mask = *mask;
  const auto ranged = find_advice(query, range);
  REQUIRE(ranged.ok());
  CHECK((*ranged)->judged == whole->judged);
}

TEST_CASE("advice: a gap has the cause that a naive look at every call finds") {
  std::mt19937_64 random(17);
  const auto up_to = [&](std::uint64_t most) { return static_cast<std::int64_t>(random() % most); };
  for (int round = 0; round < 50; ++round) {
    std::vector<DeviceGap> gaps;
    std::int64_t at = up_to(30);
    for (int i = 0; i < 40; ++i) {
      const std::int64_t end = at + 1 + up_to(40);
      gaps.push_back({at, end});
      at = end + 1 + up_to(40);
    }
    HostSpans host;
    EventId next = 0;
    for (std::vector<HostSpan>* list : {&host.synchronising, &host.loading}) {
      std::int64_t begin = 0;
      for (int i = 0; i < 80; ++i) {
        begin += up_to(40);
        list->push_back({begin, begin + up_to(90), 1, next++});  // instants and calls over many gaps too
      }
      std::stable_sort(list->begin(), list->end(), [](const HostSpan& a, const HostSpan& b) {
        return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
      });
    }
    TaskControl control;
    const auto causes = idle_causes(gaps, {&host}, control);
    REQUIRE(causes.ok());
    REQUIRE(causes->size() == gaps.size());
    for (std::size_t g = 0; g < gaps.size(); ++g) {
      IdleCause cause = IdleCause::launching;
      EventId call = kNoEvent;
      for (const HostSpan& span : host.synchronising) {
        if (span.begin_ns > gaps[g].begin_ns || span.end_ns < gaps[g].begin_ns || span.end_ns > gaps[g].end_ns)
          continue;
        cause = IdleCause::synchronising;
        call = span.event;
      }
      for (const HostSpan& span : host.loading) {
        const std::int64_t both = span.end_ns - std::max(span.begin_ns, gaps[g].begin_ns);
        if (span.end_ns > gaps[g].end_ns || 2 * both < gaps[g].length_ns()) continue;
        cause = IdleCause::loading;
        call = span.event;
      }
      CHECK((*causes)[g].cause == cause);
      CHECK((*causes)[g].call.event == call);
    }
    control.cancel();
    CHECK_FALSE(idle_causes(gaps, {&host}, control).ok());
  }
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

TEST_CASE("advice: an event that lies in several windows is counted once") {
  PlantedSession session;
  const TrackNumber engine = session.engine("Tensor"), throttle = session.throttle();
  constexpr std::int64_t kInstructions = 700'000;  // three windows
  for (std::int64_t i = 0; i < kInstructions; ++i) session.multiply(engine, i * 10, 10, 1, false);
  session.limit(throttle, 0, kInstructions * 10, 0.5);
  const Finding* found = session.found(RuleId::throttling);
  CHECK_PLANTED(found, kInstructions * 5);
  CHECK(found->count == 1);
  CHECK(found->tracks == std::vector<TrackNumber>{throttle});
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

TEST_CASE("advice: every rule says what it needs, from where on it is told, by whom, and what to try") {
  std::set<std::string_view> names;
  for (const AdviceRule& rule : advice_rules()) {
    CAPTURE(rule.name);
    CHECK(names.insert(rule.name).second);
    for (const std::string_view text :
         {rule.title, rule.needs, rule.condition, rule.source, rule.cost, rule.explanation, rule.remedy, rule.page}) {
      CHECK_FALSE(text.empty());
    }
    CHECK(&rule_of(rule.id) == &rule);
  }
}

TEST_CASE("advice: rules that a filter keeps back are named with what they need, and so are those without events") {
  PlantedSession session;
  const TrackNumber stream = session.stream("stream 7"), thread = session.thread("11 python");
  for (int i = 0; i < 20; ++i) {
    session.work(stream, i * 20'000, 10'000, i % 2 == 0 ? "gemm" : "relu");
    session.work(thread, i * 20'000 + 10'100, 9'800, "optimizer.step");
  }
  const auto whole = session.advice();
  const auto is_in = [](const Advice& advice, RuleId rule, std::string_view why) {
    return std::any_of(advice.unjudged.begin(), advice.unjudged.end(), [&](const UnjudgedRule& each) {
      return each.rule->id == rule && each.why.find(why) != std::string::npos;
    });
  };
  CHECK(whole->judged.size() + whole->unjudged.size() == kRuleCount - 2);  // errors are reported, not judged
  CHECK(is_in(*whole, RuleId::spills, "needs transfers"));
  CHECK_FALSE(is_in(*whole, RuleId::launch_gaps, ""));
  EventFilter filter;
  filter.tracks = {stream};
  const auto part = session.advice(filter);
  CHECK(is_in(*part, RuleId::launch_gaps, "all events of the range"));
  CHECK(is_in(*part, RuleId::spills, "the filter leaves none"));
  const std::string text = unjudged_text(*part);
  CHECK(text.starts_with("not judged: "));
  CHECK(text.find(std::string(rule_of(RuleId::launch_gaps).title)) != std::string::npos);
  CHECK(text.find("needs all events of the range, of which the filter leaves some out") != std::string::npos);
}

TEST_CASE("advice: cores of which not all kernels were kept are not judged, and it is said") {
  PlantedSession session;
  session.work(session.core("core 1,1 BRISC"), 0, 100, "BRISC-KERNEL");
  REQUIRE(session.writer.finish().ok());
  DeviceSum device;
  device.device = "chip 0";
  device.zones_left_out = 5;
  device.runs = {ProgramRun{.begin_ns = 0, .end_ns = 100, .cores = 2, .longest_ns = 90, .mean_ns = 50}};
  device.stretch = {0, 100};
  Advice advice;
  const HostsByProcess hosts;
  const std::vector<CompileEvent> compiling;
  const QueryContext query{*session.store, session.store->snapshot(), session.pool, session.control};
  judge_cores(Judgement{query, {0, 100}, nullptr, hosts, compiling, nullptr, false, advice}, device);
  CHECK(advice.findings.empty());
  REQUIRE(advice.unjudged.size() == 1);
  CHECK(advice.unjudged[0].rule->id == RuleId::unbalanced_cores);
  CHECK(advice.unjudged[0].why.find("5 of chip 0 could not be kept") != std::string::npos);
}
