#include "app/library/entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <unordered_set>
#include <utility>

#include "app/persist/persist.h"
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

[[nodiscard]] std::int64_t unix_time_ns(const fs::path& path) {
  std::error_code error;
  const auto changed = fs::last_write_time(path, error);
  if (error) return 0;
  const auto system = std::chrono::file_clock::to_sys(changed);
  return std::chrono::duration_cast<std::chrono::nanoseconds>(system.time_since_epoch()).count();
}

void read_session(LibraryEntry& entry) {
  const Result<OverlayValues> values = read_overlay(entry.path, &entry.remark);
  if (!values) {
    entry.problem = values.message();
    return;
  }
  const auto value = [&](const char* key) {
    const auto found = values->find(key);
    return found == values->end() ? std::string() : found->second;
  };
  entry.tags = split_tags(value(kTagsKey));
  entry.project = value(kProjectKey);
  entry.configuration = value(kConfigurationKey);
  entry.name = value(kDisplayNameKey);
  entry.is_named = !entry.name.empty();
  // Without one there are no figures until the session is looked into.
  if (const auto headline = headline_of(value(kHeadlineKey))) take_headline(entry, *headline);
}

[[nodiscard]] bool is_hidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

// Regular files of a folder and of those below it, by path. A folder that links lead to again is listed once.
class FolderWalk {
 public:
  // told: at every folder; false ends it.
  FolderWalk(std::vector<std::string>& problems, std::function<bool()> told)
      : problems_(problems), told_(std::move(told)) {}
  // False: it was ended.
  bool collect(const fs::path& folder, int levels) {
    if (!told_()) return false;
    std::error_code error;
    const fs::path real = fs::canonical(folder, error);
    if (!seen_.insert(error ? folder.string() : real.string()).second) return true;
    std::vector<fs::path> below, found;
    error.clear();
    for (fs::directory_iterator each(folder, error), end; !error && each != end; each.increment(error)) {
      std::error_code kind_error;
      if (is_hidden(each->path())) continue;
      if (each->is_directory(kind_error)) {
        below.push_back(each->path());
      } else if (each->is_regular_file(kind_error) && each->path().extension() != kSidecarEnding) {
        found.push_back(each->path());
      }
    }
    if (error) problems_.push_back(fmt::format("{}: cannot be listed: {}", folder.string(), error.message()));
    std::sort(found.begin(), found.end());
    std::sort(below.begin(), below.end());
    for (const fs::path& file : found) files.push_back(file.string());
    return levels == 0 ||
           std::all_of(below.begin(), below.end(), [&](const fs::path& each) { return collect(each, levels - 1); });
  }

  std::vector<std::string> files;

 private:
  std::vector<std::string>& problems_;
  std::function<bool()> told_;
  std::unordered_set<std::string> seen_;  // as they are called without links
};

[[nodiscard]] Error about(const std::string& path, std::string_view what, const std::error_code& error) {
  return Error{fmt::format("{}: {}: {}", path, what, error.message())};
}

// Onto another disk: nobody sees a half-written file, and what fails leaves nothing behind.
Result<void> move_by_copy(const std::string& from, const std::string& to) {
  const Result<std::string> draft = draft_beside(to);
  if (!draft) return draft.error();
  std::error_code error;
  fs::copy_file(from, *draft, fs::copy_options::overwrite_existing, error);
  Result<void> done = error ? Result<void>(Error{error.message()}) : sync_file(*draft);
  if (done) done = replace_file(*draft, to);
  if (!done) {
    remove_file(*draft);
    return done;
  }
  fs::remove(from, error);
  if (!error) return {};
  remove_file(to);
  return Error{error.message()};
}

Result<void> move_file(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (!error) return {};
  return error == std::errc::cross_device_link ? move_by_copy(from, to) : Result<void>(Error{error.message()});
}

}  // namespace

std::vector<std::string> split_tags(std::string_view text) {
  std::vector<std::string> found, tags;
  if (auto names = names_of_list(text)) {
    found = std::move(*names);
  } else {
    found.emplace_back(text);  // a quote without an end belongs to the tag
  }
  for (std::string& tag : found)
    if (std::find(tags.begin(), tags.end(), tag) == tags.end()) tags.push_back(std::move(tag));
  return tags;
}

std::string join_tags(const std::vector<std::string>& tags) {
  std::string text;
  for (const std::string& tag : tags) {
    text += text.empty() ? "" : ",";
    if (tag.find(',') == std::string::npos && !tag.starts_with('"') && trimmed(tag) == tag) {
      text += tag;
      continue;
    }
    text += '"';
    for (const char c : tag) text += c == '"' ? std::string("\"\"") : std::string(1, c);
    text += '"';
  }
  return text;
}

void take_headline(LibraryEntry& entry, const Headline& headline) {
  entry.headline = headline;
  if (!entry.is_named && !headline.name.empty()) entry.name = headline.name;
}

