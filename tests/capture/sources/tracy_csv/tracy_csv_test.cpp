// Tables of tracy-csvexport, as the tool and tt-metal write them.
#include "capture/sources/base/importers.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "tests/capture/imported.h"
#include "tests/capture/wire/wire_support.h"

namespace accelscope::capture {
namespace {

constexpr std::string_view kZones = "name,src_file,src_line,ns_since_start,exec_time_ns,thread,value\n";

Imported import_text(std::string_view text) {
  return Imported::by([&](EventSink& sink) {
    return sources::tracy_csv::import_tracy_csv(json::ByteSource::from_memory(text), "zones.csv", {}, sink);
  });
}

std::string failure_of_text(std::string_view text) {
  const auto store = std::move(Store::create().value());
  StoreSink sink(*store);
  const Result<void> done =
      sources::tracy_csv::import_tracy_csv(json::ByteSource::from_memory(text), "zones.csv", {}, sink);
  return done.ok() ? "" : done.message();
}

struct TracyZone {
  std::string name;
  std::string track;
  std::string source;
  std::string value;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::uint32_t depth = 0;
  auto operator<=>(const TracyZone&) const = default;
};

std::vector<TracyZone> tracy_zones_of(const Imported& session) {
  std::vector<TracyZone> zones;
  for (const EventValues& event : session.events("tracy_zone")) {
    zones.push_back(
        {event.name, event.track, event.string("source"), event.string("value"), event.begin, event.end, event.depth});
  }
  std::sort(zones.begin(), zones.end());
  return zones;
}

// Zones of a thread that lie in one another like calls.
void nest(std::mt19937_64& random, std::uint32_t thread, std::int64_t begin, std::int64_t end, std::uint32_t depth,
          std::vector<TracyZone>& zones) {
  for (std::int64_t at = begin; at + 4 < end;) {
    const std::int64_t first = at + static_cast<std::int64_t>(random() % 3);
    const std::int64_t last =
        first + 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end - first - 1));
    const std::uint64_t place = random() % 9;
    zones.push_back({fmt::format("zone<{}, {}>", place, depth), fmt::format("Thread {}", thread),
                     fmt::format("src/a,b.cpp:{}", place),
                     random() % 3 == 0 ? fmt::format("text, {}", random() % 99) : "", first, last, depth});
    if (depth < 4 && random() % 2 == 0) nest(random, thread, first, last, depth + 1, zones);
    at = last + static_cast<std::int64_t>(random() % 50);
  }
}

}  // namespace

