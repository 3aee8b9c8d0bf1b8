// The kind `torch` with modules that stand in for PyTorch: the calls that the kind needs, as they are documented.
#include "tests/capture/kinds/tool_support.h"
#include "tests/capture/wire/wire_support.h"

namespace accelscope::capture {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTorch = R"PY(
class _Device:
    def __init__(self, there):
        self._there = there
    def is_available(self):
        return self._there
cuda = _Device(False)
xpu = _Device(True)
)PY";

constexpr std::string_view kProfiler = R"PY(
import enum, json, os, time
class ProfilerActivity(enum.Enum):
    CPU = 0
    CUDA = 1
    XPU = 2
def schedule(*, wait, warmup, active, repeat=0, skip_first=0):
    return (wait, warmup, active, repeat)
class profile:
    def __init__(self, *, activities=None, schedule=None, on_trace_ready=None, record_shapes=False, profile_memory=False,
                 with_stack=False, with_flops=False, with_modules=False):
        self.facts = ["activity " + one.name for one in activities]
        self.facts += [name for name, on in (("shapes", record_shapes), ("memory", profile_memory), ("stack", with_stack),
                                             ("flops", with_flops), ("modules", with_modules)) if on]
        self.plan, self.ready, self.steps, self.cycles = schedule, on_trace_ready, 0, 0
    def start(self):
        self.begin_ns = time.time_ns()
    def stop(self):
        if self.plan is None:
            self.ready(self)
    def step(self):
        self.steps += 1
        wait, warmup, active, repeat = self.plan
        if self.steps % (wait + warmup + active) == 0 and (repeat == 0 or self.cycles < repeat):
            self.cycles += 1
            self.ready(self)
    def export_chrome_trace(self, path):
        events = [{"ph": "X", "cat": "cpu_op", "name": name, "pid": os.getpid(), "tid": 1, "ts": 10.5 + 5 * i, "dur": 3.25}
                  for i, name in enumerate(self.facts + ["aten::op%d" % (i % 7) for i in range(200)])]
        with open(path, "w") as file:
            json.dump({"schemaVersion": 1, "baseTimeNanoseconds": self.begin_ns, "traceEvents": events}, file)
)PY";

constexpr std::string_view kOptim = R"PY(
from . import optimizer
class SGD:
    def step(self):
        for hook in optimizer.hooks:
            hook(self, (), {})
)PY";
constexpr std::string_view kOptimizer = R"PY(
hooks = []
def register_optimizer_step_post_hook(hook):
    hooks.append(hook)
)PY";

struct TorchBench {
  TorchBench() {
    lay_down(scratch.file("site/torch/__init__.py"), kTorch);
    lay_down(scratch.file("site/torch/profiler.py"), kProfiler);
    lay_down(scratch.file("site/torch/optim/__init__.py"), kOptim);
    lay_down(scratch.file("site/torch/optim/optimizer.py"), kOptimizer);
  }
  ScratchFolder scratch;

  [[nodiscard]] request::CaptureRequest request(std::vector<std::string> words,
                                                std::vector<request::OptionSetting> options = {}) const {
    request::CaptureRequest request{
        .kinds = {{"torch", std::move(options)}}, .program = "python3", .arguments = std::move(words)};
    request.environment = {"PYTHONPATH=" + scratch.file("site")};
    request.directory = scratch.path.string();
    return request;
  }
  KindOutcome run(const request::CaptureRequest& wanted, EventSink& sink) const {
    return run_kind_into(wanted, sink, scratch.file("work"));
  }
  [[nodiscard]] std::string trace(int number) const {
    return scratch.file("work/torch-profiler/trace-" + std::to_string(number) + ".json");
  }
};

std::vector<std::string> names_of(const RecordingSink& sink) {
  std::vector<std::string> names;
  for (const RecordedEvent& event : sink.events()) names.push_back(event.name);
  return names;
}

}  // namespace

