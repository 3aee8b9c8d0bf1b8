#include "core/chunk/chunk_builder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "core/base/checksum.h"
#include "core/chunk/bit_pack.h"
#include "core/chunk/chunk_format.h"

namespace accelscope {
namespace {

// Numbers the different values of a column in the order in which they first come, for dictionaries.
//
//   ValueNumbers& numbers = value_numbers();
//   numbers.begin(rows);
//   const std::uint32_t number = numbers.number(value);   // a value that was not there yet gets the next number
class ValueNumbers {
 public:
  // Forgets all. At most `values` different ones may follow, up to kMaxChunkEvents.
  void begin(std::uint32_t values) {
    const std::size_t wanted = std::bit_ceil(std::size_t{values} * 2);
    if (places_.size() < wanted) places_.assign(wanted, Place{});
    shift_ = 64 - static_cast<unsigned>(std::countr_zero(places_.size()));
    if (++round_ == 0) {
      places_.assign(places_.size(), Place{});
      round_ = 1;
    }
    values_.clear();
  }

  std::uint32_t number(std::uint64_t value) {
    return number(value, [](std::uint32_t) { return true; });
  }
  // For values that stand for something else: is_same(n) says whether number n, whose value is equal, is meant.
  template <typename IsSame>
  std::uint32_t number(std::uint64_t value, const IsSame& is_same) {
    const std::size_t mask = places_.size() - 1;
    for (std::size_t at = value * 0x9e3779b97f4a7c15ULL >> shift_;; at = (at + 1) & mask) {
      Place& place = places_[at];
      if (place.round != round_) {
        place = {value, static_cast<std::uint32_t>(values_.size()), round_};
        values_.push_back(value);
        return place.number;
      }
      if (place.value == value && is_same(place.number)) return place.number;
    }
  }

  [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(values_.size()); }
  [[nodiscard]] std::span<const std::uint64_t> values() const noexcept { return values_; }

 private:
  struct Place {
    std::uint64_t value = 0;
    std::uint32_t number = 0;
    std::uint32_t round = 0;  // in which begin() it was taken: an older one is free
  };
  std::vector<Place> places_;
  std::vector<std::uint64_t> values_;
  std::uint32_t round_ = 0;
  unsigned shift_ = 63;
};

// One of each thread, up to half a megabyte: builders are many, and each would need it for a moment only.
[[nodiscard]] inline ValueNumbers& value_numbers() {
  thread_local ValueNumbers numbers;
  return numbers;
}

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

bool all_equal(const std::uint64_t* values, std::uint32_t count) {
  for (std::uint32_t from = 0; from < count; from += kBlockEvents) {
    const std::uint32_t until = std::min(from + kBlockEvents, count);
    std::uint64_t different = 0;
    for (std::uint32_t i = from; i < until; ++i) different |= values[i] ^ values[0];
    if (different != 0) return false;
  }
  return true;
}

enum class Choice : std::uint8_t { time, text, number, id };  // what a column may be packed as

// Everything one column writes; `values` holds count stored values, padded by this class to whole blocks.
class ColumnPacker {
 public:
  ColumnPacker(Bytes& out, std::uint32_t count)
      : out_(out), count_(count), blocks_((count + kBlockEvents - 1) / kBlockEvents) {}

  // True if the entries of the dictionary that the values are numbers of follow, see put_dictionary.
  [[nodiscard]] bool pack(std::uint64_t* values, ColumnEntry& entry, Choice choice) {
    for (std::uint32_t i = count_; i < blocks_ * kBlockEvents; ++i) values[i] = values[count_ - 1];
    entry.offset = static_cast<std::uint32_t>(out_.size());
    const bool may_be_delta = choice == Choice::id;
    if (choice == Choice::time || choice == Choice::text || count_ < 2 * kBlockEvents) {
      pack_minima(values, entry);
      return false;
    }
    const Widths widths = likely_widths(values, may_be_delta);
    const bool delta = may_be_delta && widths.delta + kDeltaCost < widths.plain;
    const unsigned width = delta ? widths.delta : widths.plain;
    if (width >= kDictionaryFrom && number_values(values, width)) {
      const Range range = range_of(value_numbers().values().data(), value_numbers().size());
      pack_minima(numbers_.data(), entry);
      entry.encoding = Encoding::dictionary;
      entry.min = range.min;
      entry.max = range.max;
      return true;
    }
    if (delta) {
      pack_delta(values, entry);
    } else {
      pack_minima(values, entry);
    }
    return false;
  }

