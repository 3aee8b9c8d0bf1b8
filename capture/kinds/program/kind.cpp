#include "capture/kinds/base/kind_list.h"
#include "capture/kinds/program/run.h"
#include "capture/kinds/program/start.h"
#include "capture/request/options.h"

namespace accelscope::capture::kinds::program {
namespace {

request::KindFacts declare_program() {
  return {.name = "program",
          .title = "Program output and resources",
          .explanation = "Runs a program: every line that it prints, its CPU time, memory, threads and exit status.",
          .needs_program = true,
          .options = program_options()};
}

std::vector<request::KindCheck> check_program() {
  std::vector<request::KindCheck> checks;
  checks.push_back({true, "runs programs as this user, in a session of their own"});
  // Without counters the kind still works.
  checks.push_back({true, ProcessTree::available() ? "samples their resources from /proc"
                                                   : "takes no samples of resources: /proc cannot be read here"});
  return checks;
}

Result<std::string> describe_program(const request::CaptureRequest& request, const request::OptionReader& /*options*/,
                                     const std::string& work_folder) {
  return shown_program(request, work_folder);
}

Result<void> run_program(const request::KindRun& run, EventSink& sink) {
  const Result<system::ChildStart> start = prepare_program(run);
  if (!start) return start.error();
  return ProgramRun(run, sink, read_program_options(*run.options)).run(*start);
}

}  // namespace

request::CaptureKind program_kind() {
  return {declare_program, check_program, describe_program, run_program, accept_program_options};
}

}  // namespace accelscope::capture::kinds::program
