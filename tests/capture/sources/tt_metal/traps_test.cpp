// The ways in which device logs differ from what one would expect of them.
#include "tests/capture/sources/tt_metal/device_log.h"

namespace accelscope::capture {
namespace {

constexpr std::string_view kTrapHeader =
    "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\nPCIe slot, core_x, core_y, RISC processor type, "
    "timer_id, time[cycles since reset], data, run host ID, trace id, trace id counter, zone name, type, source line, "
    "source "
    "file, meta data\n";

std::string log_of(std::string_view rows) { return std::string(kTrapHeader).append(rows); }

std::string zone_row(std::string_view type, int time, std::string_view name, int run = 1, int timer = 7) {
  return "0,1,1,BRISC," + std::to_string(timer) + "," + std::to_string(time) + ",0," + std::to_string(run) + ",,," +
         std::string(name) + "," + std::string(type) + ",3,a.cc,\n";
}
std::string begin(int time, std::string_view name, int run = 1) { return zone_row("ZONE_START", time, name, run); }
std::string end(int time, std::string_view name, int run = 1) { return zone_row("ZONE_END", time, name, run); }

struct PlainZone {
  std::string name;
  std::int64_t begin;
  std::int64_t end;
  std::uint32_t depth;
  bool unfinished;
  bool operator==(const PlainZone&) const = default;
};

std::vector<PlainZone> plain_zones(const Imported& session) {
  std::vector<PlainZone> zones;
  for (const EventValues& event : session.events("zone")) {
    const std::int64_t at = event.integer("time_cycles").value();
    zones.push_back(
        {event.name, at, at + event.integer("cycles").value(), event.depth, event.integer("unfinished") == 1});
  }
  std::sort(zones.begin(), zones.end(), [](const PlainZone& a, const PlainZone& b) {
    return std::tie(a.begin, a.depth, a.name) < std::tie(b.begin, b.depth, b.name);
  });
  return zones;
}

}  // namespace

TEST_CASE("zones are told apart by name, file and line where their timer ids collide") {
  const Imported session =
      import_log(log_of("0,1,1,BRISC,7,100,0,1,,,A,ZONE_START,3,a.cc,\n0,1,1,BRISC,7,110,0,1,,,A,ZONE_START,4,a.cc,\n"
                        "0,1,1,BRISC,7,120,0,1,,,A,ZONE_END,4,a.cc,\n0,1,1,BRISC,7,130,0,1,,,B,ZONE_START,4,a.cc,\n"
                        "0,1,1,BRISC,7,140,0,1,,,B,ZONE_END,4,a.cc,\n0,1,1,BRISC,7,150,0,1,,,A,ZONE_END,3,a.cc,\n"));
  CHECK(plain_zones(session) ==
        std::vector<PlainZone>{{"A", 100, 150, 0, false}, {"A", 110, 120, 1, false}, {"B", 130, 140, 1, false}});
}

TEST_CASE("a zone without an end goes on to the end of its parent") {
  const Imported session = import_log(log_of(begin(100, "BRISC-FW") + begin(110, "BRISC-KERNEL") + begin(120, "A") +
                                             end(150, "BRISC-KERNEL") + end(160, "BRISC-FW")));
  CHECK(plain_zones(session) == std::vector<PlainZone>{{"BRISC-FW", 100, 160, 0, false},
                                                       {"BRISC-KERNEL", 110, 150, 1, false},
                                                       {"A", 120, 150, 2, true}});
  REQUIRE(session.quality("unmatched_begins") != nullptr);
  CHECK(session.quality("unmatched_begins")->count == 1);
  CHECK(session.quality("unmatched_begins")->detail.find("chip 0 core 1,1 BRISC (1)") != std::string::npos);
}

TEST_CASE("zones that the end of the log cuts off go on to the last event of their processor") {
  const Imported session =
      import_log(log_of(begin(100, "BRISC-FW") + begin(110, "BRISC-KERNEL") +
                        "0,1,1,BRISC,9,190,5,1,,,,TS_DATA,0,,\n0,1,1,NCRISC,9,500,5,1,,,,TS_DATA,0,,\n"));
  CHECK(plain_zones(session) ==
        std::vector<PlainZone>{{"BRISC-FW", 100, 190, 0, true}, {"BRISC-KERNEL", 110, 190, 1, true}});
}

TEST_CASE("ends that were lost do not bury the runs that follow") {
  std::string rows;
  for (int run = 1; run <= 100; ++run)
    rows += begin(run * 100, "BRISC-FW", run) + begin(run * 100 + 10, "BRISC-KERNEL", run);
  const Imported session = import_log(log_of(rows));
  const std::vector<PlainZone> zones = plain_zones(session);
  REQUIRE(zones.size() == 200);
  for (std::size_t i = 0; i + 2 < zones.size(); i += 2) {
    CHECK(zones[i] == PlainZone{"BRISC-FW", zones[i].begin, zones[i + 2].begin, 0, true});
    CHECK(zones[i + 1] == PlainZone{"BRISC-KERNEL", zones[i + 1].begin, zones[i + 2].begin, 1, true});
  }
  CHECK(quality_count(session, "unmatched_begins") == 200);
}

TEST_CASE("an end without a begin is an event of its own") {
  const Imported session = import_log(log_of(end(50, "A") + begin(100, "B") + end(120, "C") + end(150, "B")));
  CHECK(plain_zones(session) == std::vector<PlainZone>{{"B", 100, 150, 0, false}});
  const auto events = session.events("ts_event");
  REQUIRE(events.size() == 2);
  for (const EventValues& event : events) {
    CHECK(event.string("type") == "ZONE_END");
    CHECK(event.integer("unmatched_end") == 1);
  }
  CHECK(find_event(events, "C")->begin == 70);
  CHECK(quality_count(session, "unmatched_ends") == 2);
}

TEST_CASE("zones of one instant: back to back, without length, and begun together") {
  const std::string rows = begin(100, "A") + begin(100, "B") + end(120, "B") + begin(120, "B") + end(130, "B") +
                           begin(140, "C") + end(140, "C") + end(150, "A");
  CHECK(plain_zones(import_log(log_of(rows))) == std::vector<PlainZone>{{"A", 100, 150, 0, false},
                                                                        {"B", 100, 120, 1, false},
                                                                        {"B", 120, 130, 1, false},
                                                                        {"C", 140, 140, 1, false}});
  // B encloses A although A comes first by name: only the ends tell.
  CHECK(plain_zones(import_log(log_of(begin(100, "A") + begin(100, "B") + end(120, "A") + end(150, "B")))) ==
        std::vector<PlainZone>{{"B", 100, 150, 0, false}, {"A", 100, 120, 1, false}});
}

TEST_CASE("a zone that calls itself nests, endless nesting without ends is cut") {
  CHECK(plain_zones(import_log(log_of(begin(100, "A") + begin(110, "A") + end(120, "A") + end(130, "A")))) ==
        std::vector<PlainZone>{{"A", 100, 130, 0, false}, {"A", 110, 120, 1, false}});
  std::string rows;
  for (int i = 0; i < 1000; ++i) rows += begin(100 + i, "A" + std::to_string(i));
  const Imported session = import_log(log_of(rows));
  CHECK(session.count("zone") == 1000);
  CHECK(session.snapshot().lanes.size() <= 65);
}

TEST_CASE("rows that repeat another one count once, and equal markers of other times stay") {
  const std::string rows =
      begin(100, "A") + begin(100, "A") + end(150, "A") + end(150, "A") + begin(200, "A") + end(250, "A");
  const Imported session = import_log(log_of(rows));
  CHECK(plain_zones(session) == std::vector<PlainZone>{{"A", 100, 150, 0, false}, {"A", 200, 250, 0, false}});
  CHECK(quality_count(session, "duplicate_rows") == 2);
}

TEST_CASE("payloads, sums, events and counters come through digit by digit") {
  const Imported session = import_log(log_of(
      "0,1,1,BRISC,12345,100,18446744073709551615,1024,5,3,,TS_DATA,0,,\n"
      "0,1,1,TRISC_0,77,150,123456,1024,5,3,CB-COMPUTE-WAIT-FRONT,ZONE_TOTAL,88,cb.h,\n"
      "0,1,1,BRISC,78,160,0,1024,,,SENT,TS_EVENT,9,k.cpp,{\"sub_device_id\":1;\"sub_device_manager_id\":7}\n"
      "0,1,1,BRISC,9090,170,3,1024,,,,TS_DATA,0,,{\"counter type\":\"FPU_COUNTER\";\"ref "
      "cnt\":120;\"value\":9007199254740993}\n"
      "0,1,1,BRISC,9090,170,3,1024,,,,TS_DATA,0,,{\"counter type\":\"SFPU_COUNTER\";\"ref cnt\":120;\"value\":4}\n"));
  const auto data = session.events("ts_data");
  REQUIRE(data.size() == 1);
  CHECK(static_cast<std::uint64_t>(*data[0].integer("data")) == 18446744073709551615U);
  CHECK(data[0].name == "timer 12345");
  CHECK(data[0].track == "core 1,1 BRISC data");
  CHECK(data[0].integer("trace_id") == 5);
  CHECK(data[0].integer("trace_id_counter") == 3);
  CHECK(data[0].string("source").empty());
  const auto totals = session.events("zone_total");
  REQUIRE(totals.size() == 1);
  CHECK(totals[0].integer("cycles") == 123456);
  CHECK(totals[0].integer("ns") == 123456);
  CHECK(totals[0].string("source") == "cb.h:88");
  const auto events = session.events("ts_event");
  REQUIRE(events.size() == 1);
  CHECK(events[0].string("meta_data") == R"({"sub_device_id":1,"sub_device_manager_id":7})");
  CHECK_FALSE(events[0].integer("trace_id").has_value());
  const auto counters = session.events("perf_counter");
  REQUIRE(counters.size() == 2);
  const EventValues* fpu = find_event(counters, "FPU_COUNTER");
  REQUIRE(fpu != nullptr);
  CHECK(fpu->integer("value") == 9007199254740993);
  CHECK(fpu->integer("ref_cnt") == 120);
  CHECK(fpu->kind == "counter");
  CHECK(fpu->track == "core 1,1 BRISC FPU_COUNTER");
}

TEST_CASE("what dispatch cores say about their commands has columns") {
  const Imported session = import_log(log_of(
      "0,1,1,BRISC,7,100,0,1,,,CQ-DISPATCH,ZONE_START,3,a.cc,{\"workers_runtime_id\":4096;\"dispatch_command_type\":"
      "\"CQ_DISPATCH_CMD_WAIT\";\"dispatch_command_subtype\":\"NONE\"}\n" +
      zone_row("ZONE_END", 200, "CQ-DISPATCH")));
  const auto zones = session.events("zone");
  REQUIRE(zones.size() == 1);
  CHECK(zones[0].integer("workers_runtime_id") == 4096);
  CHECK(zones[0].string("dispatch_command_type") == "CQ_DISPATCH_CMD_WAIT");
  CHECK(zones[0].string("dispatch_command_subtype") == "NONE");
}

TEST_CASE("rows of types to come are kept") {
  const Imported session = import_log(log_of(zone_row("TS_DATA_16B", 100, "X")));
  const auto events = session.events("ts_event");
  REQUIRE(events.size() == 1);
  CHECK(events[0].string("type") == "TS_DATA_16B");
  CHECK(quality_count(session, "unknown_types") == 1);
}

TEST_CASE("quoted cells may hold commas") {
  const Imported session = import_log(log_of(
      "0,1,1,BRISC,7,100,0,1,,,\"MATMUL<a,b>\",ZONE_START,3,\"/x y/a,b.cc\",\n"
      "0,1,1,BRISC,7,150,0,1,,,\"MATMUL<a,b>\",ZONE_END,3,\"/x y/a,b.cc\",\"{\"\"k\"\":\"\"v\"\";\"\"n\"\":2}\"\n"));
  const auto zones = session.events("zone");
  REQUIRE(zones.size() == 1);
  CHECK(zones[0].name == "MATMUL<a,b>");
  CHECK(zones[0].string("source") == "/x y/a,b.cc:3");
  CHECK(zones[0].string("end_meta_data") == R"({"k":"v","n":2})");
}

TEST_CASE("chips have clocks of their own, and the report says that they are not to be compared") {
  const Imported session = import_log(log_of(
      "3,1,1,BRISC,7,9000000000000,0,1,,,A,ZONE_START,3,a.cc,\n3,1,1,BRISC,7,9000000000500,0,1,,,A,ZONE_END,3,a.cc,\n"
      "0,1,1,BRISC,7,100,0,1,,,A,ZONE_START,3,a.cc,\n0,1,1,BRISC,7,300,0,1,,,A,ZONE_END,3,a.cc,\n"));
  const auto zones = session.events("zone");
  REQUIRE(zones.size() == 2);
  for (const EventValues& zone : zones) CHECK(zone.begin == 0);
  CHECK(session.snapshot().clocks.size() == 2);
  REQUIRE(session.quality("chips_not_synchronised") != nullptr);
  CHECK(session.quality("chips_not_synchronised")->count == 2);
}

TEST_CASE("tracks are a tree of cores and processors, markers below the zones of their processor") {
  test::TtLogOptions options;
  options.chips = 2;
  const Imported session = import_log(test::tt_log_text(options));
  std::vector<std::string> cores, names;
  for (const TrackSnapshot& track : session.snapshot().tracks) {
    const Track& definition = *track.track;
    if (definition.kind == "layer") continue;  // the runs
    CHECK(definition.kind == "engine");
    if (definition.device != "chip 1") continue;
    if (track.schema == nullptr) {
      CHECK(definition.parent == kNone);
      cores.push_back(definition.name);
      continue;
    }
    const std::string above = session.snapshot().find_track(definition.parent)->track->name;
    CHECK(definition.name.starts_with(above + " "));
    if (track.schema->name == "zone") names.push_back(definition.name);
  }
  CHECK(cores == std::vector<std::string>{"core 1,1", "core 1,2", "core 2,1", "core 2,2"});
  REQUIRE(names.size() == 20);
  CHECK(std::vector<std::string>(names.begin(), names.begin() + 6) ==
        std::vector<std::string>{"core 1,1 BRISC", "core 1,1 NCRISC", "core 1,1 TRISC_0", "core 1,1 TRISC_1",
                                 "core 1,1 TRISC_2", "core 1,2 BRISC"});
}

TEST_CASE("runs of programs are a band of each chip, from the first to the last zone of any core") {
  test::TtLogOptions options;
  options.programs = 3;
  const Imported session = import_log(test::tt_log_text(options));
  const auto runs = session.events("run");
  CHECK(runs.size() == 3);
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> zones;  // by run
  for (const auto& zone : session.events("zone")) {
    const std::string run = "run " + std::to_string(zone.integer("run_host_id").value_or(-1));
    const auto [place, added] = zones.try_emplace(run, zone.begin, zone.end);
    place->second.first = std::min(place->second.first, zone.begin);
    place->second.second = std::max(place->second.second, zone.end);
  }
  for (const auto& run : runs) {
    REQUIRE(zones.contains(run.name));
    CHECK(run.begin == zones[run.name].first);
    CHECK(run.end == zones[run.name].second);
    CHECK(run.integer("cores") == 4);
  }
}

TEST_CASE("a marker that was never stamped, or a day away, lengthens neither the session nor a zone") {
  constexpr std::int64_t kUp = 11'017'522'886'706;  // cycles since the reset
  const auto row = [](std::string_view type, std::int64_t time, std::string_view name) {
    return "0,1,1,BRISC,7," + std::to_string(time) + ",0,1,,," + std::string(name) + "," + std::string(type) +
           ",3,a.cc,\n";
  };
  std::string rows;
  for (int i = 0; i < 10; ++i) {
    rows += row("ZONE_START", kUp + 1000 * i, "K");
    if (i != 4) rows += row("ZONE_END", kUp + 1000 * i + 500, "K");
  }
  for (const std::int64_t wrong : {std::int64_t{0}, kUp + 200'000'000'000'000}) {
    CAPTURE(wrong);
    const Imported session = import_log(log_of(rows + row("ZONE_END", wrong, "K")));
    CHECK(session.snapshot().end_ns - session.snapshot().begin_ns < 20'000);
    REQUIRE(session.quality("impossible_times") != nullptr);
    CHECK(session.quality("impossible_times")->count == 1);
    const auto retained = session.events("ts_event");
    REQUIRE(retained.size() == 1);
    CHECK(retained[0].kind == "doubtful");
    CHECK(retained[0].integer("time_cycles") == wrong);
    for (const PlainZone& zone : plain_zones(session)) CHECK(zone.end - zone.begin <= 10'000);
  }
  // A sample of a counter has a reference count where others have the number of a text.
  const Imported sampled = import_log(log_of(
      rows + "0,1,1,BRISC,9,0,3,1,,,,TS_DATA,0,,{\"counter type\":\"FPU\";\"ref cnt\":4000000000;\"value\":99}\n"));
  CHECK(sampled.count("perf_counter") == 0);
  const auto samples = sampled.events("ts_event");
  REQUIRE(samples.size() == 1);
  CHECK(samples[0].name == "FPU");
  CHECK(samples[0].integer("data") == 99);
  CHECK(samples[0].string("meta_data") == R"({"ref cnt":4000000000})");
  // A log that really begins at 0 is as it was.
  const Imported fresh = import_log(log_of(begin(0, "K") + end(50, "K") + begin(60, "K") + end(90, "K")));
  CHECK(fresh.quality("impossible_times") == nullptr);
  CHECK(fresh.count("zone") == 2);
}

TEST_CASE("a processor of which a third of the markers is far away keeps its other markers") {
  std::string rows;
  for (int i = 0; i < 500; ++i) rows += begin(1 + 2000 * i, "K") + end(1001 + 2000 * i, "K");
  for (int i = 0; i < 300; ++i)
    rows += "0,1,1,BRISC,9," + std::to_string(1'000'000'000'000'000'000 + i) + ",0,1,,,,TS_DATA,3,a.cc,\n";
  const Imported session = import_log(log_of(rows));
  CHECK(plain_zones(session).size() == 500);
  REQUIRE(session.quality("impossible_times") != nullptr);
  CHECK(session.quality("impossible_times")->count == 300);
}

}  // namespace accelscope::capture
