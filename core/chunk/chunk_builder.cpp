#include "core/chunk/chunk_builder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/checksum.h"
#include "core/chunk/bit_pack.h"
#include "core/chunk/chunk_format.h"

namespace accelscope {
namespace {

constexpr std::uint32_t kBlocks = kMaxChunkEvents / kBlockEvents;

struct Range {
  std::uint64_t min;
  std::uint64_t max;
};

Range range_of(const std::uint64_t* values, std::uint32_t count) {
  Range range{values[0], values[0]};
  for (std::uint32_t i = 1; i < count; ++i) {
    range.min = std::min(range.min, values[i]);
    range.max = std::max(range.max, values[i]);
  }
  return range;
}

unsigned width_of(std::uint64_t largest) { return packable_width(static_cast<unsigned>(std::bit_width(largest))); }

// `count` values of `width` bits each, not in blocks; used for the small arrays of block minima.
void put_bits(Bytes& out, const std::uint64_t* values, std::uint32_t count, unsigned width) {
  const std::size_t start = out.size();
  const std::size_t bytes = bits_to_bytes(std::size_t{count} * width);
  out.resize(start + bytes + sizeof(std::uint64_t) * 2);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::size_t bit = std::size_t{i} * width;
    std::byte* place = out.data() + start + bit / 8;
    const unsigned shift = bit % 8;
    std::uint64_t word;
    std::memcpy(&word, place, sizeof word);
    word |= values[i] << shift;
    std::memcpy(place, &word, sizeof word);
    // Only widths up to 56 and 64 occur, and 64 has shift 0: a value never spills past these eight bytes.
  }
  out.resize(start + bytes);
}

// Everything one column writes; `values` holds count stored values, padded by this class to whole blocks.
class ColumnPacker {
 public:
  ColumnPacker(Bytes& out, std::uint32_t count)
      : out_(out), count_(count), blocks_((count + kBlockEvents - 1) / kBlockEvents) {}

  void pack(std::uint64_t* values, ColumnEntry& entry, bool may_be_delta) {
    for (std::uint32_t i = count_; i < blocks_ * kBlockEvents; ++i) values[i] = values[count_ - 1];
    entry.offset = static_cast<std::uint32_t>(out_.size());
    if (may_be_delta && delta_is_smaller(values)) {
      pack_delta(values, entry);
    } else {
      pack_minima(values, entry);
    }
  }

 private:
  [[nodiscard]] std::uint32_t block_size(std::uint32_t block) const {
    return std::min(kBlockEvents, count_ - block * kBlockEvents);
  }

  // Decided on up to four blocks spread over the chunk.
  [[nodiscard]] bool delta_is_smaller(const std::uint64_t* values) const {
    if (count_ < 2 * kBlockEvents) return false;
    std::uint64_t plain_bits = 0;
    Range steps{~std::uint64_t{0}, 0};
    const std::uint32_t full_blocks = count_ / kBlockEvents;
    const std::uint32_t stride = std::max(1U, full_blocks / 4);
    for (std::uint32_t block = 0; block < full_blocks; block += stride) {
      const std::uint64_t* v = values + block * kBlockEvents;
      const Range range = range_of(v, kBlockEvents);
      plain_bits = std::max<std::uint64_t>(plain_bits, width_of(range.max - range.min));
      for (std::uint32_t i = 1; i < kBlockEvents; ++i) {
        const std::uint64_t step = (v[i] - v[i - 1]) ^ kSignBit;
        steps.min = std::min(steps.min, step);
        steps.max = std::max(steps.max, step);
      }
    }
    return width_of(steps.max - steps.min) + 2 < plain_bits;
  }

  void pack_minima(const std::uint64_t* values, ColumnEntry& entry) {
    entry.encoding = entry.encoding == Encoding::text ? Encoding::text : Encoding::packed;
    entry.min = ~std::uint64_t{0};
    entry.max = 0;
    std::size_t data_bytes = 0;
    for (std::uint32_t block = 0; block < blocks_; ++block) {
      const Range range = range_of(values + block * kBlockEvents, kBlockEvents);
      firsts_[block] = range.min;
      widths_[block] = static_cast<std::uint8_t>(width_of(range.max - range.min));
      data_bytes += packed_block_bytes(widths_[block]);
      entry.min = std::min(entry.min, range.min);
      entry.max = std::max(entry.max, range.max);
    }
    entry.base = entry.min;
    put_widths_and_firsts(entry);
    std::byte* place = grow(data_bytes);
    std::array<std::uint64_t, kBlockEvents> distances;
    for (std::uint32_t block = 0; block < blocks_; ++block) {
      const std::uint64_t* v = values + block * kBlockEvents;
      const std::uint64_t base = firsts_[block] + entry.base;
      for (std::uint32_t i = 0; i < kBlockEvents; ++i) distances[i] = v[i] - base;
      pack_block(distances.data(), widths_[block], place);
      place += packed_block_bytes(widths_[block]);
    }
  }

