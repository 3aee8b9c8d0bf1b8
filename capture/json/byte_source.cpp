#include "capture/json/byte_source.h"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <vector>

#include "core/base/text.h"

namespace accelscope::capture::json {
namespace {

constexpr std::size_t kPackedBytes = 256U << 10;
constexpr std::string_view kGzip = "\x1f\x8b";
constexpr std::string_view kZstd = "\x28\xb5\x2f\xfd";

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

class PlainSource final : public ByteSource {
 public:
  PlainSource(std::string path, File file, std::uint64_t size)
      : path_(std::move(path)), file_(std::move(file)), size_(size) {}

  Result<std::size_t> read(std::span<char> out) override {
    const std::size_t count = std::fread(out.data(), 1, out.size(), file_.get());
    if (count < out.size() && std::ferror(file_.get()) != 0) {
      return Error{fmt::format("{}: cannot be read at byte {}: {}; check the disk or the network share", path_, read_,
                               std::strerror(errno))};
    }
    read_ += count;
    return count;
  }
  [[nodiscard]] std::uint64_t file_bytes() const override { return size_; }
  [[nodiscard]] std::uint64_t file_bytes_read() const override { return read_; }

 private:
  std::string path_;
  File file_;
  std::uint64_t size_;
  std::uint64_t read_ = 0;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::span<const char> bytes) : bytes_(bytes) {}
  Result<std::size_t> read(std::span<char> out) override {
    const std::size_t count = std::min(out.size(), bytes_.size() - read_);
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(read_), count, out.begin());
    read_ += count;
    return count;
  }
  [[nodiscard]] std::uint64_t file_bytes() const override { return bytes_.size(); }
  [[nodiscard]] std::uint64_t file_bytes_read() const override { return read_; }

 private:
  std::span<const char> bytes_;
  std::size_t read_ = 0;
};

// What gzip and zstd share: packed bytes come in through a small buffer.
class PackedSource : public ByteSource {
 public:
  PackedSource(std::string name, std::unique_ptr<ByteSource> packed)
      : name_(std::move(name)), packed_(std::move(packed)), buffer_(kPackedBytes) {}
  [[nodiscard]] std::uint64_t file_bytes() const override { return packed_->file_bytes(); }
  [[nodiscard]] std::uint64_t file_bytes_read() const override { return packed_->file_bytes_read(); }

 protected:
  // The next packed bytes; empty at the end of the file.
  Result<std::span<char>> refill() {
    const std::size_t count = TRY(packed_->read(buffer_));
    return std::span(buffer_).first(count);
  }
  [[nodiscard]] Error broken(std::string_view what) const {
    return Error{
        fmt::format("{}: {} near byte {} of the packed file; the copy or download may be incomplete: fetch it again",
                    name_, what, packed_->file_bytes_read())};
  }

 private:
  std::string name_;
  std::unique_ptr<ByteSource> packed_;
  std::vector<char> buffer_;
};

class GzipSource final : public PackedSource {
 public:
  GzipSource(std::string name, std::unique_ptr<ByteSource> packed) : PackedSource(std::move(name), std::move(packed)) {
    // 15 window bits, + 16: a gzip header is expected.
    ready_ = inflateInit2(&stream_, 15 + 16) == Z_OK;
  }
  ~GzipSource() override {
    if (ready_) inflateEnd(&stream_);
  }

  Result<std::size_t> read(std::span<char> out) override {
    if (!ready_) return broken("zlib could not be started");
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(out.size(), 1U << 30));
    const std::size_t wanted = stream_.avail_out;
    while (stream_.avail_out == wanted) {
      if (stream_.avail_in == 0) {
        const std::span<char> more = TRY(refill());
        if (more.empty()) {
          if (between_members_) return std::size_t{0};
          return broken("the gzip stream ends early");
        }
        stream_.next_in = reinterpret_cast<Bytef*>(more.data());
        stream_.avail_in = static_cast<uInt>(more.size());
      }
      const int status = inflate(&stream_, Z_NO_FLUSH);
      between_members_ = status == Z_STREAM_END;
      if (status == Z_STREAM_END) {
        inflateReset(&stream_);  // a gzip file may hold several members
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        return broken("the gzip stream is damaged");
      }
    }
    return wanted - stream_.avail_out;
  }

 private:
  z_stream stream_{};
  bool ready_ = false;
  bool between_members_ = true;
};

class ZstdSource final : public PackedSource {
 public:
  ZstdSource(std::string name, std::unique_ptr<ByteSource> packed)
      : PackedSource(std::move(name), std::move(packed)), context_(ZSTD_createDCtx()) {}

