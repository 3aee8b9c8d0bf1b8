// Every shape that the tool has given its device log since 2023.
#include "tests/capture/sources/tt_metal/device_log.h"

namespace accelscope::capture {
namespace {

using test::TtLogEra;
using test::TtLogOptions;

constexpr std::array kEras = {TtLogEra::a, TtLogEra::b, TtLogEra::c, TtLogEra::d,
                              TtLogEra::e, TtLogEra::f, TtLogEra::g, TtLogEra::h};

}  // namespace

TEST_CASE("the zones of a device log of every era are found with their cycles, depths, lines and runs") {
  for (const TtLogEra era : kEras) {
    CAPTURE(static_cast<int>(era));
    TtLogOptions options;
    options.era = era;
    options.chips = 2;
    options.programs = 7;
    options.programs_per_read = 3;
    options.totals = options.events = options.counters = true;
    const Imported session = import_log(test::tt_log_text(options));
    const std::vector<test::TtZone> expected = test::tt_log_zones(options);
    const std::vector<test::TtZone> found = zones_of(session);
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) REQUIRE(found[i] == expected[i]);
    const std::size_t runs = std::size_t{2} * 4 * 5 * 7;
    const bool has_data = era >= TtLogEra::f;
    CHECK(session.count("ts_data") == (has_data ? runs : 0));
    CHECK(session.count("zone_total") == (has_data ? runs : 0));
    CHECK(session.count("ts_event") == (has_data ? runs : 0));
    CHECK(session.count("perf_counter") == (has_data ? 2 * runs : 0));
    for (const char* kind : {"rows_skipped", "unmatched_begins", "unmatched_ends", "unknown_columns", "unknown_types",
                             "duplicate_rows", "values_left_out", "repeated_header", "truncated"}) {
      CAPTURE(kind);
      CHECK(session.quality(kind) == nullptr);
    }
    CHECK((session.quality("frequency_missing") != nullptr) == (era == TtLogEra::a));
  }
}

TEST_CASE("cycles become ns by the frequency that the log's first line states") {
  for (const auto& [line, ns] : std::initializer_list<std::pair<std::string, std::int64_t>>{
           {"Chip clock is at 1.2 GHz", 5000},
           {"ARCH: grayskull, CHIP_FREQ[MHz]: 1202", 4991},
           {"ARCH: blackhole, CHIP_FREQ[MHz]: 1350, Max Compute Cores: 130", 4444},
           {"ARCH: blackhole, CHIP_FREQ[MHz]: 0, Max Compute Cores: 130", 6000}}) {
    CAPTURE(line);
    const Imported session =
        import_log(line +
                   "\nPCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset]\n"
                   "0,1,2,BRISC,1,1000000000000\n0,1,2,BRISC,4,1000000006000\n");
    const auto zones = session.events("zone");
    REQUIRE(zones.size() == 1);
    CHECK(zones[0].begin == 0);  // the session begins with the file's first event
    CHECK(zones[0].end == ns);
    CHECK(zones[0].integer("cycles") == 6000);
    CHECK(zones[0].name == "BRISC-FW");
    CHECK(zones[0].track == "core 1,2 BRISC");
    CHECK(zones[0].device == "chip 0");
  }
}

TEST_CASE("architecture, frequency and number of cores are kept as facts") {
  TtLogOptions options;
  options.frequency_mhz = 1350;
  const Imported session = import_log(test::tt_log_text(options));
  CHECK(session.snapshot().meta_value("arch") == "wormhole_b0");
  CHECK(session.snapshot().meta_value("chip_freq_mhz") == "1350");
  CHECK(session.snapshot().meta_value("max_compute_cores") == "4");
}

TEST_CASE("a log without a frequency shows cycles as ns and says so") {
  const Imported session = import_log("0, 3, 4, NCRISC, 1, 1882735035004\n0, 3, 4, NCRISC, 4, 1882735036006\n");
  const auto zones = session.events("zone");
  REQUIRE(zones.size() == 1);
  CHECK(zones[0].name == "NCRISC-FW");
  CHECK(zones[0].end == 1002);
  CHECK(session.quality("frequency_missing") != nullptr);
}

TEST_CASE("the timers of logs without names are firmware and kernel, others are events") {
  const Imported session = import_log(
      "Chip clock is at 1.2 GHz\nPCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset]\n"
      "0, 1, 1, TRISC_0, 1, 100\n0, 1, 1, TRISC_0, 4, 900\n0, 1, 1, TRISC_0, 2, 200\n0, 1, 1, TRISC_0, 3, 800\n"
      "0, 1, 1, TRISC_0, 17, 500\n");
  const auto zones = session.events("zone");
  REQUIRE(zones.size() == 2);
  CHECK(find_event(zones, "TRISC-FW")->depth == 0);
  CHECK(find_event(zones, "TRISC-KERNEL")->depth == 1);
  CHECK(find_event(zones, "TRISC-KERNEL")->integer("cycles") == 600);
  const auto events = session.events("ts_event");
  REQUIRE(events.size() == 1);
  CHECK(events[0].name == "timer 17");
  CHECK(events[0].integer("timer_id") == 17);
}

