#include "core/chunk/chunk_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/chunk/bit_pack.h"

namespace accelscope {
namespace {

std::uint64_t load64(const std::byte* place) noexcept {
  std::uint64_t value;
  std::memcpy(&value, place, sizeof value);
  return value;
}

bool usable_width(unsigned width) noexcept { return width <= 56 || width == 64; }

// Sum of the widths of the blocks before `block`, which is where its bits begin, in units of 8 bytes.
std::size_t blocks_before(const std::byte* widths, std::uint32_t block) noexcept {
  // Eight at once, as pairs of 16 bits: a chunk has at most 256 blocks, so no pair overflows. Loads may go past the
  // widths, never past the chunk, which ends in eight zero bytes.
  constexpr std::uint64_t kPairs = 0x00ff00ff00ff00ff;
  static_assert(kMaxChunkEvents / kBlockEvents * 255 < 1U << 16U);
  std::uint64_t sums = 0;
  const auto add = [&sums](std::uint64_t eight) { sums += (eight & kPairs) + (eight >> 8U & kPairs); };
  std::uint32_t i = 0;
  for (; i + 8 <= block; i += 8) add(load64(widths + i));
  if (i < block) add(load64(widths + i) & ((std::uint64_t{1} << 8 * (block - i)) - 1));
  return sums * 0x0001000100010001 >> 48U;
}

Error damaged(const char* what) { return Error{fmt::format("chunk: {}; its bytes are damaged", what)}; }

}  // namespace

// Walks over the bytes of one column while parsing.
class ChunkView::Cursor {
 public:
  Cursor(ByteView bytes, std::size_t position) : bytes_(bytes), position_(position) {}
  const std::byte* take(std::size_t size) {
    if (position_ > bytes_.size() || size > bytes_.size() - position_) return nullptr;
    const std::byte* place = bytes_.data() + position_;
    position_ += size;
    return place;
  }

