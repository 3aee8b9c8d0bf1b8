#include "capture/sources/parquet/bit_runs.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

namespace accelscope::capture::sources::parquet {

static_assert(std::endian::native == std::endian::little);

std::uint64_t packed_bits(std::string_view bytes, std::uint64_t place, unsigned bits) noexcept {
  if (bits == 0) return 0;
  const std::uint64_t first = place / 8;
  const auto shift = static_cast<unsigned>(place % 8);
  if (first >= bytes.size()) return 0;
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  const auto at = static_cast<std::size_t>(first);
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + at, std::min(kWord, bytes.size() - at));
  std::uint64_t value = word >> shift;
  if (shift + bits > 64 && at + kWord < bytes.size()) {
    value |= std::uint64_t{static_cast<unsigned char>(bytes[at + kWord])} << (64 - shift);
  }
  return bits == 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
}

bool BitRuns::next_run() noexcept {
  if (width_ == 0 && bytes_.empty() && !failed_) {  // nothing need be written of values that take no bits
    left_ = 1;
    packed_ = false;
    repeated_ = 0;
    return true;
  }
  while (left_ == 0) {
    std::uint64_t head = 0;
    unsigned shift = 0;
    for (bool more = true; more; shift += 7) {
      if (bytes_.empty() || shift > 35) return fail();
      const auto byte = static_cast<unsigned char>(bytes_.front());
      bytes_.remove_prefix(1);
      head |= std::uint64_t{byte & 0x7fU} << shift;
      more = (byte & 0x80U) != 0;
    }
    packed_ = (head & 1) != 0;
    if (packed_) {
      // Groups of eight values; some writers leave out the unused end of the last one.
      const std::uint64_t bytes = std::min<std::uint64_t>((head >> 1) * width_, bytes_.size());
      run_ = bytes_.substr(0, static_cast<std::size_t>(bytes));
      bytes_.remove_prefix(static_cast<std::size_t>(bytes));
      place_ = 0;
      left_ = (head >> 1) * 8;
      if (width_ > 0) left_ = std::min<std::uint64_t>(left_, bytes * 8 / width_);
    } else {
      const std::size_t bytes = (width_ + 7) / 8;
      if (bytes > bytes_.size()) return fail();
      repeated_ = 0;
      std::memcpy(&repeated_, bytes_.data(), bytes);
      bytes_.remove_prefix(bytes);
      left_ = head >> 1;
    }
  }
  return true;
}

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
