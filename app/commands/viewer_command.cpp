#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/commands/command_line.h"
#include "app/frame/app.h"
#include "app/plan/form_model.h"
#include "app/system/system_files.h"
#include "app/terminal/state_file.h"
#include "app/terminal/terminal.h"
#include "app/view/link.h"
#include "capture/system/child_process.h"
#include "render/base/platform.h"

namespace accelscope::app::commands {
namespace {

// What the viewer can open; else why not.
Result<void> check_target(const std::string& target) {
  std::error_code error;
  if (std::filesystem::exists(target, error)) return {};
  if (frame::names_agents(target)) {
    for (std::size_t begin = 0; begin <= target.size();) {
      const std::size_t end = std::min(target.find(',', begin), target.size());
      TRY(plan::check_place(target.substr(begin, end - begin)));
      begin = end + 1;
    }
    return {};
  }
  return Error{fmt::format("{}: neither a command nor a file nor HOST:PORT, ssh://HOST or local", target)};
}

}  // namespace

int open_viewer(const ViewerOptions& options, const terminal::CommandRun& run) {
  const auto inputs = terminal::InputPaths::read(options.targets);
  if (!inputs) return run.fail(inputs.message());
  std::vector<std::string> targets = inputs->paths();
  for (const std::string& target : targets) {
    if (const auto fits = check_target(target); !fits) return run.fail_usage("", fits.message());
  }
  if (!options.view.empty()) {
    if (const auto link = view::read_view_link(options.view); !link)
      return run.fail_usage("", "--view: " + link.message());
  }
  if (options.compares && targets.size() < 2) return run.fail_usage("", "--compare: name two sessions or more");
  std::vector<std::string> compared;
  if (options.compares) {
    compared.assign(targets.begin() + 1, targets.end());
    targets.resize(1);
  }
  frame::App app({.state_directory = system::state_directory(system::process_environment()),
                  .source_roots = options.input.source_roots,
                  .gsettings = options.dump_file.empty() ? capture::system::find_program("gsettings") : "",
                  .guide_folder = render::program_directory() + "/../share/accelscope/guide",
                  .view = options.view,
                  .compared = std::move(compared)});
  app.open(targets);
  if (options.dump_file.empty()) {
    const Result<void> done = render::run_in_window(app, {});
    return done ? terminal::kExitDone : run.fail(done.message());
  }
  terminal::StateFile client(app, options.dump_file);
  const Result<void> done = render::run_in_window(client, {});
  if (!client.written()) return run.fail(client.written().message());
  return done ? terminal::kExitDone : run.fail(done.message());
}

}  // namespace accelscope::app::commands
