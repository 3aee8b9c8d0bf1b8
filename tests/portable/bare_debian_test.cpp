// The agent on a host like those it is copied to: an older system with nothing installed.
#include "bare_debian.h"

#include <doctest/doctest.h>

#include <fstream>

#include "capture/client/record.h"
#include "capture/system/shown_command.h"
#include "tests/capture/reach/ssh_server.h"
#include "tests/support/programs_folder.h"
#include "tests/support/tt_log_generator.h"

using accelscope::test::BareDebian;

namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// `accelscope-agent run -o out.accel WORDS...`, which must end well.
std::string capture(const BareDebian& debian, const std::vector<std::string>& words) {
  std::vector<std::string> all = {"/opt/accelscope-agent", "run", "-o", "out.accel"};
  all.insert(all.end(), words.begin(), words.end());
  const auto done = debian.run(all);
  INFO(done.output);
  REQUIRE(done.exit_code == 0);
  return done.output;
}

}  // namespace

TEST_CASE("a bare Debian 11: doctor says what can be captured there") {
  const auto debian = BareDebian::open();
  if (!debian) return;
  const auto done = debian->run({"/opt/accelscope-agent", "doctor", "--listen", "127.0.0.1:0"});
  INFO(done.output);
  CHECK(done.exit_code == 0);
  CHECK(holds(done.output, "ok       can listen on 127.0.0.1:"));
  CHECK(holds(done.output, "ok       the simulated accelerator runs"));
  CHECK(holds(done.output, "ok       kind python: /usr/bin/python3 (3.9)"));
  CHECK(holds(done.output, "missing  kind opencl: libOpenCL.so.1 is not there; install an OpenCL loader"));
  CHECK(holds(done.output, "missing  kind neuron:"));
}

TEST_CASE("a bare Debian 11: a program's output and use of the processor are captured, and its end") {
  const auto debian = BareDebian::open();
  if (!debian) return;
  auto all = std::vector<std::string>{"/opt/accelscope-agent",
                                      "run",
                                      "-o",
                                      "out.accel",
                                      "--",
                                      "/bin/sh",
                                      "-c",
                                      "echo from glibc 2.31; ls /proc/self/fd; exit 3"};
  const auto done = debian->run(all);
  INFO(done.output);
  CHECK(done.exit_code == 3);
  CHECK(holds(done.output, "from glibc 2.31\n0\n1\n2\n3\n"));  // 3 is the folder that is listed
  CHECK_FALSE(holds(done.output, "\n4\n"));
  CHECK(debian->cell("out.accel", "SELECT count(*) FROM slice WHERE name = 'from glibc 2.31'") == "1");
  CHECK(debian->cell("out.accel", "SELECT value FROM meta WHERE key = 'program.exit_status'") == "3");
}

TEST_CASE("a bare Debian 11: every call of a program in Python 3.9 is a slice under its qualified name") {
  const auto debian = BareDebian::open();
  if (!debian) return;
  debian->folder().write("app.py", R"py(import json
import threading

class Model:
    def forward(self):
        def inner():
            return json.dumps([1])
        return [inner() for _ in range(2)]

    @staticmethod
    def load():
        return Model()

def work():
    Model.load().forward()

thread = threading.Thread(target=work, name="second")
thread.start()
thread.join()
print("done")
)py");
  CHECK(holds(capture(*debian, {"--kind", "python", "--", "python3", "app.py"}), "done\n"));
  const auto calls = [&](const std::string& name) {
    return debian->cell("out.accel",
                        "SELECT count(*) || ' on ' || min(t.name) FROM slice s JOIN track t ON t.id = "
                        "s.track_id WHERE s.name = '" +
                            name + "'");
  };
  CHECK(calls("work") == "1 on second");
  CHECK(calls("Model.load") == "1 on second");
  CHECK(calls("Model.forward") == "1 on second");
  CHECK(calls("Model.forward.<locals>.inner") == "2 on second");
  CHECK(calls("Model.forward.<locals>.<listcomp>") == "1 on second");
  CHECK(calls("JSONEncoder.encode") == "2 on second");  // of a module that the program imports
  CHECK(calls("Thread.join") == "1 on MainThread");     // of one that was there before
  CHECK(debian->cell("out.accel", "SELECT value FROM meta WHERE key = 'python.version'").substr(0, 4) == "3.9.");
}

TEST_CASE("a bare Debian 11: a script is profiled by python3 -m accelscope, and line by line") {
  const auto debian = BareDebian::open();
  if (!debian) return;
  debian->folder().write("lines.py",
                         "from accelscope import Profiler, signpost\nimport sys\n"
                         "def f(n):\n    return n + 1\n"
                         "with Profiler():\n    f(1)\nf(2)\nsignpost('here')\nprint(sys.argv)\n");
  // What an agent has laid down is what a user puts on PYTHONPATH.
  (void)capture(*debian, {"--kind", "python", "--", "python3", "-c", "pass"});
  const auto done = debian->run({"/bin/sh", "-c",
                                 "cd /mnt; export ACCELSCOPE_AGENT=/opt/accelscope-agent; "
                                 "PYTHONPATH=$(echo .cache/accelscope/probes/*/python) "
                                 "python3 -m accelscope -p -l -o lines.accel lines.py one"});
  INFO(done.output);
  CHECK(done.exit_code == 0);
  CHECK(holds(done.output, "['lines.py', 'one']"));
  CHECK(debian->cell("lines.accel", "SELECT count(*) FROM python_call WHERE name = 'f' AND what = 'function'") == "1");
  CHECK(debian->cell("lines.accel", "SELECT count(*) FROM python_call WHERE what = 'line'") != "0");
  CHECK(debian->cell("lines.accel", "SELECT count(*) FROM slice WHERE name = 'here'") == "1");
}

