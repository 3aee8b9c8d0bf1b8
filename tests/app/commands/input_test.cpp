// What commands and the viewer take as input: folders of ranks, damaged members, several files.
#include <doctest/doctest.h>
#include <algorithm>

#include <filesystem>

#include "capture/sources/input_parts.h"
#include "core/base/text.h"
#include "tests/app/program_run.h"
#include "tests/support/neuron/neff.h"
#include "tests/support/neuron/stand_in_tool.h"
#include "tests/support/small_session.h"
#include "tests/support/torch/allocator_model.h"

using namespace accelscope;
using namespace accelscope::app;
using test::csv;
using test::holds;
using test::ProgramOutcome;
using test::run;
using test::write_file;

namespace {

namespace fs = std::filesystem;

// A simulated profile; different seeds give different times.
void write_profile(const std::string& path, int seed) {
  fs::create_directories(fs::path(path).parent_path());
  const ProgramOutcome made = run(
      {"simulate", "-o", path, "--format", "neuron-json", "--kernels", "1", "--seed", std::to_string(seed), "--quiet"});
  REQUIRE(made.code == terminal::kExitDone);
}

constexpr const char* kDevices = "SELECT DISTINCT device FROM track WHERE kind = 'engine' ORDER BY id";

}  // namespace

TEST_CASE("natural order: rank 2 comes before rank 10, and order is total") {
  CHECK(natural_less("rank 2", "rank 10"));
  CHECK_FALSE(natural_less("rank 10", "rank 2"));
  CHECK(natural_less("rank 9", "rank 010"));
  CHECK_FALSE(natural_less("a", "a"));
  CHECK(natural_less("a", "a1"));
}

TEST_CASE("a folder of ranks opens as one session with the rank in every device, in order of number") {
  const test::TemporaryFolder folder;
  write_profile(folder.file("run/profile_rank_10/ntff.json"), 10);
  write_profile(folder.file("run/profile_rank_2.json"), 2);
  write_profile(folder.file("run/profile_rank_0/ntff.json"), 1);
  write_file(folder.file("run/notes.txt"), "of no interest");
  write_file(folder.file("run/profile_rank_0/graph.neff"), "a program");
  const std::string run_folder = folder.file("run");
  CHECK(csv(run_folder, kDevices) == "rank 0 nc0\nrank 2 nc0\nrank 10 nc0\n");

  const auto count_in = [&](const std::string& path) { return csv(path, "SELECT count(*) FROM instruction"); };
  const auto sum = std::stoll(count_in(folder.file("run/profile_rank_0/ntff.json"))) +
                   std::stoll(count_in(folder.file("run/profile_rank_2.json"))) +
                   std::stoll(count_in(folder.file("run/profile_rank_10/ntff.json")));
  CHECK(std::stoll(count_in(run_folder)) == sum);
  // Equal keys of different ranks do not meet: as many dependencies as the ranks have by themselves.
  CHECK(csv(run_folder, "SELECT count(*) FROM flow") ==
        std::to_string(std::stoll(csv(folder.file("run/profile_rank_0/ntff.json"), "SELECT count(*) FROM flow")) +
                       std::stoll(csv(folder.file("run/profile_rank_2.json"), "SELECT count(*) FROM flow")) +
                       std::stoll(csv(folder.file("run/profile_rank_10/ntff.json"), "SELECT count(*) FROM flow"))) +
            "\n");
  CHECK(csv(run_folder, "SELECT value FROM meta WHERE key = 'name'") == "run\n");
  CHECK(csv(run_folder, "SELECT value FROM meta WHERE key = 'rank 2.source.file'") == "profile_rank_2.json\n");
  CHECK(csv(run_folder, "SELECT count, severity FROM quality WHERE kind = 'files_skipped'") == "1,note\n");
  // What the file says of its rows adds up as well.
  CHECK(csv(run_folder, "SELECT value FROM meta WHERE key = 'source.rows.instruction'") == std::to_string(sum) + "\n");

  const std::string session = folder.file("run.accel");
  REQUIRE(run({"import", run_folder, "-o", session, "--name", "all ranks"}).code == terminal::kExitDone);
  CHECK(csv(session, kDevices) == csv(run_folder, kDevices));
  CHECK(csv(session, "SELECT value FROM meta WHERE key = 'name'") == "all ranks\n");
  CHECK(run({"view", run_folder}).code == terminal::kExitDone);
  CHECK(holds(run({"ingest-check", run_folder}).out, "files_skipped"));
  CHECK(run({"screenshot", run_folder, "-o", folder.file("run.png"), "--size", "640x400"}).code == terminal::kExitDone);
}

