// What an importer makes of a file, a capture that follows the same file has too: every table, every track, every
// derived counter and every figure, whichever source it is.
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <random>
#include <set>

#include "capture/sources/import_input.h"
#include "core/analysis/figures/derived_counters.h"
#include "core/base/worker_pool.h"
#include "tests/capture/imported.h"
#include "tests/capture/kinds/kind_run_support.h"
#include "tests/capture/wire/wire_support.h"
#include "tests/support/files.h"
#include "tests/support/neuron/simulated_profile.h"
#include "tests/support/perfetto_writer.h"
#include "tests/support/tracy_trace.h"
#include "tests/support/tt_log_generator.h"
#include "tests/support/xspace.h"

namespace accelscope::capture::followed_sources {
namespace {

namespace fs = std::filesystem;

// Of one chip: several have no common time, and a capture places each of them by when its rows were written.
std::string tt_log() {
  test::TtLogOptions options;
  options.programs = 6;
  options.totals = options.events = options.counters = options.dispatch = options.traced = true;
  return test::tt_log_text(options);
}

std::string kineto_trace() {
  std::string events;
  for (int i = 0; i < 200; ++i) {
    const auto add = [&](const std::string& event) { events += (events.empty() ? "{" : ",\n{") + event + "}"; };
    add(fmt::format(R"("ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":7,"tid":7,"ts":{},"dur":9,)"
                    R"("args":{{"correlation":{}}})",
                    i * 100, i + 1));
    add(fmt::format(R"("ph":"X","cat":"kernel","name":"gemm {}","pid":0,"tid":7,"ts":{},"dur":60,)"
                    R"("args":{{"device":0,"stream":7,"correlation":{}}})",
                    i % 3, i * 100 + 30, i + 1));
    add(fmt::format(R"("ph":"i","s":"t","name":"[memory]","pid":7,"tid":7,"ts":{},)"
                    R"("args":{{"Device Type":1,"Device Id":0,"Addr":{},"Bytes":{},"Total Allocated":{}}})",
                    i * 100 + 5, 4096 + i / 2 * 512, i % 2 == 0 ? 512 : -512, i % 2 == 0 ? 512 : 0));
  }
  return R"({"schemaVersion":1,"traceEvents":[)" + events + "]}";
}

std::string neuron_profile() {
  const test::TemporaryFolder folder;
  sim::SimulationOptions options;
  options.kernels = 2;
  REQUIRE(write_simulated_profile(options, folder.file("profile.json")).ok());
  return test::read_file(folder.file("profile.json"));
}

std::string tracy() { return test::tracy_trace(test::rich_tracy_model(3), test::tracy_releases().back()); }
std::string xplane() { return test::small_tpu_space(); }

Imported imported(const std::string& path) {
  return Imported::by([&](EventSink& sink) {
    return sources::import_input({sources::recognise(path)}, {},
                                 [&] { return std::make_unique<ForwardingSink>(sink); });
  });
}

// Grows the file between the turns of the capture, and ends it once nothing is left to write.
class GrowingFile final : public ForwardingSink {
 public:
  GrowingFile(EventSink& sink, std::string path, std::string text)
      : ForwardingSink(sink), path_(std::move(path)), text_(std::move(text)) {}
  [[nodiscard]] bool cancelled() const override {
    if (at_ == text_.size()) return true;
    if (!std::exchange(looked_for_, true)) return false;  // it appears while the capture runs
    const std::size_t count = std::min<std::size_t>(text_.size() - at_, 1 + random_() % 30'000);
    std::ofstream(path_, std::ios::app | std::ios::binary) << text_.substr(at_, count);
    at_ += count;
    return false;
  }

 private:
  std::string path_, text_;
  mutable bool looked_for_ = false;
  mutable std::size_t at_ = 0;
  mutable std::mt19937_64 random_{5};
};

Imported followed_while_it_grows(const std::string& path, const std::string& text) {
  return Imported::by([&](EventSink& sink) -> Result<void> {
    GrowingFile growing(sink, path, text);
    return run_kind_into({.kinds = {{"tt-metal", {{"log", path}}}}}, growing).result;
  });
}

Imported replayed(const std::string& path, const std::string& text) {
  test::write_file(path, text);
  return Imported::by([&](EventSink& sink) {
    return run_kind_into({.kinds = {{"replay", {{"file", path}, {"speed", "max"}}}}}, sink).result;
  });
}

struct Content {
  std::vector<std::string> tracks, events, figures;
  std::map<std::string, std::vector<float>> derived;
};

// A live capture places what it follows where it was written: times count from the first event.
Content content_of(const Imported& session) {
  Content content;
  const Snapshot& snapshot = session.snapshot();
  std::set<std::string> tables;
  std::int64_t first = INT64_MAX;
  for (const LaneSnapshot& lane : snapshot.lanes) tables.insert(lane.schema->name);
  for (const std::string& table : tables) {
    for (const EventValues& event : session.events(table)) first = std::min(first, event.begin);
  }
  for (const std::string& table : tables) {
    for (const EventValues& event : session.events(table)) {
      std::string line = fmt::format("{} | {} | {} | {} | {} | {}-{}", table, event.device, event.track, event.depth,
                                     event.name, event.begin - first, event.end - first);
      const bool flow = table == "flow";  // its ends are ids, which each session numbers anew
      for (const auto& [name, value] : event.integers) line += flow ? "" : fmt::format(" {}={}", name, value);
      for (const auto& [name, value] : event.strings) line += fmt::format(" {}={}", name, value);
      for (const auto& [name, value] : event.reals) line += fmt::format(" {}={}", name, value);
      content.events.push_back(std::move(line));
    }
  }
  for (const TrackSnapshot& track : snapshot.tracks) {
    const Track& of = *track.track;
    content.tracks.push_back(fmt::format("{} | {} | {} | {} | {}", of.host, of.device, of.kind, of.name, of.unit));
  }
  for (const Metric& metric : snapshot.metrics) content.figures.push_back(metric.name);
  std::sort(content.events.begin(), content.events.end());
  std::sort(content.tracks.begin(), content.tracks.end());
  std::sort(content.figures.begin(), content.figures.end());

  WorkerPool pool(1);
  TaskControl control;
  const QueryContext query{
      .store = session.store(), .snapshot = session.shared_snapshot(), .pool = pool, .control = control};
  const auto work = analysis::leaf_work(query, nullptr);
  const auto launches = analysis::launch_queues(query);
  REQUIRE(work.ok());
  REQUIRE(launches.ok());
  constexpr std::size_t kStretches = 50;
  for (const analysis::DerivedCounter& counter : analysis::derived_counters(snapshot)) {
    const auto values = analysis::derived_values(query, counter, {.work = work->get(), .launches = launches->get()},
                                                 {snapshot.begin_ns, snapshot.end_ns}, kStretches);
    REQUIRE(values.ok());
    content.derived[counter.key] = *values;
  }
  return content;
}

// The first that differs.
std::string difference(const std::vector<std::string>& expected, const std::vector<std::string>& found) {
  const auto [a, b] = std::mismatch(expected.begin(), expected.end(), found.begin(), found.end());
  return fmt::format("{} expected, {} found\nexpected {}\nfound    {}", expected.size(), found.size(),
                     a == expected.end() ? "no more" : *a, b == found.end() ? "no more" : *b);
}

struct FollowedSource {
  const char* title;
  const char* file;
  std::string (*text)();
  Imported (*follow)(const std::string& path, const std::string& text);
};

}  // namespace

TEST_CASE("every table, track, figure and derived counter of an import is in a capture that follows the same file") {
  const std::vector<FollowedSource> sources = {
      {"a device log of tt-metal while it grows", "profile_log_device.csv", tt_log, followed_while_it_grows},
      {"a replayed device log", "profile_log_device.csv", tt_log, replayed},
      {"a replayed trace of PyTorch", "trace.json", kineto_trace, replayed},
      {"a replayed Neuron profile", "profile.json", neuron_profile, replayed},
      {"a replayed Perfetto trace", "trace.pftrace", test::varied_trace, replayed},
      {"a replayed trace of Tracy", "run.tracy", tracy, replayed},
      {"a replayed XPlane", "host.xplane.pb", xplane, replayed},
  };
  for (const FollowedSource& source : sources) {
    CAPTURE(std::string(source.title));
    const ScratchFolder folder;
    const std::string text = source.text();
    const std::string path = folder.file(source.file);
    const Content followed = content_of(source.follow(path, text));
    test::write_file(path, text);
    const Content expected = content_of(imported(path));
    CHECK(expected.events.size() > 5);
    CHECK_MESSAGE(followed.tracks == expected.tracks, difference(expected.tracks, followed.tracks));
    CHECK_MESSAGE(followed.events == expected.events, difference(expected.events, followed.events));
    CHECK_MESSAGE(followed.figures == expected.figures, difference(expected.figures, followed.figures));
    REQUIRE(followed.derived.size() == expected.derived.size());
    for (const auto& [key, values] : expected.derived) {
      CAPTURE(key);
      REQUIRE(followed.derived.contains(key));
      const std::vector<float>& other = followed.derived.at(key);
      REQUIRE(other.size() == values.size());
      for (std::size_t i = 0; i < values.size(); ++i) {
        const bool same = std::isnan(values[i]) ? std::isnan(other[i])
                                                : std::abs(values[i] - other[i]) <= 0.01F * (1 + std::abs(values[i]));
        CHECK_MESSAGE(same, values[i], " became ", other[i], " in stretch ", i);
      }
    }
  }
}

}  // namespace accelscope::capture::followed_sources
