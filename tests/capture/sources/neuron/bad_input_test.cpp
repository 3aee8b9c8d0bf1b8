// Damaged and hostile files: a clear error, or as much as can be read with a report of the rest.
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>

#include "capture/sources/neuron/system_profile.h"
#include "tests/capture/imported.h"

namespace accelscope::capture {
namespace {

std::string instruction(int start, std::string_view more = "") {
  return R"({"timestamp":)" + std::to_string(start) + R"(,"duration":5,"opcode":"ADD","label":"Vector")" +
         std::string(more) + "}";
}

std::string many_instructions(int count) {
  std::string json = R"({"instruction":[)";
  for (int i = 0; i < count; ++i) json += (i == 0 ? "" : ",") + instruction(i * 10);
  return json + "]}";
}

struct TemporaryProfile {
  explicit TemporaryProfile(const std::string& name)
      : path((std::filesystem::temp_directory_path() / ("accelscope_" + std::to_string(std::random_device{}()) + name))
                 .string()) {}
  ~TemporaryProfile() { std::filesystem::remove(path); }
  std::string path;
};

}  // namespace

TEST_CASE("an empty, binary or foreign file gives an error that says what it is") {
  CHECK(Imported::failure("").find("empty") != std::string::npos);
  CHECK(Imported::failure(std::string_view("\x7f"
                                           "ELF\0\1\2",
                                           7))
            .find("not JSON") != std::string::npos);
  CHECK(Imported::failure("hello").find("not JSON") != std::string::npos);
  CHECK(Imported::failure("{}").find("no tables") != std::string::npos);
  CHECK(Imported::failure("   \n").find("not JSON") != std::string::npos);
}

TEST_CASE("a file that does not exist or is a folder gives an error with its name") {
  const auto message = [](const std::string& path) {
    const auto store = std::move(Store::create().value());
    StoreSink sink(*store);
    const Result<void> done = sources::import_file(sources::neuron::import_neuron_json, path, {}, sink);
    REQUIRE(!done.ok());
    return done.message();
  };
  CHECK(message("/nonexistent/profile.json").find("/nonexistent/profile.json") != std::string::npos);
  CHECK(message("/").find("folder") != std::string::npos);
}

TEST_CASE("a file cut at any byte loads what is complete and says where it ends") {
  const std::string whole = R"({"metadata":[{"last_hw_timestamp":25}],"instruction":[)" + instruction(0) + "," +
                            instruction(10) + "," + instruction(20) + "]}";
  CHECK(Imported::failure(whole.substr(0, 20)).find("byte 20") != std::string::npos);
  for (std::size_t length = whole.find("],"); length < whole.size(); ++length) {
    CAPTURE(length);
    const Imported session = Imported::text(whole.substr(0, length));
    REQUIRE(session.quality("truncated") != nullptr);
    CHECK(session.quality("truncated")->detail.find(std::to_string(length)) != std::string::npos);
    std::size_t complete = 0;
    for (std::size_t at = whole.find("Vector\"}"); at != std::string::npos && at + 8 <= length;
         at = whole.find("Vector\"}", at + 1)) {
      ++complete;
    }
    CHECK(session.count("instruction") == complete);
  }
  CHECK(Imported::text(whole).quality("truncated") == nullptr);
}

TEST_CASE("a byte order mark, blanks and trailing commas do no harm") {
  const Imported session = Imported::text("\xef\xbb\xbf \r\n{ \"instruction\" : [ " + instruction(0) + " , " +
                                          instruction(9, ",") + " ,\n] , }\n");
  CHECK(session.count("instruction") == 2);
  CHECK(session.quality("rows_mended") != nullptr);
  CHECK(session.quality("rows_skipped") == nullptr);
}

TEST_CASE("NaN and Infinity are no value, and counted") {
  const Imported session = Imported::text(
      R"({"dma_throughput":[{"timestamp":1,"transfer_rate":5,"hbm_transfer_rate":NaN},{"timestamp":2,"transfer_rate":-Infinity}]})");
  CHECK(session.count("dma_throughput") == 1);
  REQUIRE(session.quality("not_finite") != nullptr);
  CHECK(session.quality("not_finite")->count == 2);
  CHECK(session.quality("rows_skipped") != nullptr);  // a sample without its value
}

TEST_CASE("texts that are not UTF-8 are mended and their rows kept") {
  const Imported session = Imported::text("{\"instruction\":[" + instruction(0, ",\"operands\":\"a\xff\xfe z\"") + "," +
                                          instruction(10) + "]}");
  const auto events = session.events("instruction");
  REQUIRE(events.size() == 2);
  CHECK(events[0].string("operands") == "a\xef\xbf\xbd\xef\xbf\xbd z");
  CHECK(session.quality("rows_mended") != nullptr);
}

TEST_CASE("escapes in texts are resolved") {
  const Imported session =
      Imported::text("{\"instruction\":[" + instruction(0, R"(,"operands":"a\"\\\n\u00e9\ud83d\ude00")") + "]}");
  CHECK(session.events("instruction")[0].string("operands") == "a\"\\\n\xc3\xa9\xf0\x9f\x98\x80");
}

