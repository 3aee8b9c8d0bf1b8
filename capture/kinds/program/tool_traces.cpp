#include "capture/kinds/program/tool_traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "capture/sources/base/importers.h"
#include "capture/sources/base/sinks.h"
#include "core/base/text.h"

namespace accelscope::capture::kinds::program {
namespace {

namespace fs = std::filesystem;
using std::chrono::duration_cast;
using std::chrono::nanoseconds;

constexpr std::int64_t kClockSlackNs = 1'000'000'000;  // of clocks that were set while the program ran

struct ToolRun {
  std::string folder;         // in which the traces lie
  std::int64_t begin_ns = 0;  // of the program, in the capture's time
  std::int64_t end_ns = 0;
};

// When the trace began, if it says so and means this run.
[[nodiscard]] std::optional<std::int64_t> begin_of(const sources::LabelledSink& trace, const request::KindRun& run,
                                                   const ToolRun& of) {
  const std::optional<std::int64_t> unix_ns = trace.begin_unix_ns();
  if (!unix_ns) return std::nullopt;
  const std::int64_t begin = *unix_ns - origin_unix_ns(run);
  const bool in_run = begin >= of.begin_ns - kClockSlackNs && begin <= of.end_ns + kClockSlackNs;
  return in_run ? std::optional(begin) : std::nullopt;
}

}  // namespace

std::int64_t origin_unix_ns(const request::KindRun& run) {
  return duration_cast<nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count() - run.now_ns();
}

std::vector<std::string> find_tool_traces(const std::string& folder, std::initializer_list<std::string_view> endings) {
  std::vector<std::string> files;
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure)) {
    const std::string name = entry->path().filename().string();
    const bool is_trace =
        std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) { return name.ends_with(ending); });
    if (is_trace && entry->is_regular_file(failure)) files.push_back(entry->path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

namespace {

// Each in a scope of its own. One that says when it began lies there, others begin with the program, which is told.
// Files that cannot be read are told of too; also after a stop all of them are read. Fails if none can be read, or a
// sink fails.
[[nodiscard]] Result<void> import_tool_traces(const request::KindRun& run, const ToolRun& of, EventSink& reported) {
  const std::vector<std::string> files = find_tool_traces(of.folder);
  sources::SharedFacts facts;
  std::string first_failure;
  std::size_t read = 0;
  std::size_t placed_by_begin = 0;
  for (const std::string& file : files) {
    const std::unique_ptr<EventSink> scope = run.open_scope();
    // What was traced until a stop is wanted whole.
    sources::SupervisedSink retained(*scope, [] { return false; });
    const std::string label = files.size() == 1 ? "" : fs::path(file).stem().string();
    sources::LabelledSink labelled(retained, label, facts);
    if (const Result<void> done = sources::import_file(sources::chrome::import_chrome_json, file, {}, labelled);
        !done) {
      if (retained.events() > 0) return done;
      if (first_failure.empty()) first_failure = done.message();
      if (Result<void> noted = reported.define(QualityEntry{"trace_unreadable", 1, done.message()}); !noted)
        return noted;
      continue;
    }
    ++read;
    const std::optional<std::int64_t> begin = begin_of(labelled, run, of);
    placed_by_begin += begin ? 0 : 1;
    if (Result<void> moved = labelled.delay(begin.value_or(of.begin_ns)); !moved) return moved;
  }
  if (read == 0 && !first_failure.empty()) return Error{first_failure};
  if (placed_by_begin == 0) return {};
  return reported.define(QualityEntry{
      "trace_begin_estimated", placed_by_begin,
      "traces that do not say when they began are drawn from the program's start: they lie too early by the time until "
      "their first event"});
}

}  // namespace

Result<void> run_for_traces(const request::KindRun& run, EventSink& sink, ProgramRunOptions options,
                            const system::ChildStart& start, const std::string& folder,
                            const std::function<Error()>& none) {
  ToolRun of{.folder = folder, .begin_ns = run.now_ns()};
  if (Result<void> done = ProgramRun(run, sink, std::move(options)).run(start); !done) return done;
  of.end_ns = run.now_ns();
  if (!find_tool_traces(folder).empty()) return import_tool_traces(run, of, sink);
  if (!sink.cancelled()) return none();
  // A program that was stopped may have left none.
  return sink.define(QualityEntry{"no_trace", 1, none().message});
}

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxEntries = 200'000;  // of a folder that is much larger than one of compiled programs

}  // namespace

FolderWatch::FolderWatch(std::vector<std::string> folders, std::string ending, int depth)
    : folders_(std::move(folders)), ending_(std::move(ending)), depth_(depth) {
  for (File& file : list()) before_.emplace(file.path, file);
}

std::vector<FolderWatch::File> FolderWatch::list() const {
  std::vector<File> files;
  for (const std::string& folder : folders_) {
    std::error_code failure;
    fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, failure);
    for (std::size_t seen = 0; !failure && entry != fs::recursive_directory_iterator() && seen < kMaxEntries; ++seen) {
      std::error_code gone;  // what vanishes while it is looked at
      const fs::path& path = entry->path();
      if (entry->is_directory(gone)) {
        if (entry.depth() >= depth_ || path.filename().string().starts_with('.')) entry.disable_recursion_pending();
      } else if (path.extension() == ending_ && entry->is_regular_file(gone)) {
        File file{path.string(), entry->file_size(gone), {}};
        if (!gone) file.written = entry->last_write_time(gone);
        if (!gone) files.push_back(std::move(file));
      }
      entry.increment(failure);
    }
  }
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return natural_less(a.path, b.path); });
  files.erase(std::unique(files.begin(), files.end(), [](const File& a, const File& b) { return a.path == b.path; }),
              files.end());
  return files;
}

std::vector<FolderWatch::File> FolderWatch::changed() const {
  std::vector<File> files = list();
  std::erase_if(files, [this](const File& file) {
    const auto known = before_.find(file.path);
    return known != before_.end() && known->second.bytes == file.bytes && known->second.written == file.written;
  });
  return files;
}

}  // namespace accelscope::capture::kinds::program
