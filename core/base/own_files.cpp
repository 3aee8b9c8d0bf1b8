#include "core/base/own_files.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/base/file_system.h"

#ifndef _WIN32
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace accelscope {
namespace {

namespace fs = std::filesystem;

void remove_all_of(const std::string& path) noexcept {
  std::error_code ignored;  // what stays behind is for the system's clean-up
  if (!path.empty()) fs::remove_all(path, ignored);
}

Error too_long(const std::string& path, std::size_t most_bytes) {
  return Error{fmt::format("{}: is longer than {} bytes; is it the right file?", path, most_bytes)};
}

}  // namespace

#ifdef _WIN32

// The folders of a profile are its user's by their access lists, and links are for administrators to make.
Result<void> check_own_folder(const std::string& path, Sharing) {
  std::error_code failure;
  return fs::is_directory(path, failure) ? Result<void>() : Result<void>(Error{path + ": is no folder"});
}

Result<void> make_own_folder(const std::string& path, Sharing sharing) {
  std::error_code failure;
  fs::create_directories(path, failure);
  return check_own_folder(path, sharing);
}

Result<void> check_own(int, const std::string&, Sharing) { return {}; }

Result<std::string> read_own_file(const std::string& path, Sharing, std::size_t most_bytes) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{path + ": cannot be read"};
  std::string content{std::istreambuf_iterator<char>(file), {}};
  if (content.size() > most_bytes) return too_long(path, most_bytes);
  return content;
}

Result<void> write_own_file(const std::string& path, std::string_view content) {
  std::string draft = TRY(draft_beside(path, FileAccess::owner));
  std::ofstream file(draft, std::ios::binary | std::ios::trunc);
  file << content;
  file.close();
  Result<void> done = file ? replace_file(draft, path) : Result<void>(Error{path + ": cannot be written"});
  if (!done) remove_file(draft);
  return done;
}

Result<int> append_to_own_file(const std::string& path) {
  return Error{path + ": files are added to on other systems only"};
}

Result<std::shared_ptr<OwnTemporaryFolder>> OwnTemporaryFolder::make(std::string_view purpose,
                                                                     const std::string& parent) {
  const std::string path = temporary_path(parent, fmt::format("accelscope-{}", purpose), "");
  std::error_code failure;
  if (!fs::create_directory(path, failure)) return Error{path + ": no folder can be made there"};
  return std::shared_ptr<OwnTemporaryFolder>(new OwnTemporaryFolder(path));
}

OutputAccess::OutputAccess() noexcept = default;
OutputAccess::~OutputAccess() = default;
std::string behind_own_link(const std::string& path) { return path; }
void OutputAccess::narrow_to(const std::vector<std::string>&) {}

#else

