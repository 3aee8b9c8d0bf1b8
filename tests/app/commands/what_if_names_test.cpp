// `accelscope what-if` takes every name that answers call a stream or a kernel by.
#include <doctest/doctest.h>

#include <fstream>

#include "core/names/name_forms.h"
#include "tests/app/program_run.h"

using namespace accelscope;
using test::holds;
using test::ProgramOutcome;
using test::run;

TEST_CASE("what-if: streams and kernels are taken by all names that tables and messages give them") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("trace.json");
  const std::string kernel = "void at::native::softmax_forward<float, 8>(float*, float const*)";
  std::ofstream(path)
      << R"json({"schemaVersion":1,"traceEvents":[
    {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":0,"dur":5,"args":{"correlation":7}},
    {"ph":"X","cat":"kernel","name":")json"
      << kernel << R"json(","pid":0,"tid":7,"ts":10,"dur":1000,"args":{"correlation":7,"device":0,"stream":7}}]})json";
  const std::string shown = usual_name(kernel);  // "softmax_forward"
  CHECK(shown != kernel);
  for (const std::string change : {"stream 7 x0.5", "stream stream 7 x0.5", "stream GPU 0 stream 7 x0.5"}) {
    const ProgramOutcome outcome = run({"what-if", path, "--change", change});
    CHECK_MESSAGE(outcome.code == app::terminal::kExitDone, change << ": " << outcome.err);
    CHECK(holds(outcome.out, "1 events or edges changed"));
  }
  for (const std::string& name : std::vector{kernel, shown}) {
    const ProgramOutcome outcome = run({"what-if", path, "--change", "kernel " + name + " x0.5"});
    CHECK_MESSAGE(outcome.code == app::terminal::kExitDone, name << ": " << outcome.err);
    CHECK(holds(outcome.out, "1 events or edges changed"));
  }
  CHECK(run({"what-if", path, "--change", "stream 8 x0.5"}).code != app::terminal::kExitDone);
  CHECK(run({"what-if", path, "--change", "kernel softmax_backward x0.5"}).code != app::terminal::kExitDone);
}
