#include "capture/kinds/program/program_kind.h"

#include <fmt/format.h>

#include <csignal>
#include <filesystem>

#include "capture/kinds/options.h"
#include "capture/kinds/program/program_run.h"
#include "capture/kinds/program/program_start.h"
#include "capture/process/child_process.h"

namespace accelscope::capture {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto kShortestInterval = 1ms;

KindFacts declare() {
  KindFacts facts;
  facts.name = "program";
  facts.title = "Program output and resources";
  facts.explanation = "Runs a program: every line that it prints, its CPU time, memory, threads and exit status.";
  facts.needs_program = true;
  facts.options = {
      {"lines", OptionType::flag, "on",
       "Keeps every line that the program prints as an event, also while the capture is paused."},
      {"counters", OptionType::flag, "on",
       "Samples CPU time, memory, threads and processes of the program and its children; not while paused."},
      {"sample-interval", OptionType::duration, "100ms",
       "Time between two samples; reading them takes some 20 us for each process."},
      {"stop-signal",
       OptionType::choice,
       "INT",
       "What the program and its children are sent to end them when the capture is stopped.",
       {"INT", "TERM"}},
      {"grace", OptionType::duration, "5s", "Time that they then have before they are killed."},
  };
  return facts;
}

std::vector<KindCheck> check() {
  std::vector<KindCheck> checks;
  checks.push_back({true, "runs programs as this user, in a session of their own"});
  // Without counters the kind still works.
  checks.push_back({true, ProcessTree::available() ? "samples their resources from /proc"
                                                   : "takes no samples of resources: /proc cannot be read here"});
  return checks;
}

ProgramFacts facts_of(const CaptureRequest& request, const ChildStart& start) {
  ProgramFacts facts;
  facts.name = request.script.empty() ? fs::path(request.program).filename().string() : "script";
  std::vector<std::string> argv = {start.program};
  argv.insert(argv.end(), start.arguments.begin(), start.arguments.end());
  facts.command = shell_command(argv);
  std::error_code failure;
  facts.directory = start.directory.empty() ? fs::current_path(failure).string()
                                            : fs::absolute(start.directory, failure).lexically_normal().string();
  return facts;
}

Result<ProgramRunOptions> read_options(const KindChoice& choice) {
  const Result<OptionReader> given = OptionReader::read(declare(), choice);
  if (!given) return given.error();
  ProgramRunOptions options;
  options.lines = given->flag("lines");
  options.counters = given->flag("counters");
  options.sample_interval = given->duration("sample-interval");
  options.stop_signal = given->text("stop-signal") == "TERM" ? SIGTERM : SIGINT;
  options.grace = given->duration("grace");
  if (options.counters && options.sample_interval < kShortestInterval) {
    return Error{"--sample-interval: is shorter than 1ms; write 1ms or more, or --counters=off"};
  }
  return options;
}

Result<std::string> describe(const CaptureRequest& request, const KindChoice& choice, const std::string& work_folder) {
  if (Result<ProgramRunOptions> options = read_options(choice); !options) return options.error();
  const ChildStart start = program_start(request, work_folder);
  if (Result<std::string> found = find_start(start); !found) return found.error();
  return request.script.empty() ? facts_of(request, start).command : "a script";
}

Result<void> run(const KindRun& run, EventSink& sink) {
  const Result<ProgramRunOptions> options = read_options(run.choice);
  if (!options) return options.error();
  if (!run.request.script.empty()) {
    if (Result<void> written = write_script(run.request.script, run.work_folder); !written) return written;
  }
  const ChildStart start = program_start(run.request, run.work_folder);
  return ProgramRun(run, sink, *options).run(start, facts_of(run.request, start));
}

}  // namespace

CaptureKind program_kind() { return {declare, check, describe, run}; }

}  // namespace accelscope::capture
