#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/frame/app.h"
#include "app/plan/form_model.h"
#include "app/system/system_files.h"
#include "app/terminal/command.h"
#include "app/terminal/state_file.h"
#include "app/terminal/terminal.h"
#include "app/view/link.h"

namespace accelscope::app {
namespace {

// What the viewer can open; else why not.
Result<void> check_target(const std::string& target) {
  std::error_code error;
  if (std::filesystem::exists(target, error)) return {};
  if (names_agents(target)) {
    for (std::size_t begin = 0; begin <= target.size();) {
      const std::size_t end = std::min(target.find(',', begin), target.size());
      TRY(check_place(target.substr(begin, end - begin)));
      begin = end + 1;
    }
    return {};
  }
  return Error{fmt::format("{}: neither a command nor a file nor HOST:PORT, ssh://HOST or local", target)};
}

}  // namespace

int open_viewer(const std::vector<std::string>& given, const ViewerOptions& options, const CommandRun& run) {
  const auto inputs = InputPaths::read(given);
  if (!inputs) return run.fail(inputs.message());
  const std::vector<std::string>& targets = inputs->paths();
  for (const std::string& target : targets) {
    if (const auto fits = check_target(target); !fits) return run.fail_usage("", fits.message());
  }
  if (!options.view.empty()) {
    if (const auto link = read_view_link(options.view); !link) return run.fail_usage("", "--view: " + link.message());
  }
  App app({.state_directory = state_directory(process_environment()), .view = options.view});
  app.open(targets);
  if (options.dump_file.empty()) {
    const Result<void> done = render::run_in_window(app, {});
    return done ? kExitDone : run.fail(done.message());
  }
  StateFile client(app, options.dump_file);
  const Result<void> done = render::run_in_window(client, {});
  if (!client.written()) return run.fail(client.written().message());
  return done ? kExitDone : run.fail(done.message());
}

}  // namespace accelscope::app
