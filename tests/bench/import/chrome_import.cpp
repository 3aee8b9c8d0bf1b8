// Importing generated Chrome JSON traces into a store in memory, against simdjson reading the same bytes and doing
// nothing with them: nested slices with a source location per name, and rows as PyTorch's profiler writes them, with
// ids of their own each.
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "capture/sources/base/importers.h"
#include "tests/bench/base/figures.h"
#include "tests/bench/import/import_cost.h"

namespace accelscope::bench {
namespace {

constexpr int kTracks = 40;
constexpr int kNames = 200;
constexpr int kParentNames = 20;
constexpr int kChildren = 4;
constexpr std::int64_t kStartNs = 1'000'000'000;

struct GeneratedEvent {
  std::int64_t start = 0;  // ns
  std::int64_t duration = 0;
  int track = 0;
  int name = 0;
};

// A parent and its children, one after another on each track, sorted by start like a tracer that merges its buffers.
class GroupGenerator {
 public:
  GroupGenerator() : next_(kTracks, kStartNs) {
    for (int i = 0; i < kTracks; ++i) next_[static_cast<std::size_t>(i)] += i * 41;
  }

  // The groups of all tracks for a stretch of time.
  const std::vector<GeneratedEvent>& stretch() {
    constexpr int kGroups = 64;
    events_.clear();
    std::int64_t latest = 0;
    for (int track = 0; track < kTracks; ++track) {
      std::int64_t& at = next_[static_cast<std::size_t>(track)];
      for (int group = 0; group < kGroups; ++group) add_group(track, at);
      latest = std::max(latest, at);
    }
    for (int track = 0; track < kTracks; ++track) next_[static_cast<std::size_t>(track)] = latest + track;
    std::stable_sort(events_.begin(), events_.end(),
                     [](const GeneratedEvent& a, const GeneratedEvent& b) { return a.start < b.start; });
    return events_;
  }

 private:
  [[nodiscard]] std::int64_t below(int limit) {
    return static_cast<std::int64_t>(random_() % static_cast<unsigned>(limit));
  }

  void add_group(int track, std::int64_t& at) {
    const std::size_t parent = events_.size();
    events_.push_back({at, 0, track, static_cast<int>(below(kParentNames))});
    std::int64_t cursor = at + 25;
    for (int child = 0; child < kChildren; ++child) {
      std::int64_t duration = 200 + below(4000);
      if (below(1000) == 0) duration *= 50;  // a few are long
      events_.push_back({cursor, duration, track, kParentNames + static_cast<int>(below(kNames - kParentNames))});
      cursor += duration + 10 + below(300);
    }
    events_[parent].duration = cursor + 20 - at;
    at = cursor + 70 + below(500);
  }

  std::mt19937 random_{11};
  std::vector<std::int64_t> next_;
  std::vector<GeneratedEvent> events_;
};

std::string microseconds(std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

std::string nested_row(const GeneratedEvent& event) {
  static constexpr const char* kKinds[] = {"matmul", "softmax", "reduce_mean", "conv2d", "gather"};
  return fmt::format(R"({{"ph":"X","name":"step_{:03}_{}","cat":"kernel","pid":1,"tid":{},"ts":{},"dur":{},)"
                     R"("args":{{"file":"model/block_{:02}.py","function":"forward_{}","line":{}}}}})",
                     event.name, kKinds[event.name % 5], event.track + 100, microseconds(event.start),
                     microseconds(event.duration), event.name % 37, event.name % 61, 12 + event.name * 7);
}

std::string profiler_row(const GeneratedEvent& event, std::uint64_t index) {
  if (event.name % 2 == 0) {
    return fmt::format(
        R"({{"ph": "X", "cat": "cpu_op", "name": "aten::op_{}", "pid": 4100, "tid": {}, "ts": {}, "dur": {}, )"
        R"("args": {{"External id": {}, "Record function id": 0, "Concrete Inputs": ["", "{}", ""], )"
        R"("Input type": ["float", "Scalar", ""], "Input Dims": [[{}, 1024], [], []], "Ev Idx": {}}}}})",
        event.name, 4100 + event.track, microseconds(event.start), microseconds(event.duration), index, event.name % 7,
        16 << (event.name % 5), index);
  }
  return fmt::format(
      R"({{"ph": "X", "cat": "kernel", "name": "void at::native::vectorized_kernel_{}<float, 4>", "pid": 0, "tid": {}, )"
      R"("ts": {}, "dur": {}, "args": {{"External id": {}, "queued": 0, "device": 0, "context": 1, "stream": {}, )"
      R"("correlation": {}, "registers per thread": {}, "shared memory": 0, "blocks per SM": {}.5, )"
      R"("grid": [{}, 1, 1], "block": [128, 1, 1], "est. achieved occupancy %": {}}}}})",
      event.name, event.track, microseconds(event.start), microseconds(event.duration), index, event.track, index,
      16 + event.name % 64, event.name % 40, 1 << (event.name % 10), event.name % 100);
}

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

template <typename MakeRow>
std::uint64_t write_trace(const std::string& path, std::uint64_t events, MakeRow make_row) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "wb"));
  if (file == nullptr) return 0;
  GroupGenerator generator;
  std::string text = "{\"traceEvents\":[\n";
  for (int track = 0; track < kTracks; ++track) {
    text += fmt::format(R"({{"ph":"M","name":"thread_name","pid":1,"tid":{},"args":{{"name":"engine {}"}}}},)",
                        100 + track, track);
    text += '\n';
  }
  std::uint64_t written = 0;
  bool complete = true;
  while (written < events && complete) {
    for (const GeneratedEvent& event : generator.stretch()) {
      if (written == events) break;
      if (written > 0) text += ",\n";
      text += make_row(event, written++);
    }
    complete = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
    text.clear();
  }
  complete = complete && std::fputs("\n]}\n", file.get()) >= 0;
  return complete ? static_cast<std::uint64_t>(std::ftell(file.get())) : 0;
}

