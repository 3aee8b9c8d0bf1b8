#include "capture/kinds/itt/names.h"

#include <doctest/doctest.h>

namespace accelscope::capture {
namespace {

void check(std::string_view text, std::string_view name, std::string_view file, std::uint32_t line) {
  CAPTURE(text);
  const std::optional<kinds::itt::OpenMpName> parsed = kinds::itt::parse_openmp_name(text);
  REQUIRE(parsed);
  CHECK(parsed->name == name);
  CHECK(parsed->file == file);
  CHECK(parsed->line == line);
}

TEST_CASE("names of OpenMP runtimes are shown in words, with their place in the source") {
  check("main$omp$parallel:3@/src/step.cpp:6:9", "omp parallel in main, 3 threads", "/src/step.cpp", 6);
  check("unknown$omp$barrier@unknown:0", "omp barrier", "", 0);
  check("f$omp$parallel:2@step.cpp:7", "omp parallel in f, 2 threads", "step.cpp", 7);
  check("f$omp$", "omp  in f", "", 0);
  check("OMP Barrier ;/src/step.cpp;main;6;9;;", "OMP Barrier in main", "/src/step.cpp", 6);
  check("OMP Critical ;unknown;unknown;0;0;;", "OMP Critical", "", 0);
  check("OMP Lock ;", "OMP Lock", "", 0);
  for (const char* other : {"", "OMP Worker Thread #3", "queue ;1;2", "tbb_parallel_for"}) {
    CHECK_FALSE(kinds::itt::parse_openmp_name(other));
  }
}

}  // namespace
}  // namespace accelscope::capture
