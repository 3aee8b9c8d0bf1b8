#include <fmt/format.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "capture/agent/control/commands.h"
#include "capture/agent/control/control_socket.h"
#include "capture/agent/run/outbox.h"
#include "capture/agent/viewers/agent.h"
#include "capture/agent/viewers/kinds_lookup.h"
#include "capture/command_line/options.h"
#include "capture/request/option_cli.h"
#include "capture/request/options.h"
#include "capture/system/address.h"
#include "capture/system/descriptor.h"
#include "capture/system/shown_command.h"
#include "capture/system/text_server.h"
#include "core/base/format.h"
#include "core/base/own_files.h"
#include "core/base/result.h"
#include "core/base/text.h"

namespace accelscope::capture::agent {
namespace {

// How an agent serves, as its command line says it.
class AgentSettings {
 public:
  void declare(command_line::OptionSet& command);  // lives until after the parse
  // After the parse: what needs more than to be stored.
  Result<void> read();

  system::Address listen;
  std::string token_file;    // "": the token in the agent's folder
  bool token_stdin = false;  // the first line of standard input
  bool allow_run = false;    // starts programs for an authenticated viewer
  std::string spool;         // folder; "": none
  OutboxOptions outbox;
  std::chrono::milliseconds idle_exit{0};  // 0: never
  std::string scratch;                     // folder; "": the system's temporary one
  std::string name = "capture";
  std::optional<system::Address> metrics;  // where its state is to be had; none: nowhere
  bool detach = false;
  bool once = false;
  bool quiet = false;

