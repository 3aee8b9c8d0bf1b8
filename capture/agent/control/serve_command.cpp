#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <utility>

#include "capture/agent/control/agent_settings.h"
#include "capture/agent/control/commands.h"
#include "capture/agent/control/control_socket.h"
#include "capture/agent/control/detach.h"
#include "capture/agent/viewers/agent.h"
#include "capture/agent/viewers/kind_parts.h"
#include "capture/command_line/options.h"
#include "capture/request/option_cli.h"
#include "capture/request/options.h"
#include "capture/system/shown_command.h"
#include "capture/system/standard_streams.h"
#include "core/base/format.h"
#include "core/base/plain_text.h"

namespace accelscope::capture::agent {
namespace {

namespace fs = std::filesystem;

// "12:34:56.789 LINE" with the local time, each line in one piece whichever thread it comes from.
void log_line(const std::string& line) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  tm local{};
  ::localtime_r(&now.tv_sec, &local);
  (void)system::write_all(STDERR_FILENO, fmt::format("{:02}:{:02}:{:02}.{:03} {}\n", local.tm_hour, local.tm_min,
                                                     local.tm_sec, now.tv_nsec / 1'000'000, plain_text(line)));
}

// Names what is made, if it is the same each time; else "".
std::string what_repeats(const std::vector<request::KindChoice>& fixed) {
  for (const request::KindChoice& choice : fixed) {
    if (!request::repeats(choice)) return {};
  }
  return system::shell_command(request::kind_arguments(fixed, request::declared_kinds()));
}

AgentOptions options_of(const AgentSettings& settings, const std::vector<request::KindChoice>& fixed,
                        const std::string& description) {
  AgentOptions options;
  options.listen = settings.listen;
  options.description = description;
  options.name = settings.name;
  options.once = settings.once;
  options.stop_on_signals = true;
  options.outbox = settings.outbox;
  options.spool_folder = settings.spool;
  options.scratch_folder = settings.scratch;
  options.idle_exit = settings.idle_exit;
  options.may_run = settings.allow_run;
  options.kinds = agent_kinds(settings.allow_run, fixed);
  options.fixed = fixed;
  options.repeats = what_repeats(fixed);
  if (!settings.quiet) options.log = log_line;
  return options;
}

int listen_and_serve(const AgentSettings& settings, const std::vector<request::KindChoice>& fixed,
                     const std::string& description, const Announce& announce) {
  AgentOptions options = options_of(settings, fixed, description);
  const auto log = options.log;
  Result<security::AgentSecrets> secrets =
      security::prepare_agent_secrets({.listen = settings.listen,
                                       .may_run = settings.allow_run,
                                       .token_file = settings.token_file,
                                       .token_descriptor = settings.token_stdin ? STDIN_FILENO : -1,
                                       .folder = {}});
  if (!secrets) return report_failure(kExitFailed, secrets.message());
  options.secrets = std::move(secrets).value();
  if (settings.allow_run && log) log("viewers that know the token may start programs here as this user");
  for (const std::string& note : options.secrets.notes) {
    if (log) log(note);
  }
  Result<std::unique_ptr<Agent>> agent = Agent::listen(std::move(options), {});
  if (!agent) return report_failure(kExitFailed, agent.message());
  // Scripts wait for this line, and read the port from it.
  announce("listening on " + (*agent)->address().text());
  const Result<std::unique_ptr<ControlSocket>> control =
      ControlSocket::open(settings.name, [&agent](ControlCommand command) { return (*agent)->command(command); });
  if (!control && log) log("cannot be reached from another shell: " + control.message());
  const Result<void> served = (*agent)->run();
  if (!served) return report_failure(kExitFailed, served.message());
  return (*agent)->interrupted() ? kExitInterrupted : kExitDone;
}

int serve(const AgentSettings& settings, const std::vector<request::KindChoice>& fixed,
          const std::string& description) {
  if (!settings.detach) {
    return listen_and_serve(settings, fixed, description, [](const std::string& line) {
      fmt::print("{}\n", line);
      std::fflush(stdout);
    });
  }
  // The folder for temporary files is everybody's: one user's log would stand in the way of another's.
  Result<std::string> folder = settings.scratch.empty() ? control_folder() : Result<std::string>(settings.scratch);
  if (!folder) return report_failure(kExitFailed, folder.message());
  std::error_code failure;
  fs::create_directories(*folder, failure);
  return run_detached((fs::path(*folder) / "agent.log").string(), [&](const Announce& announce) {
    return listen_and_serve(settings, fixed, description, announce);
  });
}

// The serving options, and the options of the one kind that is chosen already.
struct FixedKindCommand {
  AgentSettings serving;
  request::KindOptions kind_options;
  std::vector<std::string> files;  // positional, of replay

  [[nodiscard]] int run(const std::string& kind) const {
    AgentSettings settings = serving;
    if (Result<void> read = settings.read(); !read) return report_failure(kExitUsage, read.message());
    Result<std::vector<request::KindChoice>> choices = kind_options.choices({kind});
    if (!choices) return report_failure(kExitUsage, choices.message());
    for (const std::string& file : files) choices->front().options.push_back({"file", file});
    request::CaptureRequest request;
    request.kinds = *choices;
    if (Result<void> checked = request::check_request(request, request::checked_kinds(request.kinds)); !checked) {
      return report_failure(kExitUsage, checked.message());
    }
    const Result<std::string> description = request::describe_request(request, "");
    if (!description) {  // what begins with an option's name is about how it was typed
      const bool usage = description.message().starts_with("--");
      return report_failure(usage ? kExitUsage : kExitFailed, description.message());
    }
    return serve(settings, *choices, *description);
  }
};

std::vector<request::KindFacts> declaration_of(const std::string& kind) {
  return {(*request::find_kind(kind))->declare()};
}

}  // namespace

AgentAction declare_serve(command_line::OptionSet& app) {
  auto settings = std::make_shared<AgentSettings>();
  settings->declare(app);
  return [settings] {
    const Result<void> read = settings->read();
    return read ? serve(*settings, {}, "") : report_failure(kExitUsage, read.message());
  };
}

AgentAction declare_simulate(command_line::OptionSet& command) {
  auto simulate = std::make_shared<FixedKindCommand>();
  simulate->serving.declare(command);
  simulate->kind_options.declare(command, declaration_of("simulate"));
  command.set_footer("Example:\n  accelscope-agent simulate --rate 200k --seconds 60 --listen 127.0.0.1:7420");
  return [simulate] { return simulate->run("simulate"); };
}

AgentAction declare_replay(command_line::OptionSet& command) {
  auto replay = std::make_shared<FixedKindCommand>();
  replay->serving.declare(command);
  std::vector<request::KindFacts> kinds = declaration_of("replay");
  std::erase_if(kinds.front().options, [](const request::KindOption& option) { return option.name == "file"; });
  replay->kind_options.declare(command, kinds);
  command.add_option("file", replay->files, "session files, any files that can be imported, folders of ranks")
      .required();
  command.set_footer("Example:\n  accelscope-agent replay profile.json --speed 1.0");
  return [replay] { return replay->run("replay"); };
}

}  // namespace accelscope::capture::agent