TEST_CASE("columns are found by name: the two headers of 13 columns do not mix, and any order will do") {
  const std::string e =
      "ARCH: grayskull, CHIP_FREQ[MHz]: 1000\nPCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles "
      "since "
      "reset], stat value, run ID, run host ID,  zone name, zone phase, source line, source file\n"
      "0,1,1,BRISC,53427 ,100,0,3,77,BRISC-FW    ,begin,315,brisc.cc\n"
      "0,1,1,BRISC,118963,200,0,3,77,BRISC-FW    ,end  ,315,brisc.cc\n";
  const std::string g =
      "ARCH: grayskull, CHIP_FREQ[MHz]: 1000\nPCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles "
      "since "
      "reset], data, run host ID,  zone name, type, source line, source file, meta data\n"
      "0,1,1,BRISC,53427,100,9,77,BRISC-FW,ZONE_START,315,brisc.cc,\n"
      "0,1,1,BRISC,53427,200,0,77,BRISC-FW,ZONE_END,315,brisc.cc,\n";
  const std::string turned =
      "ARCH: grayskull, CHIP_FREQ[MHz]: 1000\nmeta data, Type, Zone  Name, source file, TIME[cycles since reset],risc "
      "processor type, core_y, core_x, source line, pcie slot, timer_id\n"
      ",ZONE_END,BRISC-FW,brisc.cc,200,BRISC,1,1,315,0,53427\n,ZONE_START,BRISC-FW,brisc.cc,100,BRISC,1,1,315,0,"
      "53427\n";
  for (const std::string& text : {e, g, turned}) {
    const Imported session = import_log(text);
    const auto zones = session.events("zone");
    REQUIRE(zones.size() == 1);
    CHECK(zones[0].name == "BRISC-FW");
    CHECK(zones[0].integer("time_cycles") == 100);
    CHECK(zones[0].integer("cycles") == 100);
    CHECK(zones[0].integer("timer_id") == 53427);
    CHECK(zones[0].string("source") == "brisc.cc:315");
    CHECK(session.quality("unknown_columns") == nullptr);
  }
  const auto of_e = import_log(e).events("zone");
  CHECK(of_e[0].integer("run_id") == 3);
  CHECK(of_e[0].integer("run_host_id") == 77);
  const auto of_g = import_log(g).events("zone");
  CHECK_FALSE(of_g[0].integer("run_id").has_value());
  CHECK(of_g[0].integer("run_host_id") == 77);
  CHECK(of_g[0].integer("data") == 9);
}

TEST_CASE("marks of byte order, line ends of Windows, padding and missing last line ends are no obstacle") {
  TtLogOptions options;
  std::string text = test::tt_log_text(options);
  const std::vector<test::TtZone> expected = test::tt_log_zones(options);
  std::string windows = "\xef\xbb\xbf";
  for (const char c : text) {
    if (c == '\n') windows += '\r';
    windows += c;
    if (c == ',') windows += "  ";
  }
  CHECK(zones_of(import_log(windows)) == expected);
  text.pop_back();
  CHECK(zones_of(import_log(text)) == expected);
  // Nothing of the row is missing, but nobody knows whether rows behind it are.
  REQUIRE(import_log(text).quality("truncated") != nullptr);
  CHECK(import_log(text).quality("truncated")->severity == Severity::warning);
}

TEST_CASE("columns of unknown names are kept and named") {
  const Imported session = import_log(
      "ARCH: x, CHIP_FREQ[MHz]: 1000\nPCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since "
      "reset], "
      "Sub Device, zone name, type, source line, source file, risc\n"
      "0,1,1,BRISC,5,100,left,A,ZONE_START,3,a.cc,r1\n0,1,1,BRISC,5,200,left,A,ZONE_END,3,a.cc,r1\n"
      "0,1,1,BRISC,5,300,,A,TS_EVENT,3,a.cc,\n");
  const auto zones = session.events("zone");
  REQUIRE(zones.size() == 1);
  CHECK(zones[0].string("sub_device") == "left");
  CHECK(zones[0].string("risc") == "BRISC");
  CHECK(zones[0].string("risc_2") == "r1");
  CHECK(session.events("ts_event")[0].strings.count("sub_device") == 0);
  REQUIRE(session.quality("unknown_columns") != nullptr);
  CHECK(session.quality("unknown_columns")->count == 2);
  CHECK(session.quality("unknown_columns")->detail.find("\"sub device\"") != std::string::npos);
}

TEST_CASE("a device log is recognised by what is in it") {
  const auto probe = [](std::string_view text) { return sources::tt_metal::probe_device_log(text, "x.txt"); };
  for (const TtLogEra era : kEras) {
    TtLogOptions options;
    options.era = era;
    CAPTURE(static_cast<int>(era));
    CHECK(probe(test::tt_log_text(options)) >= 80);
  }
  CHECK(probe("ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\nPCIe slot, core") > 0);  // cut off early
  CHECK(probe("OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,ATTRIBUTES,CORE COUNT\nMatmul,tt_dnn_device,1,0,{},64\n") ==
        0);
  CHECK(probe("1,2,3,4,5,6\n1,2,3,4,5,6\n") == 0);
  CHECK(probe("{\"traceEvents\":[]}") == 0);
  CHECK(probe("") == 0);
}

}  // namespace accelscope::capture