TEST_CASE("a row that is not JSON costs itself only") {
  const Imported session = Imported::text("{\"instruction\":[" + instruction(0) +
                                          ",{\"timestamp\":tru},42,null,[1],\"x\"," + instruction(10) + "]}");
  CHECK(session.count("instruction") == 2);
  std::uint64_t skipped = 0;
  for (const QualityEntry& entry : session.snapshot().quality)
    skipped += entry.kind == "rows_skipped" ? entry.count : 0;
  CHECK(skipped == 5);
}

TEST_CASE("deeply nested values neither crash nor hang") {
  const std::string deep = std::string(200000, '[') + std::string(200000, ']');
  const Imported session = Imported::text("{\"instruction\":[" + instruction(0, ",\"x\":" + deep) + "," +
                                          instruction(10) + "],\"t\":" + deep + "}");
  CHECK(session.count("instruction") == 1);
  REQUIRE(session.quality("rows_skipped") != nullptr);
  CHECK(Imported::failure(std::string(100000, '{')).empty() == false);
}

TEST_CASE("numbers too large for their column are kept as they were written") {
  const Imported session = Imported::text(
      "{\"instruction\":[" + instruction(0, ",\"pc\":123456789012345678901234567890") + "," +
      R"({"timestamp":1e300,"opcode":"X","label":"Vector"},{"timestamp":9223372036854775807,"opcode":"Y","label":"Vector"}]})");
  CHECK(session.count("instruction") == 1);
  CHECK(session.events("instruction")[0].string("extra") == R"({"pc":123456789012345678901234567890})");
  CHECK(session.quality("wrong_types") != nullptr);
}

TEST_CASE("keys that come twice are counted and tables that come twice are joined") {
  const Imported session = Imported::text("{\"instruction\":[" + instruction(0, ",\"pc\":1,\"pc\":2") +
                                          "],\"instruction\":[" + instruction(10) + "]}");
  CHECK(session.count("instruction") == 2);
  CHECK(session.events("instruction")[0].integer("pc") == 2);
  REQUIRE(session.quality("duplicate_keys") != nullptr);
  CHECK(session.quality("duplicate_keys")->count == 1);
}

TEST_CASE("wrong types of tables, rows and times are reported") {
  const Imported session = Imported::text(
      R"({"instruction":"none","dma":{"timestamp":1,"duration":2,"aggregated":"no","subgroup":"q"},"pending_dma":[{"value":1},{"timestamp":"soon","value":2},{"timestamp":5,"value":{}}],
          "semaphore_update":[{"timestamp":3,"duration":-9,"id":2,"value":1}],"active_time":[{"engine":"tensor","start_ts":9,"end_ts":4}]})");
  CHECK(session.count("instruction") == 0);
  CHECK(session.count("dma") == 1);
  CHECK(session.count("pending_dma") == 0);
  CHECK(session.count("semaphore_update") == 1);
  REQUIRE(session.quality("negative_durations") != nullptr);
  std::uint64_t skipped = 0;
  for (const QualityEntry& entry : session.snapshot().quality)
    skipped += entry.kind == "rows_skipped" ? entry.count : 0;
  CHECK(skipped == 4);
}

TEST_CASE("bytes after the end and between rows are reported") {
  const Imported session =
      Imported::text("{\"instruction\":[" + instruction(0) + ": }" + instruction(10) + "]}{\"a\":1}");
  CHECK(session.count("instruction") >= 1);
  CHECK((session.quality("stray_bytes") != nullptr || session.quality("trailing_bytes") != nullptr));
}

TEST_CASE("a million names and tens of thousands of tables stay bounded") {
  std::string json = R"({"instruction":[)";
  for (int i = 0; i < 100000; ++i) {
    json += (i == 0 ? "" : ",") + std::string(R"({"timestamp":)") + std::to_string(i) +
            R"(,"duration":1,"opcode":"OP_)" + std::to_string(i) + R"(","label":"Vector"})";
  }
  json += "]";
  for (int i = 0; i < 20000; ++i) json += ",\"t" + std::to_string(i) + "\":[{\"a\":1}]";
  const Imported session = Imported::text(json + "}");
  CHECK(session.count("instruction") == 100000);
  CHECK(session.snapshot().schemas.size() < 200);
  CHECK(session.quality("rows_skipped") != nullptr);
}

