// Neuron captures of what a program compiles, and of the program itself, with the stand-in in the vendor's tool's
// place.
#include "tests/capture/kinds/neuron/local_run.h"
#include "tests/capture/wire/wire_support.h"
#include "tests/support/neuron/stand_in_tool.h"

namespace accelscope::capture {
namespace {

using test::StandInTool;

TEST_CASE("a script is run, its NEFFs are listed, and the chosen one is profiled") {
  const StandInTool tool;
  NeuronCapture capture(Options{{"disable-dge", "on"}, {"profile-nth-exec", "2"}});
  capture.script(
      "mkdir -p $NEURON_COMPILE_CACHE_URL/a; printf small > $NEURON_COMPILE_CACHE_URL/a/init.neff\n"
      "printf 'the larger one' > $NEURON_COMPILE_CACHE_URL/a/model.neff\n"
      "echo debug $NEURON_FRAMEWORK_DEBUG$XLA_IR_DEBUG$XLA_HLO_DEBUG flags $NEURON_CC_FLAGS\n");
  const std::string folder = capture.stay_in("host");
  int status = -1;
  capture.options().watch.ended = [&](int code) { status = code; };
  const Imported session = capture.session();
  check_same(session, simulated(1));
  CHECK(status == 0);
  CHECK(contains(capture.printed, "debug 111 flags --disable-dge"));
  CHECK(contains(capture.printed, "--compiled-neff largest takes number 2:"));
  CHECK(contains(fact(session, "neuron.neffs"), "init.neff (5 B)\n"));
  CHECK(contains(fact(session, "neuron.neffs"), "model.neff (14 B)  <- is profiled"));
  CHECK(fs::exists(folder + "profile_exec_2.ntff"));
  CHECK(fs::file_size(folder + "profile.neff") == 14);  // beside the trace, to be brought back
  CHECK(tool.commands().at(0).at(2) == folder + "profile.neff");
}

TEST_CASE("a program that compiles nothing, or fails, is told of") {
  const StandInTool tool;
  CHECK(contains(NeuronCapture(Options{}).script("exit 0").failure(), "the program ended and wrote no NEFF"));
  CHECK(contains(NeuronCapture(Options{}).script("echo oops; exit 4").failure(), "ended with status 4"));
  CHECK(contains(NeuronCapture(Options{{"compiled-neff", "other"}}).script("echo x > a.neff").failure(),
                 "--compiled-neff: 'other'"));
  NeuronCapture failed(Options{});
  failed.script("printf x > a.neff; exit 5");
  const Imported session = failed.session();
  REQUIRE(session.quality("program_failed") != nullptr);
  CHECK(session.count("instruction") > 0);
}

TEST_CASE("a system profile is that of the program, with its devices by choice") {
  StandInTool tool;
  {
    NeuronCapture capture(Options{{"profile", "system"}});
    capture.request().program = "sh";
    capture.request().arguments = {"-c", "echo hello from the program"};
    const Imported session = capture.session();
    CHECK(contains(capture.printed, "hello from the program"));
    CHECK(session.count("instruction") == 0);
    // On the capture's time: the call is recorded right after the program's last line.
    const std::vector<EventValues> calls = session.events("trace_event");
    REQUIRE(calls.size() == 1);
    CHECK(calls[0].begin > session.events("program").front().begin);
    CHECK(calls[0].begin < session.events("program").front().end);
    CHECK(tool.commands().at(0) == std::vector<std::string>{"inspect", "-o", capture.work("profile-inspect"), "sh",
                                                            "-c", "echo hello from the program"});
  }
  NeuronCapture both(Options{{"profile", "system+device"}});
  both.script("echo from a script; exit 3");
  const Imported session = both.session();
  CHECK(contains(both.printed, "from a script"));
  CHECK(session.count("trace_event") == 1);
  CHECK(of_device(session, "instruction", "").size() == simulated(7).count("instruction"));
  CHECK(session.quality("program_failed") != nullptr);
  tool.play("no-trace", "inspect");
  CHECK(contains(NeuronCapture(Options{{"profile", "system"}}).script("true").failure(), "wrote nothing into"));
}

TEST_CASE("stopping a program ends it, and its system profile is read") {
  const StandInTool tool;
  NeuronCapture capture(Options{{"profile", "system+device"}});
  capture.script("echo serving; exec sleep 600");
  capture.options().asked_to_stop = [&] { return contains(capture.printed, "serving"); };
  const Imported session = capture.session();
  CHECK(session.count("trace_event") == 1);
  CHECK(session.count("instruction") > 0);
  REQUIRE(session.quality("program_stopped") != nullptr);
  CHECK(session.quality("program_stopped")->severity == Severity::note);
  CHECK(session.quality("capture_stopped") == nullptr);
}

}  // namespace
}  // namespace accelscope::capture