  // The numbers of texts, which are in a dictionary anyway.
  void pack_numbers(std::uint64_t* numbers, ColumnEntry& entry) {
    for (std::uint32_t i = count_; i < blocks_ * kBlockEvents; ++i) numbers[i] = numbers[count_ - 1];
    entry.offset = static_cast<std::uint32_t>(out_.size());
    pack_minima(numbers, entry);
  }

  void put_dictionary(std::span<const std::uint64_t> entries) {
    const auto count = static_cast<std::uint32_t>(entries.size());
    const Range range = range_of(entries.data(), count);
    const std::uint32_t width = width_of(range.max - range.min);
    std::byte* place = grow(sizeof count + sizeof width + sizeof range.min);
    std::memcpy(place, &count, sizeof count);
    std::memcpy(place + sizeof count, &width, sizeof width);
    std::memcpy(place + sizeof count + sizeof width, &range.min, sizeof range.min);
    std::vector<std::uint64_t>& distances = numbers_;  // not needed any more
    distances.resize(count);
    for (std::uint32_t i = 0; i < count; ++i) distances[i] = entries[i] - range.min;
    put_bits(out_, distances.data(), count, width);
  }

 private:
  static constexpr unsigned kDeltaCost = 2;  // bits a value that a delta column must save to be worth its sums
  // Bits a value from which a dictionary is tried, and how many values show whether it becomes one.
  static constexpr unsigned kDictionaryFrom = 16;
  static constexpr std::uint32_t kTrialEvents = 1024;

  struct Widths {
    unsigned plain = 0;
    unsigned delta = 0;
  };

  // Into numbers_ and value_numbers(), if that is smaller than `width` bits a value by an eighth.
  bool number_values(const std::uint64_t* values, unsigned width) {
    ValueNumbers& numbers = value_numbers();
    numbers.begin(count_);
    numbers_.resize(std::size_t{blocks_} * kBlockEvents);
    std::uint64_t last = ~values[0];
    std::uint64_t number = 0;
    for (std::uint32_t i = 0; i < blocks_ * kBlockEvents; ++i) {
      if (i == kTrialEvents && !smaller(numbers.size(), i, width)) return false;
      if (values[i] != last) number = numbers.number(last = values[i]);
      numbers_[i] = number;
    }
    return smaller(numbers.size(), count_, width);
  }
  static bool smaller(std::uint32_t entries, std::uint32_t events, unsigned width) {
    const std::uint64_t bits = std::uint64_t{entries} * width + std::uint64_t{events} * width_of(entries - 1);
    return bits * 8 < std::uint64_t{events} * width * 7;
  }

  [[nodiscard]] std::uint32_t block_size(std::uint32_t block) const {
    return std::min(kBlockEvents, count_ - block * kBlockEvents);
  }

  // Of up to four blocks spread over the chunk.
  [[nodiscard]] Widths likely_widths(const std::uint64_t* values, bool with_delta) const {
    Widths widths;
    Range steps{~std::uint64_t{0}, 0};
    const std::uint32_t full_blocks = count_ / kBlockEvents;
    const std::uint32_t stride = std::max(1U, full_blocks / 4);
    for (std::uint32_t block = 0; block < full_blocks; block += stride) {
      const std::uint64_t* v = values + block * kBlockEvents;
      const Range range = range_of(v, kBlockEvents);
      widths.plain = std::max(widths.plain, width_of(range.max - range.min));
      if (!with_delta) continue;
      for (std::uint32_t i = 1; i < kBlockEvents; ++i) {
        const std::uint64_t step = (v[i] - v[i - 1]) ^ kSignBit;
        steps.min = std::min(steps.min, step);
        steps.max = std::max(steps.max, step);
      }
    }
    if (with_delta) widths.delta = width_of(steps.max - steps.min);
    return widths;
  }

  void pack_minima(const std::uint64_t* values, ColumnEntry& entry) {
    if (all_equal(values, count_)) return pack_constant(values[0], entry);
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
      if (widths_[block] == 0) continue;
      const std::uint64_t* v = values + block * kBlockEvents;
      const std::uint64_t base = firsts_[block] + entry.base;
      for (std::uint32_t i = 0; i < kBlockEvents; ++i) distances[i] = v[i] - base;
      pack_block(distances.data(), widths_[block], place);
      place += packed_block_bytes(widths_[block]);
    }
  }

  void pack_constant(std::uint64_t value, ColumnEntry& entry) {
    entry.base = entry.min = entry.max = value;
    entry.min_width = 0;
    std::memset(grow(blocks_), 0, blocks_);
  }

