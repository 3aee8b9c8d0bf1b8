#include "tests/capture/kinds/opencl/opencl_run.h"

#include <doctest/doctest.h>

#include <atomic>

#include "tests/capture/kinds/kind_run_support.h"

namespace accelscope::capture {
namespace {

// PoCL keeps what it has compiled in a folder.
[[nodiscard]] ProbedProgram opencl_program(const std::vector<std::string>& arguments, const ScratchFolder& cache) {
  return {.name = "opencl_for_tests",
          .arguments = arguments,
          .environment = {"POCL_CACHE_DIR=" + cache.path.string()},
          .origin = std::chrono::steady_clock::now()};
}

// Cancelled from outside, when the program has ended.
class EndingSink final : public ForwardingSink {
 public:
  using ForwardingSink::ForwardingSink;
  [[nodiscard]] bool cancelled() const override { return over; }
  std::atomic<bool> over{false};
};

const ScratchFolder& shared_cache() {
  static const ScratchFolder cache;
  return cache;
}

}  // namespace

bool opencl_is_there() {
  static const int kStatus = run_plain({"launches", "0"}).end.exit_code;
  if (kStatus != 0) MESSAGE("skipped: no OpenCL platform is there; on Debian, install pocl-opencl-icd");
  return kStatus == 0;
}

OpenclRun run_plain(const std::vector<std::string>& arguments) {
  OpenclRun run;
  run_to_end(run, opencl_program(arguments, shared_cache()));
  return run;
}

OpenclRun run_traced(const std::vector<std::string>& arguments,
                     const std::vector<std::pair<std::string, std::string>>& options, Compiler compiler) {
  OpenclRun run;
  const ScratchFolder empty;
  request::KindChoice choice{"opencl", {}};
  for (const auto& [name, value] : options) choice.options.push_back({name, value});
  EndingSink sink(run.sink);
  run_probed(run, choice, opencl_program(arguments, compiler == Compiler::anew ? empty : shared_cache()), sink,
             [&sink] { sink.over = true; });
  return run;
}

}  // namespace accelscope::capture
