// Damaged traces: what can be read is read, the rest is in the quality report.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/capture/sources/chrome/imported_trace.h"

namespace accelscope::capture {
namespace {

struct BadTrace {
  const char* what;
  std::string text;
  std::size_t events;   // slices that arrive
  const char* quality;  // kind of the entry that says what is wrong; "" none
  std::uint64_t count;
};

std::string slice(int i) {
  return fmt::format(R"({{"ph":"X","name":"n","pid":1,"tid":1,"ts":{},"dur":1,"args":{{"i":{}}}}})", 2 * i, i);
}
std::string between(const std::string& middle) { return trace_of(slice(1) + "," + middle + "," + slice(2)); }

std::vector<BadTrace> bad_traces() {
  const std::string deep(500, '[');
  const std::string deep_end(500, ']');
  return {
      {"a number between events", between("17"), 2, "rows_skipped", 1},
      {"a text between events", between("\"x\""), 2, "rows_skipped", 1},
      {"garbage between events", between("@#$ %"), 2, "rows_skipped", 2},
      {"a missing comma", trace_of(slice(1) + slice(2)), 2, "", 0},
      {"an event without times", between(R"({"ph":"X","name":"a","pid":1,"tid":1})"), 2, "rows_skipped", 1},
      {"a time that is a word", between(R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":"soon","dur":1})"), 2,
       "rows_skipped", 1},
      {"a time that is not a number", between(R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":NaN,"dur":1})"), 2,
       "rows_skipped", 1},
      {"a time that is a list", between(R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":[1],"dur":1})"), 2, "rows_skipped",
       1},
      {"a huge time", between(R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1e40,"dur":1})"), 2, "rows_skipped", 1},
      {"a huge duration", between(R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1e40})"), 3, "impossible_times",
       1},
      {"a duration that is a word", between(R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":"x"})"), 3,
       "missing_duration", 1},
      {"no duration", between(R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1})"), 3, "missing_duration", 1},
      {"a negative duration", between(R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":-4})"), 3,
       "negative_duration", 1},
      {"no phase", between(R"({"name":"a","pid":1,"tid":1,"ts":1})"), 2, "rows_skipped", 1},
      {"a phase that is a number", between(R"({"ph":7,"name":"a","pid":1,"tid":1,"ts":1})"), 2, "rows_skipped", 1},
      {"a key that comes twice", between(R"({"ph":"X","ts":0,"ts":1,"dur":1,"name":"a","pid":1,"tid":1})"), 3,
       "doubled_keys", 1},
      {"a name that is a list", between(R"({"ph":"X","name":[1],"pid":{},"tid":[2],"ts":1,"dur":1})"), 3, "", 0},
      {"args nested deeply", between(R"({"ph":"X","name":"a","ts":1,"dur":1,"args":{"x":)" + deep + deep_end + "}}"), 2,
       "rows_skipped", 1},
      {"args that are a list", between(R"({"ph":"X","name":"a","ts":1,"dur":1,"args":[1,2]})"), 3, "", 0},
      {"bytes that are not UTF-8", between("{\"ph\":\"X\",\"name\":\"a\xff\xfe\",\"ts\":1,\"dur\":1}"), 3,
       "rows_mended", 1},
      {"NaN among the args", between(R"({"ph":"X","name":"a","ts":1,"dur":1,"args":{"i":NaN,"x":Infinity}})"), 3, "",
       0},
      {"two documents", trace_of(slice(1)) + trace_of(slice(2)), 2, "", 0},
      {"two tables of events", "{\"traceEvents\":[" + slice(1) + "],\"traceEvents\":[" + slice(2) + "]}", 2, "", 0},
      {"events that are not a list", "{\"traceEvents\":7,\"traceEvents\":[" + slice(1) + "]}", 1, "", 0},
      {"an array that is never closed in an object", "{\"traceEvents\":[" + slice(1) + "}", 1, "stray_bytes", 0},
  };
}

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content)
      : path_((std::filesystem::temp_directory_path() / fmt::format("accelscope-chrome-{}.gz", getpid())).string()) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TemporaryFile() {
    std::error_code ignored;  // it lies in the system's temporary folder
    std::filesystem::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string many_slices(int count) {
  std::string rows;
  for (int i = 0; i < count; ++i) rows += (i == 0 ? "" : ",\n") + slice(i);
  return trace_of(rows);
}

}  // namespace

TEST_CASE("what is wrong with a damaged trace is said, and the rest is read") {
  for (const BadTrace& bad : bad_traces()) {
    CAPTURE(bad.what);
    const Imported session = imported_trace(bad.text);
    CHECK(session.count("event") == bad.events);
    if (*bad.quality == '\0') continue;
    const QualityEntry* entry = session.quality(bad.quality);
    REQUIRE(entry != nullptr);
    CHECK(entry->detail.size() > 20);
    if (bad.count > 0) CHECK(quality_count(session, bad.quality) == bad.count);
  }
}