TEST_CASE("one unreadable rank does not spoil the others") {
  const test::TemporaryFolder folder;
  write_profile(folder.file("run/profile_rank_0/ntff.json"), 1);
  write_profile(folder.file("run/profile_rank_3/ntff.json"), 3);
  fs::create_directories(folder.file("run/profile_rank_1"));
  fs::create_directories(folder.file("run/profile_rank_2"));
  write_file(folder.file("run/profile_rank_1/ntff.json"), "");
  write_file(folder.file("run/profile_rank_2/ntff.json"), "{\"instruction\":[");
  const std::string run_folder = folder.file("run");
  CHECK(csv(run_folder, kDevices) == "rank 0 nc0\nrank 3 nc0\n");
  const std::string found = csv(run_folder, "SELECT severity, detail FROM quality WHERE kind = 'unreadable_input'");
  CHECK(holds(found, "error,"));
  CHECK(holds(found, "profile_rank_1/ntff.json: the file is empty"));
  CHECK(holds(found, "profile_rank_2/ntff.json: the file ends at byte"));
}

TEST_CASE("a folder without profiles says what was looked for, and one with only damaged ones says what is wrong") {
  const test::TemporaryFolder folder;
  fs::create_directories(folder.file("empty"));
  const ProgramOutcome empty = run({"view", folder.file("empty")});
  CHECK(empty.code == terminal::kExitFailed);
  for (const char* part : {"it holds no files", "profile_rank_<n>", "system_profile.json",
                           "device_profile_model_<id>.json", "Neuron Profile JSON"}) {
    CAPTURE(part);
    CHECK(holds(empty.err, part));
  }
  fs::create_directories(folder.file("bad/profile_rank_0"));
  write_file(folder.file("bad/profile_rank_0/ntff.json"), "{\"instruction\":[");
  const ProgramOutcome bad = run({"view", folder.file("bad")});
  CHECK(bad.code == terminal::kExitFailed);
  CHECK(holds(bad.err, "profile_rank_0/ntff.json: the file ends at byte"));
}

TEST_CASE("the results of a system capture open as one session, each model under its name") {
  const test::TemporaryFolder folder;
  write_profile(folder.file("run/device_profile_model_12.json"), 1);
  write_profile(folder.file("run/device_profile_model_7.json"), 2);
  write_file(folder.file("run/system_profile.json"),
             R"({"trace_events":[{"timestamp":1700000000000000000,"duration":900,"name":"nrt_execute","id":7,)"
             R"("instance_id":"i-1","process_id":4,"thread_id":5,"type":3,"group":"api"}]})");
  CHECK(csv(folder.file("run"), kDevices) == "model 7 nc0\nmodel 12 nc0\n");
  CHECK(csv(folder.file("run"), "SELECT count(*) FROM trace_event") == "1\n");
}

