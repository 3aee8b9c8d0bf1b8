#include "core/chunk/bit_pack.h"

#include <array>
#include <cstring>
#include <utility>

namespace accelscope {
namespace {

constexpr unsigned kCount = 64;

// One routine per width, so that every shift is a constant and the loops unroll.
template <unsigned Width>
void pack_width(const std::uint64_t* values, std::byte* out) noexcept {
  if constexpr (Width == 64) {
    std::memcpy(out, values, kCount * sizeof(std::uint64_t));
  } else if constexpr (Width > 0) {
    std::uint64_t words[Width];
    std::uint64_t word = 0;
    unsigned filled = 0;
    unsigned next = 0;
#pragma GCC unroll 64
    for (unsigned i = 0; i < kCount; ++i) {
      word |= values[i] << filled;
      filled += Width;
      if (filled >= 64) {
        words[next++] = word;
        filled -= 64;
        word = filled == 0 ? 0 : values[i] >> (Width - filled);
      }
    }
    std::memcpy(out, words, sizeof words);
  }
}

template <unsigned Width>
void unpack_width(const std::byte* in, std::uint64_t base, std::uint64_t* values) noexcept {
  if constexpr (Width == 0) {
    for (unsigned i = 0; i < kCount; ++i) values[i] = base;
  } else if constexpr (Width == 64) {
    std::memcpy(values, in, kCount * sizeof(std::uint64_t));
    for (unsigned i = 0; i < kCount; ++i) values[i] += base;
  } else {
    constexpr std::uint64_t kMask = (std::uint64_t{1} << Width) - 1;
#pragma GCC unroll 64
    for (unsigned i = 0; i < kCount; ++i) {
      std::uint64_t word;
      std::memcpy(&word, in + (i * Width) / 8, sizeof word);
      values[i] = ((word >> ((i * Width) % 8)) & kMask) + base;
    }
  }
}

using Pack = void (*)(const std::uint64_t*, std::byte*) noexcept;
using Unpack = void (*)(const std::byte*, std::uint64_t, std::uint64_t*) noexcept;

template <unsigned Width>
constexpr unsigned usable() {
  return packable_width(Width);
}

template <std::size_t... Widths>
constexpr std::array<Pack, 65> pack_table(std::index_sequence<Widths...>) {
  return {&pack_width<usable<Widths>()>...};
}
template <std::size_t... Widths>
constexpr std::array<Unpack, 65> unpack_table(std::index_sequence<Widths...>) {
  return {&unpack_width<usable<Widths>()>...};
}

constexpr std::array<Pack, 65> kPack = pack_table(std::make_index_sequence<65>());
constexpr std::array<Unpack, 65> kUnpack = unpack_table(std::make_index_sequence<65>());

}  // namespace

void pack_block(const std::uint64_t* values, unsigned width, std::byte* out) noexcept { kPack[width](values, out); }

void unpack_block(const std::byte* in, unsigned width, std::uint64_t base, std::uint64_t* values) noexcept {
  kUnpack[width](in, base, values);
}

std::uint64_t unpack_one(const std::byte* in, unsigned width, unsigned index) noexcept {
  if (width == 0) return 0;
  const std::size_t bit = std::size_t{index} * width;
  std::uint64_t word;
  std::memcpy(&word, in + bit / 8, sizeof word);
  word >>= bit % 8;
  return width == 64 ? word : word & ((std::uint64_t{1} << width) - 1);
}

}  // namespace accelscope
