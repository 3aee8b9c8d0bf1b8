// The kind `unitrace` with a program that stands in for the tool: it takes the options that unitrace documents, and
// writes a trace in its form.
#include <cstdlib>

#include "tests/capture/kinds/tool_support.h"
#include "tests/capture/wire/wire_support.h"

namespace accelscope::capture {
namespace {

namespace fs = std::filesystem;

// Notes its arguments beside itself. STAND_IN_TRACE: none, broken, several.
constexpr std::string_view kUnitrace = R"PY(#!/usr/bin/env python3
import json, os, signal, subprocess, sys

FLAGS = """--call-logging -c --host-timing -h --device-timing -d --ccl-summary-report -r --kernel-submission -s
--device-timeline -t --opencl --chrome-mpi-logging --chrome-sycl-logging --chrome-ccl-logging --chrome-dnn-logging
--chrome-call-logging --chrome-kernel-logging --chrome-device-logging --chrome-itt-logging
--chrome-no-thread-on-device --chrome-no-engine-on-device --verbose -v --demangle --separate-tiles --tid --pid
--conditional-collection --start-paused --metric-query -q --metric-sampling -k --stall-sampling""".split()
VALUES = """--chrome-event-buffer-size --output -o --output-dir-path --group -g --sampling-interval -i --ranks-to-sample
--devices-to-sample --follow-child-process --teardown-on-signal --session --include-kernels --exclude-kernels""".split()
CONTROLS = ["--pause", "--resume", "--stop"]

words = sys.argv[1:]
with open(sys.argv[0] + ".log", "a") as log:
    log.write(" ".join(words) + "\n")
if words[0] in CONTROLS:
    known = os.path.exists(sys.argv[0] + "." + words[1])
    if not known:
        print("[ERROR] there is no session", words[1])
    sys.exit(0 if known else 1)
options = {}
while words and words[0].startswith("-"):
    name = words.pop(0)
    if name in FLAGS:
        options[name] = True
    elif name in VALUES:
        options[name] = words.pop(0)
    else:
        print("[ERROR] unknown option", name)
        sys.exit(1)
if "--session" in options and not options["--session"].isalnum():
    print("[ERROR] the session's name must be alphanumeric")
    sys.exit(1)
open(sys.argv[0] + "." + options.get("--session", "unnamed"), "w").close()
signal.signal(signal.SIGINT, lambda number, frame: None)
child = subprocess.Popen(words)
status = child.wait()
how = os.environ.get("STAND_IN_TRACE", "")
name = os.path.basename(words[0])
for number in range(0 if how == "none" else 2 if how == "several" else 1):
    events = [{"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "args": {"name": "device 0"}}]
    for i in range(300):
        events.append({"ph": "X", "pid": 7, "tid": 1 + i % 3, "name": "kernel_%d" % (i % 11), "cat": "gpu_op",
                       "ts": 1000000.125 + i * 10 + number, "dur": 7.5, "id": i})
        events.append({"ph": "X", "pid": 9, "tid": 5, "name": "zeCommandListAppendLaunchKernel", "cat": "cpu_op",
                       "ts": 1000000 + i * 10, "dur": 2.25})
    with open(os.path.join(options["--output-dir-path"], "%s.%d.json" % (name, child.pid + number)), "w") as file:
        file.write('{"traceEvents": oops' if how == "broken" and number == 0 else json.dumps({"traceEvents": events}))
sys.exit(status if status >= 0 else 128 - status)
)PY";

// The tool is the first on PATH while this lives.
struct UnitraceBench {
  UnitraceBench() {
    lay_down(tool, kUnitrace, true);
    ::setenv("PATH", (scratch.file("bin") + ":" + path).c_str(), 1);
  }
  ~UnitraceBench() { ::setenv("PATH", path.c_str(), 1); }
  UnitraceBench(const UnitraceBench&) = delete;
  UnitraceBench& operator=(const UnitraceBench&) = delete;
  std::string path = ::getenv("PATH");
  ScratchFolder scratch;
  std::string tool = scratch.file("bin/unitrace");

  [[nodiscard]] request::CaptureRequest request(std::vector<std::string> words,
                                                std::vector<request::OptionSetting> options = {}) const {
    request::CaptureRequest request{.kinds = {{"unitrace", {}}}, .program = words.front()};
    request.arguments.assign(words.begin() + 1, words.end());
    for (request::OptionSetting& option : options) request.kinds[0].options.push_back(std::move(option));
    return request;
  }
  [[nodiscard]] std::string log() const { return text_of(tool + ".log"); }
  KindOutcome run(const request::CaptureRequest& wanted, EventSink& sink) const {
    return run_kind_into(wanted, sink, scratch.path.string());
  }
  [[nodiscard]] std::vector<std::string> traces() const {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(scratch.file("unitrace.d")))
      files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
  }
};

}  // namespace

TEST_CASE("a program runs under unitrace, and its trace is what its import is, at the program's time") {
  UnitraceBench bench;
  SteeredSink sink;
  const KindOutcome outcome = bench.run(
      bench.request({"sh", "-c", "echo said; exit 4"}, {{"output-dir", bench.scratch.file("unitrace.d")}}), sink);
  REQUIRE_MESSAGE(outcome.result.ok(), outcome.result.message());
  CHECK(outcome.exit_status == 4);
  CHECK(lines_of(sink.retained, "stdout") == std::vector<std::string>{"said"});
  REQUIRE(outcome.scopes.size() == 1);
  REQUIRE(bench.traces().size() == 1);
  const std::vector<std::string> events = trace_events(*outcome.scopes[0]);
  CHECK(events.size() == 600);
  CHECK(events == imported_trace(bench.traces()[0]));
  const std::vector<RecordedEvent> life = events_of(sink.retained, "Program");
  REQUIRE(life.size() == 1);
  const std::int64_t begin = trace_begin_ns(*outcome.scopes[0]);
  CHECK(begin >= 0);
  CHECK(begin <= life[0].start);
  CHECK(has_quality(sink.retained, "trace_begin_estimated"));
  CHECK(contains(bench.log(), "--chrome-call-logging --chrome-kernel-logging --session accelscope"));
  // What the user asked for is what the session names.
  CHECK(sink.retained.meta.at("program.command") == "sh -c 'echo said; exit 4'");
}

TEST_CASE("every option becomes the one that unitrace documents") {
  UnitraceBench bench;
  SteeredSink sink;
  const KindOutcome outcome = bench.run(bench.request({"true"}, {{"host-calls", "off"},
                                                                 {"opencl", "on"},
                                                                 {"device-activity", "device"},
                                                                 {"device-threads", "off"},
                                                                 {"device-engines", "off"},
                                                                 {"separate-tiles", "on"},
                                                                 {"demangle", "on"},
                                                                 {"also", "sycl"},
                                                                 {"also", "ccl"},
                                                                 {"include-kernels", "gemm"},
                                                                 {"include-kernels", "conv,pool"},
                                                                 {"exclude-kernels", "fill"},
                                                                 {"event-buffer", "10k"},
                                                                 {"follow-children", "off"},
                                                                 {"pausing", "off"},
                                                                 {"teardown", "on"},
                                                                 {"stop-signal", "TERM"}}),
                                        sink);
  REQUIRE_MESSAGE(outcome.result.ok(), outcome.result.message());
  const std::string log = bench.log();
  CHECK(contains(log,
                 "--opencl --chrome-no-thread-on-device --chrome-no-engine-on-device --separate-tiles --demangle "
                 "--chrome-device-logging --chrome-sycl-logging --chrome-ccl-logging --include-kernels gemm,conv,pool "
                 "--exclude-kernels fill --chrome-event-buffer-size 10000 --follow-child-process 0 "
                 "--teardown-on-signal 15 --output-dir-path "));
  CHECK_FALSE(contains(log, "--session"));
}

TEST_CASE("several processes leave several traces, told apart by their names, and a broken one is told of") {
  UnitraceBench bench;
  request::CaptureRequest request = bench.request({"true"}, {{"output-dir", bench.scratch.file("unitrace.d")}});
  request.environment = {"STAND_IN_TRACE=several"};
  SteeredSink sink;
  const KindOutcome outcome = bench.run(request, sink);
  REQUIRE(outcome.result.ok());
  REQUIRE(outcome.scopes.size() == 2);
  CHECK(trace_events(*outcome.scopes[0]).size() == 600);
  CHECK(contains(outcome.scopes[1]->tracks.begin()->second.device, "true."));

  UnitraceBench other;
  request = other.request({"true"});
  request.environment = {"STAND_IN_TRACE=broken"};
  SteeredSink broken;
  const KindOutcome failed = other.run(request, broken);
  REQUIRE_FALSE(failed.result.ok());
  CHECK(has_quality(broken.retained, "trace_unreadable"));
}

TEST_CASE("unitrace starts paused, goes on and pauses with the capture") {
  UnitraceBench bench;
  SteeredSink sink;
  int turns = 0;
  sink.pause_when = [&](const RecordingSink&) {
    const std::string log = bench.log();
    ++turns;
    if (!contains(log, "--start-paused")) return true;  // from the start
    return contains(log, "--resume");                   // and again once it went on
  };
  const std::string until = "while ! grep -q -- '--pause' " + bench.tool + ".log; do sleep 0.02; done";
  const KindOutcome outcome = bench.run(bench.request({"sh", "-c", until}), sink);
  REQUIRE_MESSAGE(outcome.result.ok(), outcome.result.message());
  const std::string log = bench.log();
  const std::size_t session = log.find("accelscope");
  const std::string name = log.substr(session, log.find(' ', session) - session);
  CHECK(contains(log, "--session " + name + " --start-paused"));
  CHECK(log.find("--resume " + name + "\n") < log.find("--pause " + name + "\n"));
  CHECK_FALSE(has_quality(sink.retained, "pauses_not_followed"));
}

TEST_CASE("a stop ends the program in order and keeps what was traced until then") {
  UnitraceBench bench;
  SteeredSink sink;
  sink.cancel_when = [](const RecordingSink& retained) {
    return std::find(retained.strings.begin(), retained.strings.end(), "begun") != retained.strings.end();
  };
  const KindOutcome outcome = bench.run(bench.request({"sh", "-c", "echo begun; exec sleep 60"}), sink);
  REQUIRE_MESSAGE(outcome.result.ok(), outcome.result.message());
  CHECK(has_quality(sink.retained, "program_stopped"));
  REQUIRE(outcome.scopes.size() == 1);
  CHECK(trace_events(*outcome.scopes[0]).size() == 600);
}

TEST_CASE("what is wrong with a run under unitrace is said with what to do") {
  UnitraceBench bench;
  const auto reported = [&](const request::CaptureRequest& request) {
    const Result<std::string> described = request::describe_request(request, bench.scratch.path.string());
    return described.ok() ? *described : described.message();
  };
  CHECK(reported(bench.request({"sh", "-c", "true"})) == "sh -c true under unitrace");
  CHECK(contains(reported(bench.request({"no-such-program"})), "no-such-program: not found"));
  CHECK(contains(reported(bench.request({"true"}, {{"host-calls", "off"}, {"device-activity", "off"}})),
                 "nothing would be traced"));
  request::CaptureRequest request = bench.request({"true"});
  fs::remove(bench.tool);
  CHECK(contains(reported(request), "unitrace was not found on PATH; build it from tools/unitrace"));
  CHECK_FALSE((*request::find_kind("unitrace"))->check().front().ok);
  lay_down(bench.tool, kUnitrace, true);
  CHECK((*request::find_kind("unitrace"))->check().front().ok);

  request = bench.request({"true"});
  request.environment = {"STAND_IN_TRACE=none"};
  SteeredSink sink;
  CHECK(contains(bench.run(request, sink).result.message(), "unitrace has left no trace there"));
  lay_down(bench.scratch.file("full/old.json"), "{}");
  SteeredSink full;
  CHECK(
      contains(bench.run(bench.request({"true"}, {{"output-dir", bench.scratch.file("full")}}), full).result.message(),
               "holds 1 traces already"));
}

}  // namespace accelscope::capture
