// Little-endian byte buffers for definitions and wire messages. The writer appends; the reader checks every
// bound and turns false for good after the first overrun, so a decoder reads all fields and asks ok() once.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace accelscope {

static_assert(std::endian::native == std::endian::little, "chunks and frames are little-endian in memory");

using Bytes = std::vector<std::byte>;
using ByteView = std::span<const std::byte>;

class ByteWriter {
 public:
  template <typename T>
    requires std::is_arithmetic_v<T>
  void number(T value) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof value);
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }
  void text(std::string_view value) {
    number(static_cast<std::uint32_t>(value.size()));
    raw(std::as_bytes(std::span(value)));
  }
  void raw(ByteView value) { bytes_.insert(bytes_.end(), value.begin(), value.end()); }

  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }
  [[nodiscard]] ByteView view() const noexcept { return bytes_; }
  [[nodiscard]] Bytes take() noexcept { return std::move(bytes_); }

 private:
  Bytes bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(ByteView bytes) noexcept : bytes_(bytes) {}

  template <typename T>
    requires std::is_arithmetic_v<T>
  [[nodiscard]] T number() noexcept {
    T value{};
    const ByteView raw_bytes = raw(sizeof value);
    if (raw_bytes.size() == sizeof value) std::memcpy(&value, raw_bytes.data(), sizeof value);
    return value;
  }
  [[nodiscard]] std::string_view text() noexcept {
    const auto length = number<std::uint32_t>();
    const ByteView value = raw(length);
    return {reinterpret_cast<const char*>(value.data()), value.size()};
  }
  [[nodiscard]] ByteView raw(std::size_t length) noexcept {
    if (!ok_ || length > bytes_.size() - position_) {
      ok_ = false;
      return {};
    }
    const ByteView value = bytes_.subspan(position_, length);
    position_ += length;
    return value;
  }

  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] std::size_t remaining() const noexcept { return ok_ ? bytes_.size() - position_ : 0; }

 private:
  ByteView bytes_;
  std::size_t position_ = 0;
  bool ok_ = true;
};

}  // namespace accelscope
