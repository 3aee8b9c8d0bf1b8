#include "capture/json/balanced_scan.h"

#include <algorithm>
#include <bit>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace accelscope::capture::json {
namespace {

// One bit per byte of a block of 64.
struct BlockMasks {
  std::uint64_t quotes = 0;
  std::uint64_t backslashes = 0;
  std::uint64_t opening = 0;  // { [
  std::uint64_t closing = 0;  // } ]
};

#if defined(__SSE2__)
[[nodiscard]] std::uint64_t movemask(__m128i bytes, unsigned part) noexcept {
  return std::uint64_t{static_cast<std::uint16_t>(_mm_movemask_epi8(bytes))} << (part * 16);
}

[[nodiscard]] BlockMasks classify(const char* block) noexcept {
  BlockMasks masks;
  // '[' and '{', ']' and '}' differ in bit 0x20 only; no other character becomes '{' or '}' with that bit set.
  const __m128i fold = _mm_set1_epi8(0x20);
  for (unsigned part = 0; part < 4; ++part) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + part * 16));
    const __m128i folded = _mm_or_si128(bytes, fold);
    masks.quotes |= movemask(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), part);
    masks.backslashes |= movemask(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')), part);
    masks.opening |= movemask(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{')), part);
    masks.closing |= movemask(_mm_cmpeq_epi8(folded, _mm_set1_epi8('}')), part);
  }
  return masks;
}
#else
[[nodiscard]] BlockMasks classify(const char* block) noexcept {
  BlockMasks masks;
  for (unsigned i = 0; i < 64; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    const char c = block[i];
    if (c == '"') masks.quotes |= bit;
    if (c == '\\') masks.backslashes |= bit;
    if (c == '{' || c == '[') masks.opening |= bit;
    if (c == '}' || c == ']') masks.closing |= bit;
  }
  return masks;
}
#endif

// The characters that a backslash before them takes the meaning from. `carry`: the first one is such.
[[nodiscard]] std::uint64_t escaped_by(std::uint64_t backslashes, bool& embed) noexcept {
  std::uint64_t escaped = embed ? 1 : 0;
  backslashes &= ~escaped;
  embed = false;
  while (backslashes != 0) {
    const int at = std::countr_zero(backslashes);
    if (at == 63) {
      embed = true;
      break;
    }
    const std::uint64_t next = std::uint64_t{2} << at;
    escaped |= next;
    backslashes &= ~next & (backslashes - 1);
  }
  return escaped;
}

// Bit i is the parity of the bits 0 .. i.
[[nodiscard]] std::uint64_t running_parity(std::uint64_t bits) noexcept {
  for (unsigned step = 1; step < 64; step *= 2) bits ^= bits << step;
  return bits;
}

}  // namespace

std::size_t scan_balanced(BalancedScan& scan, const char* text, std::size_t size) noexcept {
  std::uint64_t in_string = scan.in_string ? ~std::uint64_t{0} : 0;
  for (std::size_t offset = 0; offset < size; offset += 64) {
    BlockMasks masks = classify(text + offset);
    const std::size_t rest = size - offset;
    const std::uint64_t own = rest < 64 ? (std::uint64_t{1} << rest) - 1 : ~std::uint64_t{0};
    masks.quotes &= own;
    masks.backslashes &= own;
    if (masks.backslashes != 0 || scan.escaped) {
      const std::uint64_t escaped = escaped_by(masks.backslashes, scan.escaped);
      if (rest < 64) scan.escaped = ((escaped >> rest) & 1) != 0;
      masks.quotes &= ~escaped;
    }
    const std::uint64_t strings = running_parity(masks.quotes) ^ in_string;
    in_string = (strings >> 63) != 0 ? ~std::uint64_t{0} : 0;
    std::uint64_t brackets = (masks.opening | masks.closing) & ~strings & own;
    while (brackets != 0) {
      const int at = std::countr_zero(brackets);
      if (((masks.opening >> at) & 1) != 0) {
        scan.max_depth = std::max(scan.max_depth, ++scan.depth);
      } else if (--scan.depth == 0) {
        return offset + static_cast<std::size_t>(at) + 1;
      }
      brackets &= brackets - 1;
    }
  }
  scan.in_string = in_string != 0;
  return 0;
}

std::size_t scan_string(const char* text, std::size_t size) noexcept {
  for (std::size_t i = 1; i < size; ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1;
    }
  }
  return 0;
}

}  // namespace accelscope::capture::json
