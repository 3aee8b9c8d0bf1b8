// Protobuf's wire format, as much as writing it needs: fields are appended to a string. Messages within messages are
// made in a string of their own first, because their length comes before them.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace accelscope::exporting {

class ProtoBytes {
 public:
  void varint(std::uint32_t field, std::uint64_t value) {
    key(field, 0);
    raw(value);
  }
  void fixed64(std::uint32_t field, std::uint64_t value) {
    key(field, 1);
    char bytes[8];
    for (char& byte : bytes) {
      byte = static_cast<char>(value & 0xFF);
      value >>= 8;
    }
    bytes_.append(bytes, sizeof bytes);
  }
  void real(std::uint32_t field, double value) { fixed64(field, std::bit_cast<std::uint64_t>(value)); }
  void bytes(std::uint32_t field, std::string_view value) {
    key(field, 2);
    raw(value.size());
    bytes_ += value;
  }
  void message(std::uint32_t field, const ProtoBytes& inner) { bytes(field, inner.bytes_); }
  void append(std::string_view made) { bytes_ += made; }  // whole fields

  [[nodiscard]] const std::string& view() const noexcept { return bytes_; }
  [[nodiscard]] std::string& string() noexcept { return bytes_; }
  [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }
  void clear() noexcept { bytes_.clear(); }

 private:
  void key(std::uint32_t field, std::uint32_t type) { raw(std::uint64_t{field} << 3 | type); }
  void raw(std::uint64_t value) {
    if (value < 0x80) {
      bytes_ += static_cast<char>(value);
      return;
    }
    char digits[10];
    std::size_t count = 0;
    for (; value >= 0x80; value >>= 7) digits[count++] = static_cast<char>((value & 0x7F) | 0x80);
    digits[count++] = static_cast<char>(value);
    bytes_.append(digits, count);
  }

  std::string bytes_;
};

}  // namespace accelscope::exporting