// Every field of every event is stepped over; no value is looked at.
std::uint64_t count_fields(const std::string& path) {
  simdjson::padded_string text;
  if (simdjson::padded_string::load(path).get(text) != simdjson::SUCCESS) return 0;
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  if (parser.iterate(text).get(document) != simdjson::SUCCESS) return 0;
  std::uint64_t fields = 0;
  for (auto row : document["traceEvents"].get_array()) {
    for (auto field : row.get_object()) fields += field.error() == simdjson::SUCCESS ? 1 : 0;
  }
  return fields;
}

void measure(const std::string& name, const std::string& shape, const std::string& path, std::uint64_t events,
             std::uint64_t bytes, const char* must_rate) {
  const auto cost = import_cost(name, events, [&](EventSink& sink) {
    return capture::sources::import_file(capture::sources::chrome::import_chrome_json, path, {}, sink);
  });
  if (!cost) return;
  std::uint64_t fields = 0;
  const double parsing = best_seconds(2, [&] { fields = count_fields(path); });
  const double megabytes = static_cast<double>(bytes) / 1e6;
  const double millions = static_cast<double>(events) / 1e6;
  const std::string recipe = fmt::format(
      "{} events, {:.0f} MB: {}; yardstick: simdjson stepping over the {} fields of the whole file in memory", events,
      megabytes, shape, fields);
  report({name, millions / cost->seconds, "M events/s", must_rate, "simdjson alone", millions / parsing, recipe});
  report({name + "_bytes", megabytes / cost->seconds, "MB/s", "at least 350", "simdjson alone", megabytes / parsing,
          recipe});
  report({name + "_memory", cost->grown_bytes / 1e6, "MB", "at most twice the final and 128 MB", "the store afterwards",
          cost->retained_bytes / 1e6, recipe});
}

}  // namespace

void bench_chrome_import(const BenchOptions& options) {
  const std::string path = options.work_folder + "/chrome_import.json";
  const auto nested = static_cast<std::uint64_t>(5e6 * options.scale);
  std::uint64_t bytes =
      write_trace(path, nested, [](const GeneratedEvent& event, std::uint64_t) { return nested_row(event); });
  if (bytes > 0) {
    measure("chrome_import", "40 tracks, 200 names, a parent with four children, a source location per name", path,
            nested, bytes, "at least 2.5");
  }
  const auto profiled = static_cast<std::uint64_t>(2e6 * options.scale);
  bytes = write_trace(path, profiled, profiler_row);
  if (bytes > 0) {
    measure("chrome_import_profiler", "operators and kernels as PyTorch's profiler writes them, ids of their own each",
            path, profiled, bytes, "");
  }
  std::filesystem::remove(path);
}

}  // namespace accelscope::bench
