// One frame's draw lists: 64 lanes of a million events, 1,600 pixels, any zoom and place; first as a view is met for
// the first time (cold: workers only begin to make its strips), then when these have come (warm).
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <thread>
#include <vector>

#ifdef __linux__
#include <ctime>
#endif

#include "core/chunk/chunk_view.h"
#include "core/chunk/session_writer.h"
#include "core/store/store.h"
#include "render/shell/null_shell.h"
#include "render/timeline/lane_painter.h"
#include "render/timeline/lane_strips.h"
#include "tests/bench/base/figures.h"

namespace accelscope::bench {
namespace {

using namespace render;

constexpr std::size_t kLanes = 64;
constexpr int kWidth = 1600;

// CPU time of this thread in ms: other threads and other programs do not count.
[[nodiscard]] double thread_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

// Engines and queues as they are: 20 to 420 ns of work, a tenth of it waits, gaps, and now and then a long pause.
[[nodiscard]] std::unique_ptr<Store> make_store(std::size_t lanes, std::uint64_t events) {
  std::unique_ptr<Store> store = std::move(Store::create()).value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const SchemaNumber schema =
      writer.add_schema({.name = "instruction", .name_column = "opcode", .wait_names = {"SEMAPHORE_WAIT"}});
  std::vector<StringId> names;
  for (int i = 0; i < 24; ++i) names.push_back(writer.intern(fmt::format("OPCODE_{}", i)));
  const StringId wait = writer.intern("SEMAPHORE_WAIT");
  std::mt19937_64 random(1);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const TrackNumber track =
        writer.add_track({.name = fmt::format("lane {}", lane), .kind = "engine", .schema = schema});
    std::int64_t at = 0;
    for (std::uint64_t i = 0; i < events; ++i) {
      const std::uint64_t dice = random();
      const auto duration = static_cast<std::int64_t>(20 + dice % 400);
      writer.begin_event(track, at, duration, dice >> 20 & 7 ? names[(dice >> 32) % names.size()] : wait);
      at += duration + static_cast<std::int64_t>((dice >> 40) % 200);
      if ((dice >> 50) % 5000 == 0) at += static_cast<std::int64_t>(random() % 1'000'000);
    }
  }
  if (Result<void> done = writer.finish(); !done) fmt::print(stderr, "{}\n", done.message());
  return store;
}

// Draws the lanes as the timeline does: strips, texture, then the draw list.
class Canvas final : public FrameClient {
 public:
  explicit Canvas(const Store& store, std::shared_ptr<const Snapshot> snapshot)
      : store_(&store, [](const Store*) {}), snapshot_(std::move(snapshot)) {}

  void frame(Ui& ui) override {
    const double before = thread_ms();
    const auto wall_before = std::chrono::steady_clock::now();
    windows_.begin_frame(store_, snapshot_);
    strips_.begin_frame(windows_, snapshot_, view);
    std::vector<const LaneStrip*> lanes;
    for (std::uint32_t i = 0; i < snapshot_->lanes.size(); ++i) lanes.push_back(&strips_.strip({i}));
    strips_.end_frame();
    texture_.begin(kWidth, 0, 20, {6, 1, ui.colour(Colour::hatch), ui.colour(Colour::hatch_bg)});
    std::vector<int> rows;
    for (const LaneStrip* strip : lanes) rows.push_back(texture_.add(strip->texels));
    texture_.upload(ui.textures());
    const LanePainter painter(ui, ui.draw(), texture_, labels_);
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      const float y = static_cast<float>(i) * 20;
      painter.paint({*lanes[i], rows[i], {0, y + 2, static_cast<float>(kWidth), y + 18}, true});
    }
    windows_.end_frame();
    cpu_ms = thread_ms() - before;
    wall_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - wall_before).count();
  }
  // Whether the last frame had the strips of its view; else waits for whatever is under way.
  [[nodiscard]] bool settle() {
    if (strips_.settled() && !windows_.pending()) return true;
    strips_.wait_until_made();
    windows_.wait_until_settled();
    return false;
  }

  TimeView view;
  double cpu_ms = 0;
  double wall_ms = 0;

 private:
  std::shared_ptr<const Store> store_;
  std::shared_ptr<const Snapshot> snapshot_;
  WorkerPool pool_;
  lod::LaneWindows windows_{pool_};
  LaneStrips strips_{pool_};
  StripTexture texture_;
  NameLabels labels_{*snapshot_->strings};
};

struct Costs {
  std::vector<double> cpu, wall;
  void add(const Canvas& canvas) {
    cpu.push_back(canvas.cpu_ms);
    wall.push_back(canvas.wall_ms);
  }
  [[nodiscard]] static double percentile(std::vector<double> values, double share) {
    std::sort(values.begin(), values.end());
    return values[std::min(values.size() - 1, static_cast<std::size_t>(share * static_cast<double>(values.size())))];
  }
};

