// Broken device logs: what can be read is read, the rest is told of with its line.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <random>

#include <zlib.h>

#include "tests/capture/sources/tt_metal/device_log.h"

namespace accelscope::capture {
namespace {

constexpr std::string_view kHeader =
    "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\nPCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles "
    "since "
    "reset], data, run host ID,  zone name, type, source line, source file, meta data\n";
constexpr std::string_view kZone =
    "0,1,1,BRISC,7,100,0,1,A,ZONE_START,3,a.cc,\n0,1,1,BRISC,7,150,0,1,A,ZONE_END,3,a.cc,\n";

struct Damage {
  std::string_view line;  // the third row, line 5 of the file
  std::string_view kind;
  std::string_view contains_words;
};

}  // namespace

TEST_CASE("a part of a log that was never written costs the rows in it, and that is said") {
  std::string text(kHeader);
  for (int i = 0; i < 2000; ++i) text += fmt::format("0,1,1,BRISC,7,{},0,1,B,TS_EVENT,3,a.cc,\n", 1000 + i);
  const std::string row = "0,1,1,BRISC,7,1500,0,1,B,TS_EVENT,3,a.cc,\n";
  const std::size_t at = text.find(row) + 10;
  std::fill_n(text.begin() + static_cast<std::ptrdiff_t>(at), 3 * row.size(), '\0');  // ends in the fourth
  const Imported session = import_log(text);
  CHECK(session.count("ts_event") == 1996);
  CHECK(quality_count(session, "rows_skipped") == 0);
  CHECK(quality_count(session, "file_holes") == 3 * row.size());
}

TEST_CASE("a damaged row is skipped, counted and told with its line, the rest is read") {
  for (const Damage& damage : std::initializer_list<Damage>{
           {"0,1,1,BRISC,7,200,0,1,A,ZONE_START,3,a.cc", "rows_skipped", "fewer cells than the header"},
           {"0,1,1,BRISC,7,200,0,1,A,ZONE_START,3,a.cc,x,y", "rows_skipped", "more cells than the header"},
           {"0,1,1,BRISC,7,200,0,1,A<b,c>,ZONE_START,3,a.cc,", "rows_skipped", "more cells than the header"},
           {"0,1,1,BRISC,7,200,0,1,\"A,ZONE_START,3,a.cc,", "rows_skipped", "a quote that stays open"},
           {"INFO: closing device 0", "rows_skipped", "lines that are no rows"},
           {"\x01\xff\xfe garbage \x7f", "rows_skipped", "lines that are no rows"},
           {"0,1,1,BRISC,7,2o0,0,1,A,ZONE_START,3,a.cc,", "rows_skipped", "something else than a number"},
           {"0,1,1,BRISC,7,,0,1,A,ZONE_START,3,a.cc,", "rows_skipped", "something else than a number"},
           {"0,1,1,BRISC,7,1.5e3,0,1,A,ZONE_START,3,a.cc,", "rows_skipped", "something else than a number"},
           {"x,1,1,BRISC,7,200,0,1,A,ZONE_START,3,a.cc,", "rows_skipped", "something else than a number"},
           {"0,1,1,BRISC,7,-200,0,1,A,ZONE_START,3,a.cc,", "rows_skipped", "negative"},
           {"0,-1,1,BRISC,7,200,0,1,A,ZONE_START,3,a.cc,", "rows_skipped", "negative"},
           {"0,1,1,BRISC,7,18446744073709551616,0,1,A,ZONE_START,3,a.cc,", "rows_skipped",
            "beyond what a device can have"},
           {"0,1,1,BRISC,7,9223372036854775807,0,1,A,ZONE_START,3,a.cc,", "rows_skipped",
            "beyond what a device can have"},
           {"0,99999,1,BRISC,7,200,0,1,A,ZONE_START,3,a.cc,", "rows_skipped", "beyond what a device can have"},
           {"0,1,1,,7,200,0,1,A,ZONE_START,3,a.cc,", "rows_skipped", "without the name of a RISC"},
           {"0,1,1,BR{SC,7,200,0,1,A,ZONE_START,3,a.cc,", "rows_skipped", "without the name of a RISC"},
           {"ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000", "repeated_header", "further headers"},
           {"PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset]", "repeated_header",
            "further headers"},
       }) {
    CAPTURE(damage.line);
    const std::string text = std::string(kHeader) + std::string(kZone) + std::string(damage.line) +
                             "\n0,1,1,BRISC,7,300,0,1,B,TS_EVENT,3,a.cc,\n";
    const Imported session = import_log(text);
    CHECK(session.count("zone") == 1);
    CHECK(session.count("ts_event") == 1);
    CHECK(quality_count(session, "unmatched_begins") == 0);
    REQUIRE(session.quality(damage.kind) != nullptr);
    CHECK(session.quality(damage.kind)->count == 1);
    CHECK(session.quality(damage.kind)->detail.find(damage.contains_words) != std::string::npos);
    CHECK(session.quality(damage.kind)->detail.find("line 5") != std::string::npos);
  }
}

TEST_CASE("a row whose id or value is no number is read without it") {
  const Imported session =
      import_log(std::string(kHeader) +
                 "0,1,1,BRISC,7,100,x,1,A,TS_DATA,3,a.cc,\n0,1,1,BRISC,7,110,5,none,A,TS_DATA,3,a.cc,\n"
                 "0,1,1,BRISC,7,120,99999999999999999999,2,A,TS_DATA,3,a.cc,\n");
  const auto data = session.events("ts_data");
  REQUIRE(data.size() == 3);
  CHECK(data[0].integer("run_host_id") == 1);
  CHECK_FALSE(data[1].integer("run_host_id").has_value());
  CHECK(data[1].integer("data") == 5);
  CHECK(quality_count(session, "values_left_out") == 3);
  CHECK(session.quality("values_left_out")->detail.find("line 3") != std::string::npos);
}

TEST_CASE("a log that was cut anywhere is read as far as it goes, and every row is accounted for") {
  for (const test::TtLogEra era : {test::TtLogEra::a, test::TtLogEra::c, test::TtLogEra::d, test::TtLogEra::h}) {
    test::TtLogOptions options;
    options.era = era;
    options.cores_x = options.cores_y = 1;
    options.programs = 1;
    const std::string whole = test::tt_log_text(options);
    const std::size_t first_row = test::tt_log_header(options).size();
    CAPTURE(static_cast<int>(era));
    // Every byte of the last row, and some of the others.
    const std::size_t last_row = whole.rfind('\n', whole.size() - 2);
    for (std::size_t size = whole.find('\n', first_row) + 1; size < whole.size(); size += size < last_row ? 61 : 1) {
      CAPTURE(size);
      const std::string text = whole.substr(0, size);
      const Imported session = import_log(text);
      const auto rows = static_cast<std::uint64_t>(
          std::count(text.begin() + static_cast<std::ptrdiff_t>(first_row), text.end(), '\n'));
      const QualityEntry* const truncated = session.quality("truncated");
      REQUIRE((truncated != nullptr) == (text.back() != '\n'));
      const std::uint64_t cut = truncated != nullptr && truncated->severity == Severity::error ? truncated->count : 0;
      const std::uint64_t accounted = 2 * session.count("zone") - quality_count(session, "unmatched_begins") +
                                      session.count("ts_event") + session.count("ts_data") + cut;
      REQUIRE(accounted == rows + (text.back() == '\n' ? 0 : 1));
      for (const EventValues& event : session.events("zone")) REQUIRE(event.begin >= 0);
      // A time that lost its last digits would lie long before all others.
      REQUIRE(session.snapshot().end_ns < 1'000'000'000);
    }
  }
}

TEST_CASE("what is no device log is refused with a sentence that says why") {
  CHECK(log_failure("").find("empty") != std::string::npos);
  CHECK(log_failure("hello\nworld\n").find("line 1 is neither the header nor a row") != std::string::npos);
  CHECK(log_failure("ARCH: x, CHIP_FREQ[MHz]: 1000\n").find("before the header") != std::string::npos);
  CHECK(log_failure("ARCH: x, CHIP_FREQ[MHz]: 1000\nPCIe slot, core_x, core_y, timer_id\n")
            .find("no column RISC processor type, time[cycles since reset]") != std::string::npos);
  const Imported empty = import_log(kHeader);
  CHECK(empty.snapshot().event_count == 0);
  CHECK(empty.quality("no_rows") != nullptr);
}

TEST_CASE("a log of more processors than a session has lanes shows all of them, and says what it left out") {
  std::string text(kHeader);
  for (int core = 0; core < 7000; ++core) {
    for (const char* row :
         {"9,0,1,IN,TS_DATA", "1,0,1,FW,ZONE_START", "2,0,1,IN,ZONE_START", "3,0,1,IN,ZONE_END", "4,0,1,FW,ZONE_END"})
      text += "0," + std::to_string(core) + ",1,BRISC,7," + row + ",3,,\n";
  }
  const Imported session = import_log(text);
  std::size_t firmware = 0;
  for (const EventValues& zone : session.events("zone")) firmware += zone.name == "FW" ? 1 : 0;
  CHECK(firmware == 7000);
  CHECK(session.snapshot().lanes.size() <= kMaxLocalNumber);
  CHECK(session.count("zone") + session.count("ts_data") + quality_count(session, "lanes_left_out") == 21000);
}

TEST_CASE("lines that never end do not fill the memory") {
  std::string text = std::string(kHeader) + std::string(kZone);
  text.append(3U << 20, 'x').append("\n0,1,1,BRISC,7,300,0,1,B,TS_EVENT,3,a.cc,\n");
  const Imported session = import_log(text);
  CHECK(session.count("zone") == 1);
  CHECK(session.count("ts_event") == 1);
  CHECK(quality_count(session, "rows_skipped") == 1);
}

TEST_CASE("a packed log is read like a plain one, a damaged one as far as it goes") {
  const auto folder = std::filesystem::temp_directory_path() / "accelscope-device-log-test";
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "log.csv.gz").string();
  test::TtLogOptions options;
  options.programs = 200;
  const std::string text = test::tt_log_text(options);
  gzFile file = gzopen(path.c_str(), "wb");
  REQUIRE(file != nullptr);
  REQUIRE(gzwrite(file, text.data(), static_cast<unsigned>(text.size())) == static_cast<int>(text.size()));
  gzclose(file);
  const auto import = [&] {
    return Imported::by(
        [&](EventSink& sink) { return sources::import_file(sources::tt_metal::import_device_log, path, {}, sink); });
  };
  CHECK(sources::recognise(path).name() == "tt-device-log");
  CHECK(zones_of(import()) == test::tt_log_zones(options));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const Imported half = import();
  CHECK(half.count("zone") > 100);
  CHECK(quality_count(half, "unreadable") == 1);
  std::filesystem::remove_all(folder);
}

TEST_CASE("an import stops when its sink is cancelled or fails") {
  test::TtLogOptions options;
  options.programs = 100;
  const std::string text = test::tt_log_text(options);
  struct Failing final : EventSink {
    bool fails = false;
    Result<void> define(const Definition&) override { return {}; }
    Result<void> append(SealedChunk) override {
      if (fails) return Error{"the disk is full"};
      return {};
    }
    [[nodiscard]] bool cancelled() const override { return !fails; }
  };
  Failing cancelled;
  const Result<void> stopped =
      sources::tt_metal::import_device_log(json::ByteSource::from_memory(text), "log.csv", {}, cancelled);
  REQUIRE_FALSE(stopped.ok());
  CHECK(stopped.message() == "log.csv: the import was cancelled");
  Failing failing;
  failing.fails = true;
  const Result<void> failed =
      sources::tt_metal::import_device_log(json::ByteSource::from_memory(text), "log.csv", {}, failing);
  REQUIRE_FALSE(failed.ok());
  CHECK(failed.message() == "the disk is full");
}

TEST_CASE("progress rises to the end") {
  test::TtLogOptions options;
  options.programs = 300;
  const std::string text = test::tt_log_text(options);
  std::uint64_t last = 0;
  sources::ImportOptions import;
  import.progress = [&](std::uint64_t done, std::uint64_t total) {
    CHECK(total == text.size());
    CHECK(done >= last);
    last = done;
  };
  (void)import_log(text, import);
  CHECK(last == text.size());
}

}  // namespace accelscope::capture
