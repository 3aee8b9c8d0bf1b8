#include "capture/sources/base/temporary_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace accelscope::capture::sources {

Result<std::uint64_t> TemporaryFile::append(std::span<const std::byte> bytes) {
  const auto failed = [] {
    return Error{
        fmt::format("the temporary file for sorting cannot be written: {}; free space in the folder for "
                    "temporary files or point TMPDIR to a larger one",
                    std::strerror(errno))};
  };
  if (file_ == nullptr) file_.reset(std::tmpfile());
  if (file_ == nullptr) return failed();
  const std::uint64_t begin = size_;
  while (!bytes.empty()) {
    const ssize_t count = pwrite(fileno(file_.get()), bytes.data(), bytes.size(), static_cast<off_t>(size_));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return failed();
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    size_ += static_cast<std::uint64_t>(count);
  }
  return begin;
}

Result<void> TemporaryFile::read(std::uint64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t count = pread(fileno(file_.get()), out.data(), out.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      return Error{fmt::format("the temporary file for sorting cannot be read back: {}",
                               count == 0 ? "it has become shorter" : std::strerror(errno))};
    }
    out = out.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return {};
}

}  // namespace accelscope::capture::sources
