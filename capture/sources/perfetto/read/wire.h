// The wire format of protobuf, as far as it is wanted here. A message that is cut or damaged is one that ends early:
// see Fields::broken().
//
//   Fields fields(bytes);
//   while (fields.next()) switch (fields.number()) { case 8: time = fields.whole(); break; case 11: event =
//   fields.bytes(); }
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace accelscope::capture::sources::perfetto {

// A base-128 number at the front of the bytes; false: it is cut, or longer than 64 bits.
[[nodiscard]] inline bool take_varint(std::string_view& bytes, std::uint64_t& value) noexcept {
  const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
  if (!bytes.empty() && *at < 0x80) {
    value = *at;
    bytes.remove_prefix(1);
    return true;
  }
  value = 0;
  const std::size_t most = bytes.size() < 10 ? bytes.size() : 10;
  for (std::size_t i = 0; i < most; ++i) {
    value |= std::uint64_t{at[i] & 0x7FU} << (7 * i);
    if (at[i] < 0x80) {
      bytes.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

class Fields {
 public:
  explicit Fields(std::string_view message) noexcept : rest_(message) {}

  // The next field; false at the end, or where the message is damaged.
  [[nodiscard]] bool next() noexcept {
    if (rest_.empty()) return false;
    std::uint64_t tag = 0;
    if (!take_varint(rest_, tag) || tag >> 3 == 0 || tag >> 32 != 0) return fail();
    number_ = static_cast<std::uint32_t>(tag >> 3);
    type_ = static_cast<WireType>(tag & 7);
    switch (type_) {
      case WireType::varint:
        return take_varint(rest_, value_) || fail();
      case WireType::fixed64:
        return take_fixed(8);
      case WireType::fixed32:
        return take_fixed(4);
      case WireType::bytes: {
        std::uint64_t size = 0;
        if (!take_varint(rest_, size) || size > rest_.size()) return fail();
        bytes_ = rest_.substr(0, static_cast<std::size_t>(size));
        rest_.remove_prefix(static_cast<std::size_t>(size));
        return true;
      }
    }
    return fail();
  }
  [[nodiscard]] bool broken() const noexcept { return broken_; }

  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  [[nodiscard]] WireType type() const noexcept { return type_; }
  // Of another type than asked for: 0, "".
  [[nodiscard]] std::uint64_t whole() const noexcept { return type_ == WireType::bytes ? 0 : value_; }
  [[nodiscard]] std::int64_t integer() const noexcept { return static_cast<std::int64_t>(whole()); }
  [[nodiscard]] std::int32_t integer32() const noexcept { return static_cast<std::int32_t>(whole()); }
  [[nodiscard]] bool flag() const noexcept { return whole() != 0; }
  [[nodiscard]] double real() const noexcept {
    if (type_ == WireType::fixed64) return std::bit_cast<double>(value_);
    if (type_ == WireType::fixed32) return std::bit_cast<float>(static_cast<std::uint32_t>(value_));
    return 0;
  }
  [[nodiscard]] std::string_view bytes() const noexcept {
    return type_ == WireType::bytes ? bytes_ : std::string_view{};
  }

  // Every value of a repeated number, which may be packed into one field. `take` is given the bits.
  template <typename Take>
  void each(WireType of, Take take) noexcept {
    if (type_ != WireType::bytes) return take(value_);
    std::string_view packed = bytes_;
    std::uint64_t value = 0;
    while (!packed.empty()) {
      if (of == WireType::varint) {
        if (!take_varint(packed, value)) return void(broken_ = true);
      } else {
        const std::size_t size = of == WireType::fixed64 ? 8 : 4;
        if (packed.size() < size) return void(broken_ = true);
        value = 0;
        std::memcpy(&value, packed.data(), size);
        packed.remove_prefix(size);
      }
      take(value);
    }
  }

 private:
  bool take_fixed(std::size_t size) noexcept {
    if (rest_.size() < size) return fail();
    value_ = 0;
    std::memcpy(&value_, rest_.data(), size);
    rest_.remove_prefix(size);
    return true;
  }
  bool fail() noexcept {
    broken_ = true;
    rest_ = {};
    return false;
  }

  std::string_view rest_;
  std::string_view bytes_;
  std::uint64_t value_ = 0;
  std::uint32_t number_ = 0;
  WireType type_ = WireType::varint;
  bool broken_ = false;
};

}  // namespace accelscope::capture::sources::perfetto