TEST_CASE("several named files become one session, and one that cannot be read fails the import") {
  const test::TemporaryFolder folder;
  write_profile(folder.file("profile_rank_0.json"), 1);
  write_profile(folder.file("profile_rank_1.json"), 2);
  const std::string session = folder.file("two.accel");
  REQUIRE(run({"import", folder.file("profile_rank_0.json"), folder.file("profile_rank_1.json"), "-o", session}).code ==
          terminal::kExitDone);
  CHECK(csv(session, kDevices) == "rank 0 nc0\nrank 1 nc0\n");
  write_file(folder.file("bad.json"), "{\"instruction\":[");
  const ProgramOutcome bad =
      run({"import", folder.file("profile_rank_0.json"), folder.file("bad.json"), "-o", folder.file("bad.accel")});
  CHECK(bad.code == terminal::kExitFailed);
  CHECK(bad.err.starts_with("accelscope: " + folder.file("bad.json")));
  CHECK_FALSE(fs::exists(folder.file("bad.accel")));
}

TEST_CASE("a session file of several sources is copied with all of them, and its own name stays as it is") {
  const test::TemporaryFolder folder;
  write_profile(folder.file("run/profile_rank_0.json"), 1);
  write_profile(folder.file("run/profile_rank_1.json"), 2);
  const std::string session = folder.file("run.accel");
  REQUIRE(run({"import", folder.file("run"), "-o", session}).code == terminal::kExitDone);
  const std::string copy = folder.file("copy.accel");
  REQUIRE(run({"import", session, "-o", copy, "--name", "mine"}).code == terminal::kExitDone);
  CHECK(csv(copy, kDevices) == csv(session, kDevices));
  CHECK(csv(copy, "SELECT count(*) FROM slice") == csv(session, "SELECT count(*) FROM slice"));
  CHECK(csv(session, "SELECT value FROM meta WHERE key = 'name'") == "run\n");
  CHECK(csv(copy, "SELECT value FROM meta WHERE key = 'name'") == "mine\n");
}

TEST_CASE("ranks that say when they began lie on one time, so that their skew can be seen") {
  const test::TemporaryFolder folder;
  const auto write_rank = [&](int rank, const std::string& begin_us) {
    write_file(folder.file("profile_rank_" + std::to_string(rank) + ".json"),
               R"({"trace_events":[{"timestamp":17000000000)" + begin_us +
                   R"(000,"duration":900,"name":"nrt_execute","id":7,"instance_id":"i-1","process_id":4,)"
                   R"("thread_id":5,"type":3,"group":"api"}]})");
  };
  write_rank(0, "00250");
  write_rank(1, "00100");
  write_rank(2, "99999");
  const std::string sql = "SELECT t.device, e.ts_ns FROM trace_event e JOIN track t ON t.id = e.track_id ORDER BY 1";
  CHECK(csv(folder.path(), sql) == "rank 0,150000\nrank 1,0\nrank 2,99899000\n");
  CHECK(csv(folder.path(), "SELECT count(*) FROM quality WHERE kind = 'clocks_not_aligned'") == "0\n");
  // And saved: the moved clocks are the session's.
  const std::string session = folder.file("all.accel");
  REQUIRE(run({"import", folder.path(), "-o", session}).code == terminal::kExitDone);
  CHECK(csv(session, sql) == csv(folder.path(), sql));
  fs::remove(session);
  write_profile(folder.file("profile_rank_3.json"), 3);
  CHECK(csv(folder.path(), "SELECT count FROM quality WHERE kind = 'clocks_not_aligned'") == "1\n");
}

TEST_CASE("files of different formats lie on one time, the facts of the first stand, and the others' are kept") {
  const test::TemporaryFolder folder;
  write_file(folder.file("nrt.json"),
             R"({"trace_events":[{"timestamp":1700000000000250000,"duration":900,"name":"nrt_execute","id":7,)"
             R"("instance_id":"i-1","process_id":4,"thread_id":5,"type":3,"group":"api"}]})");
  write_file(folder.file("trace.json"),
             R"({"schemaVersion":1,"baseTimeNanoseconds":1700000000000000000,"traceEvents":[)"
             R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":100.5,"dur":2,"args":{"stream":7}}]})");
  for (const bool as_folder : {true, false}) {
    std::vector<std::string> arguments = {"import", folder.file("nrt.json"), folder.file("trace.json")};
    if (as_folder) arguments = {"import", folder.path()};
    const test::TemporaryFolder made;
    const std::string session = made.file("both.accel");
    arguments.insert(arguments.end(), {"-o", session});
    REQUIRE(run(arguments).code == terminal::kExitDone);
    CHECK(csv(session, "SELECT e.ts_ns FROM trace_event e") == "149500\n");
    CHECK(csv(session, "SELECT ts_ns FROM kernel") == "0\n");
    CHECK(csv(session, "SELECT value FROM meta WHERE key = 'begin_unix_ns'") == "1700000000000100500\n");
    CHECK(csv(session, "SELECT count(*) FROM meta WHERE key LIKE '%source_format' AND value LIKE 'PyTorch%'") == "1\n");
    CHECK(csv(session, "SELECT count(*) FROM meta WHERE key LIKE '%source_format' AND value LIKE 'Neuron%'") == "1\n");
  }
}

