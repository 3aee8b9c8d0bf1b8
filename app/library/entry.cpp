#include "app/library/entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/session/kept_beside.h"
#include "app/workspace/opening.h"
#include "capture/sources/base/source.h"
#include "core/base/file_system.h"
#include "core/base/text.h"
#include "core/store/overlay.h"

namespace accelscope::app {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLevels = 4;  // of folders below a folder
constexpr std::string_view kSessionEnding = ".accel", kSidecarEnding = ".overlay";

[[nodiscard]] std::int64_t unix_time(const fs::path& path) {
  std::error_code error;
  const auto changed = fs::last_write_time(path, error);
  if (error) return 0;
  const auto system = std::chrono::file_clock::to_sys(changed);
  return std::chrono::duration_cast<std::chrono::seconds>(system.time_since_epoch()).count();
}

// Of a session that was never saved by the viewer or a command, as agents write them.
void read_whole(LibraryEntry& entry, WorkerPool& pool) {
  const auto store = Store::open(entry.path);
  if (!store) {
    entry.problem = store.message();
    return;
  }
  TaskControl control;
  const auto snapshot = (*store)->snapshot();
  const std::string name(snapshot->meta_value("name"));
  auto headline = find_headline({**store, snapshot, pool, control}, name, 0);
  if (headline) entry.headline = std::move(*headline);
  if (!headline) entry.problem = headline.message();
}

void read_session(LibraryEntry& entry, WorkerPool& pool) {
  const Result<OverlayValues> values = read_overlay(entry.path);
  if (!values) {
    entry.problem = values.message();
    return;
  }
  const auto value = [&](const char* key) {
    const auto found = values->find(key);
    return found == values->end() ? std::string() : found->second;
  };
  const std::optional<Headline> headline = headline_of(value(kHeadlineKey));
  if (headline) entry.headline = *headline;
  if (!headline) read_whole(entry, pool);
  entry.tags = split_tags(value(kTagsKey));
  entry.project = value(kProjectKey);
  entry.configuration = value(kConfigurationKey);
  entry.name = value(kDisplayNameKey);
  if (entry.name.empty()) entry.name = entry.headline.name;
}

[[nodiscard]] bool is_hidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

// Regular files of a folder and of those below it, by path.
void collect(const fs::path& folder, int levels, std::vector<std::string>& files, std::vector<std::string>& problems) {
  std::error_code error;
  std::vector<fs::path> below, found;
  for (fs::directory_iterator each(folder, error), end; !error && each != end; each.increment(error)) {
    std::error_code kind_error;
    if (is_hidden(each->path())) continue;
    if (each->is_directory(kind_error)) {
      below.push_back(each->path());
    } else if (each->is_regular_file(kind_error) && each->path().extension() != kSidecarEnding) {
      found.push_back(each->path());
    }
  }
  if (error) problems.push_back(fmt::format("{}: cannot be listed: {}", folder.string(), error.message()));
  std::sort(found.begin(), found.end());
  std::sort(below.begin(), below.end());
  for (const fs::path& file : found) files.push_back(file.string());
  if (levels == 0) return;
  for (const fs::path& each : below) collect(each, levels - 1, files, problems);
}

[[nodiscard]] Error about(const std::string& path, std::string_view what, const std::error_code& error) {
  return Error{fmt::format("{}: {}: {}", path, what, error.message())};
}

}  // namespace

std::vector<std::string> split_tags(std::string_view text) {
  std::vector<std::string> tags;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string tag(trimmed(text.substr(0, comma)));
    if (!tag.empty() && std::find(tags.begin(), tags.end(), tag) == tags.end()) tags.push_back(std::move(tag));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return tags;
}

std::string join_tags(const std::vector<std::string>& tags) { return joined(tags, ","); }

LibraryEntry read_entry(const std::string& path, const std::string& folder, WorkerPool& pool) {
  LibraryEntry entry{.path = path, .folder = folder, .changed_unix_s = unix_time(path)};
  std::error_code error;
  entry.size_bytes = fs::file_size(path, error);
  if (error) entry.problem = fmt::format("{}: cannot be read: {}", path, error.message());
  const auto format = capture::sources::guess_format(path);
  entry.is_session = fs::path(path).extension() == kSessionEnding || (format && (*format)->name == "session");
  if (entry.is_session && entry.problem.empty()) read_session(entry, pool);
  if (!entry.is_session && format) entry.format = (*format)->name;
  if (entry.name.empty()) entry.name = title_of_path(path);
  return entry;
}

LibraryScan scan_library(const std::vector<std::string>& folders, WorkerPool& pool,
                         const std::function<bool(std::size_t done, std::size_t total)>& told) {
  LibraryScan scan;
  std::vector<std::pair<std::string, std::string>> files;  // with the folder that was named
  for (const std::string& folder : folders) {
    std::error_code error;
    std::vector<std::string> found;
    if (fs::is_regular_file(folder, error)) {
      found.push_back(folder);
    } else {
      collect(folder, kMostLevels, found, scan.problems);
    }
    for (std::string& file : found) {
      const bool known = std::any_of(files.begin(), files.end(), [&](const auto& each) { return each.first == file; });
      if (!known) files.emplace_back(std::move(file), folder);
    }
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    LibraryEntry entry = read_entry(files[i].first, files[i].second, pool);
    if (entry.is_session || !entry.format.empty()) scan.entries.push_back(std::move(entry));
    if (told && !told(i + 1, files.size())) break;
  }
  return scan;
}

bool matches(const LibraryEntry& entry, std::string_view text) {
  const std::string all = fmt::format("{} {} {} {} {} {} {}", entry.name, entry.headline.device, entry.path,
                                      join_tags(entry.tags), entry.project, entry.configuration, entry.format);
  return matches_words(all, text);
}

Result<void> set_tags(const std::string& path, const std::vector<std::string>& tags) {
  return write_overlay_value(path, kTagsKey, join_tags(tags));
}

Result<void> set_title(const std::string& path, const std::string& title) {
  return write_overlay_value(path, kDisplayNameKey, std::string(trimmed(title)));
}

Result<void> set_project(const std::string& path, const std::string& project) {
  return write_overlay_value(path, kProjectKey, std::string(trimmed(project)));
}

Result<std::string> move_session(const std::string& path, const std::string& folder) {
  const fs::path target = fs::path(folder) / fs::path(path).filename();
  std::error_code error;
  if (!fs::is_directory(folder, error))
    return Error{fmt::format("{}: there is no such folder; choose another", folder)};
  if (fs::exists(target, error)) {
    return Error{fmt::format("{}: there is a file of this name in {} already; rename one of them", path, folder)};
  }
  const auto move_file = [&error](const fs::path& from, const fs::path& to) {
    fs::rename(from, to, error);
    if (error != std::errc::cross_device_link) return !error;
    error.clear();
    if (!fs::copy_file(from, to, error) || error) return false;
    fs::remove(from, error);
    return !error;
  };
  if (!move_file(path, target)) return about(path, "cannot be moved to " + folder, error);
  const std::string sidecar = path + std::string(kSidecarEnding);
  if (fs::exists(sidecar, error) && !move_file(sidecar, target.string() + std::string(kSidecarEnding)))
    return about(sidecar, "what is kept beside the session stayed where it was", error);
  return target.string();
}

Result<void> delete_session(const std::string& path) {
  std::error_code error;
  if (!fs::remove(path, error) || error)
    return about(path, "cannot be deleted", error ? error : std::make_error_code(std::errc::no_such_file_or_directory));
  remove_file(path + std::string(kSidecarEnding));
  return {};
}

}  // namespace accelscope::app