  Result<std::size_t> read(std::span<char> out) override {
    if (context_ == nullptr) return broken("zstd could not be started");
    ZSTD_outBuffer target{out.data(), out.size(), 0};
    while (target.pos == 0 && target.size > 0) {
      if (input_.pos == input_.size && !flushing_) {
        const std::span<char> more = TRY(refill());
        if (more.empty()) {
          if (at_frame_end_) return std::size_t{0};
          return broken("the zstd stream ends early");
        }
        input_ = {more.data(), more.size(), 0};
      }
      const std::size_t status = ZSTD_decompressStream(context_.get(), &target, &input_);
      if (ZSTD_isError(status) != 0) return broken("the zstd stream is damaged");
      at_frame_end_ = status == 0;
      flushing_ = target.pos == target.size && !at_frame_end_;
    }
    return target.pos;
  }

 private:
  struct FreeContext {
    void operator()(ZSTD_DCtx* context) const noexcept { ZSTD_freeDCtx(context); }
  };
  std::unique_ptr<ZSTD_DCtx, FreeContext> context_;
  ZSTD_inBuffer input_{nullptr, 0, 0};
  bool at_frame_end_ = true;
  bool flushing_ = false;  // the decoder may still hold output although all input was taken
};

// Leaves out a mark of the byte order before the first byte, which editors and spreadsheets put there.
class UnmarkedSource final : public ByteSource {
 public:
  UnmarkedSource(std::unique_ptr<ByteSource> marked, bool packed) : marked_(std::move(marked)), packed_(packed) {}

  Result<std::size_t> read(std::span<char> out) override {
    if (!looked_) look();
    if (given_ == first_.size() && !failure_) return marked_->read(out);
    if (given_ == first_.size()) return *failure_;
    const std::size_t count = first_.copy(out.data(), out.size(), given_);
    given_ += count;
    return count;
  }
  [[nodiscard]] std::uint64_t file_bytes() const override { return marked_->file_bytes(); }
  [[nodiscard]] std::uint64_t file_bytes_read() const override { return marked_->file_bytes_read(); }
  [[nodiscard]] bool packed() const override { return packed_; }

 private:
  void look() {
    looked_ = true;
    std::array<char, kByteOrderMark.size()> some{};
    while (first_.size() < some.size()) {
      const Result<std::size_t> count = marked_->read(std::span(some).first(some.size() - first_.size()));
      if (!count) failure_ = count.error();
      if (!count || *count == 0) break;
      first_.append(some.data(), *count);
    }
    if (first_ == kByteOrderMark) first_.clear();
  }

  std::unique_ptr<ByteSource> marked_;
  bool packed_;
  std::string first_;  // bytes read ahead
  std::size_t given_ = 0;
  std::optional<Error> failure_;
  bool looked_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> ByteSource::inflated(std::string name, std::string_view first_bytes,
                                                 std::unique_ptr<ByteSource> packed) {
  if (first_bytes.starts_with(kGzip)) return std::make_unique<GzipSource>(std::move(name), std::move(packed));
  if (first_bytes.starts_with(kZstd)) return std::make_unique<ZstdSource>(std::move(name), std::move(packed));
  return packed;
}

Result<std::unique_ptr<ByteSource>> ByteSource::open(const std::string& path) {
  std::error_code failure;
  if (std::filesystem::is_directory(path, failure)) {
    return Error{fmt::format("{}: is a folder; name one of the files in it", path)};
  }
  File file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) {
    return Error{fmt::format("{}: cannot be opened: {}; check the path", path, std::strerror(errno))};
  }
  std::array<char, 4> first{};
  const std::string_view magic(first.data(), std::fread(first.data(), 1, first.size(), file.get()));
  std::rewind(file.get());
  const std::uintmax_t size = std::filesystem::file_size(path, failure);
  auto source = inflated(path, magic, std::make_unique<PlainSource>(path, std::move(file), failure ? 0 : size));
  return std::unique_ptr<ByteSource>(std::make_unique<UnmarkedSource>(std::move(source), is_packed(magic)));
}

std::unique_ptr<ByteSource> ByteSource::from_memory(std::span<const char> bytes) {
  const std::string_view text(bytes.data(), bytes.size());
  return std::make_unique<UnmarkedSource>(inflated("the text", text, std::make_unique<MemorySource>(bytes)),
                                          is_packed(text));
}

bool is_packed(std::string_view first_bytes) noexcept {
  return first_bytes.starts_with(kGzip) || first_bytes.starts_with(kZstd);
}

Result<std::size_t> read_all(ByteSource& source, std::span<char> out) {
  std::size_t filled = 0;
  while (filled < out.size()) {
    const std::size_t count = TRY(source.read(out.subspan(filled)));
    if (count == 0) break;
    filled += count;
  }
  return filled;
}

}  // namespace accelscope::capture::json
