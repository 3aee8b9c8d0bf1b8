#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "app/frame/app.h"
#include "app/terminal/command.h"
#include "capture/command_line/options.h"
#include "core/base/format.h"
#include "core/base/result.h"
#include "core/scan/event_mask.h"

namespace accelscope::app::commands {
namespace {

// The main job from end to end, as a user would do it by hand: the viewer connects to an agent over TCP, shows its
// timelines while they come in, saves the session and opens the file again. With a window it does so before the
// user's eyes and stays open; without one it writes a picture of each stage.
struct DemoOptions {
  std::string address;  // of a running agent
  std::string folder;   // for the session file and the pictures; made if it is not there
  bool window = false;
  int width = 1600;
  int height = 900;
  std::function<void(const std::string&)> inform;  // one line for each thing done
};

constexpr std::uint64_t kLiveEvents = 20'000;  // a live picture is worth taking from here on

std::string events_and_span(const session::SessionTab& tab) {
  const Snapshot& snapshot = *tab.snapshot;
  return fmt::format("{} events in {} lanes over {}", format_count(count_passing(snapshot, nullptr)),
                     snapshot.lanes.size(), format_duration(snapshot.end_ns - snapshot.begin_ns));
}

// Drives an App through the stages of the job between its frames, and takes a picture of each.
class DemoClient final : public render::FrameClient {
 public:
  explicit DemoClient(const DemoOptions& options) : options_(options), session_(file("demo.accel")) {
    app_.open(options.address);
  }

  void frame(render::Ui& ui) override {
    app_.frame(ui);
    const std::string& error = app_.workspace().last_error();
    if (!error.empty() && stage_ != Stage::done) {
      end(Error{fmt::format("{} failed: {}", kStageNames[static_cast<std::size_t>(stage_)], error)});
    }
    advance(ui);
  }
  void files_dropped(const std::vector<std::string>& paths) override { app_.files_dropped(paths); }
  [[nodiscard]] bool close_requested() override { return app_.close_requested(); }
  [[nodiscard]] bool wants_to_quit() const override { return app_.wants_to_quit(); }
  [[nodiscard]] bool animates() const override { return app_.animates() || stage_ != Stage::done; }
  [[nodiscard]] bool settled() const override { return stage_ == Stage::done; }
  void set_wake(std::function<void()> wake) override { app_.set_wake(std::move(wake)); }

  // Of everything done so far; fails if the window was closed before the job was done.
  [[nodiscard]] Result<void> result() const {
    if (stage_ != Stage::done) return Error{"the window was closed before the demo was done"};
    return result_;
  }

 private:
  enum class Stage : std::uint8_t { connect, capture, save, reopen, done };
  static constexpr std::array<const char*, 5> kStageNames = {"connecting", "the capture", "saving",
                                                             "opening the saved session", ""};

  void advance(render::Ui& ui) {
    workspace::Workspace& workspace = app_.workspace();
    if (workspace.tab_count() == 0 || workspace.tab(0).snapshot == nullptr) return;
    const session::SessionTab& tab = workspace.tab(0);
    const std::uint64_t events = count_passing(*tab.snapshot, nullptr);  // as the status bar counts
    if (stage_ == Stage::connect && (events >= kLiveEvents || tab.live == session::LiveState::ended)) {
      inform(fmt::format("connected to {}: {} so far", options_.address, events_and_span(tab)));
      picture(ui, "1-live.png");
      stage_ = Stage::capture;
    } else if (stage_ == Stage::capture && tab.live == session::LiveState::ended && app_.settled()) {
      captured_ = events;
      inform(fmt::format("captured: {}", events_and_span(tab)));
      picture(ui, "2-captured.png");
      workspace.save(0, session_);
      stage_ = Stage::save;
    } else if (stage_ == Stage::save && !workspace.saving(0) && app_.settled()) {
      inform(fmt::format("saved: {} ({})", session_, format_bytes(std::filesystem::file_size(session_))));
      picture(ui, "3-saved.png");
      workspace.close(0, true);
      workspace.open(session_);
      stage_ = Stage::reopen;
    } else if (stage_ == Stage::reopen && app_.settled()) {
      picture(ui, "4-reopened.png");
      if (events != captured_) {
        return end(Error{fmt::format("the saved session holds {} events, {} were captured", events, captured_)});
      }
      inform(fmt::format("reopened: {}, the same {} events", session_, format_count(events)));
      end({});
    }
  }

  void end(Result<void> result) {
    if (result_) result_ = std::move(result);
    stage_ = Stage::done;
  }

  void picture(render::Ui& ui, const char* name) {
    ui.take_picture([this, path = file(name)](const Result<render::Picture>& image) {
      if (!image) return end(image.error());
      if (Result<void> written = render::write_png(*image, path); !written) return end(written.error());
      inform(fmt::format("picture: {}", path));
    });
  }

  [[nodiscard]] std::string file(const char* name) const {
    return (std::filesystem::path(options_.folder) / name).string();
  }
  void inform(const std::string& line) const {
    if (options_.inform) options_.inform(line);
  }

  const DemoOptions& options_;
  std::string session_;
  frame::App app_;
  Stage stage_ = Stage::connect;
  std::uint64_t captured_ = 0;
  Result<void> result_;
};

// Fails with the stage that failed and why.
Result<void> run_demo(const DemoOptions& options) {
  std::error_code failure;
  std::filesystem::create_directories(options.folder, failure);
  if (failure) return Error{fmt::format("{}: the folder cannot be made: {}", options.folder, failure.message())};
  DemoClient client(options);
  if (options.window) {
    if (Result<void> shown = render::run_in_window(client, {.title = "Accelscope: demo"}); !shown) return shown;
    return client.result();
  }
  TRY(render::render_offscreen(client, {.width = options.width, .height = options.height, .give_up_after = 180}));
  return client.result();
}

}  // namespace

terminal::CommandAction declare_demo(command_line::OptionSet& options) {
  auto demo = std::make_shared<DemoOptions>();
  demo->folder = "demo-results";
  options.add_option("ADDRESS", demo->address, "HOST:PORT where the agent listens").required();
  options.add_option("--output-dir", demo->folder, "Folder for the session and the pictures");
  options.add_flag("--window", demo->window, "Show it in a window");
  return [demo](const terminal::CommandRun& run) {
    DemoOptions demo_options = *demo;
    demo_options.inform = [&run](const std::string& line) { run.inform(line); };
    const Result<void> done = run_demo(demo_options);
    return done ? terminal::kExitDone : run.fail(done.message());
  };
}

}  // namespace accelscope::app::commands
