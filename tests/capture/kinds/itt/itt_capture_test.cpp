// Programs with ITT calls, captured as users do, to the last event.
#include "tests/capture/kinds/itt/itt_support.h"

namespace accelscope::capture {
namespace {

using Lines = std::vector<std::string>;
const std::string kProgram = program_of("itt_for_tests");

TEST_CASE("every ITT call of a program with several threads and static parts is an event") {
  IttCapture capture({kProgram, "all"}, {{"locks", "on"}});
  CHECK(capture.exit_status == 0);

  SUBCASE("tasks of threads, nested and in order, with their metadata") {
    CHECK(capture.rows("SELECT t.name, s.name, s.lane, count(*) FROM slice s JOIN track t ON t.id = s.track_id "
                       "WHERE s.category = 'alpha' GROUP BY 1, 2, 3 ORDER BY 1, 3, 2") ==
          Lines{"worker 0|outer|0|100", "worker 0|inner|1|200", "worker 1|outer|0|100", "worker 1|inner|1|200",
                "worker 2|outer|0|100", "worker 2|inner|1|200"});
    Lines expected;
    for (int i = 0; i < 100; ++i) {
      const std::string number = std::to_string(i);
      expected.push_back("outer|row " + number + " of worker 1");
      expected.push_back("inner|sizes: " + number + ", 18446744073709551615");
      expected.push_back("inner|-");
    }
    CHECK(
        capture.rows("SELECT task, metadata FROM task WHERE track_id = (SELECT id FROM track WHERE name = 'worker 1') "
                     "ORDER BY ts_ns, lane") == expected);
    // A child lies within its parent.
    CHECK(
        capture.one("SELECT count(*) FROM task i JOIN task o ON o.track_id = i.track_id AND o.lane = 0 AND i.lane = 1 "
                    "AND i.ts_ns >= o.ts_ns AND i.ts_ns + i.dur_ns <= o.ts_ns + o.dur_ns") == "600");
    CHECK(capture.rows("SELECT t.name, s.name, s.category FROM slice s JOIN track t ON t.id = s.track_id WHERE "
                       "s.category = 'early'") == Lines{"the main one|early task|early"});
  }
  SUBCASE("frames, regions, overlapped tasks and their relations") {
    CHECK(capture.rows("SELECT frame, category, number FROM frame ORDER BY number") ==
          Lines{"beta|beta|1", "beta|beta|2", "beta|beta|3", "beta|beta|4", "beta|beta|5", "beta|beta|6"});
    CHECK(capture.rows("SELECT task, lane, task_id FROM task WHERE track_id = (SELECT id FROM track WHERE name = "
                       "'regions') ORDER BY ts_ns") == Lines{"region|0|0x65", "region|1|0x66", "region|2|0x67"});
    CHECK(
        capture.rows("SELECT task, lane, task_id, parent_id, metadata FROM task WHERE track_id = (SELECT id FROM track "
                     "WHERE name = 'overlapped tasks') ORDER BY ts_ns") ==
        Lines{"first|0|0x1:0x2|group|colour: green", "second|1|0x2:0x2|-|-"});
    CHECK(capture.rows("SELECT a.name, b.name, kind FROM flow JOIN slice a ON a.id = src_id JOIN slice b ON b.id = "
                       "dst_id") == Lines{"first|second|predecessor to"});
  }
  SUBCASE("counters, events, markers, locks and what is told of the process") {
    CHECK(
        capture.one("SELECT max(value) || ' of ' || count(*) FROM counter WHERE track_id = (SELECT id FROM track WHERE "
                    "name = 'alpha: rounds')") == "300 of 300");
    CHECK(capture.rows("SELECT value FROM program_counter WHERE track_id = (SELECT id FROM track WHERE name = 'early: "
                       "early counter')") == Lines{"7"});
    CHECK(capture.rows("SELECT value FROM program_counter WHERE track_id = (SELECT id FROM track WHERE name = 'beta: "
                       "bytes')") == Lines{"1152921504606846976"});
    CHECK(capture.rows("SELECT value FROM program_figure ORDER BY ts_ns") == Lines{"0.25", "0.5"});
    CHECK(capture.rows("SELECT name, max(dur_ns) > 0, count(*) FROM slice WHERE category = 'event' GROUP BY name") ==
          Lines{"event|1|4", "point|0|2"});
    CHECK(capture.rows("SELECT marker, scope, thread FROM marker_event ORDER BY ts_ns") ==
          Lines{"here|global|the main one", "there|thread|the main one"});
    CHECK(capture.rows("SELECT text FROM message") == Lines{"1=-5, 2=6"});
    CHECK(capture.rows("SELECT lock FROM lock_wait UNION ALL SELECT lock FROM lock_hold") ==
          Lines{"mutex the lock", "mutex the lock"});
    CHECK(capture.one("SELECT value FROM meta WHERE key LIKE 'itt_for_tests%: build'") == "nightly");
  }
  CHECK(capture.quality() == "");
}

TEST_CASE("ITT calls that the user does not want cost the program its call only and leave nothing") {
  IttCapture capture({kProgram, "all"},
                     {{"domain", "*et*"}, {"exclude-domain", "early"}, {"frames", "off"}, {"counters", "off"}});
  CHECK(capture.rows("SELECT DISTINCT category FROM task") == Lines{"beta"});
  CHECK(capture.one("SELECT count(*) FROM track WHERE kind = 'counter' AND host LIKE 'itt_for_tests (%'") == "0");
  CHECK(capture.one("SELECT count(*) FROM track WHERE name LIKE 'frames%' OR name = 'regions'") == "0");
}

TEST_CASE("a program with ITT calls pauses, resumes and detaches its capture by itself") {
  IttCapture capture({kProgram, "pause"});
  CHECK(capture.exit_status == 0);
  CHECK(capture.rows("SELECT task, lane FROM task ORDER BY ts_ns, lane") ==
        Lines{"before|0", "spans|0", "after|1", "last|0"});
  // The one that was begun while nothing was collected is left out, with its end.
  CHECK(capture.quality() == "");
}

TEST_CASE("tasks of a program that is killed are kept, and those that it was in end with it") {
  for (const std::string how : {"crash", "exit"}) {
    CAPTURE(how);
    IttCapture capture({kProgram, how});
    CHECK(capture.rows("SELECT name, lane, count(*) FROM slice WHERE category = 'alpha' GROUP BY 1 ORDER BY 2") ==
          Lines{"outer|0|1", "inner|1|1", "one of many|2|1000"});
    CHECK(capture.rows("SELECT task FROM task WHERE unfinished ORDER BY lane") == Lines{"outer", "inner"});
    CHECK(capture.quality() == (how == "crash" ? "program_failed 1, tasks_unfinished 2" : "tasks_unfinished 2"));
  }
}

TEST_CASE("tasks of forked children and of programs that take a process over are told apart") {
  IttCapture forked({kProgram, "fork"});
  CHECK(forked.rows("SELECT s.name, count(DISTINCT t.device), count(*) FROM slice s JOIN track t ON t.id = s.track_id "
                    "WHERE s.category = 'alpha' GROUP BY 1 ORDER BY 1") == Lines{"child|1|1", "parent|1|2"});
  CHECK(forked.one("SELECT count(DISTINCT device) FROM track WHERE device LIKE 'itt_for_tests (%'") == "2");
  IttCapture taken_over({kProgram, "exec"});
  CHECK(taken_over.rows("SELECT name FROM slice WHERE category = 'alpha' ORDER BY ts_ns") == Lines{"before", "one"});
}

TEST_CASE("a million ITT tasks arrive, each once") {
  IttCapture capture({kProgram, "many", "1000000"}, {{"buffer", "128KiB"}});
  CHECK(capture.rows("SELECT name, count(*), max(lane) FROM slice WHERE category = 'alpha' GROUP BY 1") ==
        Lines{"one of many|1000000|0"});
  CHECK(capture.quality() == "");
}

}  // namespace
}  // namespace accelscope::capture
