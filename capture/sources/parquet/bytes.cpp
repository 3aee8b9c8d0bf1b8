#include "capture/sources/parquet/bytes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace accelscope::capture::sources::parquet {
namespace {

class FileBytes final : public RandomBytes {
 public:
  FileBytes(int file, std::uint64_t size, std::string path) : file_(file), size_(size), path_(std::move(path)) {}
  ~FileBytes() override { ::close(file_); }
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }

  Result<void> read(std::uint64_t offset, std::span<char> out) override {
    while (!out.empty()) {
      const ssize_t got = ::pread(file_, out.data(), out.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return Error{fmt::format("{}: cannot be read: {}", path_, std::strerror(errno))};
      if (got == 0) return Error{fmt::format("{}: was cut while it was read", path_)};
      offset += static_cast<std::uint64_t>(got);
      out = out.subspan(static_cast<std::size_t>(got));
    }
    return {};
  }

 private:
  int file_;
  std::uint64_t size_;
  std::string path_;
};

class BytesInMemory final : public RandomBytes {
 public:
  explicit BytesInMemory(std::span<const char> bytes) : bytes_(bytes) {}
  [[nodiscard]] std::uint64_t size() const noexcept override { return bytes_.size(); }
  Result<void> read(std::uint64_t offset, std::span<char> out) override {
    if (offset > bytes_.size() || out.size() > bytes_.size() - offset) return Error{"read beyond the end"};
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
    return {};
  }

 private:
  std::span<const char> bytes_;
};

}  // namespace

Result<std::unique_ptr<RandomBytes>> RandomBytes::open(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return Error{fmt::format("{}: cannot be opened: {}; check the path", path, std::strerror(errno))};
  struct stat facts {};
  if (::fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    ::close(file);
    return Error{fmt::format("{}: is not a file", path)};
  }
  return std::unique_ptr<RandomBytes>(
      std::make_unique<FileBytes>(file, static_cast<std::uint64_t>(facts.st_size), path));
}

std::unique_ptr<RandomBytes> RandomBytes::from_memory(std::span<const char> bytes) {
  return std::make_unique<BytesInMemory>(bytes);
}

}  // namespace accelscope::capture::sources::parquet