  void pack_delta(const std::uint64_t* values, ColumnEntry& entry) {
    if (entry.encoding != Encoding::text) entry.encoding = Encoding::delta;
    const Range all = range_of(values, count_);
    entry.min = all.min;
    entry.max = all.max;
    entry.base = ~std::uint64_t{0};
    std::uint64_t least_step = ~std::uint64_t{0};
    for (std::uint32_t block = 0; block < blocks_; ++block) {
      const std::uint64_t* v = values + block * kBlockEvents;
      firsts_[block] = v[0];
      entry.base = std::min(entry.base, v[0]);
      for (std::uint32_t i = 1; i < kBlockEvents; ++i) least_step = std::min(least_step, (v[i] - v[i - 1]) ^ kSignBit);
    }
    const std::uint64_t step_base = least_step ^ kSignBit;
    steps_.resize(std::size_t{blocks_} * kBlockEvents);
    std::size_t data_bytes = 0;
    for (std::uint32_t block = 0; block < blocks_; ++block) {
      const std::uint64_t* v = values + block * kBlockEvents;
      std::uint64_t* steps = steps_.data() + block * kBlockEvents;
      std::uint64_t any = 0;
      steps[0] = 0;
      for (std::uint32_t i = 1; i < kBlockEvents; ++i) any |= steps[i] = v[i] - v[i - 1] - step_base;
      widths_[block] = static_cast<std::uint8_t>(width_of(any));
      data_bytes += packed_block_bytes(widths_[block]);
    }
    put_widths_and_firsts(entry);
    std::memcpy(grow(sizeof step_base), &step_base, sizeof step_base);
    std::byte* place = grow(data_bytes);
    for (std::uint32_t block = 0; block < blocks_; ++block) {
      pack_block(steps_.data() + block * kBlockEvents, widths_[block], place);
      place += packed_block_bytes(widths_[block]);
    }
  }

  void put_widths_and_firsts(ColumnEntry& entry) {
    std::memcpy(grow(blocks_), widths_.data(), blocks_);
    std::uint64_t largest = 0;
    for (std::uint32_t block = 0; block < blocks_; ++block) {
      firsts_[block] -= entry.base;
      largest = std::max(largest, firsts_[block]);
    }
    entry.min_width = static_cast<std::uint8_t>(width_of(largest));
    put_bits(out_, firsts_.data(), blocks_, entry.min_width);
  }

  std::byte* grow(std::size_t bytes) {
    const std::size_t start = out_.size();
    out_.resize(start + bytes);
    return out_.data() + start;
  }

  Bytes& out_;
  std::uint32_t count_;
  std::uint32_t blocks_;
  std::array<std::uint64_t, kBlocks> firsts_;
  std::array<std::uint8_t, kBlocks> widths_;
  std::vector<std::uint64_t> steps_;
};

// Turns whole-number doubles into stored int64s in place; leaves the values alone if any is not whole.
bool floats_to_ints(std::uint64_t* values, std::uint32_t count) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto value = std::bit_cast<double>(values[i]);
    if (!(std::fabs(value) < kExact)) return false;
    if (std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<std::int64_t>(value))) != values[i]) return false;
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    values[i] = static_cast<std::uint64_t>(static_cast<std::int64_t>(std::bit_cast<double>(values[i]))) ^ kSignBit;
  }
  return true;
}

void float_range(const std::uint64_t* values, std::uint32_t count, ColumnEntry& entry) {
  double least = std::numeric_limits<double>::quiet_NaN();
  double most = least;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto value = std::bit_cast<double>(values[i]);
    if (!(least <= value)) least = std::isnan(value) ? least : value;
    if (!(most >= value)) most = std::isnan(value) ? most : value;
  }
  entry.min = std::bit_cast<std::uint64_t>(least);
  entry.max = std::bit_cast<std::uint64_t>(most);
}

