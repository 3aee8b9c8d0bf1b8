// Real traces of PyTorch's profiler, where the environment names a folder that holds some: every event arrives, and
// what an independent reading of the file counts comes out of the store again.
#include <doctest/doctest.h>
#include <simdjson.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "tests/capture/sources/chrome/imported_trace.h"

namespace accelscope::capture {
namespace {

std::vector<std::string> real_files() {
  std::vector<std::string> files;
  const char* folder = std::getenv("ACCELSCOPE_REAL_DATA");
  if (folder == nullptr) return files;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(folder) / "kineto", failure)) {
    if (entry.path().extension() == ".gz") files.push_back(entry.path().string());
  }
  return files;
}

std::string inflated(const std::string& path) {
  const Result<std::unique_ptr<json::ByteSource>> source = json::ByteSource::open(path);
  REQUIRE(source.ok());
  std::string text;
  std::vector<char> part(1U << 20);
  for (;;) {
    const Result<std::size_t> count = source.value()->read(part);
    REQUIRE(count.ok());
    if (count.value() == 0) return text;
    text.append(part.data(), count.value());
  }
}

std::string text_of(simdjson::dom::element row, const char* key) {
  std::string_view text;
  return row[key].get(text) == simdjson::SUCCESS ? std::string(text) : std::string{};
}

std::optional<std::int64_t> number_of(simdjson::dom::element args, const char* key) {
  std::int64_t number = 0;
  if (args[key].get(number) != simdjson::SUCCESS) return std::nullopt;
  return number;
}

// What a plain reading of the file finds.
struct Expected {
  std::map<std::string, std::size_t> slices;  // by category
  std::size_t instants = 0;
  std::size_t memory = 0;
  std::int64_t memory_bytes = 0;
  std::size_t rows = 0;
  std::size_t metadata = 0;
  std::set<std::int64_t> calls;                                // correlations
  std::vector<std::int64_t> works;                             // correlations of what ran on a device
  std::map<std::string, std::size_t> kernels;                  // by stream
  std::map<std::pair<std::string, std::int64_t>, int> begins;  // flows by category and id
  std::map<std::pair<std::string, std::int64_t>, int> ends;
  double first = 1e300;  // us
  double busy = 0;       // us of kernels
};

bool is_call(const std::string& category) {
  return category.ends_with("_runtime") || category.ends_with("_driver") || category == "Runtime";
}
bool is_kernel(const std::string& category) { return category == "kernel" || category == "Kernel"; }

void count_row(simdjson::dom::element row, Expected& expected) {
  ++expected.rows;
  const std::string phase = text_of(row, "ph");
  const std::string category = text_of(row, "cat");
  double ts = 0;
  if (phase != "M" && row["ts"].get(ts) == simdjson::SUCCESS && phase.find_first_of("stf") == std::string::npos) {
    expected.first = std::min(expected.first, ts);
  }
  simdjson::dom::element args;
  const bool has_args = row["args"].get(args) == simdjson::SUCCESS;
  if (phase == "M") ++expected.metadata;
  if (phase == "i" && text_of(row, "name") == "[memory]") {
    ++expected.memory;
    expected.memory_bytes += number_of(args, "Bytes").value_or(0);
  } else if (phase == "i") {
    ++expected.instants;
  }
  if (phase == "s") ++expected.begins[{category, number_of(row, "id").value()}];
  if (phase == "f") ++expected.ends[{category, number_of(row, "id").value()}];
  if (phase != "X") return;
  ++expected.slices[category];
  if (is_kernel(category)) {
    double duration = 0;
    REQUIRE(row["dur"].get(duration) == simdjson::SUCCESS);
    expected.busy += duration;
    const std::string text = text_of(row, "tid");
    ++expected.kernels[text.empty() ? "stream " + std::to_string(number_of(row, "tid").value()) : text];
  }
  const auto correlation = has_args ? number_of(args, "correlation") : std::nullopt;
  if (!correlation || *correlation == 0) return;
  if (is_call(category)) {
    expected.calls.insert(*correlation);
  } else {
    expected.works.push_back(*correlation);
  }
}

Expected count_file(const std::string& path) {
  simdjson::dom::parser parser;
  const simdjson::padded_string text(inflated(path));
  simdjson::dom::element document;
  REQUIRE(parser.parse(text).get(document) == simdjson::SUCCESS);
  Expected expected;
  for (const simdjson::dom::element row : document["traceEvents"].get_array()) count_row(row, expected);
  return expected;
}

std::size_t in_categories(const Expected& expected, std::initializer_list<const char*> categories) {
  std::size_t count = 0;
  for (const char* category : categories) {
    const auto found = expected.slices.find(category);
    if (found != expected.slices.end()) count += found->second;
  }
  return count;
}

}  // namespace

TEST_CASE("every event of a real trace is in the session, in the table of its category") {
  for (const std::string& file : real_files()) {
    CAPTURE(file);
    const Expected expected = count_file(file);
    const Imported session = Imported::by(
        [&](EventSink& sink) { return sources::import_file(sources::chrome::import_chrome_json, file, {}, sink); });
    CHECK(session.count("kernel") == in_categories(expected, {"kernel", "Kernel"}));
    CHECK(session.count("memcpy") == in_categories(expected, {"gpu_memcpy", "Memcpy"}));
    CHECK(session.count("memset") == in_categories(expected, {"gpu_memset", "Memset"}));
    CHECK(session.count("runtime_call") ==
          in_categories(expected, {"cuda_runtime", "cuda_driver", "Runtime", "mtia_runtime"}));
    CHECK(session.count("cpu_op") == in_categories(expected, {"cpu_op", "Operator"}));
    CHECK(session.count("trace_span") == in_categories(expected, {"Trace"}));
    for (const char* same :
         {"user_annotation", "gpu_user_annotation", "python_function", "cuda_sync", "mtia_ccp_events", "overhead"}) {
      CAPTURE(same);
      CHECK(session.count(same) == in_categories(expected, {same}));
    }
    CHECK(session.count("event") == 0);
    CHECK(session.count("instant") == expected.instants);
    CHECK(session.count("memory") == expected.memory);
    for (const char* loss : {"rows_skipped", "unknown_phase", "truncated", "stray_bytes", "rows_mended",
                             "flow_without_event", "begin_without_end", "negative_duration", "missing_duration"}) {
      CAPTURE(loss);
      CHECK(quality_count(session, loss) == 0);
    }
  }
}

