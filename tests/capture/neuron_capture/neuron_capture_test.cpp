// Neuron captures from request to session, with the stand-in in the vendor's tool's place.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "capture/agent/local_capture.h"
#include "capture/sim/neuron_json_writer.h"
#include "capture/sources/import_input.h"
#include "capture/sources/neuron/ntff_source.h"
#include "tests/capture/kinds/kind_run_support.h"
#include "tests/capture/neuron/imported.h"
#include "tests/capture/wire_support.h"
#include "tests/support/neuron/stand_in_tool.h"

namespace accelscope::capture {
namespace {

namespace fs = std::filesystem;
using test::StandInTool;

constexpr const char* kTables[] = {"instruction", "dma", "semaphore_update", "dma_throughput", "pending_dma"};

using Options = std::vector<OptionSetting>;

// A capture as `accelscope-agent run` makes it, in a folder of its own.
class Capture {
 public:
  explicit Capture(Options options) {
    options_.request.kinds = {{"neuron", std::move(options)}};
    options_.output = scratch.file("session.accel");
    options_.work_folder = scratch.file("work");
    fs::create_directories(options_.work_folder);
    options_.watch.printed = [this](bool, std::string_view bytes) { printed += bytes; };
  }
  Capture& script(const std::string& text) {
    options_.request.script = text;
    return *this;
  }
  CaptureRequest& request() { return options_.request; }
  LocalCaptureOptions& options() { return options_; }
  // A folder of the host in which the tool runs, and which stays.
  std::string stay_in(const std::string& name) {
    fs::create_directories(scratch.path / name);
    options_.request.directory = scratch.file(name);
    return options_.request.directory + "/";
  }
  [[nodiscard]] std::string work(const std::string& name) const { return options_.work_folder + "/" + name; }

  Imported session() {
    const Result<LocalCaptureReport> report = capture_locally(options_);
    REQUIRE_MESSAGE(report.ok(), (report.ok() ? "" : report.message()));
    REQUIRE_MESSAGE(report->failure.empty(), report->failure);
    return Imported::session(options_.output);
  }
  std::string failure() {
    const Result<LocalCaptureReport> report = capture_locally(options_);
    return report.ok() ? report->failure : report.message();
  }
  ScratchFolder scratch;
  std::string printed;