// One schema column: fills the rows without a value with something cheap to pack, then packs and adds what its
// type needs behind.
struct ColumnInput {
  ColumnType type;
  std::uint64_t* values;
  std::uint64_t* valid;  // null: every row has a value
  std::string* text;
};

void fill_nulls(const ColumnInput& column, std::uint32_t count) {
  // Texts repeat the end of the text before, so that theirs is empty; others the last value, which costs no bits.
  std::uint64_t last = 0;
  if (column.type != ColumnType::text) {
    std::uint32_t first = 0;
    while ((column.valid[first / kBlockEvents] >> (first % kBlockEvents) & 1) == 0) ++first;
    last = column.values[first];
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    if (column.valid[i / kBlockEvents] >> (i % kBlockEvents) & 1) {
      last = column.values[i];
    } else {
      column.values[i] = last;
    }
  }
}

bool all_valid(const std::uint64_t* valid, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count / kBlockEvents; ++i) {
    if (valid[i] != ~std::uint64_t{0}) return false;
  }
  const std::uint32_t rest = count % kBlockEvents;
  return rest == 0 || valid[count / kBlockEvents] == (std::uint64_t{1} << rest) - 1;
}

void put_raw(Bytes& out, const void* data, std::size_t size) {
  const auto* bytes = static_cast<const std::byte*>(data);
  out.insert(out.end(), bytes, bytes + size);
}

void pack_column(const ColumnInput& column, std::uint32_t count, ColumnPacker& packer, Bytes& out, ColumnEntry& entry) {
  const bool nulls = column.valid != nullptr && !all_valid(column.valid, count);
  if (nulls) fill_nulls(column, count);
  bool raw_float = false;
  if (column.type == ColumnType::float64) {
    if (floats_to_ints(column.values, count)) {
      entry.flags |= kFloatAsInt;
    } else {
      raw_float = true;
    }
  }
  if (column.type == ColumnType::text) entry.encoding = Encoding::text;
  const bool ids = column.type == ColumnType::int64 || column.type == ColumnType::uint64;
  packer.pack(column.values, entry, ids);
  if (raw_float) float_range(column.values, count, entry);
  if (nulls) {
    entry.flags |= kHasNulls;
    put_raw(out, column.valid, ((count + kBlockEvents - 1) / kBlockEvents) * sizeof(std::uint64_t));
  }
  if (column.type == ColumnType::text) {
    const auto length = static_cast<std::uint32_t>(column.text->size());
    put_raw(out, &length, sizeof length);
    put_raw(out, column.text->data(), length);
  }
}

std::unique_ptr<std::uint64_t[]> grown(const std::unique_ptr<std::uint64_t[]>& old, std::uint32_t count,
                                       std::uint32_t capacity) {
  auto fresh = std::make_unique_for_overwrite<std::uint64_t[]>(capacity);
  if (count > 0) std::memcpy(fresh.get(), old.get(), count * sizeof(std::uint64_t));
  return fresh;
}

}  // namespace

ChunkBuilder::ChunkBuilder(const Schema& schema, LaneNumber lane)
    : lane_(lane),
      limit_(schema.columns.size() <= 8    ? kMaxChunkEvents
             : schema.columns.size() <= 16 ? kMaxChunkEvents / 2
                                           : kMaxChunkEvents / 4) {
  assert(schema.columns.size() + 3 <= kMaxChunkColumns);
  columns_.resize(schema.columns.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    columns_[i].type = schema.columns[i].type;
    columns_[i].required = schema.columns[i].required && schema.columns[i].type != ColumnType::text;
  }
}

void ChunkBuilder::begin_column(ColumnBuffer& buffer) const {
  if (buffer.values == nullptr) {
    buffer.values = grown(buffer.values, 0, capacity_);
    buffer.valid = std::make_unique<std::uint64_t[]>(kBlocks);
  }
  buffer.any = true;
}