TEST_CASE("zones in any order of their rows are nested as they lie in time, commas in names and texts or not") {
  std::mt19937_64 random(31);
  for (int round = 0; round < 20; ++round) {
    CAPTURE(round);
    std::vector<TracyZone> zones;
    for (const std::uint32_t thread : {7U, 8U, 4'000'000'000U}) nest(random, thread, 0, 4000, 0, zones);
    std::sort(zones.begin(), zones.end());
    std::vector<TracyZone> rows = zones;
    std::shuffle(rows.begin(), rows.end(), random);
    std::string text(kZones);
    for (TracyZone& row : rows) {
      const std::size_t colon = row.source.rfind(':');
      // The tool quotes nothing: only names and texts are told apart again.
      std::string file = row.source.substr(0, colon);
      file.erase(std::remove(file.begin(), file.end(), ','), file.end());
      text += fmt::format("{},{},{},{},{},{},{}\n", row.name, file, row.source.substr(colon + 1), row.begin,
                          row.end - row.begin, row.track.substr(7), row.value);
    }
    for (TracyZone& zone : zones)
      zone.source.erase(std::remove(zone.source.begin(), zone.source.end(), ','), zone.source.end());
    std::sort(zones.begin(), zones.end());
    const Imported session = import_text(text);
    CHECK(tracy_zones_of(session) == zones);
    CHECK(quality_count(session, "rows_skipped") == 0);
  }
}

TEST_CASE("a part of the file that was never written costs the rows in it, and that is said") {
  constexpr std::size_t kRows = 40'000;  // several blocks
  std::string text(kZones);
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i < kRows; ++i) {
    begins.push_back(text.size());
    text += fmt::format("work,a.cpp,{},{},500,1,\n", i % 50, 1000 * i);
  }
  for (const std::size_t length : {std::size_t{1}, std::size_t{4096}, std::size_t{700'000}}) {
    CAPTURE(length);
    std::string damaged = text;
    const std::size_t at = text.size() / 3;
    std::fill_n(damaged.begin() + static_cast<std::ptrdiff_t>(at), length, '\0');
    std::size_t whole = 0;
    for (std::size_t i = 0; i < kRows; ++i) {
      const std::size_t end = i + 1 < kRows ? begins[i + 1] : text.size();
      whole += end <= at || begins[i] > at + length ? 1 : 0;
    }
    const Imported session = import_text(damaged);
    CHECK(session.count("tracy_zone") == whole);
    CHECK(quality_count(session, "rows_skipped") == 0);
    REQUIRE(session.quality("file_holes") != nullptr);
    CHECK(quality_count(session, "file_holes") == length);
    CHECK(session.quality("file_holes")->detail.find(fmt::format("byte {}", at)) != std::string::npos);
    CHECK(session.quality("file_holes")->severity == Severity::error);
  }
}

TEST_CASE("samples of plots among the zones become counters") {
  const Imported session = import_text(std::string(kZones) +
                                       "run,a.cpp,3,100,50,1,\n"
                                       "queue depth,,,120,,,4.000000\n"
                                       "queue depth,,,110,,,-2.5\n"
                                       "load,,,5,,,1e3\n"
                                       "load,,,6,,,none\n");
  CHECK(session.count("tracy_zone") == 1);
  const std::vector<EventValues> samples = session.events("tracy_plot");
  REQUIRE(samples.size() == 3);
  std::vector<std::string> found;
  for (const EventValues& sample : samples)
    found.push_back(fmt::format("{} {} {}", sample.track, sample.begin, *sample.real("value")));
  std::sort(found.begin(), found.end());
  CHECK(found == std::vector<std::string>{"load 5 1000", "queue depth 110 -2.5", "queue depth 120 4"});
  CHECK(quality_count(session, "rows_skipped") == 1);
}

TEST_CASE("messages may go over several lines, GPU zones may overlap, and statistics are a table") {
  const Imported messages =
      import_text("MessageName;total_ns\nhello;500\n`{\"op\": 1;\n \"x\": 2}`;700\n\nlast;20\nno end\n");
  std::vector<std::string> found;
  for (const EventValues& event : messages.events("tracy_message"))
    found.push_back(fmt::format("{} {}", event.begin, event.string("message")));
  std::sort(found.begin(), found.end());
  CHECK(found == std::vector<std::string>{"20 last", "500 hello", "700 `{\"op\": 1;\n \"x\": 2}`"});
  CHECK(quality_count(messages, "rows_skipped") == 1);

  const Imported gpu =
      import_text("name,src_file,Time from start of program,GPU execution time\nk,a.cu,10,20\nk,a.cu,15,20\n");
  REQUIRE(gpu.count("tracy_gpu_zone") == 2);
  CHECK(gpu.events("tracy_gpu_zone")[0].track == "GPU");
  CHECK(gpu.events("tracy_gpu_zone")[0].string("source") == "a.cu");

  const Imported statistics = import_text(
      "name,src_file,src_line,total_ns,total_perc,counts,mean_ns,min_ns,max_ns,std_ns\n"
      "f<int, 3>,a.cpp,12,9007199254740993,12.5,3,400.25,1,900,0.5\n");
  const std::vector<EventValues> rows = statistics.events("tracy_statistics");
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].name == "f<int, 3>");
  CHECK(rows[0].string("source") == "a.cpp:12");
  CHECK(rows[0].integer("total_ns") == 9007199254740993);
  CHECK(rows[0].real("total_perc") == 12.5);
  CHECK(rows[0].integer("counts") == 3);
  CHECK(rows[0].real("mean_ns") == 400.25);
}

TEST_CASE("further columns, quotes and other separators are read as they are") {
  const Imported ops = import_text(
      "name;src_file;src_line;zone_name;zone_text;ns_since_start;exec_time_ns;thread;special_parent_text\r\n"
      "TT_DNN;ops.cpp;9;op<a;b>;id:5;1000;200;77;parent\r\n"
      "TT_DNN;ops.cpp;9;plain;\"quoted; \"\"text\"\"\";1300;5;77;\r\n");
  const std::vector<EventValues> events = ops.events("tracy_zone");
  // The first one has a separator in a column that is neither the name nor the last.
  REQUIRE(events.size() == 1);
  CHECK(quality_count(ops, "rows_skipped") == 1);
  CHECK(events[0].string("zone_text") == "quoted; \"text\"");
  CHECK(events[0].string("zone_name") == "plain");
  CHECK(events[0].integer("thread") == 77);
  CHECK(events[0].string("special_parent_text").empty());
}

TEST_CASE("what is broken is left out and counted with its first line") {
  const Imported session = import_text(std::string(kZones) +
                                       "ok,a.cpp,3,100,50,1,\n"
                                       "short,a.cpp,3\n"
                                       "negative,a.cpp,3,100,-50,1,\n"
                                       "before,a.cpp,3,-1,50,1,\n"
                                       "huge,a.cpp,3,99999999999999999999,50,1,\n"
                                       "\n"
                                       "cut,a.cpp,3,10");
  CHECK(session.count("tracy_zone") == 1);
  CHECK(quality_count(session, "rows_skipped") == 5);
  bool reported = false;
  for (const QualityEntry& entry : session.snapshot().quality) reported = reported || contains(entry.detail, "line 3");
  CHECK(reported);
  CHECK(quality_count(import_text(kZones), "no_rows") == 1);
  CHECK(contains(failure_of_text(""), "the file is empty"));
  CHECK(contains(failure_of_text("There are currently no messages!\n"), "zones.csv: its first line"));
  CHECK(contains(failure_of_text("name,src_file\na,b\n"), "names neither zones, messages nor statistics"));
}

TEST_CASE("a zone a day away from all others is kept beside them, and the session is as long as the others are") {
  std::string text(kZones);
  for (int i = 0; i < 10; ++i)
    text += fmt::format("K,a.cc,3,{},50,1,\n", i == 4 ? 1'700'000'000'000'000'000 : std::int64_t{100} * i);
  const Imported session = import_text(text);
  CHECK(session.snapshot().end_ns - session.snapshot().begin_ns <= 950);
  CHECK(quality_count(session, "impossible_times") == 1);
  const auto zones = session.events("tracy_zone");
  REQUIRE(zones.size() == 10);
  CHECK(std::count_if(zones.begin(), zones.end(), [](const auto& zone) { return zone.kind == "doubtful"; }) == 1);
}

TEST_CASE("a table of tracy-csvexport is recognised by its first line") {
  const auto sure = [](std::string_view text) { return sources::tracy_csv::probe_tracy_csv(text, ""); };
  CHECK(sure(kZones) == 95);
  CHECK(sure("MessageName,total_ns\n") == 95);
  CHECK(sure("ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n") == 0);
  CHECK(sure("MessageName,total_na,total_ns\n") == 0);  // its rows are a text and a time, nothing between
  CHECK(sure("name,value\n1,2\n") == 0);
  CHECK(sure("{\"traceEvents\": []}") == 0);
  CHECK((*sources::find_format("tracy-csv"))->name == "tracy-csv");
}

}  // namespace accelscope::capture