 private:
  LocalCaptureOptions options_;
};

Imported simulated(std::uint64_t seed) {
  const ScratchFolder scratch;
  SimulationOptions options;
  options.seed = seed;
  options.kernels = 1;
  REQUIRE(write_neuron_json(options, scratch.file("ntff.json")).ok());
  return Imported::file(scratch.file("ntff.json"));
}

std::vector<EventValues> of_device(const Imported& session, const char* table, const std::string& label) {
  std::vector<EventValues> events = session.events(table);
  std::erase_if(events, [&](const EventValues& event) { return event.device.find(label) == std::string::npos; });
  return events;
}

// Names, times, tracks and order of every event.
void check_same(const Imported& session, const Imported& wanted, const std::string& label = "") {
  for (const char* table : kTables) {
    CAPTURE(table);
    const std::vector<EventValues> got = of_device(session, table, label);
    const std::vector<EventValues> expected = wanted.events(table);
    REQUIRE(got.size() == expected.size());
    CHECK_FALSE(expected.empty());
    for (std::size_t i = 0; i < got.size(); ++i) {
      const bool same = got[i].name == expected[i].name && got[i].track == expected[i].track &&
                        got[i].begin == expected[i].begin && got[i].end == expected[i].end &&
                        got[i].strings == expected[i].strings && got[i].integers == expected[i].integers;
      REQUIRE_MESSAGE(same, i);
    }
  }
}

std::string fact(const Imported& session, const std::string& key) {
  for (const MetaEntry& entry : session.snapshot().meta) {
    if (entry.key == key) return entry.value;
  }
  return {};
}

TEST_CASE("a captured profile is the imported one to the last event") {
  const StandInTool tool;
  Capture capture(Options{{"neff", "mlp.neff"}, {"input", "x=x.npy"}});
  std::ofstream(capture.work("mlp.neff")) << "program";
  std::ofstream(capture.work("x.npy"), std::ios::binary) << test::npy_of(4, 1);
  const Imported session = capture.session();
  check_same(session, simulated(1));
  CHECK(session.quality("inputs_all_zero") == nullptr);
  CHECK(session.quality("single_io_outputs_wrong") == nullptr);
  CHECK(fact(session, "name") == "mlp");
  REQUIRE(tool.commands().size() == 2);
  CHECK(tool.commands()[0] == std::vector<std::string>{"capture", "-n", capture.work("mlp.neff"), "-s", "profile.ntff",
                                                       "x", capture.work("x.npy")});
  CHECK(tool.commands()[1][0] == "view");
  CHECK(tool.commands()[1][4] == capture.work("profile.ntff"));
  // What the tool printed is shown, and kept.
  CHECK(contains(capture.printed, "INFO executing " + capture.work("mlp.neff")));
  const std::vector<EventValues> lines = session.events("output_line");
  CHECK(std::any_of(lines.begin(), lines.end(), [](const EventValues& line) {
    return line.track == "stdout" && line.device == "neuron-profile" && contains(line.string("text"), "INFO executing");
  }));
  CHECK(session.count("program") == 2);  // a slice for each run of the tool
}

TEST_CASE("a session says that its outputs mean nothing: zero inputs, single io") {
  const StandInTool tool;
  const std::string neff = tool.write("mlp.neff", "program");
  Capture none(Options{{"neff", neff}});
  const Imported first = none.session();
  REQUIRE(first.quality("inputs_all_zero") != nullptr);
  CHECK(first.quality("inputs_all_zero")->severity == Severity::warning);
  CHECK(contains(none.printed, "no inputs were given"));
  const std::string zero = tool.write("z.npy", test::npy_of(8, 0));
  const std::string one = tool.write("o.npy", test::npy_of(8, 1));
  Capture some(Options{{"neff", neff}, {"input", "bias=" + zero}, {"input", "x=" + one}, {"single-io", "on"}});
  const Imported second = some.session();
  REQUIRE(second.quality("inputs_all_zero") != nullptr);
  CHECK(contains(second.quality("inputs_all_zero")->detail, "zeros: bias;"));
  CHECK(second.quality("single_io_outputs_wrong") != nullptr);
}

TEST_CASE("ranks of a multi-worker capture are one session, each like its own import") {
  const StandInTool tool;
  Capture capture(Options{{"neff", tool.write("mlp.neff", "program")},
                          {"profile-nth-exec", "2"},
                          {"collectives-workers-per-node", "3"},
                          {"collectives-worker-start-id", "4"},
                          {"collectives-worker-count", "8"}});
  const std::string folder = capture.stay_in("host");
  const Imported session = capture.session();
  for (const int rank : {4, 5, 6}) {
    CAPTURE(rank);
    CHECK(fs::exists(folder + fmt::format("profile_rank_{}_exec_2.ntff", rank)));
    check_same(session, simulated(static_cast<std::uint64_t>(rank) + 1), fmt::format("rank {}", rank));
  }
  CHECK(tool.commands().size() == 4);
}

TEST_CASE("a rank that cannot be processed is told of, and the others are read") {
  StandInTool tool;
  tool.play("refuse-rank-1");
  Capture capture(Options{{"neff", tool.write("mlp.neff", "program")}, {"collectives-workers-per-node", "3"}});
  const Imported session = capture.session();
  CHECK(of_device(session, "instruction", "rank 0").size() == simulated(1).count("instruction"));
  CHECK(of_device(session, "instruction", "rank 1").empty());
  CHECK_FALSE(of_device(session, "instruction", "rank 2").empty());
  REQUIRE(session.quality("unreadable_input") != nullptr);
  CHECK(contains(session.quality("unreadable_input")->detail, "profile_rank_1.ntff: unexpected end of file"));
}

TEST_CASE("what goes wrong with the tool is said with what to do") {
  StandInTool tool;
  const std::string neff = tool.write("mlp.neff", "program");
  const auto failure = [&](const std::string& mode, const std::string& step, std::vector<OptionSetting> more = {}) {
    tool.play(mode, step);
    more.insert(more.begin(), {"neff", neff});
    return Capture(std::move(more)).failure();
  };
  const std::string busy = failure("busy", "");
  CHECK(contains(busy, "neuron-profile capture: failed with exit code 1; the device is busy: neuron-ls shows"));
  CHECK(contains(busy, "to try by hand: neuron-profile capture -n '" + neff + "' -s profile.ntff"));
  CHECK(contains(busy, "NeuronCore(s) not available - Requested:1"));
  CHECK(contains(failure("memory", ""), "try --single-io"));
  CHECK(contains(failure("fail", ""), "failed with exit code 3; to try by hand"));
  CHECK(contains(failure("killed", ""), "was ended by SIGKILL"));
  CHECK(contains(failure("no-trace", ""), "wrote no trace (.ntff)"));
  CHECK(contains(failure("cut-trace", ""), "neuron-profile view: failed with exit code 1"));
  CHECK(contains(failure("cut-trace", ""), "unexpected end of file"));
  CHECK(contains(failure("no-profile", ""), "wrote no profile of"));
  CHECK(contains(failure("fail", "view"), "neuron-profile view: failed with exit code 3"));
  const std::string hangs = failure("hang", "", {{"time-limit", "300ms"}});
  CHECK(contains(hangs, "was still running after 0.3 s and was ended"));
  CHECK(contains(hangs, "--time-limit"));
  CHECK(contains(hangs, "waiting for the device"));
}

TEST_CASE("a processed profile that is cut is read as far as it goes") {
  StandInTool tool;
  tool.play("cut-profile");
  Capture capture(Options{{"neff", tool.write("mlp.neff", "program")}});
  const Imported session = capture.session();
  CHECK_FALSE(session.snapshot().quality.empty());
  std::size_t events = 0;
  for (const char* table : kTables) events += session.count(table);
  CHECK(events > 0);
  const auto cut = std::count_if(session.snapshot().quality.begin(), session.snapshot().quality.end(),
                                 [](const QualityEntry& entry) { return entry.severity == Severity::error; });
  CHECK(cut > 0);
}

TEST_CASE("a capture that cannot begin says so before anything runs") {
  const StandInTool tool;
  CHECK(contains(Capture(Options{{"neff", "no.neff"}}).failure(), "no such file on this host; send it along"));
  const std::string neff = tool.write("mlp.neff", "program");
  CHECK(contains(Capture(Options{{"neff", neff}, {"input", "x=no.npy"}}).failure(), "--input: no.npy: no such file"));
  CHECK(contains(Capture(Options{{"neff", neff}, {"tool", "neuron-explorer"}}).failure(),
                 "neuron-explorer: is not on PATH"));
  CHECK(contains(
      Capture(Options{{"neff", neff}, {"input", "x=" + tool.write("t.npy", "just text, no numbers")}}).failure(),
      "no .npy file"));
  Capture twice(Options{});
  twice.script("true").request().kinds.push_back({"program", {}});
  CHECK(contains(twice.failure(), "runs the program itself"));
  CHECK(tool.commands().empty());
}

TEST_CASE("the kind tells whether the tool is there, and which one") {
  const auto checks = [] {
    for (const KindFacts& facts : checked_kinds()) {
      if (facts.name == "neuron") return facts;
    }
    return KindFacts{};
  };
  {
    const StandInTool tool("neuron-explorer");
    const KindFacts facts = checks();
    CHECK(facts.usable());
    CHECK(contains(facts.checks.at(0).text, "tools/neuron-explorer (stand-in neuron-profile 2.26.0)"));
    CHECK(contains(facts.checks.at(1).text, "/dev/neuron*"));
  }
  const StandInTool none("");
  const KindFacts facts = checks();
  CHECK_FALSE(facts.usable());
  CHECK(contains(facts.checks.at(0).text, "aws-neuronx-tools"));
  CHECK(contains(Capture(Options{{"neff", none.write("a.neff", "x")}}).failure(),
                 "cannot run here: neither neuron-profile"));
}

TEST_CASE("a script is run, its NEFFs are listed, and the chosen one is profiled") {
  const StandInTool tool;
  Capture capture(Options{{"disable-dge", "on"}, {"profile-nth-exec", "2"}});
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
  CHECK(contains(Capture(Options{}).script("exit 0").failure(), "the program ended and wrote no NEFF"));
  CHECK(contains(Capture(Options{}).script("echo oops; exit 4").failure(), "ended with status 4"));
  CHECK(contains(Capture(Options{{"compiled-neff", "other"}}).script("echo x > a.neff").failure(),
                 "--compiled-neff: 'other'"));
  Capture failed(Options{});
  failed.script("printf x > a.neff; exit 5");
  const Imported session = failed.session();
  REQUIRE(session.quality("program_failed") != nullptr);
  CHECK(session.count("instruction") > 0);
}

TEST_CASE("a system profile is that of the program, with its devices by choice") {
  StandInTool tool;
  {
    Capture capture(Options{{"profile", "system"}});
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
  Capture both(Options{{"profile", "system+device"}});
  both.script("echo from a script; exit 3");
  const Imported session = both.session();
  CHECK(contains(both.printed, "from a script"));
  CHECK(session.count("trace_event") == 1);
  CHECK(of_device(session, "instruction", "").size() == simulated(7).count("instruction"));
  CHECK(session.quality("program_failed") != nullptr);
  tool.play("no-trace", "inspect");
  CHECK(contains(Capture(Options{{"profile", "system"}}).script("true").failure(), "wrote nothing into"));
}

TEST_CASE("a capture that starts paused runs nothing until it goes on") {
  const StandInTool tool;
  SteeredSink sink;
  int asked = 0;
  sink.pause_when = [&](const RecordingSink&) {
    CHECK(tool.commands().empty());
    return ++asked < 3;
  };
  const ScratchFolder work;
  const CaptureRequest request{.kinds = {{"neuron", {{"neff", tool.write("mlp.neff", "program")}}}}};
  const KindRun run{.request = request,
                    .choice = request.kinds.front(),
                    .origin = std::chrono::steady_clock::now(),
                    .work_folder = work.path.string(),
                    .open_scope = [] { return std::make_unique<SteeredSink>(); },
                    .watch = {}};
  CHECK(run_kind(run, sink).ok());
  CHECK(asked == 3);
  CHECK(tool.commands().size() == 2);
}

TEST_CASE("stopping ends a tool that runs, and says what is missing") {
  StandInTool tool;
  tool.play("hang");
  Capture capture(Options{{"neff", tool.write("mlp.neff", "program")}});
  capture.options().asked_to_stop = [&] { return contains(capture.printed, "waiting"); };
  const Imported session = capture.session();
  REQUIRE(session.quality("capture_stopped") != nullptr);
  CHECK(session.quality("capture_stopped")->severity == Severity::warning);
}

TEST_CASE("a folder of raw traces, one for each rank, is one session") {
  const StandInTool tool;
  tool.write("run/graph.neff", "program");
  tool.write("run/profile_rank_0.ntff", "stand-in trace\n3\nend\n");
  tool.write("run/profile_rank_1/trace.ntff", "stand-in trace\n4\nend\n");
  tool.write("run/profile_rank_10.ntff", "stand-in trace\n5\n");
  const ScratchFolder scratch;
  Result<std::unique_ptr<Store>> store = Store::create();
  REQUIRE(store.ok());
  REQUIRE(import_input({tool.file("run")}, {}, [&] { return std::make_unique<StoreSink>(**store); }).ok());
  REQUIRE((*store)->save(scratch.file("ranks.accel")).ok());
  const Imported session = Imported::session(scratch.file("ranks.accel"));
  check_same(session, simulated(3), "rank 0");
  check_same(session, simulated(4), "rank 1");
  REQUIRE(session.quality("unreadable_input") != nullptr);
  CHECK(contains(session.quality("unreadable_input")->detail, "profile_rank_10.ntff: unexpected end of file"));
}

TEST_CASE("a trace of the stand-in is imported as the profile that it names") {
  const StandInTool tool;
  tool.write("run.neff", "program");
  const std::string trace = tool.write("run.ntff", "stand-in trace\n5\nend\n");
  const Imported session = Imported::by([&](EventSink& sink) { return import_ntff(trace, {}, sink); });
  check_same(session, simulated(5));
}

}  // namespace
}  // namespace accelscope::capture
