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
#include <optional>
#include <string_view>
#include <type_traits>

namespace accelscope::capture::sources::perfetto {

// A base-128 number at `at`: where it ends. Null: it is cut, or longer than 64 bits.
[[nodiscard]] inline const char* read_long_varint(const char* at, const char* end, std::uint64_t& value) noexcept {
  constexpr std::uint64_t kGoesOn = 0x8080808080808080U;
  const std::ptrdiff_t left = end - at;
  if (left >= 8) {  // eight bytes at once: seven bits of each move together
    std::uint64_t bits = 0;
    std::memcpy(&bits, at, sizeof bits);
    if (const std::uint64_t ends = ~bits & kGoesOn; ends != 0) {
      const int size = std::countr_zero(ends) / 8 + 1;
      bits &= ~std::uint64_t{0} >> (64 - 8 * size);
      bits = (bits & 0x007f007f007f007fU) | (bits & 0x7f007f007f007f00U) >> 1;
      bits = (bits & 0x00003fff00003fffU) | (bits & 0x3fff00003fff0000U) >> 2;
      value = (bits & 0x000000000fffffffU) | (bits & 0x0fffffff00000000U) >> 4;
      return at + size;
    }
  }
  value = 0;
  const std::ptrdiff_t most = left < 10 ? left : 10;
  for (std::ptrdiff_t i = 0; i < most; ++i) {
    const auto byte = static_cast<unsigned char>(at[i]);
    value |= std::uint64_t{byte & 0x7FU} << (7 * i);
    if (byte < 0x80) return at + i + 1;
  }
  return nullptr;
}

// The same; most are of one byte.
[[nodiscard, gnu::always_inline]] inline const char* read_varint(const char* at, const char* end,
                                                                 std::uint64_t& value) noexcept {
  if (at == end || static_cast<unsigned char>(*at) >= 0x80) return read_long_varint(at, end, value);
  value = static_cast<unsigned char>(*at);
  return at + 1;
}

// The same at the front of the bytes, which it leaves.
[[nodiscard]] inline bool take_varint(std::string_view& bytes, std::uint64_t& value) noexcept {
  const char* const end = read_varint(bytes.data(), bytes.data() + bytes.size(), value);
  if (end == nullptr) return false;
  bytes.remove_prefix(static_cast<std::size_t>(end - bytes.data()));
  return true;
}

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

// Where a field of that number goes: a number, a flag or a text, optional or not. `fields.into(At{1, id}, At{2, name})`
template <typename Value>
struct At {
  At(std::uint32_t of, Value& to) noexcept : number(of), value(to) {}
  std::uint32_t number;
  Value& value;
};

class Fields {
 public:
  explicit Fields(std::string_view message) noexcept : at_(message.data()), end_(message.data() + message.size()) {}

  // The next field; false at the end, or where the message is damaged. A packet has some ten.
  [[nodiscard, gnu::always_inline]] bool next() noexcept {
    if (at_ == end_) return false;
    std::uint64_t tag = 0;
    if (!take(tag) || tag >> 3 == 0 || tag >> 32 != 0) return fail();
    number_ = static_cast<std::uint32_t>(tag >> 3);
    type_ = static_cast<WireType>(tag & 7);
    switch (type_) {
      case WireType::varint:
        return take(value_) || fail();
      case WireType::fixed64:
        return take_fixed(8);
      case WireType::fixed32:
        return take_fixed(4);
      case WireType::bytes: {
        std::uint64_t size = 0;
        if (!take(size) || size > left()) return fail();
        bytes_ = std::string_view(at_, static_cast<std::size_t>(size));
        at_ += size;
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

  // Puts the field where one of these wants its number. False: none does.
  template <typename... Value>
  [[gnu::always_inline]] bool into(At<Value>... places) {
    return ((number_ == places.number && (put(places.value), true)) || ...);
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
  template <typename Value>
  void put(std::optional<Value>& value) {
    put(value.emplace());
  }
  template <typename Value>
  void put(Value& value) {
    if constexpr (std::is_same_v<Value, bool>) {
      value = flag();
    } else if constexpr (std::is_integral_v<Value>) {
      value = static_cast<Value>(whole());
    } else if constexpr (std::is_floating_point_v<Value>) {
      value = real();
    } else {
      value = bytes();
    }
  }
  [[nodiscard]] std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }
  [[nodiscard, gnu::always_inline]] bool take(std::uint64_t& value) noexcept {
    const char* const end = read_varint(at_, end_, value);
    if (end != nullptr) at_ = end;
    return end != nullptr;
  }
  bool take_fixed(std::size_t size) noexcept {
    if (left() < size) return fail();
    value_ = 0;
    std::memcpy(&value_, at_, size);
    at_ += size;
    return true;
  }
  bool fail() noexcept {
    broken_ = true;
    at_ = end_;
    return false;
  }

  const char* at_;
  const char* end_;
  std::string_view bytes_;
  std::uint64_t value_ = 0;
  std::uint32_t number_ = 0;
  WireType type_ = WireType::varint;
  bool broken_ = false;
};

}  // namespace accelscope::capture::sources::perfetto
