#include "app/session_opening.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <set>

#include "app/session_analysis.h"
#include "capture/sources/source.h"
#include "core/base/format.h"

namespace accelscope::app {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kSessionMagic = "SQLite format 3";
constexpr std::string_view kSessionSuffix = ".accel";

bool begins_like_session(const std::string& path) {
  std::array<char, kSessionMagic.size()> first{};
  std::ifstream file(path, std::ios::binary);
  file.read(first.data(), first.size());
  return file.gcount() == static_cast<std::streamsize>(first.size()) &&
         std::string_view(first.data(), first.size()) == kSessionMagic;
}

// A store that reports an import's cancellation to the source.
class ImportSink final : public EventSink {
 public:
  ImportSink(Store& store, const JobControl& control) : sink_(store), control_(control) {}
  Result<void> define(const Definition& definition) override { return sink_.define(definition); }
  Result<void> append(SealedChunk chunk) override { return sink_.append(std::move(chunk)); }
  [[nodiscard]] bool cancelled() const override { return control_.cancelled(); }

 private:
  StoreSink sink_;
  const JobControl& control_;
};

void name_session(OpenedSession& session, const std::string& path) {
  const auto snapshot = session.store->snapshot();
  session.title = std::string(snapshot->meta_value("name"));
  if (session.title.empty()) session.title = title_of_path(path);
  session.device = device_of(*snapshot);
}

Result<OpenedSession> salvage(const std::string& path, const std::string& why) {
  SalvageReport report;
  auto store = salvage_session(path, report);
  if (!store) return Error{why + "; nothing in it could be recovered, so try an earlier copy or record again"};
  OpenedSession session;
  session.store = std::move(*store);
  session.modified = true;
  session.note = describe_salvage(path, report);
  name_session(session, path);
  return session;
}

Result<OpenedSession> open_in_place(const std::string& path) {
  auto store = Store::open(path);
  if (!store) return salvage(path, store.message());
  OpenedSession session;
  session.store = std::move(*store);
  session.path = path;
  name_session(session, path);
  return session;
}

Result<OpenedSession> import(const std::string& path, const OpenSessionOptions& options, JobControl& control) {
  auto format = capture::guess_format(path);
  if (!format) return format.error();
  auto store = Store::create();
  if (!store) return store.error();
  OpenedSession session;
  session.store = std::move(*store);
  ImportSink sink(*session.store, control);
  capture::ImportOptions import_options;
  import_options.source_roots = options.source_roots;
  std::error_code no_size;  // of a folder: progress then has a share, but no rate in bytes
  const std::uint64_t file_bytes = fs::is_regular_file(path, no_size) ? fs::file_size(path, no_size) : 0;
  import_options.progress = [&control, file_bytes](std::uint64_t done, std::uint64_t total) {
    if (file_bytes == 0 || total == 0) return void(control.report(done, total));
    const double share = static_cast<double>(done) / static_cast<double>(total);
    control.report(static_cast<std::uint64_t>(share * static_cast<double>(file_bytes)), file_bytes);
  };
  if (auto done = (*format)->run(path, import_options, sink); !done) return done.error();
  if (control.cancelled()) return Error{path + ": the import was cancelled"};
  name_session(session, path);  // not modified: what was imported still lies in its file
  return session;
}

Result<OpenedSession> open_any(const std::string& path, const OpenSessionOptions& options, JobControl& control) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    return Error{path + ": there is no such file; check the path, or open it from the file dialog (Ctrl+O)"};
  }
  const bool is_folder = fs::is_directory(path, error);
  if (!is_folder && fs::file_size(path, error) == 0 && !error) {
    return Error{path + ": the file is empty; the program that wrote it may not have finished, so record it again"};
  }
  if (!is_folder && begins_like_session(path)) return open_in_place(path);
  if (!is_folder && fs::path(path).extension() == kSessionSuffix) {
    return salvage(path, path + ": this is not a session file, or its beginning is damaged");
  }
  return import(path, options, control);
}

}  // namespace

Result<OpenedSession> open_session(const std::string& path, const OpenSessionOptions& options, WorkerPool& pool,
                                   JobControl& control) {
  auto session = open_any(path, options, control);
  if (!session) return session;
  TaskControl task;
  auto active = find_active_stretch({*session->store, session->store->snapshot(), pool, task});
  if (active) {
    session->active = *active;
  } else {  // the session is still worth showing
    session->store->add_quality({"unreadable_events", 1, active.message(), Severity::error});
  }
  return session;
}

std::string title_of_path(const std::string& path) {
  const fs::path name = fs::path(path).lexically_normal();
  return name.has_filename() ? name.stem().string() : name.parent_path().filename().string();
}

std::string device_of(const Snapshot& snapshot) {
  std::set<std::string> devices;
  for (const TrackSnapshot& track : snapshot.tracks) {
    std::string name = track.track->host;
    if (!track.track->device.empty()) name += (name.empty() ? "" : " ") + track.track->device;
    if (!track.track->device.empty()) devices.insert(std::move(name));
  }
  if (devices.empty()) return "";
  if (devices.size() == 1) return *devices.begin();
  return std::to_string(devices.size()) + " devices";
}

std::string describe_salvage(const std::string& path, const SalvageReport& report) {
  std::string text = path + ": the file is damaged; recovered " + format_count(report.events) + " events in " +
                     format_count(report.chunks) + " chunks from " +
                     format_bytes(static_cast<double>(report.file_bytes));
  if (report.damaged_chunks > 0) text += ", " + format_count(report.damaged_chunks) + " chunks are lost";
  for (const std::string& sentence : report.missing) text += "; " + sentence;
  return text + ". Save it under a new name to keep what was recovered.";
}

}  // namespace accelscope::app
