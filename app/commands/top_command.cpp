#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <ostream>
#include <thread>

#include "app/commands/top_picture.h"
#include "app/terminal/record_arguments.h"
#include "app/terminal/terminal.h"
#include "app/workspace/workspace.h"
#include "capture/command_line/options.h"

namespace accelscope::app::commands {
namespace {

using terminal::ScreenKey;

constexpr std::chrono::milliseconds kRedraw{250};
constexpr std::chrono::milliseconds kLook{20};
constexpr double kStopSeconds = 10;  // for what is sealed to arrive

struct TopCommand {
  terminal::RecordArguments arguments;
  bool once = false;
  double seconds = 5;

  int run(const terminal::CommandRun& run) const;
};

// What is open, as the viewer has it, without its window.
class Watch {
 public:
  Watch(const capture::client::CapturePlan& plan, const terminal::CommandRun& run)
      : run_(run), begins_(plan.mode == capture::wire::StartMode::begin) {
    std::error_code failure;
    if (plan.places.size() == 1 && std::filesystem::exists(plan.places.front(), failure)) {
      workspace_.open(plan.places.front());
    } else {
      workspace_.connect(plan);
    }
  }
  ~Watch() {
    if (begins_ && workspace_.tab_count() > 0) workspace_.close(0, true);  // nobody else wants what it began
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // Null until there is something; problem() says why there never will be.
  session::SessionTab* update() {
    workspace_.update(now_s());
    session::SessionTab* tab = workspace_.tab_count() > 0 ? &workspace_.tab(0) : nullptr;
    if (tab != nullptr) tab->choices.filter = {};  // that a saved session was left with
    return tab;
  }
  [[nodiscard]] std::string problem() const {
    if (workspace_.tab_count() > 0) return "";
    for (const workspace::Notice& notice : workspace_.notices()) {
      if (notice.severity == Severity::error) return notice.text;
    }
    return "";
  }
  // Asked on the terminal; nobody is there without one.
  void answer_questions(terminal::Screen* screen) {
    const auto asked = workspace_.capture_question();
    if (!asked) return;
    if (screen == nullptr) return workspace_.answer_capture(*asked, std::nullopt);
    screen->leave();
    workspace_.answer_capture(*asked, terminal::ask_on_terminal(asked->question, run_.streams.err));
    screen->enter();
  }
  void stop() { workspace_.stop_capture(0); }
  [[nodiscard]] bool is_live() const { return workspace_.tab_count() > 0 && workspace_.is_live(0); }
  [[nodiscard]] bool settled() const { return workspace_.settled(); }
  [[nodiscard]] double now_s() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  const terminal::CommandRun& run_;
  bool begins_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  workspace::Workspace workspace_;
};

// True: quit.
bool obey(ScreenKey key, TopChoices& choices, const TopShown& shown) {
  const std::size_t last = shown.kernels.empty() ? 0 : shown.kernels.size() - 1;
  constexpr std::size_t kPage = 10;
  switch (key) {
    case 'q':
    case 'Q':
      return true;
    case 'p':
      choices.still = !choices.still;
      break;
    case 's':
      choices.sort = static_cast<TopSort>((static_cast<std::size_t>(choices.sort) + 1) % kTopSorts);
      choices.scroll = 0;
      break;
    case 'w':
      choices.recent = !choices.recent;
      choices.scroll = 0;
      break;
    case '?':
    case 'h':
      choices.help = !choices.help;
      break;
    case terminal::kKeyUp:
      choices.scroll -= std::min<std::size_t>(choices.scroll, 1);
      break;
    case terminal::kKeyDown:
      choices.scroll = std::min(choices.scroll + 1, last);
      break;
    case terminal::kKeyPageUp:
      choices.scroll -= std::min(choices.scroll, kPage);
      break;
    case terminal::kKeyPageDown:
      choices.scroll = std::min(choices.scroll + kPage, last);
      break;
    case terminal::kKeyHome:
      choices.scroll = 0;
      break;
    case terminal::kKeyEnd:
      choices.scroll = last;
      break;
    default:
      break;
  }
  return false;
}

int run_on_screen(Watch& watch, const terminal::CommandRun& run) {
  auto screen = terminal::Screen::open();
  if (!screen) return run.fail(screen.message());
  TopFigures figures;
  TopChoices choices;
  TopShown still;
  std::string failure;
  bool quits = false;
  while (!quits && (*screen)->ended() == 0) {
    session::SessionTab* tab = watch.update();
    watch.answer_questions(screen->get());
    failure = watch.problem();
    if (!failure.empty()) break;
    if (tab != nullptr) figures.update(*tab, choices.recent);
    if (!choices.still) still = figures.shown();
    if (tab == nullptr) still.message = "Connecting ...";
    (*screen)->show(top_lines(still, choices, terminal::terminal_size()));
    const auto drawn = std::chrono::steady_clock::now();
    while (!quits) {
      const auto rest =
          kRedraw - std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - drawn);
      if (rest.count() <= 0) break;
      const auto key = (*screen)->wait_key(rest);
      if (!key) break;
      quits = obey(*key, choices, still);
      (*screen)->show(top_lines(still, choices, terminal::terminal_size()));
    }
    if (tab != nullptr && tab->live == session::LiveState::failed) failure = tab->capture.message;
  }
  const int signal = (*screen)->ended();
  screen->reset();
  constexpr int kOfSignal = 128;  // as shells have it
  if (!failure.empty()) return run.fail(failure);
  return signal == 0 ? terminal::kExitDone : kOfSignal + signal;
}

// One picture, once the time is over or the capture has ended.
int run_once(Watch& watch, double seconds, const terminal::CommandRun& run) {
  const terminal::Interruptible interruptible;
  TopFigures figures;
  TopChoices choices;
  double began_s = -1, stopped_s = -1;
  session::SessionTab* tab = nullptr;
  for (;; std::this_thread::sleep_for(kLook)) {
    tab = watch.update();
    watch.answer_questions(nullptr);
    if (const std::string problem = watch.problem(); !problem.empty()) return run.fail(problem);
    if (interruptible.interrupted() && stopped_s < 0 && tab == nullptr) return terminal::interrupted_status();
    if (tab == nullptr) continue;
    if (watch.is_live()) {
      const double now_s = watch.now_s();
      if (began_s < 0 && tab->live == session::LiveState::recording) began_s = now_s;
      const bool over = (began_s >= 0 && now_s - began_s >= seconds) || interruptible.interrupted();
      if (over && stopped_s < 0) watch.stop(), stopped_s = now_s;
      if (stopped_s < 0 || now_s - stopped_s < kStopSeconds) continue;
    }
    figures.update(*tab, choices.recent);
    if (figures.settled(*tab) && watch.settled()) break;
    if (watch.is_live() && figures.shown().events > 0 && !figures.shown().kernels.empty()) break;
  }
  std::ostream& out = run.streams.out;
  if (run.json) {
    out << top_json(figures.shown()) << '\n';
  } else {
    std::vector<terminal::ScreenLine> lines = top_lines(figures.shown(), choices, terminal::terminal_size());
    lines.pop_back();  // the keys
    while (!lines.empty() && lines.back().text.empty()) lines.pop_back();
    for (const terminal::ScreenLine& line : lines) {
      const std::size_t end = line.text.find_last_not_of(' ');
      out << line.text.substr(0, end == std::string::npos ? 0 : end + 1) << '\n';
    }
  }
  if (tab->live == session::LiveState::failed) return run.fail(tab->capture.message);
  return interruptible.interrupted() ? terminal::interrupted_status() : terminal::kExitDone;
}

int TopCommand::run(const terminal::CommandRun& run) const {
  auto plan = arguments.plan("");
  if (!plan) return run.fail_usage("top", plan.message());
  terminal::run_program_by_default(*plan);
  Watch watch(*plan, run);
  if (once || run.json || !run.streams.out_is_terminal) return run_once(watch, seconds, run);
  return run_on_screen(watch, run);
}

}  // namespace

terminal::CommandAction declare_top(command_line::OptionSet& options) {
  auto command = std::make_shared<TopCommand>();
  command->arguments.declare(options, "seconds");
  options.add_flag("--once", command->once, "Print one picture and end, as where the output is no terminal");
  options.add_option("--seconds", command->seconds, "After so many seconds of the capture; 5 unless said otherwise")
      .positive();
  options.set_footer(
      "PLACE may be a session or trace file too. What is captured is shown and not saved: accelscope record does "
      "that.\n"
      "In the picture ? shows the keys.\n\nExamples:\n"
      "  accelscope top ssh://user@trn1-07 --watch\n"
      "  accelscope top 127.0.0.1:7420\n"
      "  accelscope top run.accel --once --json");
  return [command](const terminal::CommandRun& run) { return command->run(run); };
}

}  // namespace accelscope::app::commands
