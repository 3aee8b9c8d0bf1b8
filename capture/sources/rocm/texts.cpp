// Texts: rocprofv3's results in JSON, and its tables in CSV.
#include <fmt/format.h>

#include <filesystem>

#include "capture/sources/base/async_sink.h"
#include "capture/sources/rocm/csv/reader.h"
#include "capture/sources/rocm/results_json/reader.h"
#include "capture/sources/rocm/rocprof/reader.h"
#include "capture/sources/rocm/source.h"

namespace accelscope::capture::sources::rocm {
namespace {

constexpr int kSureResult = 97;
constexpr std::string_view kResultsFormat = "ROCm profile (rocprofv3 JSON)";
constexpr std::string_view kTablesFormat = "ROCm profile (rocprofv3 CSV)";

[[nodiscard]] std::vector<std::string> all_paths(const std::string& path, const ImportOptions& options) {
  std::vector<std::string> paths = {path};
  paths.insert(paths.end(), options.companions.begin(), options.companions.end());
  return paths;
}

// The text behind "key": in the first bytes of a result.
[[nodiscard]] std::string value_in_head(std::string_view head, std::string_view key) {
  std::size_t at = head.find(key);
  if (at == std::string_view::npos) return {};
  at = head.find_first_not_of(" \t\r\n:", at + key.size());
  if (at == std::string_view::npos || head[at] != '"') return {};
  const std::size_t end = head.find('"', at + 1);
  return end == std::string_view::npos ? std::string() : std::string(head.substr(at + 1, end - at - 1));
}

}  // namespace

std::string output_of_rocprofv3(const std::string& path) {
  constexpr std::string_view kResults = "_results.";
  const std::size_t results = path.rfind(kResults);
  return results == std::string::npos ? rocprof_process_of(path) : path.substr(0, results);
}

int probe_rocprofv3_json(std::string_view head, const std::string& /*path*/) {
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || head[first] != '{') return 0;
  constexpr std::size_t kNear = 256;  // nothing comes before it but blanks
  return head.substr(first, kNear).find("\"rocprofiler-sdk-tool\"") != std::string_view::npos ? kSureResult : 0;
}

std::string run_of_rocprofv3_json(const std::string& path) {
  const std::string head = json::read_head(path, kProbeBytes);
  const std::string machine = value_in_head(head, "\"machine_id\"");
  const std::string host = value_in_head(head, "\"hostname\"");
  return machine.empty() && host.empty() ? std::string() : machine + " " + host;
}

Result<void> import_rocprofv3_json(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                                   const ImportOptions& options, EventSink& sink) {
  AsyncSink receiver(sink);
  RocmRun run(receiver);
  ResultsReader reader(run, name);
  if (Result<void> done = reader.read(std::move(bytes), options.progress); !done) return done;
  if (Result<void> done = run.finish({std::string(kResultsFormat), name}); !done) return done;
  return receiver.finish();
}

Result<void> import_rocprofv3_json(const std::string& path, const ImportOptions& options, EventSink& sink) {
  AsyncSink receiver(sink);
  RocmRun run(receiver);
  const std::vector<std::string> paths = all_paths(path, options);
  std::vector<Error> failures;
  bool counters_chosen = false;
  for (const std::string& each : paths) {
    Result<std::unique_ptr<json::ByteSource>> source = json::ByteSource::open(each);
    ResultsReader reader(run, each);
    if (counters_chosen) reader.keep_counters();
    const Result<void> done = source ? reader.read(std::move(*source), options.progress) : source.error();
    counters_chosen = true;  // the table of kernels is made
    if (!done) failures.push_back(done.error());
  }
  if (failures.size() == paths.size()) return failures.front();
  for (const Error& failure : failures) {
    run.report().note("unreadable_input", failure.message + "; the other files of the run were read");
  }
  if (Result<void> done = run.finish({std::string(kResultsFormat), path}); !done) return done;
  return receiver.finish();
}

int probe_rocprof_csv(std::string_view head, const std::string& /*path*/) {
  constexpr int kSureRocprof = 90;
  std::vector<std::string> columns;
  return split_csv(head.substr(0, head.find('\n')), ',', columns) && is_rocprof_table(columns) ? kSureRocprof : 0;
}

std::string output_of_rocprof(const std::string& path) {
  return std::filesystem::path(path).replace_extension().string();
}

Result<void> import_rocprof_csv(const std::string& path, const ImportOptions& options, EventSink& sink) {
  Result<CsvTable> table = CsvTable::open(path, {});
  if (!table) return table.error();
  AsyncSink receiver(sink);
  RocmRun run(receiver);
  ReadingProgress progress{options.progress, 0, 0};
  if (Result<void> done = RocprofReader(run, progress).read(*table, path); !done) return done;
  if (Result<void> done = run.finish({"rocprof results (CSV)", path}); !done) return done;
  return receiver.finish();
}

int probe_rocprofv3_csv(std::string_view head, const std::string& /*path*/) { return probe_rocprof_table(head); }

// All tables of a folder are of processes of one host.
std::string run_of_rocprofv3_csv(const std::string& path) {
  return std::filesystem::path(path).parent_path().lexically_normal().string() + "/";
}

Result<void> import_rocprofv3_csv(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                                  const ImportOptions& options, EventSink& sink) {
  // Tables are looked at more than once.
  std::string text;
  std::vector<char> buffer(64U << 10);
  for (;;) {
    const Result<std::size_t> count = bytes->read(buffer);
    if (!count) return count.error();
    if (*count == 0) break;
    text.append(buffer.data(), *count);
  }
  AsyncSink receiver(sink);
  RocmRun run(receiver);
  CsvReader reader(
      run,
      [&](const std::string&) -> Result<std::unique_ptr<json::ByteSource>> {
        return json::ByteSource::from_memory(text);
      },
      options.progress);
  if (Result<void> done = reader.read({name}); !done) return done;
  if (Result<void> done = run.finish({std::string(kTablesFormat), name}); !done) return done;
  return receiver.finish();
}

Result<void> import_rocprofv3_csv(const std::string& path, const ImportOptions& options, EventSink& sink) {
  AsyncSink receiver(sink);
  RocmRun run(receiver);
  CsvReader reader(
      run, [](const std::string& file) { return json::ByteSource::open(file); }, options.progress);
  if (Result<void> done = reader.read(all_paths(path, options)); !done) return done;
  if (Result<void> done = run.finish({std::string(kTablesFormat), path}); !done) return done;
  return receiver.finish();
}

}  // namespace accelscope::capture::sources::rocm