 private:
  ByteView bytes_;
  std::size_t position_;
};

// What is wrong with it, or null.
const char* ChunkView::read_dictionary(Cursor& cursor, ColumnPlace& column) {
  struct Head {
    std::uint32_t entries;
    std::uint32_t width;
    std::uint64_t base;
  } head;
  const std::byte* place = cursor.take(sizeof head);
  if (place == nullptr) return "a column's dictionary is cut";
  std::memcpy(&head, place, sizeof head);
  if (head.entries == 0 || head.entries > kMaxChunkEvents) return "a column's dictionary has an impossible size";
  if (!usable_width(head.width)) return "a column's dictionary has an impossible width";
  column.entries = head.entries;
  column.entry_width = static_cast<std::uint8_t>(head.width);
  column.entry_base = head.base;
  column.dictionary = cursor.take(bits_to_bytes(std::size_t{head.entries} * head.width));
  return column.dictionary == nullptr ? "a column's dictionary is cut" : nullptr;
}

Result<ChunkView> ChunkView::parse(ByteView bytes) {
  ChunkView view;
  view.bytes_ = bytes;
  if (bytes.size() < sizeof(ChunkHeader)) return damaged("it is shorter than a chunk's header");
  std::memcpy(&view.header_, bytes.data(), sizeof(ChunkHeader));
  const ChunkHeader& header = view.header_;
  if (header.magic != kChunkMagic) return damaged("it does not begin as one");
  if (header.version == 0) return damaged("it has an impossible version");
  if (header.version > kChunkVersion) {
    return Error{fmt::format("chunk: version {} is newer than this program knows ({}); update it", header.version,
                             kChunkVersion)};
  }
  if (header.length != bytes.size()) {
    return Error{fmt::format("chunk: it says {} bytes but has {}; it was cut or damaged", header.length, bytes.size())};
  }
  if (header.count == 0 || header.count > kMaxChunkEvents) return damaged("it has an impossible number of events");
  if (header.columns < kBuiltIn || header.columns > kMaxChunkColumns)
    return damaged("it has an impossible number of columns");
  if (header.first_ordinal >= (std::uint64_t{1} << 40) - kMaxChunkEvents)
    return damaged("its first ordinal is out of range");
  if (header.end_ticks < header.begin_ticks) return damaged("it ends before it begins");
  const std::size_t entries_end = sizeof(ChunkHeader) + header.columns * sizeof(ColumnEntry);
  if (bytes.size() < entries_end + kChunkTail) return damaged("its list of columns is cut");

  const ByteView usable = bytes.first(bytes.size() - kChunkTail);  // decoders load up to 8 bytes past a block
  const std::uint32_t blocks = view.block_count();
  view.columns_.resize(header.columns);
  for (std::size_t i = 0; i < view.columns_.size(); ++i) {
    ColumnPlace& column = view.columns_[i];
    std::memcpy(&column.entry, bytes.data() + sizeof(ChunkHeader) + i * sizeof(ColumnEntry), sizeof(ColumnEntry));
    const ColumnEntry& entry = column.entry;
    if (entry.flags & kAbsent) {
      if (i < kBuiltIn) return damaged("a time or name column is absent");
      continue;
    }
    const bool known =
        header.version == kPlainChunkVersion ? entry.encoding <= Encoding::text : entry.encoding <= Encoding::same;
    if (!known || !usable_width(entry.min_width) || !usable_width(entry.extra)) {
      return damaged("a column has an unknown encoding");
    }
    if (i < kBuiltIn && entry.encoding > Encoding::text) return damaged("a time or name column has a wrong encoding");
    if (entry.encoding == Encoding::same) {
      if (entry.base < kBuiltIn || entry.base >= i || (view.columns_[entry.base].entry.flags & kAbsent) != 0) {
        return damaged("a column is said to be the same as one that cannot be it");
      }
      column = view.columns_[entry.base];
      continue;
    }
    Cursor cursor(usable, entry.offset);
    column.widths = cursor.take(blocks);
    column.minima = cursor.take(bits_to_bytes(std::size_t{blocks} * entry.min_width));
    if (column.widths == nullptr || column.minima == nullptr) return damaged("a column is cut");
    column.delta = entry.encoding == Encoding::delta;
    if (column.delta) {
      const std::byte* step = cursor.take(sizeof(std::uint64_t));
      if (step == nullptr) return damaged("a column is cut");
      column.step_base = load64(step);
    }
    for (std::uint32_t block = 0; block < blocks; ++block) {
      if (!usable_width(static_cast<std::uint8_t>(column.widths[block])))
        return damaged("a block has an impossible width");
    }
    column.blocks = cursor.take(blocks_before(column.widths, blocks) * 8);
    if (column.blocks == nullptr) return damaged("a column is cut");
    if (i == 0) {
      view.block_begins_ = cursor.take(bits_to_bytes(std::size_t{blocks} * entry.extra));
      view.block_begin_width_ = entry.extra;
      if (view.block_begins_ == nullptr || column.delta) return damaged("its time column is cut");
    }
    if (entry.flags & kHasNulls) {
      column.validity = cursor.take(blocks * sizeof(std::uint64_t));
      if (column.validity == nullptr) return damaged("a column's validity bits are cut");
    }
    if (entry.encoding == Encoding::dictionary || entry.encoding == Encoding::text_dictionary) {
      if (const char* wrong = read_dictionary(cursor, column); wrong != nullptr) return damaged(wrong);
    }
    if (entry.encoding == Encoding::text || entry.encoding == Encoding::text_dictionary) {
      const std::byte* length = cursor.take(sizeof(std::uint32_t));
      if (length == nullptr) return damaged("a text column is cut");
      std::memcpy(&column.text_bytes, length, sizeof column.text_bytes);
      column.text = cursor.take(column.text_bytes);
      if (column.text == nullptr) return damaged("a text column is cut");
    }
  }
  return view;
}

Result<void> ChunkView::verify_checksums() const {
  if (checksum_of_header(header_) != header_.header_checksum) return damaged("wrong checksum of its header");
  if (checksum(bytes_.subspan(sizeof(ChunkHeader))) != header_.payload_checksum) return damaged("wrong checksum");
  return {};
}

void ChunkView::decode(const ColumnPlace& column, std::uint32_t block, std::uint64_t* out) const noexcept {
  const unsigned width = static_cast<std::uint8_t>(column.widths[block]);
  const std::byte* place = column.blocks + blocks_before(column.widths, block) * 8;
  const std::uint64_t first = column.entry.base + unpack_one(column.minima, column.entry.min_width, block);
  if (!column.delta) {
    unpack_block(place, width, first, out);
    if (column.entry.encoding == Encoding::dictionary) look_up(column, out);
    return;
  }
  unpack_block(place, width, column.step_base, out);
  out[0] = first;
  for (std::uint32_t i = 1; i < kBlockEvents; ++i) out[i] += out[i - 1];
}

// A number beyond the dictionary, which only damage can hold, reads as its last entry.
std::uint64_t ChunkView::dictionary_entry(const ColumnPlace& column, std::uint64_t number) noexcept {
  const auto entry = static_cast<unsigned>(std::min<std::uint64_t>(number, column.entries - 1));
  return column.entry_base + unpack_one(column.dictionary, column.entry_width, entry);
}

void ChunkView::look_up(const ColumnPlace& column, std::uint64_t* values) noexcept {
  constexpr std::uint32_t kFew = 16;  // entries that are unpacked once rather than for each value
  if (column.entries > kFew) {
    for (std::uint32_t i = 0; i < kBlockEvents; ++i) values[i] = dictionary_entry(column, values[i]);
    return;
  }
  std::array<std::uint64_t, kFew> entries;
  for (std::uint32_t i = 0; i < column.entries; ++i) entries[i] = dictionary_entry(column, i);
  for (std::uint32_t i = 0; i < kBlockEvents; ++i)
    values[i] = entries[std::min<std::uint64_t>(values[i], column.entries - 1)];
}

void ChunkView::times(std::uint32_t block, BlockTimes& out) const noexcept {
  std::array<std::uint64_t, kBlockEvents> gaps;
  std::array<std::uint64_t, kBlockEvents> durations;
  decode(columns_[0], block, gaps.data());
  decode(columns_[1], block, durations.data());
  gaps[0] = 0;
  std::uint64_t at =
      static_cast<std::uint64_t>(header_.begin_ticks) + unpack_one(block_begins_, block_begin_width_, block);
  for (std::uint32_t i = 0; i < kBlockEvents; ++i) {
    at += gaps[i];
    out.begins[i] = static_cast<std::int64_t>(at);
    at += durations[i];
    out.ends[i] = static_cast<std::int64_t>(at);
  }
}

void ChunkView::durations(std::uint32_t block, std::uint64_t* ticks) const noexcept {
  decode(columns_[1], block, ticks);
}

void ChunkView::names(std::uint32_t block, std::uint64_t* local_string_ids) const noexcept {
  decode(columns_[2], block, local_string_ids);
}

void ChunkView::values(std::size_t column, std::uint32_t block, std::uint64_t* stored_values) const noexcept {
  const ColumnPlace& place = columns_[column + kBuiltIn];
  if (place.entry.flags & kAbsent) {
    std::memset(stored_values, 0, kBlockEvents * sizeof(std::uint64_t));
    return;
  }
  decode(place, block, stored_values);
}

std::uint64_t ChunkView::validity(std::size_t column, std::uint32_t block) const noexcept {
  const ColumnPlace& place = columns_[column + kBuiltIn];
  if (place.entry.flags & kAbsent) return 0;
  if (place.validity != nullptr) return load64(place.validity + block * sizeof(std::uint64_t));
  const std::uint32_t size = block_size(block);
  return size == kBlockEvents ? ~std::uint64_t{0} : (std::uint64_t{1} << size) - 1;
}

bool ChunkView::has_value(std::size_t column, std::uint32_t row) const noexcept {
  return (validity(column, row / kBlockEvents) >> (row % kBlockEvents) & 1) != 0;
}

std::uint64_t ChunkView::one(const ColumnPlace& column, std::uint32_t row) const noexcept {
  const std::uint32_t block = row / kBlockEvents;
  if (column.delta) {
    std::array<std::uint64_t, kBlockEvents> values;
    decode(column, block, values.data());
    return values[row % kBlockEvents];
  }
  const unsigned width = static_cast<std::uint8_t>(column.widths[block]);
  const std::byte* place = column.blocks + blocks_before(column.widths, block) * 8;
  const std::uint64_t value = column.entry.base + unpack_one(column.minima, column.entry.min_width, block) +
                              unpack_one(place, width, row % kBlockEvents);
  return column.entry.encoding == Encoding::dictionary ? dictionary_entry(column, value) : value;
}

std::uint64_t ChunkView::stored(std::size_t column, std::uint32_t row) const noexcept {
  const ColumnPlace& place = columns_[column + kBuiltIn];
  return (place.entry.flags & kAbsent) ? 0 : one(place, row);
}

double ChunkView::to_float64(std::size_t column, std::uint64_t stored_value) const noexcept {
  if (columns_[column + kBuiltIn].entry.flags & kFloatAsInt) {
    return static_cast<double>(static_cast<std::int64_t>(stored_value ^ (std::uint64_t{1} << 63)));
  }
  return std::bit_cast<double>(stored_value);
}

std::string_view ChunkView::text(std::size_t column, std::uint32_t row) const noexcept {
  const ColumnPlace& place = columns_[column + kBuiltIn];
  if (place.text == nullptr) return {};
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  if (place.dictionary != nullptr) {
    if (!has_value(column, row)) return {};
    const std::uint64_t number = one(place, row);
    begin = number == 0 ? 0 : dictionary_entry(place, number - 1);
    end = dictionary_entry(place, number);
  } else {
    begin = row == 0 ? 0 : one(place, row - 1);
    end = one(place, row);
  }
  // Damaged positions give an empty text, never one from outside the column.
  if (begin > end || end > place.text_bytes) return {};
  return {reinterpret_cast<const char*>(place.text) + begin, end - begin};
}

std::uint32_t ChunkView::name(std::uint32_t row) const noexcept {
  return static_cast<std::uint32_t>(one(columns_[2], row));
}

void ChunkView::event_times(std::uint32_t row, std::int64_t& begin_ticks, std::int64_t& end_ticks) const noexcept {
  BlockTimes block;
  times(row / kBlockEvents, block);
  begin_ticks = block.begins[row % kBlockEvents];
  end_ticks = block.ends[row % kBlockEvents];
}

}  // namespace accelscope
