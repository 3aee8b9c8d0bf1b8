// The viewer as one frame client: the same object is driven by a window, by the offscreen shell for pictures, and by
// the null shell in tests. It owns the workspace, the panel layout and the command table, and draws everything from
// the top bar to the status bar. It knows no window.
//
//   App app({.state_directory = state_directory(process_environment())});
//   app.open("run.accel");                       // or a folder, or HOST:PORT
//   render::run_in_window(app, {});
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/frame/places.h"
#include "app/palette/command_table.h"
#include "app/workspace/workspace.h"
#include "render/shell/shell.h"

namespace accelscope::app::frame {

struct AppOptions {
  std::string state_directory;             // recent sessions, settings; "" remembers nothing
  std::vector<std::string> source_roots;   // folders in which source files are looked for
  std::optional<render::ThemeKind> theme;  // else the remembered one
  // The program that tells GNOME's settings, which hold for what the user has not chosen; "": nobody asks.
  std::string gsettings;
  // The folder of the guide's pages, and the program that opens one in the user's browser.
  std::string guide_folder;
  std::string page_opener = "xdg-open";
  // Applied to the first session that opens, for pictures and links; a name that is unknown is an error notice.
  std::string view;                 // a link to a view; what follows changes it further
  std::string range;                // "12.5us:40us", "10%:20%"
  std::vector<std::string> panels;  // names of panels to bring to the front
  std::optional<EventId> select;
  std::string search;
  std::vector<std::string> compared;  // other sessions, which are set against the first one that opens
  workspace::CaptureServices services = workspace::real_capture_services();
};

// Whether a target of the command line means agents rather than a file: "A:7420,B:7420", "local", "ssh://box".
[[nodiscard]] bool names_agents(const std::string& target);

// The keys of all commands by menu, as a page in Markdown.
[[nodiscard]] std::string keys_page();

class App final : public render::FrameClient {
 public:
  explicit App(AppOptions options = {});
  ~App() override;

  // A session or trace file, a folder, or agents: HOST:PORT, several with commas into one session; "local" and
  // ssh://USER@HOST open the form, since they need to be told what to capture. Returns at once; see Workspace.
  void open(const std::string& target);
  void open(const std::vector<std::string>& targets);  // files of one run as one session

  void frame(render::Ui& ui) override;
  void files_dropped(const std::vector<std::string>& paths) override;
  [[nodiscard]] bool close_requested() override;
  [[nodiscard]] bool wants_to_quit() const override;
  [[nodiscard]] bool animates() const override;
  [[nodiscard]] bool settled() const override;
  // Every pixel of the timeline in front is final; panels may still be adding up.
  [[nodiscard]] bool timeline_complete() const;
  void set_wake(std::function<void()> wake) override;

  [[nodiscard]] workspace::Workspace& workspace() noexcept;
  [[nodiscard]] PanelLayout& layout() noexcept;
  [[nodiscard]] const palette::CommandTable& commands() const noexcept;

  // What is open and seen, as JSON: tabs, view, selection, counts, last error. For tests from outside.
  [[nodiscard]] std::string dump_state() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace accelscope::app::frame
