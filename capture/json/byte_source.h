// The bytes of a file, inflated on the way if it is gzip or zstd, without a mark of the byte order before them. Read in
// order, once; memory is a few hundred KiB whatever the file's size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace accelscope::capture::json {

class ByteSource {
 public:
  // Looks at the first bytes to see how the file is packed.
  [[nodiscard]] static Result<std::unique_ptr<ByteSource>> open(const std::string& path);
  // Bytes that are in memory already, packed or not; they must outlive the source.
  [[nodiscard]] static std::unique_ptr<ByteSource> from_memory(std::span<const char> bytes);
  // What `packed` inflates to where these are its first bytes, which it has yet to give; `name` is for messages.
  [[nodiscard]] static std::unique_ptr<ByteSource> inflated(std::string name, std::string_view first_bytes,
                                                            std::unique_ptr<ByteSource> packed);

  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  // How many bytes were put into `out`; 0 at the end. Fails where the file cannot be read or inflated further.
  virtual Result<std::size_t> read(std::span<char> out) = 0;
  [[nodiscard]] virtual std::uint64_t file_bytes() const = 0;       // of the file as it lies on the disk
  [[nodiscard]] virtual std::uint64_t file_bytes_read() const = 0;  // of those
  [[nodiscard]] virtual bool packed() const { return false; }
};

// Reads until `out` is full or the source ends: how many bytes came.
[[nodiscard]] Result<std::size_t> read_all(ByteSource& source, std::span<char> out);

// Whether a file that begins with these bytes is packed.
[[nodiscard]] bool is_packed(std::string_view first_bytes) noexcept;

}  // namespace accelscope::capture::json
