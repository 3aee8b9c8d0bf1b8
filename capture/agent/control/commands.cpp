#include "capture/agent/control/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "capture/agent/control/control_socket.h"
#include "capture/command_line/options.h"
#include "capture/request/option_cli.h"
#include "core/base/text.h"

namespace accelscope::capture::agent {
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
  fmt::print(stderr, "accelscope-agent: {}\n", plain_lines(message));
  return status;
}

namespace {

int obey_words(int argc, const char* const* argv) {
  // What stands after -- is a program's: none of it is an option of ours.
  const std::span<const char* const> all(argv, static_cast<std::size_t>(argc));
  const auto mark =
      std::find_if(all.begin(), all.end(), [](const char* word) { return std::string_view(word) == "--"; });
  std::vector<std::string> program;
  if (mark != all.end()) program.assign(mark + 1, all.end());

  command_line::OptionSet app(kDescription, "accelscope-agent");
  app.add_version(fmt::format("accelscope-agent {}", ACCELSCOPE_VERSION));
  app.set_footer(kExamples);
  std::vector<std::pair<const command_line::OptionSet*, AgentAction>> actions;
  const auto add = [&](const char* name, const char* what, const auto& declare) {
    command_line::OptionSet& command = app.add_command(name, what);
    actions.emplace_back(&command, declare(command));
    return &command;
  };
  const AgentAction serve = declare_serve(app);
  add("simulate", "serve a simulated accelerator; needs no hardware", declare_simulate);
  add("replay", "serve files as if they were captured now", declare_replay);
  const command_line::OptionSet* run =
      add("run", "capture without a viewer, into a session file",
          [&program](command_line::OptionSet& command) { return declare_run(command, program); });
  for (const ControlCommand what : {ControlCommand::pause, ControlCommand::resume, ControlCommand::stop}) {
    const std::string verb(control_word(what));
    add(verb.c_str(), (verb + " a running capture from another shell").c_str(),
        [what](command_line::OptionSet& command) { return declare_control(command, what); });
  }
  add("list", "the captures of yours that are running on this machine", declare_list);
  add("doctor", "what works on this host, and what is missing", declare_doctor);
  const std::vector<std::string> words(all.begin() + 1, mark);
  if (const std::string help =
          request::kind_help("accelscope-agent run", command_line::help_topic(words), request::declared_kinds());
      !help.empty()) {
    fmt::print("{}", help);
    return kExitDone;
  }
  if (!words.empty() && command_line::is_reference(words.front())) {
    command_line::CommandFacts facts = app.facts();
    facts.topics = request::kind_references(request::declared_kinds());
    const Result<std::string> text = command_line::write_reference(facts, ACCELSCOPE_VERSION, words);
    if (!text) return report_failure(kExitUsage, text.message());
    fmt::print("{}", *text);
    return kExitDone;
  }
  const Result<std::string> shown = app.parse(words);
  if (!shown) {
    const char* advice = run->chosen() ? "; write the program after --, see accelscope-agent run --help"
                                       : "; see accelscope-agent --help";
    return report_failure(run->chosen() ? kExitRun : kExitUsage, shown.message() + advice);
  }
  if (!shown->empty()) {  // --help, --version
    fmt::print("{}", *shown);
    return kExitDone;
  }
  if (mark != all.end() && !run->chosen()) {
    return report_failure(kExitUsage, "a program after -- is for accelscope-agent run; see accelscope-agent --help");
  }
  for (const auto& [command, action] : actions) {
    if (!command->chosen()) continue;
    if (any_serving_option(app)) {
      return report_failure(kExitUsage, fmt::format("write the options after '{}'", command->name()));
    }
    return action();
  }
  return serve();
}

}  // namespace

int run_agent_command(int argc, const char* const* argv) {
  int status = kExitFailed;
  bool written = true;
  try {
    status = obey_words(argc, argv);
  } catch (const std::system_error&) {  // of printing
    written = false;
  } catch (const std::bad_alloc&) {
    return report_failure(kExitFailed, "there is not enough memory");
  }
  // What nobody has read is not done.
  written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && written;
  if (written || status != kExitDone) return status;
  return report_failure(kExitFailed, "the standard output cannot be written; is the disk full, or the reader gone?");
}

AgentAction declare_control(command_line::OptionSet& command, ControlCommand what) {
  const std::string_view verb = control_word(what);
  auto name = std::make_shared<std::string>();
  command.add_option("NAME", *name, "of the capture, if several are running; accelscope-agent list shows them");
  command.set_footer(fmt::format("Example:\n  accelscope-agent {}\n  accelscope-agent {} mlp", verb, verb));
  return [name, what] {
    const Result<std::string> said = send_command(*name, what);
    if (!said) return report_failure(kExitFailed, said.message());
    fmt::print("{}\n", *said);
    return kExitDone;
  };
}

AgentAction declare_list(command_line::OptionSet& command) {
  command.set_footer("Example:\n  accelscope-agent list");
  return [] {
    const Result<std::vector<ControlledCapture>> captures = list_captures();
    if (!captures) return report_failure(kExitFailed, captures.message());
    for (const ControlledCapture& capture : *captures) fmt::print("{:<16} {}\n", capture.name, capture.status);
    if (captures->empty()) fmt::print("no capture of yours is running on this machine\n");
    const Result<std::vector<std::string>> held = list_held();
    if (!held) return report_failure(kExitFailed, held.message());
    for (const std::string& agent : *held) fmt::print("for a viewer      {}\n", agent);
    return kExitDone;
  };
}

}  // namespace accelscope::capture::agent
