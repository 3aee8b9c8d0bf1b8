#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace accelscope::app::system {

// What a file dialog lists: the folders and files of one folder, sorted, and what typed text does to them. Reads the
// file system once per call, so it runs on a worker. No drawing.
struct FileEntry {
  std::string name;
  bool is_folder = false;
  std::uint64_t bytes = 0;
  std::int64_t changed_unix_s = 0;
};

struct FileListing {
  std::string folder;              // absolute
  std::vector<FileEntry> entries;  // folders first, then by name; hidden ones left out
};

[[nodiscard]] Result<FileListing> list_folder(const std::string& folder);

// Sessions and the traces that can be imported; others are listed only when asked for.
[[nodiscard]] bool looks_openable(std::string_view file_name);

// Indices of the entries whose name holds the typed words; folders always pass the openable rule.
[[nodiscard]] std::vector<std::size_t> filter_entries(const FileListing& listing, std::string_view typed,
                                                      bool all_files);

// "/a/b" -> "/a"; a root stays.
[[nodiscard]] std::string parent_folder(const std::string& folder);
[[nodiscard]] std::string join_path(const std::string& folder, const std::string& name);
// With the suffix of a session file when it has none.
[[nodiscard]] std::string with_session_suffix(const std::string& path);

// Where this system keeps what a program remembers, and where its user keeps files. The only file of app/ that
// knows one system from another. Functions take the environment as an argument so that tests can give their own.

// Value of an environment variable, "" if unset.
using Environment = std::function<std::string(std::string_view name)>;
[[nodiscard]] Environment process_environment();

// Folder for recent sessions and settings; it may not exist yet. "" when the system names no home.
[[nodiscard]] std::string state_directory(const Environment& environment);
[[nodiscard]] std::string home_directory(const Environment& environment);

// A path as titles show it: the home folder becomes "~".
[[nodiscard]] std::string shorten_home(const std::string& path, const std::string& home);

struct NamedPlace {
  std::string name;
  std::string path;
};
// The desktop is set to show no animations, as far as its files of settings tell (GTK, KDE).
[[nodiscard]] bool desktop_reduces_motion(const Environment& environment);

// What GNOME's settings say; asking them may take long, so it is for a worker.
struct DesktopSettings {
  bool reduces_motion = false;
  bool high_contrast = false;
};
// `gsettings`: the program that tells them, its whole path; where it tells nothing, nothing is set.
[[nodiscard]] DesktopSettings desktop_settings(const std::string& gsettings, const std::function<bool()>& cancelled);

// Where a file dialog starts: home, the working folder, the root (or drives).
[[nodiscard]] std::vector<NamedPlace> standard_places(const Environment& environment);

}  // namespace accelscope::app::system
