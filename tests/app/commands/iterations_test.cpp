// `accelscope iterations`: what is found, what is said where nothing is, and the same numbers in listings and SQL.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>

#include "core/chunk/session_writer.h"
#include "core/store/store.h"
#include "tests/app/program_run.h"

using namespace accelscope;
using namespace accelscope::test;

namespace {

struct SteppedFile {
  static constexpr int kSteps = 12;
  TemporaryFolder folder;
  std::string path = folder.file("steps.accel");

  explicit SteppedFile(bool repeats = true) {
    auto store = Store::create().value();
    StoreSink sink(*store);
    SessionWriter writer(sink);
    const SchemaNumber kernel = writer.add_schema({.name = "kernel"}), range = writer.add_schema({.name = "nvtx"});
    const TrackNumber stream =
        writer.add_track({.name = "stream 7", .kind = "stream", .device = "GPU 0", .schema = kernel});
    const TrackNumber host = writer.add_track({.name = "main", .kind = "host_thread", .schema = range});
    for (int step = 0; step < kSteps; ++step) {
      const std::int64_t begin = step * 10'000, slow = step == 0 ? 2 : 1;
      std::int64_t at = begin;
      for (int k = 0; k < 5; ++k) {
        const std::string name =
            repeats ? std::string("kernel_") + static_cast<char>('a' + k)
                    : std::string("once_") + static_cast<char>('a' + step) + static_cast<char>('a' + k);
        writer.begin_event(stream, at, 500 * slow, writer.intern(name));
        at += 500 * slow + 100;
      }
      if (repeats) writer.begin_event(host, begin, 9'000, writer.intern(step % 3 == 0 ? "eval" : "train"));
    }
    REQUIRE(writer.finish().ok());
    REQUIRE(store->save(path).ok());
  }
};

}  // namespace

TEST_CASE("iterations command: count, median, warm-up and body, as text and as JSON") {
  const SteppedFile file;
  const ProgramOutcome text = run({"iterations", file.path});
  CHECK(text.code == app::terminal::kExitDone);
  CHECK(holds(text.out, "GPU 0 stream 7: 12 iterations, 2.9 µs each, every 10 µs"));
  CHECK(holds(text.out, "1 iteration of warm-up"));
  CHECK(holds(text.out, "kernel_e"));
  const ProgramOutcome json = run({"iterations", file.path, "--json"});
  CHECK(json.code == app::terminal::kExitDone);
  CHECK(holds(json.out, "\"begin_ns\": 0, \"end_ns\": 5400, \"outlier\": true"));
  CHECK(holds(json.out, "\"steady_ns\": 2900"));
  CHECK(holds(json.out, "\"warm_up\": 1"));
}

TEST_CASE("iterations command: listings and SQL tables tell the same, in a range too") {
  const SteppedFile file;
  const ProgramOutcome listed = run({"view", file.path, "--table", "loops", "--output-format", "csv"});
  CHECK(holds(listed.out, "stream 7,GPU 0,,0,12,2900"));
  const ProgramOutcome asked =
      run({"query", file.path, "SELECT iterations, median_ns, warm_up FROM loop WHERE level = 0", "--format", "csv"});
  CHECK(asked.code == app::terminal::kExitDone);
  CHECK(holds(asked.out, "12,2900,1"));
  const ProgramOutcome each =
      run({"query", file.path, "SELECT count(*), max(dur_ns), sum(outlier) FROM iteration WHERE loop_id = 0",
           "--format", "csv"});
  CHECK(holds(each.out, "12,5400,1"));
  const ProgramOutcome body =
      run({"query", file.path, "SELECT name, median_ns FROM loop_operation WHERE loop_id = 0 ORDER BY offset_ns",
           "--format", "csv"});
  CHECK(holds(body.out, "kernel_a,500\nkernel_b,500"));
  const ProgramOutcome part = run({"iterations", file.path, "--range", "20us:80us"});
  CHECK(holds(part.out, "6 iterations"));
}

TEST_CASE("iterations command: regions, three compared, and wrong questions") {
  const SteppedFile file;
  const ProgramOutcome regions = run({"iterations", file.path, "--regions", "annotation", "--json"});
  CHECK(regions.code == app::terminal::kExitDone);
  CHECK(holds(regions.out, "\"name\": \"train\""));
  const ProgramOutcome rows =
      run({"query", file.path, "SELECT name, count, total_ns FROM named_region WHERE kind = 'annotation' ORDER BY name",
           "--format", "csv"});
  CHECK(holds(rows.out, "eval,4,36000\ntrain,8,72000"));
  CHECK(holds(run({"iterations", file.path, "--regions", "annotation,eval,train"}).out, "eval"));
  CHECK(run({"iterations", file.path, "--regions", "annotation,a,b,c,d"}).code == app::terminal::kExitFailed);
  CHECK(run({"iterations", file.path, "--regions", "annotation,nowhere"}).code == app::terminal::kExitFailed);
  CHECK(run({"iterations", file.path, "--regions", "layer", "--by", "x"}).code == app::terminal::kExitUsage);
  const ProgramOutcome unknown = run({"iterations", file.path, "--by", "nowhere"});
  CHECK(unknown.code == app::terminal::kExitDone);
  CHECK(holds(unknown.out, "None found: no event is named \"nowhere\""));
}

TEST_CASE("iterations command: where nothing repeats it says so") {
  const SteppedFile file(false);
  const ProgramOutcome none = run({"iterations", file.path});
  CHECK(none.code == app::terminal::kExitDone);
  CHECK(holds(none.out, "None found: nothing repeats clearly enough"));
  CHECK(holds(run({"iterations", file.path, "--json"}).out, "\"loops\": []"));
}

// What is found by itself is what the program itself calls a step, or as many layers as the model has.
TEST_CASE("iterations command: steps and layers of real profiles") {
  struct RealLoop {
    const char *file, *found;
  };
  constexpr RealLoop kLoops[] = {
      {"kineto/HTA__ns_resolution_trace__rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz",
       "1. GPU 0 stream 7: 5 iterations"},  // ProfilerStep#101 to #105
      {"kineto/HTA__trace_diff__control__control.json.gz", "1. GPU 3 stream 7: 6 iterations"},
      {"kineto/kineto__resnet50_num_workers_0__worker0.1623143089861.pt.trace.json.gz",
       "1. GPU 0 stream 7: 6 iterations"},
      {"kineto/TraceLens__h100__Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
       "Main thread operators: 24 iterations"},                                                    // layers
      {"tenstorrent/ttperfreport__wh_clip_encoder_2.csv", "1. chip 0 Operations: 64 iterations"},  // 2 times 32 layers
      {"neuron/profile_128x128x1024.json", "None found"},
      {"kineto/TraceLens__torch_compile_triton__trace.json.gz", "None found"}};
  const char* data = std::getenv("ACCELSCOPE_REAL_DATA");
  for (const RealLoop& loop : kLoops) {
    const std::string path = std::string(data == nullptr ? "" : data) + "/" + loop.file;
    if (data == nullptr || !std::filesystem::exists(path)) {
      MESSAGE("skipped: ACCELSCOPE_REAL_DATA has no " << loop.file);
      continue;
    }
    CAPTURE(loop.file);
    CHECK(holds(run({"iterations", path}).out, loop.found));
  }
}
