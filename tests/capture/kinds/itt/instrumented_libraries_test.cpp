// Libraries that are instrumented as Debian ships them, in programs that know nothing of it.
#include "tests/capture/kinds/itt/itt_support.h"

namespace accelscope::capture {
namespace {

using Lines = std::vector<std::string>;

#ifdef ACCELSCOPE_TBB_PROGRAM
TEST_CASE("loops, graphs and events of a program with oneTBB are seen, with their threads") {
  IttCapture capture({program_of("tbb_for_tests")});
  CHECK(capture.printed == "5040\n");
  CHECK(capture.one("SELECT count(*) >= 5 FROM task WHERE category = 'tbb' AND parent_id = 'tbb_parallel_for'") == "1");
  CHECK(capture.rows("SELECT task, count(*) FROM task WHERE category = 'tbb.flow' AND task = 'body' GROUP BY 1") ==
        Lines{"body|40"});
  CHECK(capture.rows("SELECT DISTINCT parent_id FROM task WHERE task = 'body'") == Lines{"function_node"});
  CHECK(capture.one("SELECT count(*) FROM message WHERE text = 'a step of the program'") == "5");
}
#endif

#ifdef ACCELSCOPE_OPENMP_PROGRAM
TEST_CASE("parallel regions and barriers of a program with OpenMP are seen, with their threads") {
  IttCapture capture({program_of("openmp_for_tests")}, {{"locks", "on"}});
  CHECK(capture.exit_status == 0);
  CHECK(capture.one("SELECT count(*) FROM frame WHERE frame LIKE 'omp parallel%, 3 threads'") == "4");
  CHECK(capture.one("SELECT count(DISTINCT name) >= 3 FROM track WHERE name LIKE 'OMP Worker Thread%' OR name LIKE "
                    "'OMP Primary Thread #0%'") == "1");
  CHECK(capture.quality() == "");
}
#endif

}  // namespace
}  // namespace accelscope::capture