TEST_CASE("a bare Debian 11: ITT calls and zones of a program are captured") {
  const auto debian = BareDebian::open();
  if (!debian) return;
  (void)capture(*debian, {"--kind", "itt", "--locks", "--", "/opt/itt_for_tests", "all"});
  CHECK(debian->cell("out.accel", "SELECT count(*) FROM slice WHERE name = 'inner'") == "600");
  (void)capture(*debian, {"--force", "--kind", "itt", "--", "/opt/zones_for_tests"});
  CHECK(debian->cell("out.accel", "SELECT count(*) FROM slice WHERE name = 'loop'") == "1000");
}

TEST_CASE("a bare Debian 11: the layer for OpenCL can be loaded into a program") {
  const auto debian = BareDebian::open();
  if (!debian) return;
  // Its loader takes no layers yet, but those that users bring do.
  (void)capture(*debian, {"--kind", "python", "--", "python3", "-c", "pass"});
  const auto done = debian->run({"/bin/sh", "-c",
                                 "python3 -c 'import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).clInitLayer)' "
                                 "/mnt/.cache/accelscope/probes/*/libaccelscope_opencl.so"});
  INFO(done.output);
  CHECK(done.exit_code == 0);
}

TEST_CASE("a bare Debian 11: the simulator, a replay and a device log are captured") {
  const auto debian = BareDebian::open();
  if (!debian) return;
  (void)capture(*debian, {"--kind", "simulate", "--rate", "max", "--events", "20000"});
  const std::string events = "SELECT count(*) FROM slice";
  const std::string simulated = debian->cell("out.accel", events);
  CHECK(std::stoul("0" + simulated) > 1'000);

  // JSON is read without simdjson there.
  debian->folder().write("trace.json",
                         R"({"traceEvents":[)"
                         R"({"ph":"X","pid":1,"tid":1,"ts":1.5,"dur":2,"name":"a \u00e9","args":{"n":[1]}},)"
                         R"({"ph":"X","pid":1,"tid":1,"ts":5,"dur":1,"name":"b"}]})");
  (void)capture(*debian, {"--force", "--kind", "replay", "--file", "trace.json"});
  CHECK(debian->cell("out.accel", "SELECT group_concat(name) FROM slice") == "a \xc3\xa9,b");

  REQUIRE(accelscope::test::write_tt_log({}, debian->folder().file("made.csv")).ok());
  (void)capture(*debian,
                {"--force", "--kind", "tt-metal", "--log", "device.csv", "--", "/bin/cp", "made.csv", "device.csv"});
  CHECK(debian->cell("out.accel", "SELECT count(*) FROM slice WHERE name = 'BRISC-KERNEL'") != "0");
}

TEST_CASE("a bare Debian 11 behind ssh: the agent is copied there, captures a program, and nothing of it stays") {
  const auto debian = BareDebian::open();
  if (!debian) return;
  // What the user's shell would be asked to do is done there.
  std::string inside;
  for (const std::string& word : debian->command({"/bin/sh", "-c"}))
    inside += accelscope::capture::system::shell_quote(word) + " ";
  const accelscope::capture::reach_test::ReachFolder folder;
  folder.write("inside", "#!/bin/sh\nexec " + inside + "\"$SSH_ORIGINAL_COMMAND\"\n", 0755);
  const auto server = accelscope::capture::reach_test::SshServer::start(
      {.more = "ForceCommand \"" + folder.file("inside") + "\"\n", .version = ""});
  if (!server) return;
  accelscope::capture::client::RecordOptions options;
  options.plan.places = {server->place().text()};
  options.plan.ssh_config_file = server->folder().file("ssh_config");
  options.plan.request.kinds = {{"program", {}}, {"python", {}}};
  options.plan.request.program = "python3";
  options.plan.request.arguments = {"-c", "import platform; print(platform.libc_ver()[1])"};
  options.output_path = folder.file("far.accel");
  std::string steps;
  options.progress = [&](const accelscope::capture::client::CaptureStatus& status, std::optional<double>) {
    for (const auto& agent : status.agents) steps += agent.step + "\n";
    return true;
  };
  const auto report = accelscope::capture::client::record(options);
  REQUIRE_MESSAGE(report.ok(), report.message());
  INFO(report->message);
  CHECK(report->complete);
  const auto cell = [&](const std::string& sql) { return accelscope::test::first_cell(options.output_path, sql); };
  CHECK(cell("SELECT count(*) FROM slice WHERE name = '2.31'") == "1");
  CHECK(cell("SELECT count(*) FROM slice WHERE name = 'libc_ver'") == "1");
  CHECK(accelscope::capture::reach_test::eventually([&] {
    return debian->run({"/bin/sh", "-c", "ls /mnt/.cache/accelscope | grep -c agent"}).output == "0\n";
  }));
}
