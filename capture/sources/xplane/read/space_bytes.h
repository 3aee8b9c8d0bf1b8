// The bytes of a profile, at any place and as often as wanted: a file, or what a packed one inflates to, which lies in
// a temporary file as long as the object does.
//
//   SpaceWindow window(bytes);
//   const std::string_view event = window.at(offset, size);  // shorter: the file ends there, or cannot be read
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace accelscope::capture::sources::xplane {

class SpaceBytes {
 public:
  // Looks at the first bytes to see how the file is packed.
  [[nodiscard]] static Result<std::unique_ptr<SpaceBytes>> open(const std::string& path);
  // Bytes that are in memory already, not packed; they must outlive the object.
  [[nodiscard]] static std::unique_ptr<SpaceBytes> from_memory(std::span<const char> bytes);

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  // Why there are not more of them: a packed file that breaks off. "": these are all.
  [[nodiscard]] const std::string& broken_off() const noexcept { return broken_off_; }
  // How many were put into `out`; fewer than it holds at the end, or where they cannot be read.
  [[nodiscard]] std::size_t read(std::uint64_t offset, std::span<char> out) const noexcept;
  // Why read() failed, on whichever thread; "": it did not.
  [[nodiscard]] std::string failure() const { return failure_ == 0 ? "" : std::strerror(failure_); }

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  [[nodiscard]] Result<void> inflate(const std::string& path);

  std::unique_ptr<std::FILE, CloseFile> file_;
  std::span<const char> memory_;
  std::uint64_t size_ = 0;
  std::string broken_off_;
  mutable std::atomic<int> failure_ = 0;  // of errno
};

// A part of them in memory, that moves along.
class SpaceWindow {
 public:
  explicit SpaceWindow(const SpaceBytes& bytes, std::size_t window_bytes = kWindowBytes)
      : bytes_(bytes), window_bytes_(window_bytes) {}

  // Valid until the next call.
  [[nodiscard]] std::string_view at(std::uint64_t offset, std::size_t count) {
    if (offset >= begin_ && offset + count <= begin_ + filled_) return {buffer_.data() + (offset - begin_), count};
    return fill(offset, count);
  }

 private:
  static constexpr std::size_t kWindowBytes = 1U << 20;
  [[nodiscard]] std::string_view fill(std::uint64_t offset, std::size_t count);

  const SpaceBytes& bytes_;
  std::size_t window_bytes_;
  std::vector<char> buffer_;
  std::uint64_t begin_ = 0;
  std::size_t filled_ = 0;
};

}  // namespace accelscope::capture::sources::xplane
