#include "core/base/sha256.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace accelscope {
namespace {

constexpr std::size_t kBlock = 64;
using State = std::array<std::uint32_t, 8>;

// The first 32 bits of the fractional part of a root, as FIPS 180-4 section 4.2.2 and 5.3.3 define the constants.
// Integer arithmetic: the largest x with x^power <= prime * 2^(32 * power).
std::uint32_t root_fraction(std::uint32_t prime, int power) {
  std::uint64_t root = 0;
  for (int bit = 36; bit >= 0; --bit) {
    const std::uint64_t candidate = root | (std::uint64_t{1} << bit);
    // candidate^power against prime * 2^(32 power), in long steps of 32 bits so that nothing overflows
    unsigned __int128 product = candidate;
    unsigned __int128 limit = prime;
    bool fits = true;
    if (power == 2) {
      product *= candidate;
      limit <<= 64;
      fits = product <= limit;
    } else {
      // candidate < 2^36, so candidate^2 < 2^72; compare candidate^2 * candidate with prime << 96 by division
      product *= candidate;
      const unsigned __int128 high = product >> 32;
      const unsigned __int128 low = product & 0xffffffffU;
      const unsigned __int128 scaled = high * candidate + ((low * candidate) >> 32);
      limit <<= 64;
      fits = scaled < limit || (scaled == limit && ((low * candidate) & 0xffffffffU) == 0);
    }
    if (fits) root = candidate;
  }
  return static_cast<std::uint32_t>(root);
}

struct Constants {
  State initial;
  std::array<std::uint32_t, 64> round;
};

Constants make_constants() {
  Constants constants{};
  std::size_t found = 0;
  for (std::uint32_t candidate = 2; found < 64; ++candidate) {
    bool prime = true;
    for (std::uint32_t divisor = 2; divisor * divisor <= candidate; ++divisor)
      prime = prime && candidate % divisor != 0;
    if (!prime) continue;
    if (found < 8) constants.initial[found] = root_fraction(candidate, 2);
    constants.round[found++] = root_fraction(candidate, 3);
  }
  return constants;
}

void add_block(State& state, const Constants& constants, const unsigned char* bytes) {
  std::array<std::uint32_t, 64> w;
  for (std::size_t i = 0; i < 16; ++i) {
    w[i] = static_cast<std::uint32_t>(bytes[4 * i]) << 24 | static_cast<std::uint32_t>(bytes[4 * i + 1]) << 16 |
           static_cast<std::uint32_t>(bytes[4 * i + 2]) << 8 | bytes[4 * i + 3];
  }
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const std::uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  State s = state;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t sum1 = std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25);
    const std::uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
    const std::uint32_t t1 = s[7] + sum1 + choice + constants.round[i] + w[i];
    const std::uint32_t sum0 = std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22);
    const std::uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
    s = {t1 + sum0 + majority, s[0], s[1], s[2], s[3] + t1, s[4], s[5], s[6]};
  }
  for (std::size_t i = 0; i < 8; ++i) state[i] += s[i];
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  static const Constants kConstants = make_constants();
  State state = kConstants.initial;
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  std::size_t done = 0;
  for (; done + kBlock <= bytes.size(); done += kBlock) add_block(state, kConstants, data + done);
  // What is left, a one bit, zeros, and the length in bits, in one or two blocks.
  std::array<unsigned char, 2 * kBlock> tail{};
  const std::size_t rest = bytes.size() - done;
  if (rest > 0) std::memcpy(tail.data(), data + done, rest);
  tail[rest] = 0x80;
  const std::size_t tail_size = rest + 9 <= kBlock ? kBlock : 2 * kBlock;
  const std::uint64_t bits = static_cast<std::uint64_t>(bytes.size()) * 8;
  for (std::size_t i = 0; i < 8; ++i) tail[tail_size - 1 - i] = static_cast<unsigned char>(bits >> (8 * i));
  for (std::size_t at = 0; at < tail_size; at += kBlock) add_block(state, kConstants, tail.data() + at);
  std::string hex;
  for (const std::uint32_t word : state) hex += fmt::format("{:08x}", word);
  return hex;
}

}  // namespace accelscope