// Views over the whole range of zooms, from all of the session down to a few events.
void measure(Canvas& canvas, const Snapshot& snapshot, Costs& cold, Costs& warm) {
  NullShell shell(canvas, {.width = kWidth, .height = static_cast<int>(kLanes) * 20});
  shell.ui().record_text(false);
  std::mt19937 random(3);
  const auto end = static_cast<double>(snapshot.end_ns);
  for (int zoom = 0; zoom < 28; ++zoom) {
    const double span = end / std::pow(1.7, zoom);
    for (int place = 0; place < 12; ++place) {
      const double begin = (end - span) * (static_cast<double>(random() % 1000) / 1000);
      canvas.view = {begin, begin + span, kWidth};
      shell.frame();
      cold.add(canvas);
      for (int frame = 0; frame < 60 && !canvas.settle(); ++frame) shell.frame();
      shell.frame();
      warm.add(canvas);
    }
  }
}

// What the tree replaces: every event of the view is looked at, and those that share a pixel are folded into one.
[[nodiscard]] double fold_all_ms(const Snapshot& snapshot, const Store& store) {
  std::vector<std::vector<lod::WindowEvent>> lanes;
  for (const LaneSnapshot& lane : snapshot.lanes) {
    std::vector<lod::WindowEvent>& events = lanes.emplace_back();
    for (std::uint32_t chunk = 0; chunk < lane.chunk_count; ++chunk) {
      const Result<Bytes> bytes = store.read_chunk(lane, chunk);
      if (!bytes) continue;
      const Result<ChunkView> view = ChunkView::parse(*bytes);
      BlockTimes times;
      for (std::uint32_t block = 0; view && block < view->block_count(); ++block) {
        view->times(block, times);
        for (std::uint32_t i = 0; i < view->block_size(block); ++i) {
          events.push_back({times.begins[i], times.ends[i], 0, 0, false});
        }
      }
    }
  }
  const double ns_per_pixel = static_cast<double>(snapshot.end_ns) / kWidth;
  std::uint64_t rectangles = 0;
  const double ms = best_seconds(3,
                                 [&] {
                                   for (const std::vector<lod::WindowEvent>& events : lanes) {
                                     double last = -1;
                                     for (const lod::WindowEvent& event : events) {
                                       const double x = std::floor(static_cast<double>(event.end_ticks) / ns_per_pixel);
                                       if (x != last) ++rectangles;
                                       last = x;
                                     }
                                   }
                                 }) *
                    1e3;
  return rectangles > 0 ? ms : 0;
}

}  // namespace

void bench_draw_lists(const BenchOptions& options) {
  const auto events = static_cast<std::uint64_t>(1e6 * options.scale);
  const std::unique_ptr<Store> store = make_store(kLanes, events);
  const std::shared_ptr<const Snapshot> snapshot = store->snapshot();
  Canvas canvas(*store, snapshot);
  Costs cold;
  Costs warm;
  measure(canvas, *snapshot, cold, warm);
  const double fold = fold_all_ms(*snapshot, *store);
  const std::string recipe = fmt::format(
      "{} lanes x {} events of 20 to 420 ns, one in 8 waits, 1,600 px, 28 zooms x 12 places, {} threads build "
      "the strips",
      kLanes, events, std::min(std::max(2U, std::thread::hardware_concurrency()) - 1, 6U));
  const auto inform = [&](const char* name, const char* must, const std::vector<double>& values) {
    report(
        {name, Costs::percentile(values, 0.99), "ms", must, "linear skip of every event at full zoom", fold, recipe});
  };
  inform("draw_lists_cold_cpu_p99", "at most 1", cold.cpu);
  inform("draw_lists_warm_cpu_p99", "at most 1", warm.cpu);
  inform("draw_lists_cold_wall_p99", "", cold.wall);
  inform("draw_lists_warm_wall_p99", "", warm.wall);
}

// The same number of lanes with ten times the events: the cost follows the pixels.
void bench_draw_lists_large(const BenchOptions& options) {
  Costs small, large, ignored;
  for (const double factor : {1.0, 10.0}) {
    const auto events = static_cast<std::uint64_t>(1e6 * options.scale * factor);
    const std::unique_ptr<Store> store = make_store(8, events);
    const std::shared_ptr<const Snapshot> snapshot = store->snapshot();
    Canvas canvas(*store, snapshot);
    measure(canvas, *snapshot, ignored, factor > 1 ? large : small);
  }
  report({"draw_lists_growth", Costs::percentile(large.cpu, 0.99) / Costs::percentile(small.cpu, 0.99), "x",
          "at most 1.5", "the same with a tenth of the events", 1,
          "8 lanes x 10,000,000 against 8 lanes x 1,000,000 events, warm, UI-thread CPU p99"});
}

}  // namespace accelscope::bench
