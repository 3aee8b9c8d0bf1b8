#include "capture/kinds/program/kind.h"

#include "capture/kinds/program/run.h"
#include "capture/kinds/program/start.h"
#include "capture/request/options.h"

namespace accelscope::capture::kinds::program {
namespace {

request::KindFacts declare_program() {
  request::KindFacts facts;
  facts.name = "program";
  facts.title = "Program output and resources";
  facts.explanation = "Runs a program: every line that it prints, its CPU time, memory, threads and exit status.";
  facts.needs_program = true;
  facts.options = program_options();
  return facts;
}

std::vector<request::KindCheck> check_program() {
  std::vector<request::KindCheck> checks;
  checks.push_back({true, "runs programs as this user, in a session of their own"});
  // Without counters the kind still works.
  checks.push_back({true, ProcessTree::available() ? "samples their resources from /proc"
                                                   : "takes no samples of resources: /proc cannot be read here"});
  return checks;
}

Result<ProgramRunOptions> read_program_options(const request::KindChoice& choice) {
  const Result<request::OptionReader> given = request::OptionReader::read(declare_program(), choice);
  if (!given) return given.error();
  return program::read_program_options(*given);
}

Result<std::string> describe_program(const request::CaptureRequest& request, const request::KindChoice& choice,
                                     const std::string& work_folder) {
  if (Result<ProgramRunOptions> options = read_program_options(choice); !options) return options.error();
  const system::ChildStart start = program_start(request, work_folder);
  if (Result<std::string> found = system::find_start(start); !found) return found.error();
  return request.script.empty() ? facts_of(request, start).command : "a script";
}

Result<void> run_program(const request::KindRun& run, EventSink& sink) {
  const Result<ProgramRunOptions> options = read_program_options(run.choice);
  if (!options) return options.error();
  if (!run.request.script.empty()) {
    if (Result<void> written = write_script(run.request.script, run.work_folder); !written) return written;
  }
  const system::ChildStart start = program_start(run.request, run.work_folder);
  return ProgramRun(run, sink, *options).run(start, facts_of(run.request, start));
}

}  // namespace

request::CaptureKind program_kind() { return {declare_program, check_program, describe_program, run_program}; }

}  // namespace accelscope::capture::kinds::program
