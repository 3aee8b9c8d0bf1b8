// What one frame of the whole viewer costs its UI thread while a large capture goes on: an agent streams into the real
// viewer in the null shell; the timeline is zoomed and panned, and every panel comes to the front in turn.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "app/frame/app.h"
#include "app/session/tab.h"
#include "render/shell/null_shell.h"
#include "tests/bench/base/figures.h"
#include "tests/support/process.h"

namespace accelscope::bench {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using test::Process;

constexpr double kRate = 5e6;  // events a second
constexpr auto kFrame = std::chrono::microseconds(16'667);

// CPU time of this thread in ms: other threads and other programs do not count.
[[nodiscard]] double thread_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

[[nodiscard]] double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, static_cast<std::size_t>(share * static_cast<double>(values.size())))];
}

// Frames at 60 Hz, each with what the thread worked since the last: input, layout, panels, draw lists.
class Paced final : public render::FrameClient {
 public:
  explicit Paced(app::frame::App& app) : app_(app), next_(steady_clock::now()) {}

  void frame(render::Ui& ui) override {
    const double now = thread_ms();
    if (samples != nullptr && last_ms_ > 0) samples->push_back(now - last_ms_);
    last_ms_ = now;
    app_.frame(ui);
    next_ = std::max(next_ + kFrame, steady_clock::now());
    std::this_thread::sleep_until(next_);
  }
  [[nodiscard]] bool settled() const override { return app_.settled(); }

  std::vector<double>* samples = nullptr;  // null: not measured

 private:
  app::frame::App& app_;
  steady_clock::time_point next_;
  double last_ms_ = 0;
};

struct Run {
  app::frame::App app;
  Paced client;
  render::NullShell shell;
  std::map<std::string, std::vector<double>> by_panel;
  std::vector<double> all;

  explicit Run(const std::string& folder)
      : app({.state_directory = folder}), client(app), shell(client, {.width = 1920, .height = 1080}) {
    shell.ui().record_text(false);
  }
  [[nodiscard]] app::session::SessionTab* tab() { return app.workspace().active(); }
  [[nodiscard]] std::uint64_t events() { return tab() != nullptr ? tab()->snapshot->event_count : 0; }

  // Zooms in and out by the wheel and drags to the sides, at different places of the timeline.
  void move_about(std::size_t turn) {
    const float x = 500 + static_cast<float>(turn * 137 % 600);
    shell.move({x, 420});
    for (int notch = 0; notch < 12; ++notch) shell.wheel({0, 1});
    shell.drag({x, 420}, {x - 180, 430}, render::MouseButton::middle, 12);
    shell.drag({x - 180, 430}, {x + 240, 420}, render::MouseButton::middle, 12);
    for (int notch = 0; notch < 12; ++notch) shell.wheel({0, -1});
    shell.frame(6);
    shell.key(render::Key::digit0);  // all of it again
  }
  void measure() {
    std::size_t turn = 0;
    for (const app::frame::PanelInfo& panel : app::frame::all_panels()) {
      app.layout().show(panel.name);
      shell.frame(4);
      std::vector<double> samples;
      client.samples = &samples;
      move_about(turn++);
      client.samples = nullptr;
      all.insert(all.end(), samples.begin(), samples.end());
      by_panel[std::string(panel.name)] = std::move(samples);
    }
  }
};

// What is searched, what passes, and by what it is coloured.
void choose(Run& run) {
  run.tab()->change([](app::session::ViewChoices& choices) {
    choices.search = "dur>2us";
    choices.filter.terms = {{.search = "dur>100", .excluded = false}};
    choices.colour_by["operation"] = "source_location";
  });
  run.shell.frame(30);
}

}  // namespace

void bench_viewer_frame(const BenchOptions& options) {
  const auto before = static_cast<std::uint64_t>(50e6 * options.scale);
  const auto events = before + static_cast<std::uint64_t>(kRate * 120);
  Result<Process> agent = Process::start({options.program_folder + "/accelscope-agent", "simulate", "--detail", "slim",
                                          "--rate", fmt::format("{:.0f}", kRate), "--events", std::to_string(events),
                                          "--once", "--listen", "127.0.0.1:0"});
  if (!agent) return fmt::print(stderr, "accelscope-bench: {}\n", agent.message());
  const std::optional<std::string> line = agent->wait_for("listening on ", milliseconds(10'000));
  if (!line) return fmt::print(stderr, "accelscope-bench: the agent does not listen\n");
  const std::string address = line->substr(line->find("listening on ") + 13);
  Run run(options.work_folder);
  run.app.open(address.substr(0, address.find(' ')));
  const auto deadline = steady_clock::now() + std::chrono::minutes(3);
  while (run.events() < before && steady_clock::now() < deadline) run.shell.frame(10);
  if (run.events() < before) {
    return fmt::print(stderr, "accelscope-bench: only {} events came: {}\n", run.events(), run.app.dump_state());
  }
  run.tab()->selected = make_event_id(run.tab()->snapshot->lanes.front().number(), 1000);
  const auto began = steady_clock::now();
  const std::uint64_t events_before = run.events();
  run.measure();
  const std::vector<double> plain = std::exchange(run.all, {});
  const std::map<std::string, std::vector<double>> by_panel = std::exchange(run.by_panel, {});
  choose(run);
  run.measure();
  const std::vector<double> chosen = std::exchange(run.all, {});
  run.by_panel.clear();
  const double seconds = std::chrono::duration<double>(steady_clock::now() - began).count();
  const double rate = static_cast<double>(run.events() - events_before) / seconds;
  const std::string recipe = fmt::format(
      "1920 x 1080, {:.0f} M to {:.0f} M events, {:.1f} M events/s coming in, an event selected; each of {} panels in "
      "front in turn while the wheel and the middle button zoom and pan; {} frames of CPU time of the UI thread",
      static_cast<double>(events_before) / 1e6, static_cast<double>(run.events()) / 1e6, rate / 1e6, by_panel.size(),
      plain.size());
  run.app.workspace().stop_capture(0);
  run.tab()->restore({run.tab()->view, {}});
  if (!run.shell.settle()) fmt::print(stderr, "accelscope-bench: the capture does not end\n");
  run.measure();
  report({"viewer_frame_chosen_p99", percentile(chosen, 0.99), "ms", "", "the same with nothing coming in",
          percentile(run.all, 0.99), recipe + "; a search and a filter on, coloured by source line"});
  report({"viewer_frame_p99", percentile(plain, 0.99), "ms", "at most 4", "the same with nothing coming in",
          percentile(run.all, 0.99), recipe});
  report({"viewer_frame_median", percentile(plain, 0.5), "ms", "", "the same with nothing coming in",
          percentile(run.all, 0.5), recipe});
  for (const auto& [panel, samples] : by_panel) {
    report({"viewer_frame_p99_" + panel, percentile(samples, 0.99), "ms", "", "the same with nothing coming in",
            percentile(run.by_panel[panel], 0.99), fmt::format("as viewer_frame_p99, {} in front", panel)});
  }
}

}  // namespace accelscope::bench
