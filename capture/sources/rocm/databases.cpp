// Databases: rocpd of rocprofv3, and rpd of rocmProfileData.
#include <fmt/format.h>

#include <algorithm>

#include "capture/sources/base/async_sink.h"
#include "capture/sources/rocm/compute/reader.h"
#include "capture/sources/rocm/rocpd/reader.h"
#include "capture/sources/rocm/rocprof/reader.h"
#include "capture/sources/rocm/rpd/reader.h"
#include "capture/sources/rocm/source.h"
#include "core/store/other_database.h"

namespace accelscope::capture::sources::rocm {
namespace {

constexpr int kSureDatabase = 95;

struct RocmWord {
  std::string_view word;
  RocmDatabase database;
};
// The first one counts that is among the tables' declarations in the file's first pages.
constexpr RocmWord kRocmWords[] = {
    {"rocpd_api_ops", RocmDatabase::rpd},           {"rocpd_kernelapi", RocmDatabase::rpd},
    {"rocpd_info_", RocmDatabase::rocpd},           {"compute_workload", RocmDatabase::compute},
    {"CREATE TABLE KERN (", RocmDatabase::rocprof}, {"CREATE TABLE OPS (\"BeginNs\"", RocmDatabase::rocprof}};

// A packed database cannot be opened where it lies; its first pages nearly always hold its tables' declarations.
[[nodiscard]] RocmDatabase rocm_database_in(std::string_view head, const std::string& path) {
  if (!sqlite::is_database(head)) return RocmDatabase::none;
  for (const RocmWord& word : kRocmWords) {
    if (head.find(word.word) != std::string_view::npos) return word.database;
  }
  if (sqlite::has_journal(path)) {  // without it the file may hold no table yet
    const Result<sqlite::ForeignDatabase> database = sqlite::ForeignDatabase::open(path);
    return database ? rocm_database_of(database->tables()) : RocmDatabase::none;
  }
  const auto tables = tables_of_other_database(path);
  return tables ? rocm_database_of(*tables) : RocmDatabase::none;
}

struct OpenedRocpd {
  std::string path;
  sqlite::ForeignDatabase database;
  std::vector<RocpdPart> parts;
};

[[nodiscard]] Result<OpenedRocpd> open_rocpd(const std::string& path) {
  Result<sqlite::ForeignDatabase> database = sqlite::ForeignDatabase::open(path);
  if (!database) return database.error();
  Result<std::vector<RocpdPart>> parts = find_rocpd_parts(*database);
  if (!parts) return parts.error();
  if (parts->empty()) {
    return Error{
        fmt::format("{}: no tables of rocpd in this database; was the profiler stopped before it wrote any?", path)};
  }
  return OpenedRocpd{path, std::move(*database), std::move(*parts)};
}

void note_version(const OpenedRocpd& file, const RocpdPart& part, RocmRun& run) {
  constexpr std::string_view kKnown = "34";
  const std::string_view version = part.fact("schema_version");
  if (version.empty()) {
    run.report().note("facts_left_out",
                      "the database does not say which version its tables have; they were read by "
                      "the names of their columns");
  } else if (kKnown.find(version.front()) == std::string_view::npos) {
    run.report().note("vendor_warning",
                      fmt::format("{}: version {} of rocpd is not known here; its tables were read by the names of "
                                  "their columns, and may mean something else",
                                  file.path, version));
  }
  if (file.database.is_cut()) {
    run.report().note("truncated",
                      fmt::format("{}: the file ends before its last page; what it still holds was read", file.path));
  }
}

}  // namespace

int probe_rocpd(std::string_view head, const std::string& path) {
  return rocm_database_in(head, path) == RocmDatabase::rocpd ? kSureDatabase : 0;
}

int probe_rpd(std::string_view head, const std::string& path) {
  return rocm_database_in(head, path) == RocmDatabase::rpd ? kSureDatabase : 0;
}

int probe_rocprof_compute(std::string_view head, const std::string& path) {
  return rocm_database_in(head, path) == RocmDatabase::compute ? kSureDatabase : 0;
}

int probe_rocprof_database(std::string_view head, const std::string& path) {
  return rocm_database_in(head, path) == RocmDatabase::rocprof ? kSureDatabase : 0;
}

std::string run_of_rocpd(const std::string& path) { return rocpd_machine(path).value_or(std::string()); }

Result<void> import_rocpd(const std::string& path, const ImportOptions& options, EventSink& sink) {
  AsyncSink receiver(sink);
  RocmRun run(receiver);
  std::vector<OpenedRocpd> files;
  RocpdCounters counters;
  ReadingProgress progress{options.progress, 0, 0};
  std::vector<std::string> paths = {path};
  paths.insert(paths.end(), options.companions.begin(), options.companions.end());
  Error first_failure;
  for (const std::string& each : paths) {
    Result<OpenedRocpd> file = open_rocpd(each);
    if (!file) {
      if (paths.size() == 1) return file.error();
      run.report().note("unreadable_input", file.message() + "; the other files of the run were read");
      first_failure = file.error();
      continue;
    }
    for (const RocpdPart& part : file->parts) {
      counters.add(file->database, part);
      progress.total += rocpd_events(file->database, part);
    }
    files.push_back(std::move(*file));
  }
  if (files.empty()) return first_failure;
  run.set_counters(counters.columns());
  for (const OpenedRocpd& file : files) {
    const Result<sqlite::ForeignDatabase> ahead = file.database.another();
    if (!ahead) return Error{fmt::format("{}: cannot be read as a database: {}", file.path, ahead.message())};
    for (const RocpdPart& part : file.parts) {
      note_version(file, part, run);
      RocpdReader(file.database, *ahead, part, counters, run, progress).read();
    }
    run.report().note_unread(file.path, file.database.unread_tables(), "tables");
    run.report().note_unread(file.path, file.database.unread_columns());
  }
  const std::string_view version = files.front().parts.front().fact("schema_version");
  if (Result<void> done = run.finish({"ROCm profile (rocpd " + std::string(version) + ")", path}); !done) return done;
  return receiver.finish();
}

namespace {

// Databases that stand for themselves.
template <typename Read>
Result<void> import_alone(const std::string& path, const ImportOptions& options, EventSink& sink,
                          const char* source_format, const Read& read) {
  Result<sqlite::ForeignDatabase> database = sqlite::ForeignDatabase::open(path);
  if (!database) return database.error();
  AsyncSink receiver(sink);
  RocmRun run(receiver);
  if (database->is_cut()) {
    run.report().note("truncated", "the file ends before its last page; what it still holds was read");
  }
  ReadingProgress progress{options.progress, 0, 0};
  read(*database, run, progress);
  run.report().note_unread(path, database->unread_tables(), "tables");
  run.report().note_unread(path, database->unread_columns());
  if (Result<void> done = run.finish({source_format, path}); !done) return done;
  return receiver.finish();
}

}  // namespace

Result<void> import_rpd(const std::string& path, const ImportOptions& options, EventSink& sink) {
  return import_alone(
      path, options, sink, "RPD trace (rocmProfileData)",
      [](const auto& database, RocmRun& run, ReadingProgress& progress) { RpdReader(database, run, progress).read(); });
}

Result<void> import_rocprof_compute(const std::string& path, const ImportOptions& options, EventSink& sink) {
  return import_alone(path, options, sink, "ROCm Compute Profiler analysis",
                      [](const auto& database, RocmRun& run, ReadingProgress& progress) {
                        ComputeReader(database, run, progress).read();
                      });
}

Result<void> import_rocprof_database(const std::string& path, const ImportOptions& options, EventSink& sink) {
  return import_alone(path, options, sink, "rocprof database",
                      [](const auto& database, RocmRun& run, ReadingProgress& progress) {
                        RocprofReader(run, progress).read(database);
                      });
}

}  // namespace accelscope::capture::sources::rocm
