#include "core/store/salvage/rescue.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

namespace accelscope {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> other_folders() {
  std::vector<fs::path> folders;
  std::error_code failure;
  folders.push_back(fs::temp_directory_path(failure));
  if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && state[0] == '/')
    folders.emplace_back(state);
  if (const char* home = std::getenv("HOME"); home != nullptr && home[0] == '/') {
    folders.push_back(fs::path(home) / ".local/state");
    folders.emplace_back(home);
  }
  std::erase_if(folders, [](const fs::path& folder) {
    std::error_code missing;
    return folder.empty() || !fs::is_directory(folder, missing);
  });
  return folders;
}

// "run-rescued.accel", or "run-rescued-2.accel" and so on.
fs::path free_name(const fs::path& folder, const fs::path& wanted) {
  std::error_code failure;
  for (int number = 1;; ++number) {
    const std::string suffix = number == 1 ? "" : fmt::format("-{}", number);
    fs::path path = folder / fmt::format("{}-rescued{}{}", wanted.stem().string(), suffix, wanted.extension().string());
    if (!fs::exists(path, failure)) return path;
  }
}

}  // namespace

Result<SavedSession> save_or_rescue(Store& store, const std::string& path, const Progress& progress,
                                    FileAccess access) {
  bool cancelled = false;
  const Progress watched = [&](std::uint64_t done, std::uint64_t total) {
    cancelled = progress && !progress(done, total);
    return !cancelled;
  };
  const Result<void> saved = store.save(path, watched, access);
  if (saved) return SavedSession{path, ""};
  for (const fs::path& folder : other_folders()) {
    if (cancelled) break;
    const std::string other = free_name(folder, fs::path(path).filename()).string();
    if (store.save(other, watched, FileAccess::owner)) {
      return SavedSession{other,
                          fmt::format("{}. All of it is in {} instead; move it from there", saved.message(), other)};
    }
  }
  return saved.error();
}

}  // namespace accelscope
