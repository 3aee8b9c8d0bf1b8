#include "capture/security/private_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "capture/system/descriptor.h"
#include "capture/system/standard_streams.h"
#include "core/base/file_system.h"

namespace accelscope::capture::security {
namespace {

constexpr mode_t kOwnerOnly = 0600;
constexpr mode_t kOwnersFolder = 0700;
constexpr mode_t kOthersMayUse = S_IRWXG | S_IRWXO;
constexpr mode_t kOthersMayWrite = S_IWGRP | S_IWOTH;
constexpr std::size_t kMostBytes = std::size_t{64} << 10;

Result<void> check_owner_only(const std::string& path, int descriptor) {
  struct stat facts {};
  if (::fstat(descriptor, &facts) != 0) return system::system_error(path + ": cannot be examined");
  if (!S_ISREG(facts.st_mode)) return Error{path + ": is not a file"};
  if (facts.st_uid != ::geteuid()) return Error{path + ": belongs to another user; use a file of your own"};
  if ((facts.st_mode & kOthersMayUse) != 0) {
    return Error{
        fmt::format("{}: others can read it (mode {:04o}); run: chmod 600 '{}'", path, facts.st_mode & 07777, path)};
  }
  return {};
}

Result<void> write_durably(const std::string& path, int descriptor, std::string_view content) {
  if (!system::write_all(descriptor, content)) return system::system_error(path + ": cannot be written");
  if (::fsync(descriptor) != 0) return system::system_error(path + ": cannot be made durable");
  return {};
}

}  // namespace

Result<std::string> private_folder() {
  const char* const config = std::getenv("XDG_CONFIG_HOME");
  if (config != nullptr && *config == '/') return std::string(config) + "/accelscope";
  const char* const home = std::getenv("HOME");
  if (home == nullptr || *home == 0) {
    return Error{"neither HOME nor XDG_CONFIG_HOME is set, so there is no folder for keys; set XDG_CONFIG_HOME to one"};
  }
  return std::string(home) + "/.config/accelscope";
}

Result<void> ensure_private_folder(const std::string& folder) {
  const std::filesystem::path path(folder);
  std::error_code failure;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), failure);
  if (failure) return Error{fmt::format("{}: cannot be made: {}", path.parent_path().string(), failure.message())};
  if (::mkdir(folder.c_str(), kOwnersFolder) != 0 && errno != EEXIST)
    return system::system_error(folder + ": cannot be made");
  struct stat facts {};
  if (::stat(folder.c_str(), &facts) != 0) return system::system_error(folder + ": cannot be examined");
  if (!S_ISDIR(facts.st_mode)) return Error{folder + ": is not a folder; move it away"};
  if (facts.st_uid != ::geteuid()) return Error{folder + ": belongs to another user; name a folder of your own"};
  if ((facts.st_mode & kOthersMayWrite) != 0) {
    return Error{fmt::format(
        "{}: others can write in it; name a folder of your own in it, or, if nobody else needs it, run: chmod 700 '{}'",
        folder, folder)};
  }
  return {};
}

Result<std::string> read_private_file(const std::string& path) {
  const system::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return system::system_error(path + ": cannot be read");
  if (Result<void> mine = check_owner_only(path, file.get()); !mine) return mine.error();
  std::string content(kMostBytes + 1, '\0');
  std::size_t length = 0;
  while (length < content.size()) {
    const ssize_t count = ::read(file.get(), content.data() + length, content.size() - length);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system::system_error(path + ": cannot be read");
    if (count == 0) break;
    length += static_cast<std::size_t>(count);
  }
  if (length > kMostBytes)
    return Error{fmt::format("{}: is longer than {} bytes; is it the right file?", path, kMostBytes)};
  content.resize(length);
  return content;
}

Result<void> write_private_file(const std::string& path, std::string_view content) {
  const std::filesystem::path target(path);
  const std::string draft = temporary_path(target.parent_path().string(), "." + target.filename().string(), "");
  Result<void> done;
  {
    const system::Descriptor file(
        ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kOwnerOnly));
    if (!file) return system::system_error(path + ": cannot be written");
    done = write_durably(path, file.get(), content);
  }
  if (done) done = replace_file(draft, path);
  if (!done) remove_file(draft);
  return done;
}

Result<void> with_folder_locked(const std::string& folder, const std::function<Result<void>()>& function) {
  const std::string path = folder + "/.lock";
  const system::Descriptor lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kOwnerOnly));
  if (!lock) return system::system_error(path + ": cannot be opened");
  while (::flock(lock.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return system::system_error(path + ": cannot be locked");
  }
  return function();  // closing the file unlocks it
}

}  // namespace accelscope::capture::security
