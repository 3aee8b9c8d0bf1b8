// The chunk: up to 16,384 events of one lane as bit-packed columns. Made once at the source; the same bytes cross
// the wire, lie in SQLite and in a session file, and are read in place.
//
//   ChunkHeader                                    72 bytes
//   ColumnEntry x (3 + schema columns)             gap, duration, name, then the schema's own
//   per column: widths u8[blocks]
//               block minima, min_width bits each, to the next whole byte (delta: each block's first value)
//               u64 step base, only for delta
//               packed blocks, widths[b] * 8 bytes each
//               gap only: where each block begins, relative to begin_ticks, `extra` bits each, to a whole byte
//               u64 validity[blocks], only with nulls
//               only for dictionary and text_dictionary: u32 entries, u32 their width in bits, u64 their base,
//               and the entries, as distances from the base, to a whole byte
//               u32 length and bytes, only for text and text_dictionary; a value (text_dictionary: an entry) is the
//               end of the text in them
//   8 zero bytes                                   so that a decoder may load words
//
// Blocks hold 64 events (the last one fewer). Block b of a column is 64 values of widths[b] bits, each the
// distance from the block's minimum; its place is the sum of the widths before it, so any block is reached
// without decoding another. Times are stored as the gap since the end of the event before: within a chunk events
// therefore cannot be unsorted or overlap, whatever the bytes say.
//
// What a chunk holds often (a rate that has twenty values, operand texts of a loop) is kept once in its dictionary, in
// the order in which it first comes, so that the numbers of one block lie close together. A column that equals an
// earlier one in every event is kept as that one. Both came with version 2: a chunk that has neither is still written
// as version 1, which older programs read; they refuse the others as newer than they know.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/base/checksum.h"

namespace accelscope {

inline constexpr std::uint32_t kChunkMagic = 0x4b484341;  // "ACHK"
inline constexpr std::uint16_t kPlainChunkVersion = 1;    // nothing but packed, delta and text
inline constexpr std::uint16_t kChunkVersion = 2;         // the newest that is read
inline constexpr std::uint32_t kMaxChunkEvents = 16384;
inline constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;  // signed values are packed with it flipped
[[nodiscard]] constexpr std::size_t bits_to_bytes(std::size_t bits) noexcept { return (bits + 7) / 8; }
inline constexpr std::uint32_t kBlockEvents = 64;
inline constexpr std::uint32_t kMaxChunkColumns = 512;
inline constexpr std::uint32_t kMaxChunkBytes = 64U << 20;
inline constexpr std::size_t kChunkTail = 8;

struct ChunkHeader {
  std::uint32_t magic = kChunkMagic;
  std::uint16_t version = kPlainChunkVersion;
  std::uint16_t columns = 0;  // entries that follow, the three built-in ones included
  std::uint32_t lane = 0;
  std::uint32_t count = 0;  // events, 1 to kMaxChunkEvents
  std::uint64_t first_ordinal = 0;
  std::int64_t begin_ticks = 0;      // start of the first event
  std::int64_t end_ticks = 0;        // end of the last event, which is the largest
  std::uint64_t total_duration = 0;  // sum of durations in ticks
  std::uint32_t length = 0;          // of the whole chunk in bytes
  std::uint32_t reserved = 0;
  std::uint64_t payload_checksum = 0;  // of everything after the header
  std::uint64_t header_checksum = 0;   // of the header before this field
};
static_assert(sizeof(ChunkHeader) == 72);

[[nodiscard]] inline std::uint64_t checksum_of_header(const ChunkHeader& header) noexcept {
  return checksum(std::as_bytes(std::span(&header, 1)).first(offsetof(ChunkHeader, header_checksum)));
}

// Nothing if the bytes do not begin as a chunk. Whether the rest is one says ChunkView::parse.
[[nodiscard]] inline std::optional<ChunkHeader> read_chunk_header(ByteView bytes) noexcept {
  ChunkHeader header;
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  return header.magic == kChunkMagic ? std::optional(header) : std::nullopt;
}

enum class Encoding : std::uint8_t {
  packed,  // distance from the block's minimum
  delta,   // distance of each value's step from the block's smallest step; for rising ids and totals
  text,    // values are positions in the column's own bytes
  // From version 2 on.
  dictionary,       // packed values are numbers of dictionary entries
  text_dictionary,  // the same, and the entries are positions as those of text
  same,             // all is as in the column whose index is `base`, an earlier one; no data follows
};

inline constexpr std::uint8_t kHasNulls = 1;    // validity words follow the blocks
inline constexpr std::uint8_t kFloatAsInt = 2;  // a float64 column whose values are all whole numbers
inline constexpr std::uint8_t kAbsent = 4;      // no event has a value; no data follows

// Signed values are stored with the sign bit flipped, so that unsigned order is their order.
struct ColumnEntry {
  Encoding encoding = Encoding::packed;
  std::uint8_t flags = 0;
  std::uint8_t min_width = 0;  // bits of a packed block minimum
  std::uint8_t extra = 0;      // gap: bits of a block's place; else 0
  std::uint32_t offset = 0;    // from the start of the chunk to widths[]
  std::uint64_t base = 0;      // smallest block minimum
  std::uint64_t min = 0;       // of all values, in stored form; for raw floats the bits of the smallest, NaNs left out
  std::uint64_t max = 0;
};
static_assert(sizeof(ColumnEntry) == 32);

}  // namespace accelscope