TEST_CASE("gzip files are read, and cut ones as far as they go") {
  const std::string json = many_instructions(20000);
  TemporaryProfile file(".json.gz");
  gzFile packed = gzopen(file.path.c_str(), "wb");
  REQUIRE(gzwrite(packed, json.data(), static_cast<unsigned>(json.size())) == static_cast<int>(json.size()));
  gzclose(packed);
  CHECK(Imported::file(file.path).count("instruction") == 20000);
  std::filesystem::resize_file(file.path, std::filesystem::file_size(file.path) / 2);
  const Imported cut = Imported::file(file.path);
  CHECK(cut.count("instruction") > 1000);
  CHECK(cut.count("instruction") < 20000);
  REQUIRE(cut.quality("unreadable") != nullptr);
  CHECK(cut.quality("unreadable")->detail.find("ends early") != std::string::npos);
}

TEST_CASE("cancelling stops the import") {
  struct CancelledSink final : EventSink {
    Result<void> define(const Definition&) override { return {}; }
    Result<void> append(SealedChunk) override { return {}; }
    [[nodiscard]] bool cancelled() const override { return true; }
  };
  CancelledSink sink;
  const std::string json = many_instructions(10);
  const Result<void> done =
      sources::neuron::import_neuron_json(json::ByteSource::from_memory(json), "test.json", {}, sink);
  REQUIRE(!done.ok());
  CHECK(done.message().find("cancelled") != std::string::npos);
}

TEST_CASE("a sink that fails ends the import with its message") {
  struct FullSink final : EventSink {
    Result<void> define(const Definition&) override { return {}; }
    Result<void> append(SealedChunk) override { return Error{"the disk is full"}; }
  };
  FullSink sink;
  const std::string json = many_instructions(10);
  const Result<void> done =
      sources::neuron::import_neuron_json(json::ByteSource::from_memory(json), "test.json", {}, sink);
  REQUIRE(!done.ok());
  CHECK(done.message() == "the disk is full");
}

TEST_CASE("a profile whose counts and addresses are the ends of all numbers is read, and its open transfers told of") {
  const Imported session = Imported::text("{\"instruction\":[" + instruction(0, R"(,"subgraph":"sg00","pcore_idx":1)") +
                                          "," + instruction(90) + "]," +
                                          R"("pending_dma":[{"timestamp":5,"value":-9223372036854775808}],
          "model_info":[{"sg_name":"sg00","nc_idx":9223372036854775807}],
          "sbuf_allocation":[{"timestamp":1,"duration":9,"tensor_name":"t","partition":"3",
            "start_address":-9223372036854775808,"end_address":9223372036854775807}],
          "dma":[{"timestamp":10,"duration":5,"aggregated":"yes","subgroup":"q","variable":"s","source":[["SB"]],
            "dest":["VIRTUAL"],"write_size":9223372036854775807},
           {"timestamp":20,"duration":5,"aggregated":"yes","subgroup":"q","variable":"s","source":[["SB"]],
            "dest":["VIRTUAL"],"write_size":9223372036854775807}]})");
  CHECK(session.count("instruction") == 2);
  REQUIRE(session.quality("pending_dma_open") != nullptr);
  CHECK(session.quality("pending_dma_open")->count == std::uint64_t{INT64_MAX});
  std::int64_t most = 0;
  for (const EventValues& event : session.events("memory_event"))
    most = std::max(most, event.integer("allocation_bytes").value_or(0));
  CHECK(most == INT64_MAX);
}

TEST_CASE("a system profile whose clocks and sizes are the ends of all numbers is read") {
  const auto call = [](int start, int duration, const char* name, const char* more) {
    return fmt::format(R"({{"timestamp":{},"duration":{},"name":"{}","id":{},"instance_id":"i-1","process_id":4,)"
                       R"("thread_id":5,"lnc_idx":0,"type":3,{}}})",
                       1'700'000'000'000'000'000 + start, duration, name, start, more);
  };
  const char* const largest = R"("size":9000000000000000000)";
  const Imported session = Imported::text(
      "{\"trace_events\":[" +
      call(1, 900, "nc_exec_running",
           R"("group":"hardware","nc_timestamp_ns":-9223372036854775808,"cpu_timestamp_ns":9223372036854775807)") +
      "," + call(2, 900, "nrt_tensor_write", largest) + "," + call(3000, 900, "nrt_tensor_write", largest) + "," +
      call(6000, 900, "nrt_tensor_write", R"("size":1)") + "," + call(6100, 9, "nrt_tensor_write", largest) + "," +
      call(6200, 9, "nrt_tensor_write", largest) + "]}");
  CHECK(session.count("trace_event") == 6);
}

TEST_CASE("samples of HBM at times that no session has are left out and counted") {
  sources::neuron::HbmSamples samples;
  const auto row = [&](std::string_view time) {
    const std::array<json::JsonField, 2> fields = {
        {{"timestamp", time, json::JsonKind::number}, {"weights_bytes", "8", json::JsonKind::number}}};
    return samples.add(fields);
  };
  CHECK_FALSE(row("9223372036854775807"));
  CHECK_FALSE(row("-9223372036854775808"));
  CHECK(row("1700000000000000000"));
}

}  // namespace accelscope::capture
