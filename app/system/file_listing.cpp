#include "app/system/system_files.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>

#include "core/base/text.h"

namespace accelscope::app {

namespace fs = std::filesystem;

namespace {

constexpr std::array<std::string_view, 14> kSuffixes = {
    ".accel",          ".json",    ".json.gz", ".csv",    ".db",  ".sqlite",  ".rocpd",
    ".perfetto-trace", ".pftrace", ".tracy",   ".pickle", ".rpd", ".hatchet", ".chrome_trace"};

std::int64_t to_unix_s(fs::file_time_type time) {
  const auto since = time - fs::file_time_type::clock::now();
  const auto system = std::chrono::system_clock::now() + std::chrono::duration_cast<std::chrono::seconds>(since);
  return std::chrono::duration_cast<std::chrono::seconds>(system.time_since_epoch()).count();
}

bool comes_first(const FileEntry& a, const FileEntry& b) {
  if (a.is_folder != b.is_folder) return a.is_folder;
  return lower_case(a.name) < lower_case(b.name);
}

}  // namespace

Result<FileListing> list_folder(const std::string& folder) {
  std::error_code error;
  const fs::path absolute = fs::absolute(folder, error).lexically_normal();
  FileListing listing{absolute.string(), {}};
  fs::directory_iterator entries(absolute, fs::directory_options::skip_permission_denied, error);
  if (error) return Error{listing.folder + ": cannot be listed (" + error.message() + "); choose another folder"};
  for (; entries != fs::directory_iterator(); entries.increment(error)) {
    if (error) break;
    FileEntry entry;
    entry.name = entries->path().filename().string();
    if (entry.name.empty() || entry.name.front() == '.') continue;
    std::error_code ignored;  // a file may vanish meanwhile; it is then listed without size or time
    entry.is_folder = entries->is_directory(ignored);
    if (!entry.is_folder) entry.bytes = entries->file_size(ignored);
    if (ignored) entry.bytes = 0;
    const auto changed = entries->last_write_time(ignored);
    if (!ignored) entry.changed_unix_s = to_unix_s(changed);
    listing.entries.push_back(std::move(entry));
  }
  std::sort(listing.entries.begin(), listing.entries.end(), comes_first);
  return listing;
}

bool looks_openable(std::string_view file_name) {
  const std::string name = lower_case(file_name);
  return std::any_of(kSuffixes.begin(), kSuffixes.end(),
                     [&](std::string_view suffix) { return name.ends_with(suffix); });
}

std::vector<std::size_t> filter_entries(const FileListing& listing, std::string_view typed, bool all_files) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < listing.entries.size(); ++i) {
    const FileEntry& entry = listing.entries[i];
    if (!entry.is_folder && !all_files && !looks_openable(entry.name)) continue;
    if (matches_words(entry.name, typed)) found.push_back(i);
  }
  return found;
}

std::string parent_folder(const std::string& folder) {
  const fs::path path(folder);
  return path.has_parent_path() ? path.parent_path().string() : folder;
}

std::string join_path(const std::string& folder, const std::string& name) { return (fs::path(folder) / name).string(); }

std::string with_session_suffix(const std::string& path) {
  return fs::path(path).has_extension() ? path : path + ".accel";
}

}  // namespace accelscope::app