namespace {

constexpr mode_t kOwnFolderMode = 0700;
constexpr mode_t kOwnFileMode = 0600;

class OpenFile {
 public:
  OpenFile(const std::string& path, int flags, mode_t mode = 0)
      : number_(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, mode)) {}
  ~OpenFile() {
    if (number_ >= 0) ::close(number_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  [[nodiscard]] bool is_open() const noexcept { return number_ >= 0; }
  [[nodiscard]] int number() const noexcept { return number_; }
  [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }

 private:
  int number_;
};

// Behind a slash the system follows a link, whatever it was told.
std::string without_last_slashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

bool is_link(const std::string& path) {
  struct stat facts {};
  return ::lstat(path.c_str(), &facts) == 0 && S_ISLNK(facts.st_mode);
}

// Of a name that could not be opened without following it.
Error not_opened(const std::string& path, int reason, const char* what) {
  if (is_link(path)) {
    return Error{fmt::format("{}: is a link, which is not followed here; name the place that it leads to", path)};
  }
  return Error{fmt::format("{}: {}: {}", path, what, std::strerror(reason))};
}

mode_t refused_bits(Sharing sharing) {
  switch (sharing) {
    case Sharing::none:
      return S_IRWXG | S_IRWXO;
    case Sharing::reading:
      return S_IWGRP | S_IWOTH;
    case Sharing::group:
      return S_IWOTH;
  }
  return S_IRWXG | S_IRWXO;
}

Result<void> check_facts(const struct stat& facts, const std::string& path, Sharing sharing) {
  const bool folder = S_ISDIR(facts.st_mode);
  if (facts.st_uid != ::geteuid()) {
    return Error{fmt::format("{}: belongs to another user (number {}) and is not used; {}", path, facts.st_uid,
                             folder ? "name a folder of your own" : "use a file of your own")};
  }
  if ((facts.st_mode & refused_bits(sharing)) == 0) return {};
  return Error{fmt::format("{}: others can {} (mode {:04o}); {}run: chmod {} '{}'", path,
                           (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0 ? (folder ? "enter it" : "read it")
                           : folder                                   ? "write in it"
                                                                      : "write it",
                           facts.st_mode & 07777U,
                           folder ? "name a folder of your own in it, or, if nobody else needs it, " : "",
                           folder ? "700" : "600", path)};
}

}  // namespace

Result<void> check_own(int descriptor, const std::string& path, Sharing sharing) {
  struct stat facts {};
  if (::fstat(descriptor, &facts) != 0) {
    return Error{fmt::format("{}: cannot be examined: {}", path, std::strerror(errno))};
  }
  if (!S_ISDIR(facts.st_mode) && !S_ISREG(facts.st_mode)) return Error{path + ": is not a file"};
  return check_facts(facts, path, sharing);
}

Result<void> check_own_folder(const std::string& given, Sharing sharing) {
  const std::string path = without_last_slashes(given);
  const OpenFile folder(path, O_RDONLY | O_DIRECTORY);
  if (folder.is_open()) return check_own(folder.number(), path, sharing);
  const int reason = errno;
  // One that this user may not even enter says best whose it is.
  struct stat facts {};
  if (reason == EACCES && ::lstat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode)) {
    if (Result<void> own = check_facts(facts, path, sharing); !own) return own;
  }
  if (reason == ENOTDIR && !is_link(path)) return Error{path + ": is not a folder; move it away"};
  return not_opened(path, reason, "cannot be entered");
}

Result<void> make_own_folder(const std::string& given, Sharing sharing) {
  const std::string path = without_last_slashes(given);
  const fs::path above = fs::path(path).parent_path();
  std::error_code failure;
  if (!above.empty()) fs::create_directories(above, failure);
  if (failure) return Error{fmt::format("{}: cannot be made: {}", above.string(), failure.message())};
  if (::mkdir(path.c_str(), kOwnFolderMode) != 0 && errno != EEXIST) {
    return Error{fmt::format("{}: cannot be made: {}", path, std::strerror(errno))};
  }
  return check_own_folder(path, sharing);
}

Result<std::string> read_own_file(const std::string& path, Sharing sharing, std::size_t most_bytes) {
  const OpenFile file(path, O_RDONLY | O_NONBLOCK);
  if (!file.is_open()) return not_opened(path, errno, "cannot be read");
  struct stat facts {};
  if (::fstat(file.number(), &facts) != 0 || !S_ISREG(facts.st_mode)) return Error{path + ": is not a file"};
  TRY(check_facts(facts, path, sharing));
  std::string content;
  constexpr std::size_t kPiece = std::size_t{64} << 10;
  for (;;) {
    const std::size_t there = content.size();
    if (there > most_bytes) return too_long(path, most_bytes);
    content.resize(there + kPiece);
    const ssize_t count = ::read(file.number(), content.data() + there, kPiece);
    content.resize(there + (count > 0 ? static_cast<std::size_t>(count) : 0));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error{fmt::format("{}: cannot be read: {}", path, std::strerror(errno))};
    if (count == 0) return content;
  }
}

Result<void> write_own_file(const std::string& path, std::string_view content) {
  const fs::path target(path);
  const std::string draft = temporary_path(target.parent_path().string().empty() ? "." : target.parent_path().string(),
                                           "." + target.filename().string(), "");
  const auto written = [&]() -> Result<void> {
    const OpenFile file(draft, O_WRONLY | O_CREAT | O_EXCL, kOwnFileMode);
    const auto failed = [&] { return Error{fmt::format("{}: cannot be written: {}", path, std::strerror(errno))}; };
    if (!file.is_open()) return failed();
    for (std::string_view rest = content; !rest.empty();) {
      const ssize_t count = ::write(file.number(), rest.data(), rest.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return failed();
      rest.remove_prefix(static_cast<std::size_t>(count));
    }
    if (::fsync(file.number()) != 0) return failed();
    return {};
  };
  Result<void> done = written();
  if (done) done = replace_file(draft, path);
  if (!done) remove_file(draft);
  return done;
}

Result<int> append_to_own_file(const std::string& path) {
  OpenFile file(path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK, kOwnFileMode);
  if (!file.is_open()) return not_opened(path, errno, "cannot be written");
  struct stat facts {};
  if (::fstat(file.number(), &facts) != 0 || !S_ISREG(facts.st_mode)) return Error{path + ": is not a file"};
  TRY(check_facts(facts, path, Sharing::reading));
  if (facts.st_nlink > 1) {
    return Error{path + ": is another name of some file of yours, which would be added to; remove this name"};
  }
  return file.release();
}

Result<std::shared_ptr<OwnTemporaryFolder>> OwnTemporaryFolder::make(std::string_view purpose,
                                                                     const std::string& parent) {
  std::error_code failure;
  fs::path folder = parent.empty() ? fs::temp_directory_path(failure) : fs::path(parent);
  if (!parent.empty()) fs::create_directories(folder, failure);
  std::string path = (folder / fmt::format("accelscope-{}-XXXXXX", purpose)).string();
  if (failure || ::mkdtemp(path.data()) == nullptr) {
    const std::string why = failure ? failure.message() : std::strerror(errno);
    return Error{fmt::format("{}: no folder can be made there: {}; set TMPDIR to a folder that can be written",
                             folder.string(), why)};
  }
  return std::shared_ptr<OwnTemporaryFolder>(new OwnTemporaryFolder(std::move(path)));
}

std::string behind_own_link(const std::string& path) {
  struct stat facts {};
  const bool own = ::lstat(path.c_str(), &facts) == 0 && S_ISLNK(facts.st_mode) && facts.st_uid == ::geteuid();
  return own ? behind_links(path) : path;
}

OutputAccess::OutputAccess() noexcept : before_(::umask(S_IRWXG | S_IRWXO)) { ::umask(static_cast<mode_t>(before_)); }

OutputAccess::~OutputAccess() { ::umask(static_cast<mode_t>(before_)); }

namespace {

void narrow_umask_to(const std::string& input) noexcept {
  struct stat facts {};
  if (::stat(input.c_str(), &facts) != 0 || (!S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode))) return;
  const mode_t closed =
      ((facts.st_mode & S_IRGRP) == 0 ? S_IRWXG : 0U) | ((facts.st_mode & S_IROTH) == 0 ? S_IRWXO : 0U);
  ::umask(::umask(S_IRWXG | S_IRWXO) | closed);
}

}  // namespace

void OutputAccess::narrow_to(const std::vector<std::string>& inputs) {
  constexpr int kMostLookedAt = 4096;  // of a folder
  for (const std::string& input : inputs) {
    narrow_umask_to(input);
    std::error_code failure;
    int seen = 0;
    for (fs::directory_iterator entry(input, failure), end; !failure && entry != end && seen < kMostLookedAt;
         entry.increment(failure), ++seen) {
      narrow_umask_to(entry->path().string());
    }
  }
}

#endif

OwnTemporaryFolder::~OwnTemporaryFolder() { remove_all_of(path_); }

}  // namespace accelscope