TEST_CASE("kernels of a real trace lie on their streams with the times of the file, and memory adds up") {
  for (const std::string& file : real_files()) {
    CAPTURE(file);
    const Expected expected = count_file(file);
    const Imported session = Imported::by(
        [&](EventSink& sink) { return sources::import_file(sources::chrome::import_chrome_json, file, {}, sink); });
    std::map<std::string, std::size_t> streams;
    std::int64_t busy = 0;
    for (const EventValues& kernel : session.events("kernel")) {
      // Those of collectives have a row of their own beside the stream's.
      constexpr std::string_view kBeside = "NCCL, ";
      const bool collective = kernel.track.starts_with(kBeside);
      CHECK(kernel.kind == (collective ? "collective" : "stream"));
      const std::string stream = collective ? kernel.track.substr(kBeside.size()) : kernel.track;
      ++streams[stream.substr(0, stream.find(" ("))];
      busy += kernel.end - kernel.begin;
    }
    std::size_t kernels = 0;
    for (const auto& [stream, count] : expected.kernels) kernels += count;
    CHECK(streams.size() == expected.kernels.size());
    for (const auto& [stream, count] : expected.kernels) {
      CAPTURE(stream);
      CHECK(streams[stream] == count);
    }
    CHECK(std::abs(static_cast<double>(busy) - expected.busy * 1e3) <= static_cast<double>(kernels));
    std::int64_t bytes = 0;
    for (const EventValues& event : session.events("memory")) bytes += event.integer("Bytes").value();
    CHECK(bytes == expected.memory_bytes);
    const std::string begin(session.snapshot().meta_value("trace_begin_ns"));
    CHECK(std::abs(std::stod(begin) / 1e3 - expected.first) < 1);
  }
}

TEST_CASE("every launch of a real trace leads to what it started, and the flows left over are counted") {
  for (const std::string& file : real_files()) {
    CAPTURE(file);
    const Expected expected = count_file(file);
    const Imported session = Imported::by(
        [&](EventSink& sink) { return sources::import_file(sources::chrome::import_chrome_json, file, {}, sink); });
    std::size_t launches = 0;
    std::set<std::int64_t> joined;
    for (const std::int64_t work : expected.works) {
      if (!expected.calls.contains(work)) continue;
      ++launches;
      joined.insert(work);
    }
    std::size_t pairs = 0;
    std::size_t alone = 0;
    for (const auto& [flow, count] : expected.begins) {
      if (flow.first != "fwdbwd" && joined.contains(flow.second)) continue;
      const auto end = expected.ends.find(flow);
      const int ends = end == expected.ends.end() ? 0 : end->second;
      pairs += static_cast<std::size_t>(std::min(count, ends));
      alone += static_cast<std::size_t>(std::abs(count - ends));
    }
    for (const auto& [flow, count] : expected.ends) {
      const bool is_joined = flow.first != "fwdbwd" && joined.contains(flow.second);
      if (!is_joined && !expected.begins.contains(flow)) alone += static_cast<std::size_t>(count);
    }
    // Calls that start nothing lack no partner.
    CHECK(quality_count(session, "flow_without_partner") + quality_count(session, "calls_without_work") == alone);
    // Both ends exist, and the source is the earlier one for launches.
    std::map<EventId, const EventValues*> by_id;
    std::vector<EventValues> all;
    for (const char* table : {"runtime_call", "kernel", "memcpy", "memset", "cuda_sync", "cpu_op", "mtia_ccp_events",
                              "user_annotation", "python_function", "gpu_user_annotation"}) {
      const auto events = session.events(table);
      all.insert(all.end(), events.begin(), events.end());
    }
    for (const EventValues& event : all) by_id[event.id] = &event;
    std::size_t by_operator = 0;
    for (const EventValues& flow : session.events("dependency")) {
      const auto source = by_id.find(static_cast<EventId>(flow.integer("source_event").value()));
      const auto target = by_id.find(static_cast<EventId>(flow.integer("target_event").value()));
      REQUIRE(source != by_id.end());
      REQUIRE(target != by_id.end());
      if (flow.string("cat") != "fwdbwd" && !source->second->integer("correlation")) {
        ++by_operator;  // no call was recorded for it
        CHECK(source->second->integer("External id") == flow.integer("id"));
        CHECK(target->second->integer("External id") == flow.integer("id"));
      } else if (flow.string("cat") != "fwdbwd") {
        CHECK(source->second->integer("correlation") == flow.integer("id"));
        CHECK(target->second->integer("correlation") == flow.integer("id"));
      } else {
        CHECK(source->second->kind == "host_thread");
        CHECK(target->second->kind == "host_thread");
      }
    }
    CHECK(session.count("dependency") == launches + pairs + by_operator);
  }
}

}  // namespace accelscope::capture