TEST_CASE("a trace cut anywhere yields every event before the cut and says where it ends") {
  const std::string text = many_slices(50);
  for (std::size_t size = text.find("[") + 1; size < text.size() - 2; size += 7) {
    CAPTURE(size);
    const std::string cut = text.substr(0, size);
    std::size_t whole = 0;
    for (std::size_t at = cut.find("}}"); at != std::string::npos; at = cut.find("}}", at + 2)) ++whole;
    if (whole == 0) {
      const std::string message = failure_of_trace(cut);
      CHECK((message.empty() || message.find("before the first event") != std::string::npos));
      continue;
    }
    const Imported session = imported_trace(cut);
    CHECK(session.count("event") == whole);
    CHECK(quality_count(session, "truncated") == 1);
  }
}

TEST_CASE("a packed trace that was cut yields what could be inflated") {
  const std::string packed = gzip_of(many_slices(20000));
  const TemporaryFile whole(packed);
  CHECK(Imported::by([&](EventSink& sink) {
          return sources::import_file(sources::chrome::import_chrome_json, whole.path(), {}, sink);
        }).count("event") == 20000);
  const TemporaryFile half(packed.substr(0, packed.size() / 2));
  const Imported session = Imported::by([&](EventSink& sink) {
    return sources::import_file(sources::chrome::import_chrome_json, half.path(), {}, sink);
  });
  CHECK(session.count("event") > 5000);
  CHECK(session.count("event") < 20000);
  CHECK(quality_count(session, "unreadable") + quality_count(session, "truncated") == 1);
}

TEST_CASE("an import that is cancelled ends soon and says so") {
  class CancelledSink final : public EventSink {
   public:
    Result<void> define(const Definition&) override { return {}; }
    Result<void> append(SealedChunk) override { return {}; }
    [[nodiscard]] bool cancelled() const override { return true; }
  };
  CancelledSink sink;
  const std::string text = many_slices(20000);
  sources::chrome::ChromeReading reading;
  reading.window_bytes = 10000;
  const Result<void> done =
      sources::chrome::import_chrome_json(json::ByteSource::from_memory(text), "big.json", {}, sink, reading);
  REQUIRE(!done.ok());
  CHECK(done.message() == "big.json: the import was cancelled");
}

TEST_CASE("more overlaps, threads or open events than a session can hold are counted, not fatal") {
  std::string overlaps;
  std::string threads;
  std::string begins;
  for (int i = 0; i < 1500; ++i) {
    overlaps += fmt::format(R"({{"ph":"X","name":"n","pid":1,"tid":1,"ts":{},"dur":100000}},)", i);
  }
  for (int i = 0; i < 7000; ++i) {
    threads += fmt::format(R"({{"ph":"X","name":"n","pid":1,"tid":{},"ts":{},"dur":1}},)", i, 2 * i);
  }
  for (int i = 0; i < 40000; ++i) begins += fmt::format(R"({{"ph":"B","name":"n","pid":1,"tid":1,"ts":{}}},)", i);
  for (int i = 0; i < 40000; ++i) {
    begins += fmt::format(R"({{"ph":"E","name":"m","pid":1,"tid":1,"ts":{}}},)", 50000 + i);
  }
  const Imported overlapping = imported_trace(trace_of(overlaps));
  CHECK(overlapping.count("event") == 1024);
  CHECK(quality_count(overlapping, "too_many_overlaps") == 1500 - 1024);
  const Imported threaded = imported_trace(trace_of(threads));
  CHECK(threaded.count("event") == 7000);
  CHECK(quality_count(threaded, "too_many_tracks") == 1000);
  const Imported open = imported_trace(trace_of(begins));
  CHECK(open.count("event") + quality_count(open, "too_many_overlaps") == 40000);
  CHECK(quality_count(open, "mismatched_end") == 40000);
}

TEST_CASE("progress rises to the whole file") {
  std::uint64_t last = 0;
  std::uint64_t total = 0;
  bool rises = true;
  sources::ImportOptions options;
  options.progress = [&](std::uint64_t done, std::uint64_t of) {
    rises = rises && done >= last;
    last = done;
    total = of;
  };
  const std::string text = many_slices(5000);
  sources::chrome::ChromeReading reading;
  reading.window_bytes = 10000;
  (void)Imported::by([&](EventSink& sink) {
    return sources::chrome::import_chrome_json(json::ByteSource::from_memory(text), "t.json", options, sink, reading);
  });
  CHECK(rises);
  CHECK(last == text.size());
  CHECK(total == text.size());
}

}  // namespace accelscope::capture
