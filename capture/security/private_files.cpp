#include "capture/security/private_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "capture/system/descriptor.h"
#include "core/base/own_files.h"

namespace accelscope::capture::security {
namespace {

constexpr int kOwnerOnly = 0600;
constexpr std::size_t kMostBytes = std::size_t{64} << 10;

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
  return make_own_folder(behind_own_link(folder), Sharing::reading);
}

Result<std::string> read_private_file(const std::string& path) {
  return read_own_file(behind_own_link(path), Sharing::none, kMostBytes);
}

Result<void> write_private_file(const std::string& path, std::string_view content) {
  return write_own_file(path, content);
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
