// Profiles of the ranks of one job, a file each as PyTorch's profiler writes them, become one session: given as a
// folder or one by one, told apart by what the files say or by their names, with clocks that lie apart.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <sstream>

#include "app/workspace/workspace.h"
#include "capture/sources/base/importers.h"
#include "capture/sources/input_parts.h"
#include "tests/app/program_run.h"
#include "tests/support/wait.h"

using namespace accelscope;
using namespace accelscope::app;
using test::holds;
using test::run;

namespace {

struct RankFile {
  int rank = 0, ranks = 4;
  bool states_rank = true;
  std::int64_t clock_off_ns = 0;
  int steps = 24;
};

// Rank 2 comes 80 us late to every AllReduce; all are done at once.
std::string trace_of(const RankFile& file) {
  constexpr std::int64_t kBase = 1'719'853'884'000'000'000;
  std::string text = "{\n  \"schemaVersion\": 1,\n";
  if (file.states_rank) {
    text += fmt::format("  \"distributedInfo\": {{\"backend\": \"nccl\", \"rank\": {}, \"world_size\": {}}},\n",
                        file.rank, file.ranks);
  }
  text += fmt::format("  \"baseTimeNanoseconds\": {},\n  \"traceEvents\": [\n", kBase);
  for (int i = 0; i < file.steps; ++i) {
    const std::int64_t end = 5'000'000 + i * 1'000'000 + file.clock_off_ns + (file.rank * 37 + i * 11) % 300;
    const std::int64_t late = file.rank == 2 ? 0 : 80'000 + file.rank * 500;  // ns before the last one
    const std::int64_t begin = end - 100'000 - late;
    text += fmt::format(
        "{}{{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": "
        "\"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgs)\", "
        "\"pid\": 0, \"tid\": 7, \"ts\": {}.{:03}, \"dur\": {}.{:03}, \"args\": {{\"device\": 0, \"stream\": 7, "
        "\"Collective name\": \"allreduce\", \"In msg nelems\": 1048576, \"Out msg nelems\": 1048576, \"Group size\": "
        "{}, "
        "\"dtype\": \"BFloat16\", \"Process Group Ranks\": \"[0, 1, 2, 3]\"}}}}",
        i == 0 ? "" : ",\n", begin / 1000, begin % 1000, (end - begin) / 1000, (end - begin) % 1000, file.ranks);
  }
  return text + "\n]}\n";
}

constexpr std::int64_t kOff[] = {0, 40'000, -25'000, 90'000};

void check_ranks(const std::vector<std::string>& inputs) {
  std::vector<std::string> arguments = {"view"};
  arguments.insert(arguments.end(), inputs.begin(), inputs.end());
  arguments.insert(arguments.end(), {"--table", "ranks", "--output-format", "csv"});
  const auto printed = run(arguments);
  REQUIRE_MESSAGE(printed.code == terminal::kExitDone, printed.err);
  CAPTURE(printed.out);
  std::istringstream lines(printed.out);
  std::string line;
  std::getline(lines, line);
  for (int rank = 0; rank < 4; ++rank) {
    REQUIRE(std::getline(lines, line));
    CHECK(line.starts_with(fmt::format("rank {},", rank)));
    CHECK(holds(line, ",yes,") == (rank == 2));
    CHECK(holds(line, fmt::format("rank {} GPU 0", rank)));
  }
  CHECK_FALSE(std::getline(lines, line));
  CHECK(holds(printed.err, "clocks set by 24 collectives; residual"));
}

bool are_one_job(const std::vector<std::string>& paths) {
  return capture::sources::are_of_one_run(capture::sources::recognise(paths));
}

}  // namespace

TEST_CASE("rank files: a folder, and files given one by one, are one session with a rank for each") {
  const test::TemporaryFolder folder;
  std::filesystem::create_directories(folder.file("job"));
  std::filesystem::create_directories(folder.file("named"));
  std::vector<std::string> said, named;
  for (int rank = 0; rank < 4; ++rank) {
    // What the file says counts, whatever it is called.
    said.push_back(folder.file(fmt::format("job/host{}.{}.pt.trace.json", rank / 2, 1000 - rank)));
    test::write_file(said.back(), trace_of({.rank = rank, .clock_off_ns = kOff[rank]}));
    named.push_back(folder.file(fmt::format("named/trace_rank-{}.json", rank)));
    test::write_file(named.back(), trace_of({.rank = rank, .states_rank = false, .clock_off_ns = kOff[rank]}));
  }
  check_ranks({folder.file("job")});
  check_ranks(said);
  check_ranks({said[3], said[1], said[0], said[2]});
  check_ranks({folder.file("named")});
  check_ranks(named);
  REQUIRE(run({"import", folder.file("job"), "-o", folder.file("job.accel")}).code == terminal::kExitDone);
  check_ranks({folder.file("job.accel")});
  CHECK(are_one_job(said));
  CHECK(are_one_job(named));
  CHECK_FALSE(are_one_job({said[0]}));
  CHECK_FALSE(are_one_job({said[0], said[0]}));
  CHECK_FALSE(are_one_job({said[0], folder.file("none")}));
  CHECK_FALSE(are_one_job({said[0], folder.file("job.accel")}));
}

TEST_CASE("rank files: two files of one rank stay apart, and a damaged one of a folder is told of") {
  const test::TemporaryFolder folder;
  std::filesystem::create_directories(folder.file("a/job"));
  std::filesystem::create_directories(folder.file("b/job"));
  const std::string one = folder.file("a/job/t.json"), two = folder.file("b/job/t.json");
  test::write_file(one, trace_of({.rank = 1}));
  test::write_file(two, trace_of({.rank = 1}));
  CHECK_FALSE(are_one_job({one, two}));
  const auto printed = run({"view", one, two, "--table", "ranks", "--output-format", "csv"});
  REQUIRE(printed.code == terminal::kExitDone);
  CHECK(holds(printed.out, "rank 1 t GPU 0"));
  CHECK(holds(printed.out, "rank 1 t (2) GPU 0"));
  test::write_file(folder.file("a/job/rank_3.json"), trace_of({.rank = 3}).substr(0, 500));
  const auto cut = run({"view", folder.file("a/job"), "--table", "ranks"});
  CHECK(cut.code == terminal::kExitDone);
  CHECK(holds(cut.out, "rank 1"));
}

TEST_CASE("rank files: two runs of one rank are no job, runs of different ranks are one") {
  const test::TemporaryFolder folder;
  std::vector<std::string> runs;
  for (const char* name : {"profile_rank_0_exec_1.json", "profile_rank_0_exec_2.json", "profile_rank_00_exec_3.json",
                           "profile_rank_1_exec_1.json"}) {
    runs.push_back(folder.file(name));
    test::write_file(runs.back(), trace_of({.states_rank = false}));
  }
  CHECK_FALSE(are_one_job({runs[0], runs[1]}));
  CHECK_FALSE(are_one_job({runs[0], runs[2]}));
  CHECK_FALSE(are_one_job({runs[0], runs[3], runs[1]}));
  CHECK(are_one_job({runs[0], runs[3]}));
}

TEST_CASE("rank files: one that is cut takes none of the others with it, and several that all are say so each") {
  const test::TemporaryFolder folder;
  std::vector<std::string> files, cut;
  for (const int rank : {0, 1, 3}) {
    files.push_back(folder.file(fmt::format("rank_{}.json", rank)));
    const std::string whole = trace_of({.rank = rank, .states_rank = false});
    const std::string no_event = whole.substr(0, whole.find("{\"ph\""));
    test::write_file(files.back(), rank == 3 ? no_event : whole);
    cut.push_back(folder.file(fmt::format("cut_rank_{}.json", rank)));
    test::write_file(cut.back(), no_event);
  }
  const auto printed = run({"view", files[0], files[2], files[1], "--table", "ranks", "--output-format", "csv"});
  REQUIRE_MESSAGE(printed.code == terminal::kExitDone, printed.err);
  CHECK(holds(printed.out, "rank 0"));
  CHECK(holds(printed.out, "rank 1"));
  workspace::Workspace workspace;
  double now_s = 0;
  const auto settle = [&] {
    REQUIRE(test::step_until([&] { return !workspace.opening(); }, [&] { workspace.update(now_s += 0.1); }));
  };
  REQUIRE(are_one_job(files));
  workspace.open(files);
  settle();
  REQUIRE(workspace.tab_count() == 1);
  CHECK(workspace.tab(0).device == "2 GPUs");
  const auto& quality = workspace.tab(0).snapshot->quality;
  const auto lost = std::find_if(quality.begin(), quality.end(),
                                 [](const QualityEntry& entry) { return entry.kind == "unreadable_input"; });
  REQUIRE(lost != quality.end());
  CHECK(holds(lost->detail, "rank_3.json"));
  CHECK(holds(lost->detail, "the other files were read"));
  workspace.open(cut);
  settle();
  CHECK(workspace.tab_count() == 1);
  REQUIRE(workspace.notices().size() == 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(holds(workspace.notices()[i].text, "cut_rank_"));
}

TEST_CASE("rank files: the viewer opens the files of a job in one tab, and others in a tab each") {
  const test::TemporaryFolder folder;
  std::filesystem::create_directories(folder.file("mlp"));
  std::vector<std::string> files;
  for (int rank = 0; rank < 4; ++rank) {
    files.push_back(folder.file(fmt::format("mlp/{}.json", rank)));
    test::write_file(files.back(), trace_of({.rank = rank}));
  }
  workspace::Workspace workspace;
  double now_s = 0;
  const auto settle = [&] {
    REQUIRE(test::step_until([&] { return !workspace.opening(); }, [&] { workspace.update(now_s += 0.1); }));
  };
  workspace.open(files);
  settle();
  REQUIRE(workspace.tab_count() == 1);
  CHECK(workspace.tab(0).title == "mlp");
  CHECK(workspace.tab(0).device == "4 GPUs");
  test::write_file(folder.file("x.json"), trace_of({.states_rank = false}));
  test::write_file(folder.file("y.json"), trace_of({.states_rank = false}));
  workspace.open(std::vector<std::string>{folder.file("x.json"), folder.file("y.json")});
  settle();
  REQUIRE(workspace.tab_count() == 3);
  CHECK(workspace.tab(1).title != workspace.tab(2).title);
}

TEST_CASE("rank files: a damaged or cut beginning says no rank, or one, and nothing breaks") {
  const std::string whole = trace_of({.rank = 31, .steps = 1});
  CHECK(capture::sources::chrome::rank_in_chrome_json(whole) == 31);
  const std::size_t key = whole.find("\"rank\": 31") + 8;
  CHECK_FALSE(capture::sources::chrome::rank_in_chrome_json(whole.substr(0, key + 1)));  // 3 may go on
  CHECK_FALSE(capture::sources::chrome::rank_in_chrome_json(R"({"distributedInfo": {"rank": -1}})"));
  CHECK_FALSE(capture::sources::chrome::rank_in_chrome_json(R"({"distributedInfo": {"rank": 99999999999}})"));
  CHECK_FALSE(
      capture::sources::chrome::rank_in_chrome_json(R"({"distributedInfo": {}, "traceEvents": [{"rank": 3}]})"));
  std::mt19937_64 random(5);
  for (int round = 0; round < 3000; ++round) {
    std::string text = whole.substr(0, random() % whole.size());
    for (int i = 0; i < 4 && !text.empty(); ++i) text[random() % text.size()] = static_cast<char>(random());
    (void)capture::sources::chrome::rank_in_chrome_json(text);
  }
}