TEST_CASE("a script runs under torch.profiler with its own arguments, folder and status") {
  TorchBench bench;
  lay_down(bench.scratch.file("scripts/train.py"),
           "import os, sys, beside\nprint(__name__, sys.argv, os.getcwd() == sys.argv[2])\nsys.exit(7)\n");
  lay_down(bench.scratch.file("scripts/beside.py"), "");
  SteeredSink sink;
  const KindOutcome outcome = bench.run(
      bench.request({"-u", "scripts/train.py", "--epochs=3", fs::canonical(bench.scratch.path).string()}), sink);
  REQUIRE_MESSAGE(outcome.result.ok(), outcome.result.message());
  CHECK(outcome.exit_status == 7);
  CHECK(lines_of(sink.retained, "stdout") ==
        std::vector<std::string>{"__main__ ['scripts/train.py', '--epochs=3', '" +
                                 fs::canonical(bench.scratch.path).string() + "'] True"});
  REQUIRE(outcome.scopes.size() == 1);
  const RecordingSink& trace = *outcome.scopes[0];
  CHECK(trace_events(trace) == imported_trace(bench.trace(0)));
  const std::vector<std::string> names = names_of(trace);
  CHECK(names.size() == 202);
  CHECK(std::vector<std::string>(names.begin(), names.begin() + 3) ==
        std::vector<std::string>{"activity CPU", "activity XPU", "aten::op0"});
  // The trace says when it began: within the program's life.
  const std::vector<RecordedEvent> life = events_of(sink.retained, "Program");
  CHECK(trace_begin_ns(trace) >= life.at(0).start);
  CHECK(trace_begin_ns(trace) <= life.at(0).end);
  CHECK_FALSE(has_quality(sink.retained, "trace_begin_estimated"));
}

TEST_CASE("modules and code run under torch.profiler as the interpreter runs them") {
  TorchBench bench;
  lay_down(bench.scratch.file("package/tool.py"), "import sys\nprint(__name__, sys.argv[1:])\n");
  lay_down(bench.scratch.file("package/__init__.py"), "");
  SteeredSink module;
  REQUIRE(bench.run(bench.request({"-X", "dev", "-m", "package.tool", "-v"}), module).result.ok());
  CHECK(lines_of(module.retained, "stdout") == std::vector<std::string>{"__main__ ['-v']"});
  SteeredSink code;
  const KindOutcome outcome =
      bench.run(bench.request({"-c", "import sys; print(sys.argv); raise ValueError('deep')", "a"}), code);
  REQUIRE(outcome.result.ok());
  CHECK(outcome.exit_status == 1);
  CHECK(lines_of(code.retained, "stdout") == std::vector<std::string>{"['-c', 'a']"});
  CHECK(lines_of(code.retained, "stderr").back() == "ValueError: deep");
  CHECK(outcome.scopes.size() == 1);
  request::CaptureRequest alone = bench.request({});
  lay_down(bench.scratch.file("alone.py"), "print('alone')", true);
  alone.program = bench.scratch.file("alone.py");
  SteeredSink sink;
  REQUIRE(bench.run(alone, sink).result.ok());
  CHECK(lines_of(sink.retained, "stdout") == std::vector<std::string>{"alone"});
}

TEST_CASE("the options reach torch.profiler, and a schedule follows the optimizers' steps") {
  TorchBench bench;
  SteeredSink sink;
  KindOutcome outcome = bench.run(bench.request({"-c", "pass"}, {{"activities", "cpu"},
                                                                 {"activities", "cuda"},
                                                                 {"shapes", "on"},
                                                                 {"memory", "on"},
                                                                 {"stack", "on"},
                                                                 {"flops", "on"},
                                                                 {"modules", "on"}}),
                                  sink);
  REQUIRE(outcome.result.ok());
  const std::vector<std::string> names = names_of(*outcome.scopes.at(0));
  CHECK(std::vector<std::string>(names.begin(), names.begin() + 7) ==
        std::vector<std::string>{"activity CPU", "activity CUDA", "shapes", "memory", "stack", "flops", "modules"});

  TorchBench stepped;
  SteeredSink steps;
  const std::string code = "import torch.optim\no = torch.optim.SGD()\nfor i in range(11): o.step()";
  outcome = stepped.run(stepped.request({"-c", code}, {{"schedule", "1,1,2,2"}}), steps);
  REQUIRE_MESSAGE(outcome.result.ok(), outcome.result.message());
  REQUIRE(outcome.scopes.size() == 2);
  CHECK(trace_events(*outcome.scopes[1]).size() == 202);
  SteeredSink few;
  TorchBench short_run;
  outcome = short_run.run(short_run.request({"-c", "pass"}, {{"schedule", "9,1,2"}}), few);
  CHECK(contains(outcome.result.message(), "fewer steps than --schedule waits for"));
}