LibraryEntry read_entry(const std::string& path, const std::string& folder) {
  const std::int64_t changed_ns = unix_time_ns(path);
  LibraryEntry entry{
      .path = path, .folder = folder, .changed_unix_s = changed_ns / 1'000'000'000, .changed_ns = changed_ns};
  std::error_code error;
  entry.size_bytes = fs::file_size(path, error);
  if (error) entry.problem = fmt::format("{}: cannot be read: {}", path, error.message());
  const auto format = capture::sources::guess_format(path);
  entry.is_session = fs::path(path).extension() == kSessionEnding || (format && (*format)->name == "session");
  if (entry.is_session && entry.problem.empty()) read_session(entry);
  if (!entry.is_session && format) entry.format = (*format)->name;
  if (entry.name.empty()) entry.name = title_of_path(path);
  return entry;
}

LibraryScan scan_library(const std::vector<std::string>& folders,
                         const std::function<bool(std::size_t done, std::size_t total)>& told) {
  LibraryScan scan;
  std::vector<std::pair<std::string, std::string>> files;  // with the folder that was named
  std::unordered_set<std::string> known;
  for (const std::string& folder : folders) {
    std::error_code error;
    FolderWalk walk(scan.problems, [&] { return !told || told(0, 0); });
    if (fs::is_regular_file(folder, error)) {
      walk.files.push_back(folder);
    } else if (!walk.collect(folder, kMostLevels)) {
      return scan;
    }
    for (std::string& file : walk.files) {
      if (known.insert(file).second) files.emplace_back(std::move(file), folder);
    }
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    LibraryEntry entry = read_entry(files[i].first, files[i].second);
    if (entry.is_session || !entry.format.empty()) scan.entries.push_back(std::move(entry));
    if (told && !told(i + 1, files.size())) break;
  }
  return scan;
}

bool matches(const LibraryEntry& entry, std::string_view text) {
  const std::string all =
      fmt::format("{} {} {} {} {} {} {} {}", entry.name, entry.headline.device, entry.path, join_tags(entry.tags),
                  entry.project, entry.configuration, entry.format, joined(entry.headline.processes, " "));
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
  const std::string sidecar = path + std::string(kSidecarEnding);
  const std::string sidecar_target = target.string() + std::string(kSidecarEnding);
  if (fs::exists(fs::symlink_status(sidecar_target, error))) {
    return Error{fmt::format("{}: what was kept beside another session of this name is in the way; move it away",
                             sidecar_target)};
  }
  if (Result<void> moved = move_file(path, target.string()); !moved)
    return Error{fmt::format("{}: cannot be moved to {}: {}", path, folder, moved.message())};
  if (!fs::exists(sidecar, error)) return target.string();
  if (Result<void> moved = move_file(sidecar, sidecar_target); !moved) {
    return Error{fmt::format("{}: what is kept beside the session stayed where it was: {}", sidecar, moved.message())};
  }
  return target.string();
}

Result<void> delete_session(const std::string& path) {
  std::error_code error;
  if (!fs::remove(path, error) || error)
    return about(path, "cannot be deleted", error ? error : std::make_error_code(std::errc::no_such_file_or_directory));
  remove_file(path + std::string(kSidecarEnding));
  return {};
}

namespace {

constexpr std::size_t kFoundFields = 4;  // path, size, time, headline

}  // namespace

bool lacks_headline(const LibraryEntry& entry) {
  return entry.is_session && entry.problem.empty() && !entry.has_figures();
}

Result<Headline> look_into(const LibraryEntry& entry, WorkerPool& pool, TaskControl& control) {
  const auto store = Store::open_unchanged(entry.path);
  if (!store) return store.error();
  return find_headline({**store, (*store)->snapshot(), pool, control}, entry.changed_unix_s);
}

Result<void> FoundHeadlines::load() {
  found_.clear();
  if (file_.empty()) return {};
  const auto records = read_records(file_);
  if (!records) return records.error();
  for (const TextRecord& fields : *records) {
    Found found;
    if (fields.size() < kFoundFields || !read_number(fields[1], found.size_bytes) ||
        !read_number(fields[2], found.changed_ns))
      continue;
    if (!fields[3].empty()) {
      const auto headline = headline_of(fields[3]);
      if (!headline) continue;  // of another version: found anew
      found.headline = *headline;
    }
    if (found_.size() < kMost) found_[fields[0]] = std::move(found);
  }
  return {};
}

const Headline* FoundHeadlines::find(const LibraryEntry& entry) const {
  const auto found = found_.find(entry.path);
  if (found == found_.end()) return nullptr;
  const bool same = found->second.size_bytes == entry.size_bytes && found->second.changed_ns == entry.changed_ns;
  return same ? &found->second.headline : nullptr;
}

void FoundHeadlines::keep(const LibraryEntry& entry, Headline headline) {
  if (found_.size() >= kMost && !found_.contains(entry.path)) found_.erase(found_.begin());
  found_[entry.path] = {entry.size_bytes, entry.changed_ns, std::move(headline)};
}

Result<void> FoundHeadlines::write() const {
  if (file_.empty()) return {};
  std::vector<TextRecord> records;
  for (const auto& [path, found] : found_) {
    records.push_back({path, std::to_string(found.size_bytes), std::to_string(found.changed_ns),
                       found.headline == Headline() ? std::string() : to_text(found.headline)});
  }
  return write_records(file_, records);
}

}  // namespace accelscope::app
