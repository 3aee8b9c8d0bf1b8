#include <doctest/doctest.h>

#include <cstdlib>

#include "app/persist/persist.h"
#include "app/system/system_files.h"
#include "tests/app/program_run.h"
#include "tests/support/simulated_session.h"

using namespace accelscope;
using namespace accelscope::app;
using test::holds;
using test::run;

TEST_CASE("listings: roofline, memory levels and peaks are printed, with what the user has entered") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("s.accel");
  test::save_simulated_session(path);
  const std::string state = folder.path() + "/state";
  const char* before = std::getenv("XDG_STATE_HOME");
  const std::string retained = before == nullptr ? "" : before;
  setenv("XDG_STATE_HOME", state.c_str(), 1);
  const auto levels = run({"view", path, "--table", "memory-levels", "--output-format", "csv"});
  REQUIRE(levels.code == terminal::kExitDone);
  CHECK(holds(levels.out, "HBM to SBUF"));
  CHECK(holds(levels.out, "\"Compute, bf16\""));
  const std::string printed = run({"view", path, "--table", "memory-levels"}).out;
  const std::string compute = printed.substr(printed.find("Compute, bf16"));
  CHECK(holds(compute, " TFLOP/s"));
  CHECK_FALSE(holds(compute, "B/s"));
  const auto by_layer = run({"view", path, "--table", "roofline", "--output-format", "csv"});
  CHECK(holds(by_layer.out, "layers.0/"));
  const auto by_line = run({"view", path, "--table", "roofline", "--by", "line", "--output-format", "csv"});
  REQUIRE(by_line.code == terminal::kExitDone);
  CHECK(holds(by_line.out, ".py:"));
  CHECK_FALSE(holds(by_line.out, "layers.0/"));
  CHECK(holds(run({"view", path, "--table", "roofline", "--by", "kernel"}).err, "by name, layer or line"));
  const auto peaks = run({"view", path, "--table", "peaks", "--output-format", "csv"});
  CHECK(holds(peaks.out, "NeuronCore of simulated,hbm,HBM,410000000000"));
  {
    persist::PeakBook book(persist::peak_book_file(system::state_directory(system::process_environment())));
    REQUIRE(book.enter({"NeuronCore of simulated", "hbm", 8.2e11}).ok());
  }
  const auto entered = run({"view", path, "--table", "peaks", "--output-format", "csv"});
  CHECK(holds(entered.out, "entered"));
  CHECK(run({"view", path, "--table", "memory-levels", "--output-format", "csv"}).out != levels.out);
  retained.empty() ? unsetenv("XDG_STATE_HOME") : setenv("XDG_STATE_HOME", retained.c_str(), 1);
}
