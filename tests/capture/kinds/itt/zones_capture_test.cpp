// Programs that are marked with the macros of zones, captured as users do.
#include <algorithm>

#include "tests/capture/kinds/itt/itt_support.h"

namespace accelscope::capture {
namespace {

using Lines = std::vector<std::string>;

TEST_CASE("every macro of zones is an event with its place in the source") {
  IttCapture capture({program_of("zones_for_tests")}, {{"locks", "on"}});
  CHECK(capture.exit_status == 0);
  CHECK(capture.printed == "connected\n");

  SUBCASE("zones: nesting, names, lines, colours, what is told of them") {
    CHECK(
        capture.rows("SELECT name, lane FROM slice WHERE category = 'zones' AND track_id = (SELECT id FROM track WHERE "
                     "kind = 'host_thread' ORDER BY id LIMIT 1) ORDER BY ts_ns, lane") == Lines{"scoped_zones|0",
                                                                                                "scoped N|1",
                                                                                                "scoped_zones|1",
                                                                                                "scoped NC|1",
                                                                                                "scoped_zones|1",
                                                                                                "scoped NS|1",
                                                                                                "scoped_zones|1",
                                                                                                "scoped NCS|1",
                                                                                                "scoped_zones|1",
                                                                                                "named N|2",
                                                                                                "scoped_zones|3",
                                                                                                "named NC|4",
                                                                                                "scoped_zones|1",
                                                                                                "named NS|2",
                                                                                                "scoped_zones|3",
                                                                                                "named NCS|4",
                                                                                                "scoped_zones|1",
                                                                                                "made while it runs|2",
                                                                                                "made while it runs|3",
                                                                                                "told|0",
                                                                                                "by hand|1",
                                                                                                "late|1",
                                                                                                "step 12|1",
                                                                                                "other 1|2",
                                                                                                "zones_in_c|0",
                                                                                                "named in C|1",
                                                                                                "coloured in C|1",
                                                                                                "zones_in_c|1",
                                                                                                "made zone|0",
                                                                                                "bound|1"});
    CHECK(capture.rows("SELECT source, function FROM task WHERE task = 'made zone'") == Lines{"made.py:7|forward"});
    CHECK(capture.rows("SELECT task, metadata, value, colour FROM task WHERE task IN ('told', 'by hand', 'named in C') "
                       "ORDER BY ts_ns") == Lines{"told|some text\n3 of them|18446744073709551615|#abcdef",
                                                  "by hand|inner text\nn=5|7|#111111", "named in C|from C|42|#334455"});
    CHECK(capture.one("SELECT function FROM task WHERE task = 'scoped NC'") == "scoped_zones");
    const std::string place = capture.one("SELECT source FROM task WHERE task = 'scoped NC'");
    CHECK(place.find("zones_program.cpp:") != std::string::npos);
    CHECK(capture.one("SELECT colour FROM task WHERE task = 'scoped NC'") == "#ff8800");
    CHECK(
        capture.rows("SELECT t.name, count(*) FROM slice s JOIN track t ON t.id = s.track_id WHERE s.name = 'loop'") ==
        Lines{"second|1000"});
    CHECK(capture.rows("SELECT t.name, s.name FROM slice s JOIN track t ON t.id = s.track_id WHERE t.name LIKE "
                       "'fiber%'") == Lines{"fiber a fiber|in the fiber"});
  }
  SUBCASE("the source of marked files is kept with the session") {
    const std::string place = capture.one("SELECT source FROM task WHERE task = 'scoped NC'");
    const std::string path = place.substr(0, place.rfind(':'));
    const std::string text = capture.one("SELECT content FROM source_file WHERE path = '" + path + "'");
    const auto line = std::stol(place.substr(place.rfind(':') + 1));
    std::size_t begin = 0;
    for (long i = 1; i < line; ++i) begin = text.find('\n', begin) + 1;
    CHECK(text.substr(begin, text.find('\n', begin) - begin).find("\"scoped NC\"") != std::string::npos);
  }
  SUBCASE("frames and plots") {
    CHECK(capture.rows("SELECT frame, count(*), max(number) FROM frame GROUP BY frame ORDER BY frame") ==
          Lines{"Frame|4|4", "bound frame|1|1", "frame in C|1|1", "physics|2|2", "upload|1|1"});
    CHECK(capture.rows("SELECT t.unit, c.value FROM program_counter c JOIN track t ON t.id = c.track_id WHERE t.name = "
                       "'bytes in use'") == Lines{"B|9007199254740993"});
    CHECK(capture.rows("SELECT c.value FROM program_figure c JOIN track t ON t.id = c.track_id WHERE t.name = 'loss' "
                       "ORDER BY c.ts_ns") == Lines{"1.5", "0.5", "-0.5"});
  }
  SUBCASE("locks, messages, memory, facts") {
    CHECK(capture.rows("SELECT lock, shared, count(*) FROM lock_hold GROUP BY 1, 2 ORDER BY 1, 2") ==
          Lines{"std::mutex plain_mutex|-|1", "std::shared_mutex plain_shared|1|1", "table|-|1", "table|1|1",
                "work queue|-|1"});
    CHECK(capture.one("SELECT count(*) FROM lock_wait") == "3");
    CHECK(capture.one("SELECT count(*) FROM lock_hold WHERE source LIKE '%zones_program.cpp:%'") == "5");
    CHECK(capture.rows("SELECT text, colour FROM message ORDER BY ts_ns") ==
          Lines{"a message|-", "a literal|-", "coloured|#00ff00", "coloured literal|#ff6347", "with stack|-",
                "literal with stack|-", "coloured with stack|#0000ff", "all of it|#0000ff", "message in C|-",
                "bound message|#00ff00"});
    CHECK(capture.rows("SELECT pool_name, allocation_bytes FROM allocation WHERE pool_name = 'arena' ORDER BY ts_ns") ==
          Lines{"arena|2048", "arena|-2048", "arena|300", "arena|-300", "arena|10", "arena|-10", "arena|20"});
    CHECK(capture.one("SELECT sum(size_bytes) FROM memory WHERE end_ns IS NULL") == "20");
    CHECK(capture.one("SELECT value FROM meta WHERE key LIKE '%: app_info'") == "version 7");
  }
  CHECK(capture.quality() == "frame_images_left_out 1, releases_unknown 1");
}

TEST_CASE("marks that are switched off, or that the user does not want, leave nothing") {
  IttCapture off({program_of("zones_off_for_tests")});
  CHECK(off.printed == "not connected\n");
  CHECK(off.quality() == "nothing_attached 1");
  IttCapture unwanted({program_of("zones_for_tests")}, {{"zones", "off"}});
  CHECK(unwanted.printed == "not connected\n");
  CHECK(unwanted.exit_status == 0);
}

}  // namespace
}  // namespace accelscope::capture
