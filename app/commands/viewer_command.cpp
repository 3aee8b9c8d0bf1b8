#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "app/app.h"
#include "app/commands/command.h"
#include "app/system_paths.h"
#include "capture/wire/address.h"

namespace accelscope::app {
namespace {

// What the viewer can open; else why not.
Result<void> check_target(const std::string& target) {
  std::error_code error;
  if (std::filesystem::exists(target, error)) return {};
  const bool looks_like_address = target.find(':') != std::string::npos && target.find('/') == std::string::npos;
  if (looks_like_address) {
    if (const auto address = capture::parse_address(target); !address) return address.error();
    return {};
  }
  if (target.starts_with("ssh://")) {
    return Error{target +
                 ": this version does not connect through ssh by itself; forward the port with ssh -L and open "
                 "127.0.0.1:PORT"};
  }
  return Error{fmt::format("{}: neither a command nor a file nor HOST:PORT", target)};
}

}  // namespace

int open_viewer(const std::vector<std::string>& targets, const std::string& dump_file, const CommandRun& run) {
  for (const std::string& target : targets) {
    if (const auto fits = check_target(target); !fits) return run.fail_usage("", fits.message());
  }
  App app({.state_directory = state_directory(process_environment())});
  for (const std::string& target : targets) app.open(target);
  const Result<void> done = render::run_in_window(app, {});
  if (!dump_file.empty()) {
    std::ofstream file(dump_file);
    file << app.dump_state() << '\n';
    if (!file.flush()) return run.fail(dump_file + ": cannot be written; check the folder");
  }
  return done ? kExitDone : run.fail(done.message());
}

}  // namespace accelscope::app