TEST_CASE("a memory snapshot and the profiler's trace of the same run are one session on one time") {
  const test::TemporaryFolder folder;
  const test::TorchModel model({.seed = 5, .requests = 120});
  write_file(folder.file("run/memory.pickle"), model.pickle());
  write_file(folder.file("run/trace.json"),
             R"({"schemaVersion":1,"distributedInfo":{"rank":3},"baseTimeNanoseconds":1700000000000000000,)"
             R"("traceEvents":[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":20.5,"dur":2,)"
             R"("args":{"stream":7}}]})");
  const std::vector<std::string> files = {folder.file("run/trace.json"), folder.file("run/memory.pickle")};
  const auto recognised = capture::sources::recognise(files);
  CHECK(capture::sources::are_of_one_run(recognised));
  CHECK(capture::sources::are_of_one_run({recognised[1], recognised[0]}));
  CHECK_FALSE(capture::sources::are_of_one_run({recognised[0], recognised[0]}));
  CHECK_FALSE(capture::sources::are_of_one_run({recognised[1], recognised[1]}));
  for (const bool as_folder : {true, false}) {
    const std::string session = folder.file(as_folder ? "folder.accel" : "files.accel");
    std::vector<std::string> arguments = {"import"};
    if (as_folder) {
      arguments.push_back(folder.file("run"));
    } else {
      arguments.insert(arguments.end(), files.begin(), files.end());
    }
    arguments.insert(arguments.end(), {"-o", session});
    REQUIRE(run(arguments).code == terminal::kExitDone);
    // The snapshot begins a microsecond before its first entry, at 1,700,000,000 s; the kernel comes 21.5 us later.
    // Both are of the only rank that is known.
    CHECK(csv(session, "SELECT ts_ns FROM kernel") == "21500\n");
    CHECK(csv(session, "SELECT min(ts_ns) FROM counter_event") == "0\n");
    CHECK(csv(session, "SELECT value FROM meta WHERE key = 'begin_unix_ns'") == "1699999999999999000\n");
    CHECK(csv(session, "SELECT DISTINCT device FROM track WHERE kind IN ('memory', 'stream')") == "rank 3 GPU 0\n");
    const ProgramOutcome segments = run({"view", session, "--table", "segments", "--output-format", "csv"});
    CHECK(segments.code == terminal::kExitDone);
    CHECK(std::count(segments.out.begin(), segments.out.end(), '\n') > 2);
    const ProgramOutcome alive = run({"view", session, "--table", "alive", "--by", "stack", "--output-format", "csv"});
    CHECK(alive.code == terminal::kExitDone);
    CHECK(alive.out.find("model.py") != std::string::npos);
    CHECK(run({"view", session, "--table", "alive", "--by", "colour"}).code == terminal::kExitFailed);
  }
}

TEST_CASE("a session file beside the profiles that it was made of is not read a second time") {
  const test::TemporaryFolder folder;
  write_profile(folder.file("profile_rank_0.json"), 1);
  write_profile(folder.file("profile_rank_1.json"), 2);
  const std::string alone = csv(folder.path(), "SELECT count(*) FROM slice");
  REQUIRE(run({"import", folder.path(), "-o", folder.file("all.accel")}).code == terminal::kExitDone);
  CHECK(csv(folder.path(), "SELECT count(*) FROM slice") == alone);
  CHECK(csv(folder.path(), "SELECT count FROM quality WHERE kind = 'files_skipped'") == "1\n");
}

