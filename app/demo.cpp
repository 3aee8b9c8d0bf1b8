#include "app/demo.h"

#include <fmt/format.h>

#include <filesystem>

#include "app/app.h"
#include "core/base/format.h"

namespace accelscope::app {
namespace {

constexpr std::uint64_t kLiveEvents = 20'000;  // a live picture is worth taking from here on

// Drives an App until a condition holds rather than until it settles.
class Staged final : public render::FrameClient {
 public:
  explicit Staged(App& app, std::function<bool()> done) : app_(app), done_(std::move(done)) {}
  void frame(render::Ui& ui) override { app_.frame(ui); }
  [[nodiscard]] bool animates() const override { return true; }
  [[nodiscard]] bool settled() const override { return done_(); }
  void set_wake(std::function<void()> wake) override { app_.set_wake(std::move(wake)); }

 private:
  App& app_;
  std::function<bool()> done_;
};

std::string events_and_span(const SessionTab& tab) {
  const Snapshot& snapshot = *tab.snapshot;
  return fmt::format("{} events in {} lanes over {}", format_count(snapshot.event_count), snapshot.lanes.size(),
                     format_duration(static_cast<double>(snapshot.end_ns - snapshot.begin_ns)));
}

class HeadlessDemo {
 public:
  explicit HeadlessDemo(const DemoOptions& options) : options_(options) {}

  Result<void> run() {
    const std::string session = (std::filesystem::path(options_.folder) / "demo.accel").string();
    App live;
    live.open(options_.address);
    const auto tab = [&live]() -> const SessionTab* {
      return live.workspace().tab_count() > 0 ? &live.workspace().tab(0) : nullptr;
    };
    const auto failed = [&live] { return !live.workspace().last_error().empty(); };
    Result<void> shot = picture(live, "1-live.png", [&] {
      return failed() || (tab() != nullptr && tab()->snapshot != nullptr &&
                          (tab()->snapshot->event_count >= kLiveEvents || tab()->live == LiveState::ended));
    });
    if (!shot || failed()) return fail("the live view", shot, live);
    say(fmt::format("connected to {}: {} so far", options_.address, events_and_span(*tab())));

    shot = picture(live, "2-captured.png", [&] { return failed() || live.settled(); });
    if (!shot || failed()) return fail("the capture", shot, live);
    const std::uint64_t captured = tab()->snapshot->event_count;
    say(fmt::format("captured: {}", events_and_span(*tab())));

    live.workspace().save(0, session);
    shot = picture(live, "3-saved.png", [&] { return failed() || live.settled(); });
    if (!shot || failed()) return fail("saving", shot, live);
    say(fmt::format("saved: {} ({})", session, format_bytes(static_cast<double>(std::filesystem::file_size(session)))));

    App again;
    again.open(session);
    shot = picture(again, "4-reopened.png", [&] { return again.settled(); });
    if (!shot || !again.workspace().last_error().empty()) return fail("opening the saved session", shot, again);
    const std::uint64_t reopened = again.workspace().tab(0).snapshot->event_count;
    if (reopened != captured) {
      return Error{fmt::format("the saved session holds {} events, {} were captured", reopened, captured)};
    }
    say(fmt::format("reopened: {}, the same {} events", session, format_count(reopened)));
    return {};
  }

 private:
  Result<void> picture(App& app, const char* name, std::function<bool()> done) {
    Staged client(app, std::move(done));
    Result<render::Picture> image =
        render::render_offscreen(client, {.width = options_.width, .height = options_.height, .give_up_after = 120});
    if (!image) return image.error();
    const std::string path = (std::filesystem::path(options_.folder) / name).string();
    if (Result<void> written = render::write_png(*image, path); !written) return written;
    say(fmt::format("picture: {}", path));
    return {};
  }

  static Error fail(const char* stage, const Result<void>& shot, App& app) {
    const std::string& said = app.workspace().last_error();
    return Error{fmt::format("{} failed: {}", stage, shot ? said : shot.message())};
  }

  void say(const std::string& line) const {
    if (options_.say) options_.say(line);
  }

  const DemoOptions& options_;
};

// In a window: what HeadlessDemo does stage by stage happens between the user's own frames.
class WindowDemo final : public render::FrameClient {
 public:
  WindowDemo(const DemoOptions& options, std::string session) : options_(options), session_(std::move(session)) {
    app_.open(options.address);
  }
  void frame(render::Ui& ui) override {
    app_.frame(ui);
    advance();
  }
  void files_dropped(const std::vector<std::string>& paths) override { app_.files_dropped(paths); }
  [[nodiscard]] bool close_requested() override { return app_.close_requested(); }
  [[nodiscard]] bool wants_to_quit() const override { return app_.wants_to_quit(); }
  [[nodiscard]] bool animates() const override { return app_.animates() || stage_ != Stage::done; }
  void set_wake(std::function<void()> wake) override { app_.set_wake(std::move(wake)); }

 private:
  enum class Stage : std::uint8_t { capture, save, reopen, done };

  void advance() {
    Workspace& workspace = app_.workspace();
    if (!workspace.last_error().empty()) stage_ = Stage::done;
    if (stage_ == Stage::capture && workspace.tab_count() > 0 && workspace.tab(0).live == LiveState::ended) {
      say(fmt::format("captured: {}", events_and_span(workspace.tab(0))));
      workspace.save(0, session_);
      stage_ = Stage::save;
    } else if (stage_ == Stage::save && !workspace.saving(0)) {
      say("saved: " + session_);
      workspace.close(0, true);
      workspace.open(session_);
      stage_ = Stage::reopen;
    } else if (stage_ == Stage::reopen && workspace.tab_count() > 0) {
      say(fmt::format("reopened: {}; the window stays until you close it", events_and_span(workspace.tab(0))));
      stage_ = Stage::done;
    }
  }

  void say(const std::string& line) const {
    if (options_.say) options_.say(line);
  }

  const DemoOptions& options_;
  std::string session_;
  App app_;
  Stage stage_ = Stage::capture;
};

}  // namespace

Result<void> run_demo(const DemoOptions& options) {
  std::error_code failure;
  std::filesystem::create_directories(options.folder, failure);
  if (failure) return Error{fmt::format("{}: the folder cannot be made: {}", options.folder, failure.message())};
  if (!options.window) return HeadlessDemo(options).run();
  WindowDemo client(options, (std::filesystem::path(options.folder) / "demo.accel").string());
  return render::run_in_window(client, {.title = "Accelscope: demo"});
}

}  // namespace accelscope::app