TEST_CASE("a stop in the middle keeps the trace until then") {
  TorchBench bench;
  for (const char* signal : {"INT", "TERM"}) {
    CAPTURE(signal);
    SteeredSink sink;
    sink.cancel_when = [](const RecordingSink& retained) {
      return std::find(retained.strings.begin(), retained.strings.end(), "begun") != retained.strings.end();
    };
    const KindOutcome outcome = bench.run(
        bench.request({"-c", "import time\nprint('begun', flush=True)\ntime.sleep(60)"}, {{"stop-signal", signal}}),
        sink);
    REQUIRE_MESSAGE(outcome.result.ok(), outcome.result.message());
    CHECK(has_quality(sink.retained, "program_stopped"));
    CHECK(outcome.exit_status == (std::string(signal) == "INT" ? 130 : 143));
    REQUIRE(outcome.scopes.size() == 1);
    CHECK(trace_events(*outcome.scopes[0]).size() == 202);
    fs::remove_all(bench.scratch.file("work"));
  }
}

TEST_CASE("a stop before anything was traced is no failure") {
  TorchBench bench;
  SteeredSink sink;
  sink.cancel_when = [](const RecordingSink&) { return true; };
  lay_down(bench.scratch.file("site/torch/__init__.py"), "import time\ntime.sleep(60)\n");
  const KindOutcome outcome = bench.run(bench.request({"-c", "pass"}), sink);
  REQUIRE_MESSAGE(outcome.result.ok(), outcome.result.message());
  CHECK(contains(quality_detail(sink.retained, "no_trace"), "torch.profiler has left no trace"));
}

TEST_CASE("what is wrong with a run under torch.profiler is said with what to do") {
  TorchBench bench;
  const auto reported = [&](request::CaptureRequest request) {
    const Result<std::string> described = request::describe_request(request, bench.scratch.path.string());
    return described.ok() ? *described : described.message();
  };
  CHECK(reported(bench.request({"train.py"})) == "python3 train.py under torch.profiler");
  CHECK(contains(reported(bench.request({})), "python3: nothing is given that it runs"));
  CHECK(contains(reported(bench.request({"-u", "-m"})), "nothing is given that it runs"));
  for (const char* wrong : {"1", "1,2", "a,1,1", "1,1,0", "1,1,1,1,1", "1,1,1,", "1;1;1"}) {
    CAPTURE(wrong);
    CHECK(
        contains(reported(bench.request({"a.py"}, {{"schedule", wrong}})), "is no schedule; write WAIT,WARMUP,ACTIVE"));
  }
  CHECK(reported(bench.request({"a.py"}, {{"schedule", "0,0,1"}})) == "python3 a.py under torch.profiler");
  request::CaptureRequest shell = bench.request({"-c", "true"});
  shell.program = "sh";
  CHECK(contains(reported(shell), "sh: is no Python interpreter; write python3 SCRIPT"));
  request::CaptureRequest script{.kinds = {{"torch", {}}}, .script = "python3 a.py"};
  CHECK(contains(reported(script), "a shell script cannot be run under torch.profiler"));

  request::CaptureRequest without = bench.request({"-S", "-c", "print('not reached')"});
  without.environment = {"PYTHONPATH="};
  lay_down(bench.scratch.file("hidden/torch.py"), "raise ImportError('no torch here')");
  without.environment = {"PYTHONPATH=" + bench.scratch.file("hidden")};
  SteeredSink sink;
  KindOutcome outcome = bench.run(without, sink);
  CHECK(contains(outcome.result.message(),
                 "python3: has no PyTorch (no torch here); install it there with 'python3 -m pip"));
  CHECK(lines_of(sink.retained, "stdout").empty());
  CHECK(outcome.exit_status == 1);
  TorchBench other;
  SteeredSink killed;
  outcome = other.run(other.request({"-c", "import os; os._exit(5)"}), killed);
  CHECK(contains(outcome.result.message(), "torch.profiler has left no trace: the program was killed"));
  CHECK(outcome.exit_status == 5);
}

}  // namespace accelscope::capture