TEST_CASE("a folder of programs opens, each under its name, and what is there stands in place of events and times") {
  const test::TemporaryFolder folder;
  const std::string program = test::neff_file(test::tar_file(test::small_program()), {.package_version = 1});
  write_file(folder.file("neffs/neff_1.neff"), program);
  const std::string first = "6 instructions in 2 engines, ";
  const std::string end = " tables, no times: this is a program, not a trace\n";
  const ProgramOutcome alone = run({"view", folder.file("neffs/neff_1.neff")});
  CHECK(alone.code == terminal::kExitDone);
  CHECK(holds(alone.out, first));
  CHECK(holds(alone.out, end));
  CHECK_FALSE(holds(alone.out, "0 events"));
  CHECK(holds(run({"view", folder.file("neffs")}).out, first));
  write_file(folder.file("neffs/neff_2.neff"), program);
  CHECK(csv(folder.file("neffs"), "SELECT count(*) FROM neff_instruction") == "12\n");
  CHECK(csv(folder.file("neffs"), "SELECT value FROM meta WHERE key = 'neff_2.source.file'") == "neff_2.neff\n");
  CHECK(csv(folder.file("neffs"), "SELECT DISTINCT device FROM metric WHERE name = 'instruction_count' ORDER BY 1") ==
        "neff_1\nneff_2\n");
  const ProgramOutcome both = run({"import", folder.file("neffs"), "-o", folder.file("both.accel")});
  CHECK(holds(both.err, "12 instructions in 2 engines, "));
  CHECK(holds(both.err, end));
  CHECK(csv(folder.file("neffs"), "SELECT count(*) FROM quality WHERE kind = 'clocks_not_aligned'") == "0\n");
  // Beside a profile a program is no part of its own.
  write_profile(folder.file("neffs/profile.json"), 1);
  CHECK(csv(folder.file("neffs"), "SELECT count(*) FROM track WHERE kind = 'engine'") != "0\n");
  CHECK(holds(run({"view", folder.file("neffs")}).out, " events over "));
}

TEST_CASE("a raw capture is viewed with all of its profiles, and explained where the tool is missing or fails") {
  test::StandInTool tool("neuron-explorer");
  tool.write("run/i-0123_pid_42/ntrace.pb",
             "\x0a\x13"
             "1700000000000000000");
  tool.write("run/i-0123_pid_42/neff_395760075800974.neff", "program");
  tool.write("run/i-0123_pid_42/395760075800974_instid_0_vnc_0.ntff", "stand-in trace\n7\nend\n");
  tool.write("run/i-0123_pid_42/395760075800974_instid_0_vnc_1.ntff", "stand-in trace\n8\nend\n");
  const std::string folder = tool.file("run");
  const ProgramOutcome viewed = run({"view", folder});
  CHECK(viewed.code == terminal::kExitDone);
  CHECK(holds(viewed.out, "instruction"));
  CHECK(holds(viewed.out, "trace_event"));
  CHECK(csv(folder, "SELECT count(DISTINCT device) FROM track WHERE kind = 'engine'") == "2\n");
  CHECK(csv(folder, "SELECT count(*) FROM trace_event") == "1\n");
  tool.play("fail", "view");
  const ProgramOutcome failed = run({"view", folder});
  CHECK(failed.code == terminal::kExitFailed);
  CHECK(holds(failed.err, "could not convert it (exit code 3)"));
  fs::remove(tool.file("tools/neuron-explorer"));
  const ProgramOutcome absent = run({"view", folder});
  CHECK(absent.code == terminal::kExitFailed);
  CHECK(holds(absent.err, "neuron-explorer view -d '" + folder + "' --ingest-only"));
}
