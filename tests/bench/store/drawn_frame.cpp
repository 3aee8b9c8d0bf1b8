// Whole frames of the viewer through EGL, on whatever draws there, at the sizes of usual screens.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "app/frame/app.h"
#include "capture/sim/output/simulator.h"
#include "core/store/store.h"
#include "tests/bench/base/figures.h"

namespace accelscope::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Each frame is drawn and read back, so that its time ends when the last of its pixels is there.
class TimedFrames final : public render::FrameClient {
 public:
  TimedFrames(const std::string& path, std::size_t count) : count_(count) { app_.open(path); }
  void frame(render::Ui& ui) override {
    const auto begun = SteadyClock::now();
    app_.frame(ui);
    if (!app_.timeline_complete() || settled()) return;
    ui.take_picture([this, begun](const Result<render::Picture>&) {
      times.push_back(std::chrono::duration<double, std::milli>(SteadyClock::now() - begun).count());
    });
  }
  [[nodiscard]] bool settled() const override { return times.size() >= count_; }
  std::vector<double> times;  // ms

 private:
  app::frame::App app_;
  std::size_t count_;
};

}  // namespace

void bench_drawn_frame(const BenchOptions& options) {
  constexpr std::size_t kFrames = 120;
  Result<std::unique_ptr<Store>> store = Store::create();
  if (!store) return;
  capture::sim::SimulationOptions simulation;
  simulation.events = static_cast<std::uint64_t>(1e6 * options.scale);
  StoreSink sink(**store);
  const std::string path = options.work_folder + "/drawn.accel";
  if (!capture::sim::simulate(simulation, sink) || !(*store)->save(path)) return;
  for (const auto& [name, width, height] : {std::tuple{"1080p", 1920, 1080}, {"4k", 3840, 2160}}) {
    TimedFrames client(path, kFrames);
    const Result<render::Picture> last = render::render_offscreen(client, {.width = width, .height = height});
    if (!last) return fmt::print(stderr, "accelscope-bench: {}\n", last.message());
    std::sort(client.times.begin(), client.times.end());
    report({fmt::format("drawn_frame_{}", name), client.times[kFrames / 2], "ms", "", "the slowest of them",
            client.times.back(),
            fmt::format("median of {} frames of a million simulated events, all of them in sight, {} x {}, drawn "
                        "through EGL and read back",
                        kFrames, width, height)});
  }
}

}  // namespace accelscope::bench