 private:
  // As typed.
  std::string listen_ = "127.0.0.1:7420";
  std::string spool_limit_ = "4GiB";
  std::string buffer_ = "64MiB";
  std::string when_full_ = "wait";
  std::string metrics_;
  double idle_exit_s_ = 0;
};

constexpr const char* kServing = "Serving";

void AgentSettings::declare(command_line::OptionSet& command) {
  const auto option = [&command](const char* names, auto& value, const char* explanation) {
    return command.add_option(names, value, explanation).in_group(kServing);
  };
  const auto flag = [&command](const char* names, bool& value, const char* explanation) {
    return command.add_flag(names, value, explanation).in_group(kServing);
  };
  option("--listen", listen_, "HOST:PORT to listen on; port 0 takes any free one").shows_default();
  const command_line::Option file =
      option("--token-file", token_file, "file with the secret that viewers must know (mode 0600)");
  flag("--token-stdin", token_stdin, "read that secret as the first line of standard input").excludes(file);
  flag("--allow-run", allow_run, "start programs, and read files, for viewers that know the token");
  option("--spool", spool, "folder that keeps what no viewer has saved yet, also over the agent's death");
  option("--spool-limit", spool_limit_, "room for it on disk").shows_default();
  option("--buffer", buffer_, "memory to keep for a viewer that is behind").shows_default();
  option("--when-full", when_full_, "then wait: hold the source; stop: end the capture; drop: drop and count events")
      .one_of({"wait", "stop", "drop"})
      .shows_default();
  option("--idle-exit", idle_exit_s_, "end after so many seconds without a viewer and a capture").not_negative();
  option(
      "--scratch", scratch,
      "folder for the files of captures and the log of --detach; else the system's, and a folder of yours for the log");
  option("--name", name, "of captures that the viewer gives no name").shows_default();
  option("--metrics", metrics_,
         "[ADDRESS:]PORT at which Prometheus reads the agent's state, http://ADDRESS:PORT/metrics; else it is nowhere. "
         "Without an address this machine alone can read it")
      .value_word("[ADDRESS:]PORT");
  flag("--detach", detach, "print the address, then go on in the background");
  flag("--once", once, "end after the first capture");
  flag("--quiet", quiet, "no messages about connections");
}

Result<void> AgentSettings::read() {
  const system::Address address = TRY(system::parse_address(listen_));
  listen = address;
  const Result<std::uint64_t> memory = parse_size(buffer_);
  if (!memory) return Error{"--buffer: " + memory.message()};
  outbox.buffer_bytes = *memory;
  const Result<std::uint64_t> limit = parse_size(spool_limit_);
  if (!limit) return Error{"--spool-limit: " + limit.message()};
  outbox.spool_limit = *limit;
  outbox.when_full = when_full_ == "stop" ? WhenFull::stop : when_full_ == "drop" ? WhenFull::drop : WhenFull::wait;
  constexpr double kMostSeconds = 1e9;
  if (!(idle_exit_s_ <= kMostSeconds)) return Error{"--idle-exit: is too long; leave it out to go on for ever"};
  idle_exit = std::chrono::milliseconds(static_cast<std::int64_t>(idle_exit_s_ * 1e3));
  if (name.empty()) return Error{"--name: is empty; give the captures a name"};
  if (!metrics_.empty()) {
    const bool port_alone = metrics_.find_first_not_of("0123456789") == std::string::npos;
    const Result<system::Address> at = system::parse_address(port_alone ? "127.0.0.1:" + metrics_ : metrics_);
    if (!at) return Error{"--metrics: " + at.message()};
    metrics = *at;
  }
  return {};
}

// An agent in the background: started from a shell or through ssh, it says where it listens and then leaves the
// terminal. What is particular to the operating system stands first.

// Tells the starter that all is well, with a line for it to print. To be called once at most.
using Announce = std::function<void(const std::string& line)>;

void leave_streams(int log) {
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(nothing, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  if (nothing > STDERR_FILENO) ::close(nothing);
  if (log > STDERR_FILENO) ::close(log);
}

// In the background: its status goes to the starter, if that is still there, as a last line, unless it has announced
// itself.
[[noreturn]] void be_background(int report, int log, const std::function<int(const Announce&)>& function) {
  const int status = function([&](const std::string& line) {
    (void)system::write_all(report, fmt::format("0{}\n", line));
    leave_streams(log);
    ::close(std::exchange(report, -1));
  });
  if (report >= 0) (void)system::write_all(report, fmt::format("{}\n", status));
  std::fflush(nullptr);
  ::_exit(status);
}

// "0LINE": it runs; "STATUS": it ended.
int read_report(int report) {
  std::string text;
  std::array<char, 512> buffer{};
  for (;;) {
    const ssize_t count = ::read(report, buffer.data(), buffer.size());
    if (count <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  if (text.size() > 1 && text.front() == '0' && text[1] != '\n') {
    std::fputs(text.c_str() + 1, stdout);
    std::fflush(stdout);
    return 0;
  }
  return text.empty() ? 1 : std::atoi(text.c_str());
}

// Runs the function in a process of its own session, and returns in this one once it has announced itself or ended:
// 0, or the function's status with what it had written to standard error. After the announcement its standard streams
// are closed, and the log file takes what it writes to standard error. Call it before any thread is started.
[[nodiscard]] int run_detached(const std::string& log_file, const std::function<int(const Announce&)>& function) {
  const Result<int> log = append_to_own_file(log_file);
  if (!log) {
    fmt::print(stderr, "accelscope-agent: {}; name another folder with --scratch\n", plain_text(log.message()));
    return 1;
  }
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    fmt::print(stderr, "accelscope-agent: cannot go into the background: no pipe\n");
    return 1;
  }
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) {
    fmt::print(stderr, "accelscope-agent: cannot go into the background: no process\n");
    return 1;
  }
  if (child == 0) {
    ::close(ends[0]);
    ::setsid();
    // No leader of a session: no terminal can become its own again.
    if (const pid_t grandchild = ::fork(); grandchild != 0) ::_exit(grandchild < 0 ? 1 : 0);
    be_background(ends[1], *log, function);
  }
  ::close(*log);
  ::close(ends[1]);
  int status = 0;
  ::waitpid(child, &status, 0);
  const int outcome = read_report(ends[0]);
  ::close(ends[0]);
  return outcome;
}

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
  std::unique_ptr<system::TextServer> metrics;
  if (settings.metrics) {
    auto opened = system::TextServer::open(*settings.metrics,
                                           {.path = "/metrics", .type = "text/plain; version=0.0.4; charset=utf-8"},
                                           [&agent] { return (*agent)->metrics(); });
    if (!opened) return report_failure(kExitFailed, "--metrics: " + opened.message());
    metrics = std::move(opened).value();
    if (log) log(fmt::format("metrics at http://{}/metrics", metrics->address().host_and_port()));
  }
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

bool any_serving_option(const command_line::OptionSet& command) { return command.any_given_of(kServing); }

}  // namespace accelscope::capture::agent
