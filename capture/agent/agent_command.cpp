#include "capture/agent/agent_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "capture/agent/agent_settings.h"
#include "capture/agent/commands.h"

namespace accelscope::capture {
namespace {

constexpr const char* kDescription =
    "Captures what an accelerator and the programs around it do: for Accelscope viewers over TCP, or into a file.";
constexpr const char* kExamples =
    "Without a subcommand it serves viewers, which choose what is captured.\n"
    "\nExamples:\n"
    "  accelscope-agent simulate --listen 127.0.0.1:7420       then: accelscope 127.0.0.1:7420\n"
    "  accelscope-agent --allow-run                            viewers may start programs here\n"
    "  accelscope-agent run -o bench.accel -- python3 bench.py";

}  // namespace

int report_failure(int status, const std::string& message) {
  fmt::print(stderr, "accelscope-agent: {}\n", message);
  return status;
}

int run_agent_command(int argc, const char* const* argv) {
  // What stands after -- is a program's: none of it is an option of ours.
  const std::span<const char* const> all(argv, static_cast<std::size_t>(argc));
  const auto mark =
      std::find_if(all.begin(), all.end(), [](const char* word) { return std::string_view(word) == "--"; });
  const auto own = static_cast<int>(mark - all.begin());
  std::vector<std::string> program;
  if (mark != all.end()) program.assign(mark + 1, all.end());

  CLI::App app(kDescription, "accelscope-agent");
  app.set_version_flag("--version", ACCELSCOPE_VERSION);
  app.require_subcommand(0, 1);
  app.footer(kExamples);
  std::vector<std::pair<const CLI::App*, AgentAction>> actions;
  const auto add = [&](const char* name, const char* what, const auto& declare) {
    CLI::App* command = app.add_subcommand(name, what);
    actions.emplace_back(command, declare(*command));
    return command;
  };
  const AgentAction serve = declare_serve(app);
  add("simulate", "serve a simulated accelerator; needs no hardware", declare_simulate);
  add("replay", "serve files as if they were captured now", declare_replay);
  const CLI::App* run = add("run", "capture without a viewer, into a session file",
                            [&program](CLI::App& command) { return declare_run(command, program); });
  for (const std::string verb : {"pause", "resume", "stop"}) {
    add(verb.c_str(), (verb + " a running capture from another shell").c_str(),
        [&verb](CLI::App& command) { return declare_control(command, verb); });
  }
  add("list", "the captures of yours that are running on this machine", declare_list);
  add("doctor", "what works on this host, and what is missing", declare_doctor);
  try {
    app.parse(own, argv);
  } catch (const CLI::Success& shown) {  // --help, --version
    return app.exit(shown);
  } catch (const CLI::ParseError& wrong) {
    const char* advice = run->parsed() ? "; write the program after --, see accelscope-agent run --help"
                                       : "; see accelscope-agent --help";
    return report_failure(run->parsed() ? kExitRun : kExitUsage, fmt::format("{}{}", wrong.what(), advice));
  }
  if (mark != all.end() && !run->parsed()) {
    return report_failure(kExitUsage, "a program after -- is for accelscope-agent run; see accelscope-agent --help");
  }
  for (const auto& [command, action] : actions) {
    if (!command->parsed()) continue;
    if (any_serving_option(app)) {
      return report_failure(kExitUsage, fmt::format("write the options after '{}'", command->get_name()));
    }
    return action();
  }
  return serve();
}

}  // namespace accelscope::capture
