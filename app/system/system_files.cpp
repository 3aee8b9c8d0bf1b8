#include "app/system/system_files.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "capture/system/child_process.h"
#include "core/base/text.h"

namespace accelscope::app::system {

namespace fs = std::filesystem;

Environment process_environment() {
  return [](std::string_view name) {
    const char* value = std::getenv(std::string(name).c_str());
    return std::string(value != nullptr ? value : "");
  };
}

std::string home_directory(const Environment& environment) {
#if defined(_WIN32)
  return environment("USERPROFILE");
#else
  return environment("HOME");
#endif
}

std::string state_directory(const Environment& environment) {
#if defined(_WIN32)
  const std::string base = environment("LOCALAPPDATA");
  return base.empty() ? "" : (fs::path(base) / "Accelscope").string();
#elif defined(__APPLE__)
  const std::string home = home_directory(environment);
  return home.empty() ? "" : (fs::path(home) / "Library" / "Application Support" / "Accelscope").string();
#else
  const std::string base = environment("XDG_STATE_HOME");
  if (!base.empty() && fs::path(base).is_absolute()) return (fs::path(base) / "accelscope").string();
  const std::string home = home_directory(environment);
  return home.empty() ? "" : (fs::path(home) / ".local" / "state" / "accelscope").string();
#endif
}

std::string shorten_home(const std::string& path, const std::string& home) {
  if (home.size() < 2 || path.compare(0, home.size(), home) != 0) return path;
  if (path.size() > home.size() && path[home.size()] != '/' && path[home.size()] != '\\') return path;
  return "~" + path.substr(home.size());
}

std::vector<NamedPlace> standard_places(const Environment& environment) {
  std::vector<NamedPlace> places;
  const std::string home = home_directory(environment);
  std::error_code error;
  if (!home.empty() && fs::is_directory(home, error)) places.push_back({"Home", home});
  const fs::path working = fs::current_path(error);
  if (!error && working.string() != home) places.push_back({"Working folder", working.string()});
  const fs::path temporary = fs::temp_directory_path(error);
  if (!error) places.push_back({"Temporary files", temporary.string()});
#if defined(_WIN32)
  for (char letter = 'C'; letter <= 'Z'; ++letter) {
    const std::string drive = std::string(1, letter) + ":\\";
    if (fs::exists(drive, error)) places.push_back({drive, drive});
  }
#else
  places.push_back({"Computer", "/"});
#endif
  return places;
}

bool desktop_reduces_motion(const Environment& environment) {
  struct Setting {
    const char* file;
    std::string_view name, off;
  };
  constexpr Setting kSettings[] = {{"gtk-4.0/settings.ini", "gtk-enable-animations", "0"},
                                   {"gtk-4.0/settings.ini", "gtk-enable-animations", "false"},
                                   {"gtk-3.0/settings.ini", "gtk-enable-animations", "0"},
                                   {"gtk-3.0/settings.ini", "gtk-enable-animations", "false"},
                                   {"kdeglobals", "AnimationDurationFactor", "0"}};
  std::string base = environment("XDG_CONFIG_HOME");
  if (base.empty()) base = join_path(home_directory(environment), ".config");
  return std::ranges::any_of(kSettings, [&](const Setting& setting) {
    std::ifstream file(fs::path(base) / setting.file);
    for (std::string line; std::getline(file, line);) {
      const std::size_t equals = line.find('=');
      if (equals != std::string::npos && trimmed(std::string_view(line).substr(0, equals)) == setting.name)
        return trimmed(std::string_view(line).substr(equals + 1)) == setting.off;
    }
    return false;
  });
}

DesktopSettings desktop_settings(const std::string& gsettings, const std::function<bool()>& cancelled) {
  const auto is = [&](const char* schema, const char* key, std::string_view value) {
    const auto answer = capture::system::run_child({gsettings, "get", schema, key}, cancelled);
    return answer.ok() && answer->exit_code == 0 && trimmed(answer->output).ends_with(value);
  };
  return {.reduces_motion = is("org.gnome.desktop.interface", "enable-animations", "false"),
          .high_contrast = is("org.gnome.desktop.a11y.interface", "high-contrast", "true")};
}

namespace {

constexpr std::array<std::string_view, 16> kSuffixes = {
    ".accel",   ".json",  ".json.gz", ".csv", ".db",      ".sqlite",       ".rocpd", ".perfetto-trace",
    ".pftrace", ".tracy", ".pickle",  ".rpd", ".hatchet", ".chrome_trace", ".neff",  ".ntff"};

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
  std::ranges::sort(listing.entries, comes_first);
  return listing;
}

bool looks_openable(std::string_view file_name) {
  const std::string name = lower_case(file_name);
  return std::ranges::any_of(kSuffixes, [&](std::string_view suffix) { return name.ends_with(suffix); });
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

}  // namespace accelscope::app::system
