// Iterations planted on engines, streams and threads of whole sessions, beside lanes in which nothing repeats.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "core/analysis/iterations/iterations.h"
#include "core/chunk/session_writer.h"
#include "core/scan/chunk_scan.h"
#include "core/store/store.h"

using namespace accelscope;
using namespace accelscope::analysis;

namespace {

class PlantedSession {
 public:
  static constexpr std::uint32_t kForeign = 1'000, kRandom = 2'000;

  PlantedSession(const char* kind, std::uint64_t seed) : random_(seed) {
    const SchemaNumber schema = writer_.add_schema({.name = "work"});
    planted = writer_.add_track({.name = "planted", .kind = kind, .device = "device 0", .schema = schema});
    aperiodic = writer_.add_track({.name = "aperiodic", .kind = kind, .device = "device 0", .schema = schema});
    const std::size_t count = 6 + random_() % 40, length = 6 + random_() % 30;
    foreign_percent_ = static_cast<unsigned>(random_() % 30);
    foreign_names_ = 1 + static_cast<unsigned>(random_() % 12);
    foreign();
    for (std::size_t i = 0; i < count; ++i) {
      TimeRange step{at_, at_};
      for (std::size_t j = 0; j < length; ++j) {
        step.end_ns = add(planted, static_cast<std::uint32_t>(j), 500 + 100 * static_cast<double>(j));
        foreign();
      }
      steps.push_back(step);
    }
    const TrackNumber host =
        writer_.add_track({.name = "main", .kind = "host_thread", .schema = writer_.add_schema({.name = "nvtx"})});
    for (std::size_t i = 0; i < steps.size(); ++i)
      writer_.begin_event(host, steps[i].begin_ns, steps[i].length_ns(), writer_.intern("Step " + std::to_string(i)));
    at_ = 0;
    for (std::size_t i = 0; i < count * length; ++i)
      (void)add(aperiodic, kRandom + static_cast<std::uint32_t>(random_() % 25), 900);
    REQUIRE(writer_.finish().ok());
  }
  void mark_steps() {
    for (const TimeRange& step : steps)
      REQUIRE(store_->put_marker({.ts_ns = step.begin_ns, .end_ns = step.end_ns, .name = "step"}).ok());
  }
  [[nodiscard]] std::shared_ptr<const IterationList> found(const std::string& by = "") {
    auto list = find_iterations({*store_, store_->snapshot(), pool_, control_}, {}, {by});
    REQUIRE(list.ok());
    return *list;
  }

  TrackNumber planted = 0, aperiodic = 0;
  std::vector<TimeRange> steps;

 private:
  // 20 % jitter. Returns its end.
  std::int64_t add(TrackNumber track, std::uint32_t name, double mean_ns) {
    const double jitter = 0.8 + 0.4 * static_cast<double>(random_() % 1'000) / 1'000;
    const auto length = static_cast<std::int64_t>(mean_ns * jitter);
    writer_.begin_event(track, at_, length,
                        writer_.intern("op_" + std::string(1 + name / 26, 'x') + static_cast<char>('a' + name % 26)));
    const std::int64_t end = at_ + length;
    at_ = end + static_cast<std::int64_t>(random_() % 200);
    return end;
  }
  void foreign() {
    while (random_() % 100 < foreign_percent_)
      (void)add(planted, kForeign + static_cast<std::uint32_t>(random_() % foreign_names_), 700);
  }

  std::mt19937_64 random_;
  std::unique_ptr<Store> store_ = Store::create().value();
  StoreSink sink_{*store_};
  SessionWriter writer_{sink_};
  WorkerPool pool_{2};
  TaskControl control_;
  std::int64_t at_ = 0;
  unsigned foreign_percent_ = 0, foreign_names_ = 1;
};

}  // namespace

TEST_CASE("iterations: planted on engines, streams and threads, with 20 % jitter and foreign events, 40 seeds each") {
  int exact_bounds = 0;
  for (const char* kind : {"engine", "stream", "host_thread"}) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      PlantedSession session(kind, seed);
      const auto list = session.found();
      CAPTURE(kind);
      CAPTURE(seed);
      REQUIRE(!list->loops.empty());
      for (const IterationLoop& loop : list->loops) CHECK(loop.track != session.aperiodic);
      const auto on_planted = std::find_if(list->loops.begin(), list->loops.end(),
                                           [&](const IterationLoop& each) { return each.track == session.planted; });
      REQUIRE(on_planted != list->loops.end());
      const FoldedLoop& outer = on_planted->folded;
      CHECK(outer.iterations.size() == session.steps.size());
      const bool exact = std::equal(
          outer.iterations.begin(), outer.iterations.end(), session.steps.begin(), session.steps.end(),
          [](const LoopIteration& a, const TimeRange& b) { return a.begin_ns == b.begin_ns && a.end_ns == b.end_ns; });
      exact_bounds += exact ? 1 : 0;
    }
  }
  CHECK(exact_bounds >= 110);  // a foreign name may by chance come as often as the body
}

TEST_CASE("iterations: asked for by name and by markers, each has the bounds that it was given, 100 seeds") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    PlantedSession session("stream", 500 + seed);
    session.mark_steps();
    CAPTURE(seed);
    for (const char* by : {"Step", "marker"}) {
      const auto list = session.found(by);
      const auto on_planted = std::find_if(list->loops.begin(), list->loops.end(),
                                           [&](const IterationLoop& each) { return each.track == session.planted; });
      REQUIRE(on_planted != list->loops.end());
      const std::vector<LoopIteration>& all = on_planted->folded.iterations;
      REQUIRE(all.size() == session.steps.size());
      for (std::size_t i = 0; i < all.size(); ++i) {
        CHECK(all[i].begin_ns == session.steps[i].begin_ns);
        CHECK(all[i].end_ns == session.steps[i].end_ns);
      }
      for (const LoopOperation& each : on_planted->folded.body) CHECK(each.duration_ns.count <= all.size());
    }
  }
}