void ChunkBuilder::grow() {
  constexpr std::uint32_t kFirstCapacity = 2 * kBlockEvents;
  capacity_ = capacity_ == 0 ? kFirstCapacity : std::min(capacity_ * 4, limit_);
  gaps_ = grown(gaps_, count_, capacity_);
  durations_ = grown(durations_, count_, capacity_);
  names_ = grown(names_, count_, capacity_);
  for (ColumnBuffer& buffer : columns_) {
    if (buffer.required) {
      buffer.values = grown(buffer.values, count_, capacity_);
    } else if (buffer.values != nullptr) {
      buffer.values = grown(buffer.values, buffer.any ? count_ : 0, capacity_);
    }
  }
}

void ChunkBuilder::set_float64(std::size_t column, std::uint32_t row, double value) {
  set(column, row, std::bit_cast<std::uint64_t>(value));
}

void ChunkBuilder::set_text(std::size_t column, std::uint32_t row, std::string_view value) {
  ColumnBuffer& buffer = columns_[column];
  assert(buffer.type == ColumnType::text);
  buffer.text.append(value);
  text_bytes_ += value.size();
  set(column, row, buffer.text.size());
}

void ChunkBuilder::release_buffers() noexcept {
  assert(empty());
  capacity_ = 0;
  gaps_.reset();
  durations_.reset();
  names_.reset();
  for (ColumnBuffer& buffer : columns_) {
    buffer.values.reset();
    buffer.valid.reset();
    std::string().swap(buffer.text);
  }
}

SealedChunk ChunkBuilder::seal() {
  assert(count_ > 0);
  const std::uint32_t blocks = (count_ + kBlockEvents - 1) / kBlockEvents;
  SealedChunk chunk{{}, lane_, next_ordinal_, count_};
  Bytes& out = chunk.bytes;
  const std::size_t entry_count = columns_.size() + 3;
  std::vector<ColumnEntry> entries(entry_count);
  out.reserve(last_size_ + last_size_ / 8 + 4096);
  out.resize(sizeof(ChunkHeader) + entry_count * sizeof(ColumnEntry));
  ColumnPacker packer(out, count_);

  std::uint64_t total = 0;
  std::array<std::uint64_t, kBlocks> begins;
  std::uint64_t at = 0;
  for (std::uint32_t i = 0; i < count_; ++i) {
    at += gaps_[i];
    if (i % kBlockEvents == 0) begins[i / kBlockEvents] = at;
    at += durations_[i];
    total += durations_[i];
  }
  // A block's first gap follows from where the block begins; it must not widen the others.
  for (std::uint32_t block = 0; block < blocks; ++block) {
    const std::uint32_t first = block * kBlockEvents;
    gaps_[first] = first + 1 < count_ ? gaps_[first + 1] : 0;
  }
  packer.pack(gaps_.get(), entries[0], false);
  entries[0].extra = static_cast<std::uint8_t>(width_of(begins[blocks - 1]));
  put_bits(out, begins.data(), blocks, entries[0].extra);
  packer.pack(durations_.get(), entries[1], false);
  packer.pack(names_.get(), entries[2], false);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    ColumnBuffer& buffer = columns_[i];
    if (!buffer.required && !buffer.any) {
      entries[i + 3].flags = kAbsent;
      continue;
    }
    const ColumnInput input{buffer.type, buffer.values.get(), buffer.required ? nullptr : buffer.valid.get(),
                            &buffer.text};
    pack_column(input, count_, packer, out, entries[i + 3]);
    buffer.any = false;
    buffer.text.clear();
    if (!buffer.required) std::fill_n(buffer.valid.get(), blocks, 0);
  }
  out.resize(out.size() + kChunkTail);

  ChunkHeader header;
  header.columns = static_cast<std::uint16_t>(entry_count);
  header.lane = lane_;
  header.count = count_;
  header.first_ordinal = next_ordinal_;
  header.begin_ticks = begin_ticks_;
  header.end_ticks = end_ticks_;
  header.total_duration = total;
  header.length = static_cast<std::uint32_t>(out.size());
  std::memcpy(out.data() + sizeof header, entries.data(), entries.size() * sizeof(ColumnEntry));
  header.payload_checksum = checksum(ByteView(out).subspan(sizeof header));
  header.header_checksum = checksum_of_header(header);
  std::memcpy(out.data(), &header, sizeof header);

  last_size_ = out.size();
  next_ordinal_ += count_;
  count_ = 0;
  text_bytes_ = 0;
  return chunk;
}

}  // namespace accelscope
