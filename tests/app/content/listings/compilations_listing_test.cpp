// Compilations, calls and hotspots by the command line.
#include <doctest/doctest.h>

#include "core/store/store.h"
#include "tests/app/program_run.h"
#include "tests/core/analysis/compilation/compiling_program.h"
#include "tests/support/simulated_session.h"

using namespace accelscope;
using namespace accelscope::app;
using test::holds;
using test::run;

namespace {

struct CompilingFile {
  CompilingFile() {
    auto store = std::move(Store::create()).value();
    StoreSink sink(*store);
    SessionWriter writer(sink);
    test::CompilingProgram program(writer);
    std::int64_t at = 0;
    for (const std::int64_t ms : {400, 5, 5, 5}) {
      program.call(at, ms * 1'000'000, "train_step");
      program.launch(at + 1'000, 4'000, at + 6'000, 9'000);
      at += (ms + 1) * 1'000'000;
    }
    REQUIRE(writer.finish().ok());
    REQUIRE(store->save(path).ok());
  }
  test::TemporaryFolder folder;
  std::string path = folder.file("s.accel");
};

}  // namespace

TEST_CASE("compilations: the table names what compiled, how long, and what that rests on") {
  const CompilingFile file;
  const auto all = run({"view", file.path, "--table", "compilations", "--output-format", "csv"});
  REQUIRE(all.code == terminal::kExitDone);
  CHECK(holds(all.out, "kind,what,ts_ns,dur_ns,compile_ns,number,of,basis"));
  CHECK(holds(all.out, "compile,train_step,0,400000000,395000000,1,4,first call of 4"));
  CHECK(holds(all.out, "cache hit,train_step,"));
  CHECK(holds(all.err, "1 compilation takes 395 ms"));
  CHECK(holds(all.err, "3 cache hits"));
}

TEST_CASE("compilations: calls are listed one by one or by function, and nothing else") {
  const CompilingFile file;
  const auto calls = run({"view", file.path, "--table", "calls", "--output-format", "csv"});
  REQUIRE(calls.code == terminal::kExitDone);
  CHECK(holds(calls.out, "function,level,call,ts_ns,span_ns,host_ns,compile_ns,dispatch_ns,kernel_ns"));
  CHECK(holds(calls.out, "train_step,call,1,0,400000000,5000000,395000000,0,9000"));
  CHECK(holds(calls.out, "train_step,call,2,401000000,5000000,4996000,0,4000,9000"));
  const auto functions = run({"view", file.path, "--table", "calls", "--by", "function", "--output-format", "csv"});
  CHECK(holds(functions.out, "train_step,call,4,"));
  CHECK(holds(functions.out, ",400000000,5000000,15000000,1,"));
  CHECK(run({"view", file.path, "--table", "calls", "--by", "layer"}).code != terminal::kExitDone);
}

TEST_CASE("hotspots: kernels by total time, by the command line") {
  const CompilingFile file;
  const auto all = run({"view", file.path, "--table", "hotspots", "--output-format", "csv"});
  REQUIRE(all.code == terminal::kExitDone);
  CHECK(holds(all.out, "gemm,kernel,4,36000,1.0,9000,9000,9000,"));
}
