#include "capture/kinds/program/folder_watch.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/base/natural_order.h"

namespace accelscope::capture::kinds::program {
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
