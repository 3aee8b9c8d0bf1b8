#include "core/base/file_system.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#ifdef _WIN32
#include <io.h>
#include <process.h>
#else
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace accelscope {
namespace {

#ifdef _WIN32
int process_id() { return _getpid(); }
#else
int process_id() { return static_cast<int>(getpid()); }

Result<void> sync_path(const std::string& path, int flags) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC);
  if (descriptor < 0) return Error{fmt::format("{}: {}", path, std::strerror(errno))};
  const int code = ::fsync(descriptor);
  const int reason = errno;
  ::close(descriptor);
  if (code != 0) return Error{fmt::format("{}: its bytes cannot be made durable: {}", path, std::strerror(reason))};
  return {};
}
#endif

[[nodiscard]] bool is_database(const std::string& path) {
  constexpr std::string_view kMagic = "SQLite format 3";  // and a NUL
  std::array<char, kMagic.size() + 1> head{};
  std::ifstream(path, std::ios::binary).read(head.data(), std::ssize(head));
  return std::string_view(head.data(), kMagic.size()) == kMagic && head.back() == '\0';
}

Result<void> remove_beside(const std::string& database) {
  for (const char* suffix : {"-journal", "-wal", "-shm"}) {
    std::error_code failure;
    std::filesystem::remove(database + suffix, failure);
    if (failure) {
      return Error{
          fmt::format("{}{}: it lies beside the file that is replaced, would be worked into the new one, and "
                      "cannot be removed: {}; remove it, or save under another name",
                      database, suffix, failure.message())};
    }
  }
  return {};
}

}  // namespace

bool is_own_file(const std::string& path) {
#ifdef _WIN32
  std::error_code failure;
  return std::filesystem::is_regular_file(std::filesystem::symlink_status(path, failure));
#else
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::geteuid();
#endif
}

void remove_file(const std::string& path) noexcept {
  std::error_code ignored;  // a file that is not there is as good as removed
  std::filesystem::remove(path, ignored);
}

Result<void> sync_file(const std::string& path) {
#ifdef _WIN32
  return {};  // replace_file writes through
#else
  return sync_path(path, O_RDONLY);
#endif
}

Result<void> replace_file(const std::string& from, const std::string& to) {
  if (is_database(from)) {
    if (Result<void> removed = remove_beside(to); !removed) return removed;
  }
  std::error_code failure;
  std::filesystem::rename(from, to, failure);
  if (failure) return Error{fmt::format("{}: {}", to, failure.message())};
#ifndef _WIN32
  const std::string folder = std::filesystem::absolute(to).parent_path().string();
  return sync_path(folder, O_RDONLY | O_DIRECTORY);
#else
  return {};
#endif
}

std::string behind_links(const std::string& path) {
  std::error_code failure;
  if (!std::filesystem::is_symlink(path, failure)) return path;
  const std::filesystem::path real = std::filesystem::weakly_canonical(path, failure);
  return failure ? path : real.string();
}

bool is_pipe_or_device(const std::string& path) {
  std::error_code failure;
  const std::filesystem::file_status status = std::filesystem::status(path, failure);
  return !failure && std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
         !std::filesystem::is_directory(status);
}

Result<std::string> draft_beside(const std::string& path, FileAccess access) {
  std::error_code failure;
  const std::filesystem::file_status there = std::filesystem::status(path, failure);
  const bool exists = !failure && std::filesystem::exists(there);
  if (exists && !std::filesystem::is_regular_file(there)) return Error{path + ": is no file"};
  static std::atomic<unsigned> counter{0};
  for (;;) {
    const std::string draft = fmt::format("{}.{}-{}.part", path, process_id(), counter++);
#ifndef _WIN32
    const mode_t mode = access == FileAccess::owner ? 0600 : 0666;
    const int descriptor = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor < 0 && errno == EEXIST) continue;  // of a process of this number that was killed
    if (descriptor < 0) return Error{fmt::format("{}: {}", draft, std::strerror(errno))};
    ::close(descriptor);
#endif
    if (exists) std::filesystem::permissions(draft, there.permissions(), failure);
    return draft;
  }
}

std::string temporary_path(const std::string& directory, const std::string& stem, const std::string& extension) {
  static std::atomic<unsigned> counter{0};
  std::error_code ignored;
  const std::filesystem::path folder =
      directory.empty() ? std::filesystem::temp_directory_path(ignored) : std::filesystem::path(directory);
  return (folder / fmt::format("{}-{}-{}{}", stem, process_id(), counter++, extension)).string();
}

}  // namespace accelscope
