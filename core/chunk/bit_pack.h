// Packs and unpacks blocks of 64 unsigned values at a fixed number of bits. Little-endian, value i at bit
// i * width. Widths 57 to 63 are not used (a value must lie within one unaligned 8-byte load), so ask
// packable_width first.
#pragma once

#include <cstddef>
#include <cstdint>

namespace accelscope {

// The smallest usable width that holds `bits` bits: 0 to 56, or 64.
[[nodiscard]] constexpr unsigned packable_width(unsigned bits) noexcept { return bits > 56 ? 64 : bits; }

[[nodiscard]] constexpr std::size_t packed_block_bytes(unsigned width) noexcept { return std::size_t{width} * 8; }

// Writes width * 8 bytes. Every value must be below 2^width.
void pack_block(const std::uint64_t* values, unsigned width, std::byte* out) noexcept;

// Reads width * 8 bytes and adds `base` to every value. May load up to 8 bytes past them.
void unpack_block(const std::byte* in, unsigned width, std::uint64_t base, std::uint64_t* values) noexcept;

// One value of a packed block, without its base.
[[nodiscard]] std::uint64_t unpack_one(const std::byte* in, unsigned width, unsigned index) noexcept;

}  // namespace accelscope
