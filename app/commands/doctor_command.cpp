#include <fmt/format.h>
#include <sqlite3.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <ostream>
#include <thread>

#include "app/system/system_files.h"
#include "app/terminal/command.h"
#include "app/terminal/terminal.h"
#include "capture/client/capture_session.h"
#include "capture/command_line/options.h"
#include "core/base/format.h"
#include "core/base/json.h"
#include "render/base/platform.h"
#include "render/shell/shell.h"

namespace accelscope::app::commands {
namespace {

namespace fs = std::filesystem;

using Finding = capture::client::HostFinding;

// One small frame, to learn whether pictures and text can be drawn at all.
class Probe final : public render::FrameClient {
 public:
  void frame(render::Ui& ui) override { font_problem_ = ui.fonts().problem(); }
  [[nodiscard]] const std::string& font_problem() const noexcept { return font_problem_; }

 private:
  std::string font_problem_;
};

Finding check_display(const system::Environment& environment) {
  const std::string display = environment("DISPLAY");
  const std::string wayland = environment("WAYLAND_DISPLAY");
#if defined(__linux__)
  if (display.empty() && wayland.empty()) {
    return {"display", false, "neither DISPLAY nor WAYLAND_DISPLAY is set",
            "log in to a desktop, or use ssh -X; screenshot, record, query and view need no display"};
  }
#endif
  return {"display", true, wayland.empty() ? "X11 " + display : "Wayland " + wayland, ""};
}

void check_drawing(std::vector<Finding>& findings) {
  Probe probe;
  const auto picture = render::render_offscreen(probe, {.width = 64, .height = 64, .give_up_after = 10});
  if (picture) {
    findings.push_back({"OpenGL 3.3", true, "a frame was drawn through EGL", ""});
  } else {
    findings.push_back({"OpenGL 3.3", false, picture.message(),
                        "install the graphics driver, or libegl1 and libgl1-mesa-dri for drawing in software"});
    return;
  }
  const std::string& problem = probe.font_problem();
  findings.push_back({"fonts", problem.empty(), problem.empty() ? "Inter, JetBrains Mono, Fork Awesome" : problem,
                      "install fonts-inter, fonts-jetbrains-mono and fonts-fork-awesome"});
}

Finding check_agent(const system::Environment& environment) {
  std::vector<std::string> folders{render::program_directory()};
  std::string path = environment("PATH");
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    folders.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  for (const std::string& folder : folders) {
    std::error_code error;
    const fs::path agent = fs::path(folder) / "accelscope-agent";
    if (!folder.empty() && fs::is_regular_file(agent, error)) return {"agent", true, agent.string(), ""};
  }
  return {"agent", false, "accelscope-agent is neither beside this program nor on the PATH",
          "it is only needed to capture on this computer; build the target accelscope-agent"};
}

Finding check_writing(const std::string& subject, const std::string& folder, const std::string& use) {
  if (folder.empty()) return {subject, false, "the system names no folder", "set HOME; " + use};
  std::error_code error;
  fs::create_directories(folder, error);
  const fs::path file = fs::path(folder) / "accelscope-doctor.tmp";
  bool written = false;
  {
    std::ofstream out(file);
    out << "x";
    out.flush();
    written = out.good();
  }
  fs::remove(file, error);
  if (!written) return {subject, false, folder + " cannot be written", "check its permissions; " + use};
  const fs::space_info space = fs::space(folder, error);
  const std::string room = error ? "" : fmt::format(", {} free", format_bytes(space.available));
  return {subject, true, folder + room, ""};
}

std::vector<Finding> examine() {
  const system::Environment environment = system::process_environment();
  std::vector<Finding> findings;
  findings.push_back(
      {"version", true, fmt::format("accelscope {}, SQLite {}", ACCELSCOPE_VERSION, sqlite3_libversion()), ""});
  findings.push_back({"processor", true, fmt::format("{} threads", std::thread::hardware_concurrency()), ""});
  findings.push_back(check_display(environment));
  check_drawing(findings);
  findings.push_back(check_agent(environment));
  findings.push_back(
      check_writing("settings", system::state_directory(environment), "recent sessions are not remembered"));
  std::error_code error;
  findings.push_back(check_writing("temporary files", fs::temp_directory_path(error).string(),
                                   "captures larger than memory need room there (TMPDIR names another folder)"));
  return findings;
}

struct DoctorCommand {
  std::string place;
  capture::client::HostCheckOptions host;

  int run(const terminal::CommandRun& run) const;
};

int DoctorCommand::run(const terminal::CommandRun& run) const {
  const terminal::Interruptible interruptible;
  const std::vector<Finding> findings =
      place.empty() ? examine()
                    : capture::client::check_host(place, host, [&] { return interruptible.interrupted(); }).findings;
  const int status = place.empty() || findings.front().works ? terminal::kExitDone : terminal::kExitFailed;
  std::ostream& out = run.streams.out;
  if (run.json) {
    JsonWriter json(JsonLayout::rows);
    json.array(findings, [&](const Finding& finding) {
      json.object("subject", finding.subject, "works", finding.works, "found", finding.found, "advice",
                  finding.works ? "" : finding.advice);
    });
    out << json.done() << '\n';
    return status;
  }
  for (const Finding& finding : findings) {
    out << fmt::format("{:<4} {:<16} {}\n", finding.works ? "ok" : "--", finding.subject,
                       finding.milliseconds
                           ? finding.found + ", " + format_duration(std::round(*finding.milliseconds) * 1e6)
                           : finding.found);
    if (!finding.works && !finding.advice.empty()) out << fmt::format("     {:<16} {}\n", "", finding.advice);
  }
  return status;
}

}  // namespace

terminal::CommandAction declare_doctor(command_line::OptionSet& options) {
  auto command = std::make_shared<DoctorCommand>();
  options.add_option("PLACE", command->place,
                     "Look at this host instead: local, HOST:PORT or ssh://HOST; what can be captured there");
  options.add_option("--token-file", command->host.token_file, "File with the agent's token");
  options.add_option("--ssh-config", command->host.ssh_config_file, "ssh's configuration, in place of its own");
  options.add_option("--ssh-identity", command->host.ssh_identity_file, "File with the private key for ssh");
  return [command](const terminal::CommandRun& run) { return command->run(run); };
}

}  // namespace accelscope::app::commands
