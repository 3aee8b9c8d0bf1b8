#include <fmt/format.h>

#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <vector>

#include "capture/agent/control/commands.h"
#include "capture/agent/control/local_capture.h"
#include "capture/command_line/options.h"
#include "capture/request/option_cli.h"
#include "capture/request/options.h"
#include "capture/system/descriptor.h"
#include "core/base/format.h"
#include "core/base/own_files.h"
#include "core/base/text.h"

namespace accelscope::capture::agent {
namespace {

// Ctrl+C, SIGTERM and the end of the terminal (SIGHUP, unless it is ignored, as under nohup) during a capture that ends
// in order: the first two are remembered, which leaves the program its grace; the third ends this process at once. One
// object at a time.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  [[nodiscard]] bool asked() const noexcept;
};

// The one thing that a signal handler may write.
volatile std::sig_atomic_t g_asked = 0;

void remember(int number) {
  g_asked = g_asked + 1;
  std::signal(number, g_asked < 2 ? remember : SIG_DFL);
}

StopSignals::StopSignals() {
  g_asked = 0;
  std::signal(SIGINT, remember);
  std::signal(SIGTERM, remember);
  if (std::signal(SIGHUP, remember) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

StopSignals::~StopSignals() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  if (std::signal(SIGHUP, SIG_DFL) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

bool StopSignals::asked() const noexcept { return g_asked != 0; }

namespace fs = std::filesystem;

bool copy_to_output(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> buffer(std::size_t{1} << 20);
  while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || file.gcount() > 0) {
    if (!system::write_all(STDOUT_FILENO, {buffer.data(), static_cast<std::size_t>(file.gcount())})) return false;
  }
  return file.eof();
}

struct RunCommand {
  std::string output;
  std::string kind_list;
  request::KindOptions kind_options;
  std::string directory;
  std::vector<std::string> environment;
  std::string script;
  std::string name;
  std::string spool;
  std::string memory_budget;
  double duration_s = 0;
  bool paused = false;
  bool force = false;
  bool quiet = false;
  const std::vector<std::string>* program = nullptr;  // after --

  [[nodiscard]] Result<request::CaptureRequest> request() const;
  [[nodiscard]] int run() const;
  [[nodiscard]] int finish(const std::string& file, const LocalCaptureReport& report,
                           std::optional<int> exit_status) const;
};

int fail(const std::string& message) { return report_failure(kExitRun, message); }

Result<request::CaptureRequest> RunCommand::request() const {
  request::CaptureRequest request;
  std::vector<std::string> names = request::split_names(kind_list);
  if (names.empty() && (!program->empty() || !script.empty())) names = {"program"};
  std::vector<request::KindChoice> kinds = TRY(kind_options.choices(names));
  request.kinds = std::move(kinds);
  request.name = name;
  if (!program->empty()) {
    request.program = program->front();
    request.arguments.assign(program->begin() + 1, program->end());
  }
  if (!script.empty()) {
    std::ifstream file;
    if (script != "-") file.open(script, std::ios::binary);
    std::istream& text = script == "-" ? std::cin : file;
    if (!text) return Error{fmt::format("{}: the script cannot be read; check the path", script)};
    request.script.assign(std::istreambuf_iterator<char>(text), {});
    if (request.script.empty()) return Error{fmt::format("{}: the script is empty", script)};
  }
  std::error_code failure;
  request.directory = directory.empty() ? fs::current_path(failure).string() : directory;
  request.environment = environment;
  request.paused = paused;
  request.duration_seconds = duration_s;
  return request;
}

int RunCommand::run() const {
  LocalCaptureOptions options;
  Result<request::CaptureRequest> wanted = request();
  if (!wanted) return fail(wanted.message());
  options.request = std::move(wanted).value();
  if (Result<void> checked = request::check_request(options.request, request::checked_kinds(options.request.kinds));
      !checked)
    return fail(checked.message());
  const Result<std::shared_ptr<OwnTemporaryFolder>> work = OwnTemporaryFolder::make("run");  // goes with the capture
  const Result<std::shared_ptr<OwnTemporaryFolder>> for_output = OwnTemporaryFolder::make("output");
  if (!work || !for_output) return fail(work ? for_output.message() : work.message());
  const bool to_output = output == "-";
  if (to_output && ::isatty(STDOUT_FILENO) == 1) return fail("-: a session is no text for a terminal; name a file");
  const std::string file = output.empty() ? request::session_file_name(options.request) : output;
  options.output = to_output ? (*for_output)->file("session.accel") : file;
  std::error_code failure;
  if (!force && fs::exists(options.output, failure)) {
    return fail(file + ": the file exists already; name another with -o, or replace it with --force");
  }
  options.store.memory_budget_bytes = default_memory_budget();
  options.store.written_by = "accelscope-agent " ACCELSCOPE_VERSION;
  if (!memory_budget.empty()) {
    const Result<std::uint64_t> budget = parse_size(memory_budget);
    if (!budget) return fail("--memory-budget: " + budget.message());
    options.store.memory_budget_bytes = *budget;
  }
  options.work_folder = (*work)->path();
  options.spool = spool;
  std::optional<int> exit_status;
  options.watch.ended = [&exit_status](int status) { exit_status = status; };
  std::atomic<bool> shown = true;  // by the kind's thread
  if (!quiet) {
    options.watch.printed = [&shown, to_output](bool is_error, std::string_view bytes) {
      if (!system::write_all(is_error || to_output ? STDERR_FILENO : STDOUT_FILENO, bytes)) shown = false;
    };
  }
  const system::IgnoredBrokenPipe no_signal;  // a reader that leaves does not end the capture
  const StopSignals signals;
  options.asked_to_stop = [&signals] { return signals.asked(); };
  const Result<LocalCaptureReport> report = capture_locally(options);
  if (!report) return fail(report.message());
  if (to_output && !copy_to_output(report->path)) return fail("-: the standard output cannot be written");
  const int status = finish(report->path == options.output ? file : report->path, *report, exit_status);
  if (status != kExitDone) return status;
  if (!shown) return fail("what the program printed could not be written; the session has all of it");
  return signals.asked() ? kExitInterrupted : kExitDone;
}

int RunCommand::finish(const std::string& file, const LocalCaptureReport& report,
                       std::optional<int> exit_status) const {
  if (!quiet) {
    const std::string ended = exit_status ? fmt::format(", the program ended with status {}", *exit_status) : "";
    fmt::print(stderr, "accelscope-agent: {}: {} events{}\n", plain_text(file), format_count(report.events), ended);
  }
  if (!report.failure.empty()) return fail(report.failure);
  return exit_status.value_or(kExitDone);
}

}  // namespace

AgentAction declare_run(command_line::OptionSet& command, const std::vector<std::string>& program) {
  auto run = std::make_shared<RunCommand>();
  run->program = &program;
  command.add_option("-o,--output", run->output,
                     "session file to write, - for the standard output; else PROGRAM.accel");
  command.add_option("--kind", run->kind_list, "kinds of capture, separated by commas; program, if one is given");
  command.add_option("--cwd", run->directory, "folder in which the program runs");
  command.add_option("--env", run->environment, "NAME=VALUE for the program; may be given several times").repeats();
  command.add_option("--script", run->script,
                     "file with a shell script that is run in place of a program, - for the standard input");
  command.add_flag("--paused", run->paused, "start paused; accelscope-agent resume begins");
  command.add_option("--duration", run->duration_s, "stop after so many seconds").positive();
  command.add_option("--name", run->name, "for accelscope-agent pause, resume and stop");
  command.add_option("--spool", run->spool,
                     "folder that keeps what was captured if this process is killed; accelscope-agent --spool FOLDER "
                     "then offers it to a viewer");
  command.add_option("--memory-budget", run->memory_budget,
                     "memory, such as 4GiB, after which the capture goes on in a temporary file; else half of this "
                     "machine's");
  command.add_flag("--force", run->force, "replace the output file");
  command.add_flag("--quiet", run->quiet, "do not show what the program prints");
  const std::vector<request::KindFacts> kinds = request::declared_kinds();
  run->kind_options.declare(command, kinds, request::KindOptions::Help::left_out);
  command.set_usage("accelscope-agent run [OPTIONS] -- PROGRAM ARGS...");
  command.set_footer(
      request::kinds_footer("accelscope-agent run", kinds) +
      "\nCtrl+C, or accelscope-agent stop, ends the program and keeps what was captured. The exit status is "
      "the program's own;\n125 if the capture itself failed. Standard input of the program is empty.\n"
      "\nExample:\n  accelscope-agent run -o bench.accel --sample-interval 10ms -- python3 bench.py");
  return [run] { return run->run(); };
}

}  // namespace accelscope::capture::agent
