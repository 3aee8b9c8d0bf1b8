#include "app/workspace/opening.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/session/analysis.h"
#include "capture/ingest/stream_ingest.h"
#include "capture/sources/base/sinks.h"
#include "capture/sources/base/source.h"
#include "capture/sources/import_input.h"
#include "core/analysis/figures/session_terms.h"
#include "core/analysis/time/session_activity.h"
#include "core/analysis/time/track_devices.h"
#include "core/base/format.h"

namespace accelscope::app::workspace {

namespace fs = std::filesystem;
using capture::sources::RecognisedFile;

namespace {

void name_session(OpenedSession& session, const std::vector<std::string>& paths) {
  const auto snapshot = session.store->snapshot();
  session.title = std::string(snapshot->meta_value("name"));
  if (session.title.empty()) session.title = title_of_paths(paths);
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
  name_session(session, {path});
  return session;
}

Result<OpenedSession> open_in_place(const std::string& path) {
  auto store = Store::open(path);
  if (!store && is_of_newer_version(path)) return store.error();
  if (!store) return salvage(path, store.message());
  OpenedSession session;
  session.store = std::move(*store);
  session.path = path;
  name_session(session, {path});
  return session;
}

Result<OpenedSession> import(const std::vector<RecognisedFile>& files, const OpenSessionOptions& options,
                             session::JobControl& control) {
  auto store = Store::create(
      {.memory_budget_bytes = options.memory_budget_bytes, .written_by = "accelscope " ACCELSCOPE_VERSION});
  if (!store) return store.error();
  OpenedSession session;
  session.store = std::move(*store);
  capture::sources::InputOptions input;
  input.format = options.format;
  input.import.source_roots = options.source_roots;
  input.import.neff = options.neff;
  input.import.converter_options = options.converter_options;
  input.import.progress = [&control](std::uint64_t done, std::uint64_t total) { control.report(done, total); };
  const Result<void> done = capture::sources::import_input(files, input, [&] {
    return std::make_unique<capture::sources::SupervisedSink>(std::make_unique<StoreSink>(*session.store),
                                                              [&control] { return control.cancelled(); });
  });
  if (!done) return done.error();
  std::vector<std::string> paths;
  for (const RecognisedFile& file : files) paths.push_back(file.path);
  name_session(session, paths);  // not modified: what was imported still lies in its file
  return session;
}

// What a capture left on disk: an agent's spool, a recovery folder.
Result<OpenedSession> open_frames(const std::string& path, const OpenSessionOptions& options,
                                  const session::JobControl& control) {
  auto store = Store::create(
      {.memory_budget_bytes = options.memory_budget_bytes, .written_by = "accelscope " ACCELSCOPE_VERSION});
  if (!store) return store.error();
  OpenedSession session;
  session.store = std::move(*store);
  const Result<void> done =
      capture::ingest::import_frames(path, *session.store, [&control] { return !control.cancelled(); });
  if (!done) return done.error();
  session.modified = true;  // folders of frames are cleared away; a session file stays
  name_session(session, {path});
  return session;
}

}  // namespace

Result<OpenedSession> load_session(const std::vector<RecognisedFile>& files, const OpenSessionOptions& options,
                                   session::JobControl& control) {
  for (const RecognisedFile& file : files) {
    if (!file.is_readable) return Error{file.why_not};
  }
  if (files.size() == 1 && options.format.empty()) {
    const RecognisedFile& file = files.front();
    if (file.name() == capture::sources::kSessionFormat) return open_in_place(file.path);
    if (file.is_session) return salvage(file.path, file.why_not);
    if (capture::ingest::holds_frames(file.path)) return open_frames(file.path, options, control);
  }
  return import(files, options, control);
}

Result<OpenedSession> open_session(const std::vector<RecognisedFile>& files, const OpenSessionOptions& options,
                                   WorkerPool& pool, session::JobControl& control) {
  auto session = load_session(files, options, control);
  if (!session) return session;
  session->retained = session::read_retained(*session->store);
  TaskControl task;
  auto look = analysis::find_first_look({*session->store, session->store->snapshot(), pool, task});
  if (look) {
    session->active = look->active;
    session->shown = look->shown;
  } else {  // the session is still worth showing
    session->store->add_quality({"unreadable_events", 1, look.message()});
  }
  return session;
}

std::string title_of_paths(const std::vector<std::string>& paths) {
  const fs::path folder = fs::path(paths.front()).parent_path();
  const bool one_folder =
      std::ranges::all_of(paths, [&](const std::string& path) { return fs::path(path).parent_path() == folder; });
  if (paths.size() == 1 || !one_folder || folder.filename().empty()) return title_of_path(paths.front());
  return folder.filename().string();
}

std::string title_of_path(const std::string& path) {
  const fs::path name = fs::path(path).lexically_normal();
  return name.has_filename() ? name.stem().string() : name.parent_path().filename().string();
}

std::string device_of(const Snapshot& snapshot) {
  const analysis::TrackDevices devices(snapshot);
  const std::vector<std::size_t> counted = analysis::session_devices(snapshot, devices);
  std::vector<std::string> names;
  for (const std::size_t device : counted) names.push_back(devices.name(device));
  if (counted.size() != 1) return analysis::name_of_devices(names);
  const std::string& label = devices.label(counted.front());
  for (std::size_t t = 0; t < snapshot.tracks.size(); ++t) {
    const Track& track = *snapshot.tracks[t].track;
    if (devices.of_track(t) != counted.front() || track.host.empty()) continue;
    return label.starts_with(track.host) ? label : track.host + " " + label;
  }
  return label;
}

std::string describe_salvage(const std::string& path, const SalvageReport& report) {
  std::string text = path + ": the file is damaged; recovered " + format_count(report.events) + " events in " +
                     format_count(report.chunks) + " chunks from " + format_bytes(report.file_bytes);
  if (report.damaged_chunks > 0) text += ", " + format_count(report.damaged_chunks) + " chunks are lost";
  for (const std::string& sentence : report.missing) text += "; " + sentence;
  return text + ". Save it under a new name to keep what was recovered.";
}

}  // namespace accelscope::app::workspace
