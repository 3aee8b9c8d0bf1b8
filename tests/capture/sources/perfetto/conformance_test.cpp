// The format's own conformance cases, where the environment names a folder that holds them: a trace, a query and the
// rows that it gives. Queries run as they are, over tables that are made of what was imported.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "capture/sources/base/importers.h"
#include "tests/capture/sources/perfetto/trace_tables.h"

namespace accelscope::capture::perfetto_conformance {
namespace {

// Cases that ask for what is not read here, by a word of the query.
struct Foreign {
  std::string_view word;
  std::string_view reason;
};
constexpr Foreign kForeign[] = {
    {"ftrace_event", "the kernel's trace points are not read"},
    {"sched.ts", "the scheduler's states of threads become rows of events"},
    {"heap_", "heap profiles and graphs are not read"},
    {"smaps", "maps of processes' memory are not read"},
    {"stack_sample", "sampled call stacks are not read"},
    {"stack_profile_", "frames are kept as texts of the events that they are of"},
    {"perf_sample", "sampled call stacks are not read"},
    {"cpu_profiling", "sampled call stacks are not read"},
    {"FROM cpu", "facts about processors are not read"},
    {"cpu_available_frequencies", "facts about processors are not read"},
    {"android_", "Android's own packets are not read"},
    {"FROM metadata", "facts about the recording are kept under names of their own"},
    {"_test.sql", "the query is in another file"},
    {"mem.ion", "the kernel's counters are not read"},
    {"diskstat", "the system's counters are not read"},
    {"f2fs_iostat", "the kernel's counters are not read"},
    {"concurrent_tracing_sessions", "the service's own packets are not read"},
    {"traced_buf_", "statistics of the service are not read"},
    {"long_trace_mode", "statistics of the service are not read"},
    {"sequence_packet_loss", "statistics of the service are not read"},
};
// And by the name of the case.
struct ForeignCase {
  std::string_view name;
  std::string_view reason;
};
constexpr ForeignCase kForeignCases[] = {
    {"v4l2_vidioc_slice", "the kernel's trace points are not read"},
    {"virtio_video_slice", "the kernel's trace points are not read"},
    {"drm_dma_fence", "the kernel's trace points are not read"},
    {"drm_sched", "the kernel's trace points are not read"},
    {"trace_funcgraph", "the kernel's trace points are not read"},
    {"kernel_dpu_tmw_counter", "the kernel's trace points are not read"},
    {"slice_mdss_tracing", "the kernel's trace points are not read"},
    {"oom_kill", "the kernel's trace points are not read"},
    {"with_atrace", "the kernel's trace points are not read"},
    {"thermal_zones", "the system's counters are not read"},
    {"perf_sample_timebase_count", "sampled call stacks are not read"},
    {"invalid_string_ts_and_dur", "an event without a duration is kept, with none, and told of"},
    {"json_extreme_vals", "an event without a duration is kept, and an end of another name ends the innermost event"},
    {"json_id2_", "asynchronous events of a category share a row"},
    {"f2fs_iostat", "the kernel's counters are not read"},
    {"track_event_descriptions", "instants of a process lie on its own track"},
    {"tracks_machine_id", "the machine is not in the file"},
    {"args_to_json", "the query calls a function of Perfetto's own"},
};

// Arguments that Perfetto adds for its own use, of slices and of tracks.
constexpr std::string_view kForeignArguments[] = {
    "legacy_trace_source_id",
    "legacy_event.passthrough_utid",
    "\"event.category\"",
    "\"event.name\"",
    "\"name\",\"name\"",
    "\"scope\"",
    "\"source\"",
    "\"source_scope\"",
    "trace_id_is_process_scoped",
    "track_compressor_idx",
    "\"upid\"",
};

struct Case {
  std::string name;
  std::string trace;
  std::string query;
  std::vector<std::string> rows;  // without the header
};

std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Rows may go over several lines, within quotes.
std::vector<std::string> csv_rows(const std::string& text) {
  std::vector<std::string> rows(1);
  bool within = false;
  for (const char letter : text) {
    if (letter == '"') within = !within;
    if (letter == '\n' && !within) {
      rows.emplace_back();
    } else {
      rows.back() += letter;
    }
  }
  std::erase(rows, "");
  return rows;
}

std::vector<Case> conformance_cases() {
  std::vector<Case> cases;
  const char* folder = std::getenv("ACCELSCOPE_REAL_DATA");
  if (folder == nullptr) return cases;
  std::error_code failure;
  const std::filesystem::path root = std::filesystem::path(folder) / "perfetto" / "conformance";
  for (const auto& entry : std::filesystem::directory_iterator(root, failure)) {
    const std::string file = entry.path().filename().string();
    constexpr std::string_view kEnding = ".expected.txt";
    if (!file.ends_with(kEnding)) continue;
    Case found;
    found.name = file.substr(0, file.size() - kEnding.size());
    for (const char* ending : {".pb", ".json"}) {
      if (std::filesystem::exists(root / (found.name + ending))) found.trace = (root / (found.name + ending)).string();
    }
    const std::string text = text_of_file(entry.path());
    constexpr std::string_view kQuery = "-- QUERY\n";
    constexpr std::string_view kExpect = "-- EXPECT ";
    const std::size_t expect = text.find(kExpect);
    if (!text.starts_with(kQuery) || expect == std::string::npos) continue;
    found.query = text.substr(kQuery.size(), expect - kQuery.size());
    // Modules of tables that are there anyway.
    for (std::size_t at = found.query.find("INCLUDE"); at != std::string::npos; at = found.query.find("INCLUDE")) {
      found.query.erase(at, found.query.find(';', at) - at + 1);
    }
    found.rows = csv_rows(text.substr(text.find('\n', expect) + 1));
    if (!found.rows.empty()) found.rows.erase(found.rows.begin());
    cases.push_back(std::move(found));
  }
  std::sort(cases.begin(), cases.end(), [](const Case& a, const Case& b) { return a.name < b.name; });
  return cases;
}

std::string_view reason_not_ours(const Case& of) {
  for (const ForeignCase& foreign : kForeignCases) {
    if (of.name.find(foreign.name) != std::string::npos) return foreign.reason;
  }
  for (const Foreign& foreign : kForeign) {
    if (of.query.find(foreign.word) != std::string::npos) return foreign.reason;
  }
  return {};
}

TEST_CASE(
    "conformance cases of Perfetto about tracks, slices, counters, flows, clocks, GPUs and JSON give their rows") {
  std::size_t right = 0;
  std::map<std::string_view, std::size_t> not_ours;
  for (const Case& each : conformance_cases()) {
    CAPTURE(each.name);
    const std::string_view reason = reason_not_ours(each);
    if (!reason.empty()) {
      ++not_ours[reason];
      continue;
    }
    RecordingSink sink;
    const bool json = each.trace.ends_with(".json");
    const Result<void> done = json ? sources::import_file(sources::chrome::import_chrome_json, each.trace, {}, sink)
                                   : sources::perfetto::import_perfetto(each.trace, {}, sink);
    INFO((done.ok() ? std::string() : done.message()));
    CHECK((done.ok() || each.rows.empty()));
    TraceTables tables(sink, json ? text_of_file(each.trace) : std::string{});
    TraceTables::Answer answer = tables.ask(each.query);
    CAPTURE(answer.error);
    CAPTURE(each.query);
    std::vector<std::string> expected = each.rows;
    std::erase_if(expected, [](const std::string& row) {
      return std::any_of(std::begin(kForeignArguments), std::end(kForeignArguments),
                         [&](std::string_view key) { return row.find(key) != std::string::npos; });
    });
    // Rows that the query's own order leaves equal are in any.
    std::sort(expected.begin(), expected.end());
    std::sort(answer.rows.begin(), answer.rows.end());
    CAPTURE(fmt::format("{}", fmt::join(expected, "\n")));
    CAPTURE(fmt::format("{}", fmt::join(answer.rows, "\n")));
    CHECK(answer.rows == expected);
    if (answer.rows == expected) ++right;
  }
  if (right == 0) return;
  std::string list;
  for (const auto& [reason, count] : not_ours) list += fmt::format("  {}: {}\n", count, reason);
  MESSAGE(fmt::format("{} cases are right; not ours:\n{}", right, list));
}

}  // namespace
}  // namespace accelscope::capture::perfetto_conformance