  void pack_delta(const std::uint64_t* values, ColumnEntry& entry) {
    entry.encoding = Encoding::delta;
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
  std::vector<std::uint64_t> numbers_;
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

// Every event has a value in stored form then, and the flags say how.
void prepare_column(const ColumnInput& column, std::uint32_t count, ColumnEntry& entry) {
  if (column.valid != nullptr && !all_valid(column.valid, count)) {
    entry.flags |= kHasNulls;
    fill_nulls(column, count);
  }
  if (column.type == ColumnType::float64 && floats_to_ints(column.values, count)) entry.flags |= kFloatAsInt;
}

void put_validity(const ColumnInput& column, std::uint32_t count, Bytes& out, const ColumnEntry& entry) {
  if ((entry.flags & kHasNulls) == 0) return;
  put_raw(out, column.valid, ((count + kBlockEvents - 1) / kBlockEvents) * sizeof(std::uint64_t));
}

void put_text(Bytes& out, std::string_view text) {
  const auto length = static_cast<std::uint32_t>(text.size());
  put_raw(out, &length, sizeof length);
  put_raw(out, text.data(), length);
}

// The different texts of a column, one after another, and which of them each event has.
struct DistinctTexts {
  std::vector<std::uint64_t> numbers;  // room for whole blocks
  std::vector<std::uint64_t> ends;
  std::string text;
};

// Nothing if a dictionary would not be smaller by an eighth.
std::optional<DistinctTexts> distinct_texts(const ColumnInput& column, std::uint32_t count) {
  constexpr std::uint32_t kTrialTexts = 2048;
  constexpr std::size_t kEntryBytes = 4;  // about: its end, and the numbers
  if (count < 2 * kBlockEvents) return std::nullopt;
  DistinctTexts distinct;
  distinct.numbers.resize((std::size_t{count} + kBlockEvents - 1) / kBlockEvents * kBlockEvents);
  ValueNumbers& known = value_numbers();
  known.begin(count);
  std::uint64_t begin = 0;
  std::uint64_t number = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t end = column.values[i];
    const bool null = column.valid != nullptr && (column.valid[i / kBlockEvents] >> (i % kBlockEvents) & 1) == 0;
    if (!null) {
      const std::string_view text = std::string_view(*column.text).substr(begin, end - begin);
      const auto text_of = [&](std::uint32_t entry) {
        const std::uint64_t from = entry == 0 ? 0 : distinct.ends[entry - 1];
        return std::string_view(distinct.text).substr(from, distinct.ends[entry] - from);
      };
      number = known.number(checksum(std::as_bytes(std::span(text))),
                            [&](std::uint32_t entry) { return text_of(entry) == text; });
      if (number == distinct.ends.size()) {
        distinct.text.append(text);
        distinct.ends.push_back(distinct.text.size());
      }
    }
    if (i == kTrialTexts && known.size() > kTrialTexts / 16 * 15) return std::nullopt;
    distinct.numbers[i] = number;
    begin = end;
  }
  const std::size_t size = distinct.text.size() + kEntryBytes * distinct.ends.size() + count;
  if (size * 8 >= (column.text->size() + count) * 7) return std::nullopt;
  return distinct;
}

void pack_text(const ColumnInput& column, std::uint32_t count, ColumnPacker& packer, Bytes& out, ColumnEntry& entry) {
  std::optional<DistinctTexts> distinct = distinct_texts(column, count);
  if (!distinct) {
    entry.encoding = Encoding::text;
    (void)packer.pack(column.values, entry, Choice::text);
    put_validity(column, count, out, entry);
    put_text(out, *column.text);
    return;
  }
  entry.encoding = Encoding::text_dictionary;
  packer.pack_numbers(distinct->numbers.data(), entry);
  put_validity(column, count, out, entry);
  packer.put_dictionary(distinct->ends);
  put_text(out, distinct->text);
}

void pack_column(const ColumnInput& column, std::uint32_t count, ColumnPacker& packer, Bytes& out, ColumnEntry& entry) {
  if (column.type == ColumnType::text) return pack_text(column, count, packer, out, entry);
  const bool ids = column.type == ColumnType::int64 || column.type == ColumnType::uint64;
  const bool dictionary = packer.pack(column.values, entry, ids ? Choice::id : Choice::number);
  if (column.type == ColumnType::float64 && (entry.flags & kFloatAsInt) == 0) float_range(column.values, count, entry);
  put_validity(column, count, out, entry);
  if (dictionary) packer.put_dictionary(value_numbers().values());
}

// The column before `index` whose values and nulls are the same and take some room; `index` if there is none.
std::size_t same_as(std::span<const ColumnInput> columns, std::span<const ColumnEntry> entries,
                    std::span<const std::size_t> sizes, std::size_t index, std::uint32_t count) {
  const ColumnInput& column = columns[index];
  if (column.type == ColumnType::text || count < 2 * kBlockEvents) return index;
  for (std::size_t other = 0; other < index; ++other) {
    const ColumnInput& earlier = columns[other];
    if (sizes[other] * 8 < count || earlier.type == ColumnType::text || entries[other].flags != entries[index].flags)
      continue;
    if (earlier.values[0] != column.values[0] || earlier.values[count - 1] != column.values[count - 1]) continue;
    if (std::memcmp(earlier.values, column.values, count * sizeof(std::uint64_t)) != 0) continue;
    const std::size_t words = (count + kBlockEvents - 1) / kBlockEvents;
    const bool nulls = (entries[index].flags & kHasNulls) != 0;
    if (!nulls || std::memcmp(earlier.valid, column.valid, words * sizeof(std::uint64_t)) == 0) return other;
  }
  return index;
}

std::unique_ptr<std::uint64_t[]> grown(const std::unique_ptr<std::uint64_t[]>& old, std::uint32_t count,
                                       std::uint32_t capacity) {
  auto fresh = std::make_unique_for_overwrite<std::uint64_t[]>(capacity);
  if (count > 0) std::memcpy(fresh.get(), old.get(), count * sizeof(std::uint64_t));
  return fresh;
}

}  // namespace

std::uint32_t ChunkBuilder::most_events(const Schema& schema) noexcept {
  if (schema.columns.size() <= 8) return kMaxChunkEvents;
  return schema.columns.size() <= 16 ? kMaxChunkEvents / 2 : kMaxChunkEvents / 4;
}

ChunkBuilder::ChunkBuilder(const Schema& schema, LaneNumber lane) : lane_(lane), limit_(most_events(schema)) {
  columns_.resize(schema.columns.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    columns_[i].type = schema.columns[i].type;
    columns_[i].required = schema.columns[i].required && schema.columns[i].type != ColumnType::text;
  }
}

void ChunkBuilder::set_first(ColumnBuffer& buffer, std::uint32_t row, std::uint64_t stored) const {
  if (buffer.values == nullptr) {
    buffer.values = grown(buffer.values, 0, capacity_);
    buffer.valid = std::make_unique<std::uint64_t[]>(kBlocks);
  }
  buffer.any = true;
  buffer.valid[row / kBlockEvents] |= std::uint64_t{1} << (row % kBlockEvents);
  buffer.values[row] = stored;
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
  SealedChunk chunk;
  Bytes& out = chunk.bytes;
  const std::size_t retained = std::min<std::size_t>(columns_.size(), kMaxChunkColumns - 3);  // the others are left out
  const std::size_t entry_count = retained + 3;
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
  (void)packer.pack(gaps_.get(), entries[0], Choice::time);
  entries[0].extra = static_cast<std::uint8_t>(width_of(begins[blocks - 1]));
  put_bits(out, begins.data(), blocks, entries[0].extra);
  (void)packer.pack(durations_.get(), entries[1], Choice::time);
  (void)packer.pack(names_.get(), entries[2], Choice::time);
  std::vector<ColumnInput> inputs;
  std::vector<std::size_t> sizes(retained);
  inputs.reserve(retained);
  bool plain = true;
  for (std::size_t i = 0; i < retained; ++i) {
    ColumnBuffer& buffer = columns_[i];
    ColumnEntry& entry = entries[i + 3];
    const ColumnInput& input = inputs.emplace_back(
        ColumnInput{buffer.type, buffer.values.get(), buffer.required ? nullptr : buffer.valid.get(), &buffer.text});
    if (!buffer.required && !buffer.any) {
      entry.flags = kAbsent;
      continue;
    }
    prepare_column(input, count_, entry);
    const std::size_t same = same_as(inputs, std::span(entries).subspan(3), sizes, i, count_);
    if (same < i) {
      entry = {.encoding = Encoding::same, .base = same + 3};
    } else {
      const std::size_t before = out.size();
      pack_column(input, count_, packer, out, entry);
      sizes[i] = out.size() - before;
    }
    plain = plain && entry.encoding <= Encoding::text;
  }
  for (ColumnBuffer& buffer : columns_) {
    if (!buffer.required && buffer.any) std::fill_n(buffer.valid.get(), blocks, 0);
    buffer.any = false;
    buffer.text.clear();
  }
  out.resize(out.size() + kChunkTail);

  ChunkHeader header;
  header.version = plain ? kPlainChunkVersion : kChunkVersion;
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
