#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "capture/sources/base/import_report.h"
#include "capture/sources/base/importers.h"
#include "capture/sources/import_input.h"
#include "capture/sources/tt_ops/columns.h"
#include "tests/capture/recording_sink.h"
#include "tests/support/files.h"

namespace accelscope::capture::sources::tt_ops {
namespace {

constexpr const char* kOpsHeader =
    "OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,ATTRIBUTES,CORE COUNT,HOST START TS,HOST END TS,HOST DURATION [ns],"
    "DEVICE FW START CYCLE,DEVICE FW END CYCLE,DEVICE FW DURATION [ns],PM FPU UTIL (%),INPUT_0_W\n";

void import_report(const std::string& text, RecordingSink& sink) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("ops_perf_results.csv");
  test::write_file(path, text);
  const Result<void> done = import_ops_report(path, {}, sink);
  REQUIRE_MESSAGE(done.ok(), done.message());
}

std::vector<RecordedEvent> events_of_table(const RecordingSink& sink, std::string_view table) {
  std::vector<RecordedEvent> found = sink.events();
  std::erase_if(found, [&](const RecordedEvent& event) { return sink.schema_of(event).name != table; });
  return found;
}

std::int64_t session_ns(const RecordingSink& sink, const RecordedEvent& event, std::int64_t ticks) {
  return ClockMap(sink.clocks.at(sink.tracks.at(event.track).clock)).to_ns(ticks);
}

TEST_CASE("an operations report: a row for each call, on its device and on the host") {
  RecordingSink sink;
  import_report(std::string(kOpsHeader) +
                    "Matmul,tt_dnn_device,1024,0,\"{'a': 1, 'b': 2}\",64,1000,1500,500,90000,94000,4000,31.5,32[19]\n"
                    "sign,signpost,,,at start,,1600,,,,,,,\n"
                    "ttnn.to_torch,python_fallback,2,,{},,1700,1900,200,,,,,\n"
                    "Softmax,tt_dnn_device,3072,0,{},8,2000,2100,100,95000,96000,1000,,32[32]\n"
                    "torn row,tt_dnn\n"
                    "Lost,tt_dnn_device,4096,0,{},8,,,,,,,,\n",
                sink);
  const std::vector<RecordedEvent> ops = events_of_table(sink, "op");
  REQUIRE(ops.size() == 3);
  CHECK(events_of_table(sink, "host_op").size() == 2);
  const std::vector<RecordedEvent> signposts = events_of_table(sink, "signpost");
  REQUIRE(signposts.size() == 1);
  const auto said = sink.schema_of(signposts[0]).find("ATTRIBUTES");
  REQUIRE(said);
  CHECK(sink.strings.at(sink.view(signposts[0]).stored(*said, signposts[0].row)) == "at start");
  CHECK(sink.meta.at("source.rows.op") == "5");
  CHECK(sink.meta.at("source.read.op") == "3");
  CHECK(events_of_table(sink, "dependency").size() == 2);
  const auto matmul = std::find_if(ops.begin(), ops.end(), [](const auto& op) { return op.name == "Matmul"; });
  REQUIRE(matmul != ops.end());
  CHECK(sink.tracks.at(matmul->track).device == "chip 0");
  const Schema& schema = sink.schema_of(*matmul);
  const ChunkView chunk = sink.view(*matmul);
  CHECK(chunk.int64(*schema.find("GLOBAL CALL COUNT"), matmul->row) == 1024);
  CHECK(chunk.float64(*schema.find("PM FPU UTIL (%)"), matmul->row) == 31.5);
  CHECK(schema.columns[*schema.find("PM FPU UTIL (%)")].unit == "%");
  CHECK(sink.strings.at(chunk.stored(*schema.find("ATTRIBUTES"), matmul->row)) == "{'a': 1, 'b': 2}");
  CHECK(sink.strings.at(chunk.stored(*schema.find("INPUT_0_W"), matmul->row)) == "32[19]");
  // 4,000 cycles in 4,000 ns: a cycle is a ns; the earliest begin that follows both host times.
  CHECK(session_ns(sink, *matmul, matmul->end) - session_ns(sink, *matmul, matmul->start) == 4000);
  CHECK(session_ns(sink, *matmul, matmul->start) == 0);
  std::uint64_t skipped = 0;
  for (const QualityEntry& entry : sink.qualities) skipped += entry.kind == "rows_skipped" ? entry.count : 0;
  CHECK(skipped == 2);
}

TEST_CASE("a report of the C++ library: operations of each device by their cycles, named, with their replays") {
  RecordingSink sink;
  import_report(
      "GLOBAL CALL COUNT,METAL TRACE ID,METAL TRACE REPLAY SESSION ID,DEVICE ID,DEVICE ARCH,OP NAME,CORE COUNT,"
      "DEVICE FW DURATION [ns],DEVICE FW START CYCLE,DEVICE FW END CYCLE,OP TO OP LATENCY [ns]\n"
      "1024,,,0,wormhole_b0,Matmul,64,12000,100000000,100012000,0\n"
      "2048,7,1,0,wormhole_b0,Add,32,12000,100020000,100032000,8000\n"
      "1025,,,1,wormhole_b0,FabricInit,1,9000,500,9500,0\n",
      sink);
  const std::vector<RecordedEvent> ops = events_of_table(sink, "op");
  REQUIRE(ops.size() == 3);
  std::map<std::string, std::pair<std::string, std::int64_t>> found;  // device and begin, by name
  for (const RecordedEvent& op : ops) {
    found[op.name] = {sink.tracks.at(op.track).device, session_ns(sink, op, op.start)};
  }
  CHECK(found["Matmul"] == std::pair{std::string("chip 0"), std::int64_t{0}});
  CHECK(found["Add"] == std::pair{std::string("chip 0"), std::int64_t{20'000}});
  CHECK(found["FabricInit"].first == "chip 1");
  CHECK(std::count_if(sink.qualities.begin(), sink.qualities.end(),
                      [](const QualityEntry& entry) { return entry.kind == "device_clock_estimated"; }) == 1);
}

TEST_CASE("tables of tt-metal's real-time profiler: programs by the files of their kernels, at the chip's rate") {
  for (const char* const text :
       {"runtime_id,chip_id,start_timestamp,end_timestamp,duration_cycles,duration_ns,frequency_ghz,kernel_sources\n"
        "1,0,1000,1270,270,200,1.35,\"k/reader.cpp;k/matmul.cpp;k/reader.cpp\"\n"
        "2,0,1540,1810,270,200,1.35,\"\"\n",
        "program_id,chip_id,go_cycles,done_cycles,gap_to_next_go_cycles,duration_cycles,duration_ns,frequency_ghz\n"
        "1,0,1000,1270,270,270,200,1.35\n"
        "2,0,1540,1810,0,270,200,1.35\n"}) {
    CAPTURE(text);
    CHECK(probe_device_report(text, "") > 0);
    RecordingSink sink;
    import_report(text, sink);
    const std::vector<RecordedEvent> ops = events_of_table(sink, "op");
    REQUIRE(ops.size() == 2);
    CHECK(ops[0].name == (std::string_view(text).starts_with("runtime") ? "reader.cpp, matmul.cpp" : "program 1"));
    CHECK(ops[1].name == "program 2");
    CHECK(session_ns(sink, ops[1], ops[1].start) - session_ns(sink, ops[0], ops[0].start) == 400);
  }
}

TEST_CASE("an operations report with 60,000 columns is read without those that a session cannot hold") {
  std::string header = kOpsHeader;
  header.pop_back();
  std::string row = "Matmul,tt_dnn_device,1024,0,{},64,1000,1500,500,90000,94000,4000,31.5,32";
  for (int i = 0; i < 60'000; ++i) {
    header += ",c" + std::to_string(i);
    row += ",7";
  }
  RecordingSink sink;
  import_report(header + "\n" + row + "\n", sink);
  const std::vector<RecordedEvent> ops = events_of_table(sink, "op");
  REQUIRE(ops.size() == 1);
  CHECK(sink.schema_of(ops[0]).columns.size() == kMostFileColumns);
  CHECK(std::any_of(sink.qualities.begin(), sink.qualities.end(), [](const QualityEntry& entry) {
    return entry.kind == "values_left_out" && entry.count == 60'014 - kMostFileColumns;
  }));
}

TEST_CASE("a device's rate is the median, to a whole MHz, whatever single rows say") {
  DeviceTime time;
  for (int i = 0; i < 9; ++i) time.add(i * 100'000, i * 100'000 + 13'500 + i % 2, 10'000, {});
  time.add(5'000'000, 5'900'000, 10, {});
  CHECK(time.ticks_per_ns() == doctest::Approx(1.35).epsilon(1e-12));
  CHECK(time.anchors(1.35).empty());
  CHECK(!DeviceTime().ticks_per_ns());
}

TEST_CASE("no operation begins on its device before the host asks for it, and one clock serves all while it can") {
  DeviceTime time;
  time.add(1'000, 2'000, 1'000, 500);    // 0 after
  time.add(5'000, 6'000, 1'000, 4'700);  // of which the second is the one that counts
  time.add(9'000, 9'500, 500, 8'400);
  const std::vector<ClockAnchor> anchors = time.anchors(1);
  REQUIRE(anchors.size() == 1);
  CHECK(anchors[0] == ClockAnchor{1'000, 700});
}

TEST_CASE("a clock that rests while its device is idle is made up for between operations") {
  // 1,000 cycles of work each 10 ms, but the chip counts only 1 ms of the 10.
  DeviceTime time;
  for (std::int64_t i = 0; i < 100; ++i) time.add(i * 1'000'000, i * 1'000'000 + 1'000, 1'000, i * 10'000'000);
  Clock clock;
  clock.ticks_per_ns = 1;
  clock.anchors = time.anchors(1);
  const ClockMap map(clock);
  for (std::int64_t i = 0; i < 100; ++i) {
    CHECK(map.to_ns(i * 1'000'000) == i * 10'000'000);
    CHECK(map.to_ns(i * 1'000'000 + 1'000) == i * 10'000'000 + 1'000);
  }
}

TEST_CASE("the report and the device log of one run lie on one time, by the device's cycles") {
  const test::TemporaryFolder folder;
  test::write_file(folder.file("ops_perf_results.csv"),
                   std::string(kOpsHeader) +
                       "Matmul,tt_dnn_device,1024,0,{},64,1000,1500,500,90000,94000,4000,,\n"
                       "Softmax,tt_dnn_device,2048,0,{},64,8000,8500,500,97500,98500,1000,,\n");
  test::write_file(
      folder.file("profile_log_device.csv"),
      "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n"
      "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID,"
      "  zone name, type, source line, source file, meta data\n"
      "0,1,1,BRISC,1,90100,0,1024,BRISC-KERNEL,ZONE_START,1,k.cc,\n"
      "0,1,1,BRISC,1,93900,0,1024,BRISC-KERNEL,ZONE_END,1,k.cc,\n");
  // One after the other into one recording; the second source's numbers are told apart by its own sink.
  std::vector<RecordingSink*> sinks;
  std::vector<std::unique_ptr<RecordingSink>> retained;
  class Passing final : public ForwardingSink {
   public:
    using ForwardingSink::ForwardingSink;
  };
  const Result<void> done = import_input({sources::recognise(folder.path())}, {}, [&]() -> std::unique_ptr<EventSink> {
    retained.push_back(std::make_unique<RecordingSink>());
    sinks.push_back(retained.back().get());
    return std::make_unique<Passing>(static_cast<EventSink&>(*sinks.back()));
  });
  REQUIRE_MESSAGE(done.ok(), done.message());
  REQUIRE(sinks.size() == 2);
  const RecordingSink& report = *sinks[sinks[0]->meta.contains("source.rows.op") ? 0 : 1];
  const RecordingSink& log = *sinks[&report == sinks[0] ? 1 : 0];
  const std::vector<RecordedEvent> ops = events_of_table(report, "op");
  const std::vector<RecordedEvent> zones = events_of_table(log, "zone");
  REQUIRE(ops.size() == 2);
  REQUIRE(zones.size() == 1);
  CHECK(session_ns(log, zones[0], zones[0].start) == session_ns(report, ops[0], ops[0].start) + 100);
  CHECK(session_ns(log, zones[0], zones[0].end) == session_ns(report, ops[0], ops[0].end) - 100);
  CHECK(!log.meta.contains("shared_clock.chip 0"));
  // The log has the operation's number alone.
  const std::vector<RecordedEvent> runs = events_of_table(log, "run");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].name == "Matmul");
}

TEST_CASE("what is no operations report is refused by name, and one without rows says so") {
  const test::TemporaryFolder folder;
  RecordingSink sink;
  test::write_file(folder.file("other.csv"), "a,b,c\n1,2,3\n");
  const Result<void> other = import_ops_report(folder.file("other.csv"), {}, sink);
  REQUIRE(!other.ok());
  CHECK(other.message().find("other.csv") != std::string::npos);
  CHECK(other.message().find("OP CODE") != std::string::npos);
  RecordingSink empty;
  import_report(kOpsHeader, empty);
  REQUIRE(empty.qualities.size() == 1);
  CHECK(empty.qualities[0].kind == "no_rows");
}

TEST_CASE("an operations report that grows by a device while it is read keeps its other rows, and counts the new one") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("ops_perf_results.csv");
  // The writer's next row comes behind the first look at the file, and before the second.
  class GrowingReport final : public ForwardingSink {
   public:
    GrowingReport(EventSink& target, const std::string& report) : ForwardingSink(target), report_(report) {}
    Result<void> define(const Definition& definition) override {
      if (std::holds_alternative<Clock>(definition) && !grown_) {
        grown_ = true;
        test::write_file(report_, rows() + "Add,tt_dnn_device,2048,7,{},64,,,,100,200,100,,\n");
      }
      return ForwardingSink::define(definition);
    }
    static std::string rows() {
      return std::string(kOpsHeader) + "Matmul,tt_dnn_device,1024,0,{},64,1000,1500,500,90000,94000,4000,31.5,32\n";
    }

   private:
    const std::string& report_;
    bool grown_ = false;
  };
  test::write_file(path, GrowingReport::rows());
  RecordingSink sink;
  GrowingReport growing(sink, path);
  const Result<void> done = import_ops_report(path, {}, growing);
  REQUIRE_MESSAGE(done.ok(), done.message());
  CHECK(events_of_table(sink, "op").size() == 1);
  std::uint64_t skipped = 0;
  for (const QualityEntry& entry : sink.qualities) skipped += entry.kind == "rows_skipped" ? entry.count : 0;
  CHECK(skipped == 1);
}

TEST_CASE("an operations report whose durations no device can take is read, each operation by its cycles") {
  for (const char* duration : {"1e30", "inf", "1e300", "1e-320", "nan"}) {
    CAPTURE(duration);
    RecordingSink sink;
    std::string rows = kOpsHeader;
    for (const char* times : {"1000,1500,500,90000,94000,", "2305843009213693952,2305843009213693952,0,95000,96000,",
                              "3000,3100,100,2305843009213690000,2305843009213693952,"}) {
      rows += std::string("Matmul,tt_dnn_device,1024,0,{},64,") + times + duration + ",,\n";
    }
    import_report(rows, sink);
    CHECK(events_of_table(sink, "op").size() == 3);
  }
}

}  // namespace
TEST_CASE("an operations report without host times sets aside what cannot be true on each device") {
  const auto row = [](int call, int device, std::string_view begin, std::string_view end) {
    return fmt::format("Matmul,tt_dnn_device,{},{},,64,,,,{},{},1000,,\n", call, device, begin, end);
  };
  std::string text = kOpsHeader;
  for (int i = 1; i <= 12; ++i) text += row(i, 0, std::to_string(1000 * i), std::to_string(1000 * i + 900));
  text += row(13, 0, "1000000000000000000", "1000000000000001000");
  text += row(14, 1, "5000", "6000");
  RecordingSink sink;
  import_report(text, sink);
  CHECK(events_of_table(sink, "op").size() == 14);
}

}  // namespace accelscope::capture::sources::tt_ops
