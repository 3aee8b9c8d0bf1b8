#include "capture/kinds/tt_metal/growing_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace accelscope::capture::kinds::tt_metal {

GrowingFile::~GrowingFile() { close(); }

bool GrowingFile::open() {
  file_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  const bool is_missing = file_ < 0 && (errno == ENOENT || errno == ENOTDIR);
  failure_ = file_ < 0 && !is_missing ? fmt::format("{}: {}", path_, std::strerror(errno)) : "";
  return file_ >= 0;
}

void GrowingFile::close() {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
  offset_ = size_ = 0;
  tail_.clear();
}

bool GrowingFile::was_replaced() const {
  struct stat here {};
  struct stat named {};
  if (::fstat(file_, &here) != 0 || ::stat(path_.c_str(), &named) != 0) return false;
  return here.st_ino != named.st_ino || here.st_dev != named.st_dev;
}

bool GrowingFile::was_rewritten() {
  struct stat now {};
  if (::fstat(file_, &now) != 0) return false;
  const std::uint64_t size = std::exchange(size_, static_cast<std::uint64_t>(now.st_size));
  if (size_ < offset_) {
    size_ = size;  // what was there is told as lost
    return true;
  }
  std::array<char, kTailBytes> tail{};
  const ssize_t got = ::pread(file_, tail.data(), tail_.size(), static_cast<off_t>(offset_ - tail_.size()));
  const bool same =
      got == static_cast<ssize_t>(tail_.size()) && std::memcmp(tail.data(), tail_.data(), tail_.size()) == 0;
  if (!same) size_ = std::max(size, offset_);
  return !same;
}

void GrowingFile::keep_tail(std::string_view bytes) {
  tail_ += bytes.size() > kTailBytes ? bytes.substr(bytes.size() - kTailBytes) : bytes;
  if (tail_.size() > kTailBytes) tail_.erase(0, tail_.size() - kTailBytes);
}

GrowingFile::Piece GrowingFile::read(std::span<char> buffer) {
  Piece piece;
  for (;;) {
    if (file_ < 0) {
      if (!open()) return piece;
      piece.anew = true;
    } else if (was_rewritten()) {
      piece.anew = true;
      piece.lost_bytes += size_ - offset_;
      offset_ = size_ = 0;
      tail_.clear();
    }
    const ssize_t got = ::pread(file_, buffer.data(), buffer.size(), static_cast<off_t>(offset_));
    if (got < 0) failure_ = fmt::format("{}: {}", path_, std::strerror(errno));
    if (got > 0) {
      piece.bytes = {buffer.data(), static_cast<std::size_t>(got)};
      offset_ += static_cast<std::uint64_t>(got);
      size_ = std::max(size_, offset_);
      keep_tail(piece.bytes);
      return piece;
    }
    // At its end: there may be another file under the name.
    if (piece.anew || !was_replaced()) return piece;
    close();
  }
}

}  // namespace accelscope::capture::kinds::tt_metal
