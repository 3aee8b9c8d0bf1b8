// The bytes of a pickle in order, with their place in it. Memory is a quarter of a MiB, or the longest text.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/json/byte_source.h"

namespace accelscope::capture::sources::pickle {

class PickleBytes {
 public:
  explicit PickleBytes(json::ByteSource& source) : source_(source) {}

  // Exactly so many bytes, valid until the next call; nothing where the file ends before. A length that lies takes no
  // memory beyond what the file holds.
  [[nodiscard]] std::optional<std::string_view> take(std::size_t count) {
    if (end_ - at_ < count && !fill(count)) return std::nullopt;
    const std::string_view bytes(buffer_.data() + at_, count);
    at_ += count;
    return bytes;
  }
  // The next byte, or -1 at the end.
  [[nodiscard]] int next() {
    if (at_ == end_ && !fill(1)) return -1;
    return static_cast<unsigned char>(buffer_[at_++]);
  }
  // A number of at most 8 bytes, the lowest first.
  [[nodiscard]] std::optional<std::uint64_t> number(std::size_t bytes);

  [[nodiscard]] std::uint64_t place() const noexcept { return begin_ + at_; }     // in the unpacked file
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }  // why no more could be read; or ""

 private:
  [[nodiscard]] bool fill(std::size_t count);

  json::ByteSource& source_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, end_ = 0;
  std::uint64_t begin_ = 0;  // place of the buffer's first byte
  std::string failure_;
  bool ended_ = false;
};

}  // namespace accelscope::capture::sources::pickle
