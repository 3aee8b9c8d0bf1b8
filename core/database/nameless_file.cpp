#include "core/database/nameless_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#ifndef _WIN32
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace accelscope {

#ifdef _WIN32

Result<std::unique_ptr<NamelessFile>> NamelessFile::create(const std::string& folder) {
  return Error{fmt::format("{}: this system has no files without a name", folder)};
}
NamelessFile::~NamelessFile() = default;
Result<std::uint64_t> NamelessFile::append(ByteView) { return Error{"there is no file"}; }
Result<Bytes> NamelessFile::read(std::uint64_t, std::size_t) const { return Error{"there is no file"}; }

#else

namespace {

// Where the file system knows no files without a name, one that has one for a moment.
int open_nameless(const std::string& folder) {
#ifdef O_TMPFILE
  const int descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (descriptor >= 0) return descriptor;
#endif
  std::string name = folder + "/accelscope-spill-XXXXXX";
  const int named = ::mkstemp(name.data());
  if (named < 0) return -1;
  ::fcntl(named, F_SETFD, FD_CLOEXEC);
  if (::unlink(name.c_str()) == 0) return named;
  const int reason = errno;
  ::close(named);
  errno = reason;
  return -1;
}

}  // namespace

Result<std::unique_ptr<NamelessFile>> NamelessFile::create(const std::string& folder) {
  std::error_code failure;
  const std::string place = folder.empty() ? std::filesystem::temp_directory_path(failure).string() : folder;
  if (failure) return Error{fmt::format("TMPDIR: {}", failure.message())};
  const int descriptor = open_nameless(place);
  if (descriptor < 0) return Error{fmt::format("{}: {}", place, std::strerror(errno))};
  return std::unique_ptr<NamelessFile>(new NamelessFile(descriptor, place));
}

NamelessFile::~NamelessFile() { ::close(descriptor_); }

Result<std::uint64_t> NamelessFile::append(ByteView bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t written =
        ::pwrite(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(size_ + done));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return Error{fmt::format("{}: {}", folder_, std::strerror(written < 0 ? errno : ENOSPC))};
    done += static_cast<std::size_t>(written);
  }
  const std::uint64_t offset = size_;
  size_ += bytes.size();
  return offset;
}

Result<Bytes> NamelessFile::read(std::uint64_t offset, std::size_t size) const {
  Bytes bytes(size);
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::pread(descriptor_, bytes.data() + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error{fmt::format("{}: {}", folder_, std::strerror(errno))};
    if (got == 0) return Error{fmt::format("{}: the file without a name ends before what was written to it", folder_)};
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

#endif

}  // namespace accelscope
