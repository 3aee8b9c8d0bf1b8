// Neuron captures of a NEFF from request to session, with the stand-in in the vendor's tool's place.
#include <fmt/format.h>

#include <fstream>

#include "capture/sources/base/importers.h"
#include "capture/sources/import_input.h"
#include "tests/capture/kinds/neuron/local_run.h"
#include "tests/capture/wire/wire_support.h"
#include "tests/support/neuron/stand_in_tool.h"

namespace accelscope::capture {
namespace {

using test::StandInTool;

TEST_CASE("a captured profile is the imported one to the last event") {
  const StandInTool tool;
  NeuronCapture capture(Options{{"neff", "mlp.neff"}, {"input", "x=x.npy"}});
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
  NeuronCapture none(Options{{"neff", neff}});
  const Imported first = none.session();
  REQUIRE(first.quality("inputs_all_zero") != nullptr);
  CHECK(first.quality("inputs_all_zero")->severity == Severity::warning);
  CHECK(contains(none.printed, "no inputs were given"));
  const std::string zero = tool.write("z.npy", test::npy_of(8, 0));
  const std::string one = tool.write("o.npy", test::npy_of(8, 1));
  NeuronCapture some(Options{{"neff", neff}, {"input", "bias=" + zero}, {"input", "x=" + one}, {"single-io", "on"}});
  const Imported second = some.session();
  REQUIRE(second.quality("inputs_all_zero") != nullptr);
  CHECK(contains(second.quality("inputs_all_zero")->detail, "zeros: bias;"));
  CHECK(second.quality("single_io_outputs_wrong") != nullptr);
}

TEST_CASE("ranks of a multi-worker capture are one session, each like its own import") {
  const StandInTool tool;
  NeuronCapture capture(Options{{"neff", tool.write("mlp.neff", "program")},
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
  NeuronCapture capture(Options{{"neff", tool.write("mlp.neff", "program")}, {"collectives-workers-per-node", "3"}});
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
  const auto failure = [&](const std::string& mode, const std::string& step,
                           std::vector<request::OptionSetting> more = {}) {
    tool.play(mode, step);
    more.insert(more.begin(), {"neff", neff});
    return NeuronCapture(std::move(more)).failure();
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
  NeuronCapture capture(Options{{"neff", tool.write("mlp.neff", "program")}});
  const Imported session = capture.session();
  CHECK_FALSE(session.snapshot().quality.empty());
  std::size_t events = 0;
  for (const char* table : kEventTables) events += session.count(table);
  CHECK(events > 0);
  const auto cut = std::count_if(session.snapshot().quality.begin(), session.snapshot().quality.end(),
                                 [](const QualityEntry& entry) { return entry.severity == Severity::error; });
  CHECK(cut > 0);
}

TEST_CASE("a capture that cannot begin says so before anything runs") {
  const StandInTool tool;
  CHECK(contains(NeuronCapture(Options{{"neff", "no.neff"}}).failure(), "no such file on this host; send it along"));
  const std::string neff = tool.write("mlp.neff", "program");
  CHECK(contains(NeuronCapture(Options{{"neff", neff}, {"input", "x=no.npy"}}).failure(),
                 "--input: no.npy: no such file"));
  CHECK(contains(NeuronCapture(Options{{"neff", neff}, {"tool", "neuron-explorer"}}).failure(),
                 "neuron-explorer: is not on PATH"));
  CHECK(contains(
      NeuronCapture(Options{{"neff", neff}, {"input", "x=" + tool.write("t.npy", "just text, no numbers")}}).failure(),
      "no .npy file"));
  NeuronCapture twice(Options{});
  twice.script("true").request().kinds.push_back({"program", {}});
  CHECK(contains(twice.failure(), "runs the program itself"));
  CHECK(tool.commands().empty());
}

TEST_CASE("the kind tells whether the tool is there, and which one") {
  const auto checks = [] {
    for (const request::KindFacts& facts : request::checked_kinds()) {
      if (facts.name == "neuron") return facts;
    }
    return request::KindFacts{};
  };
  {
    const StandInTool tool("neuron-explorer");
    const request::KindFacts facts = checks();
    CHECK(facts.usable());
    CHECK(contains(facts.checks.at(0).text, "tools/neuron-explorer (stand-in neuron-explorer 2.33)"));
    CHECK(contains(facts.checks.at(1).text, "/dev/neuron*"));
  }
  const StandInTool none("");
  const request::KindFacts facts = checks();
  CHECK_FALSE(facts.usable());
  CHECK(contains(facts.checks.at(0).text, "aws-neuronx-tools"));
  CHECK(contains(NeuronCapture(Options{{"neff", none.write("a.neff", "x")}}).failure(),
                 "cannot run here: neither neuron-explorer"));
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
  const request::CaptureRequest request{.kinds = {{"neuron", {{"neff", tool.write("mlp.neff", "program")}}}}};
  const request::KindRun run{.request = request,
                             .choice = request.kinds.front(),
                             .origin = std::chrono::steady_clock::now(),
                             .work_folder = work.path.string(),
                             .open_scope = [] { return std::make_unique<SteeredSink>(); },
                             .watch = {}};
  CHECK(request::run_kind(run, sink).ok());
  CHECK(asked == 3);
  CHECK(tool.commands().size() == 2);
}

TEST_CASE("stopping ends a tool that runs, and says what is missing") {
  StandInTool tool;
  tool.play("hang");
  NeuronCapture capture(Options{{"neff", tool.write("mlp.neff", "program")}});
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
  REQUIRE(sources::import_input({sources::recognise(tool.file("run"))}, {}, [&] {
            return std::make_unique<StoreSink>(**store);
          }).ok());
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
  check_same(Imported::input(trace), simulated(5));
}

}  // namespace
}  // namespace accelscope::capture
