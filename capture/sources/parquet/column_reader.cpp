#include "capture/sources/parquet/column_reader.h"

#include <fmt/format.h>

#include <lz4.h>
#include <snappy-c.h>
#include <zlib.h>
#include <zstd.h>
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "capture/sources/parquet/bit_runs.h"
#include "core/base/result.h"
#include "core/parquet/compact_thrift.h"
#include "core/parquet/format.h"

namespace accelscope::capture::sources::parquet {
namespace {

using accelscope::parquet::Encoding;
using accelscope::parquet::PhysicalType;

constexpr std::size_t kInt96Bytes = 12;

// Of values that all take the same; 0: they do not.
[[nodiscard]] std::size_t width_of(PhysicalType type, std::uint32_t length) noexcept {
  switch (type) {
    case PhysicalType::int32:
    case PhysicalType::float32:
      return 4;
    case PhysicalType::int64:
    case PhysicalType::float64:
      return 8;
    case PhysicalType::int96:
      return kInt96Bytes;
    case PhysicalType::fixed_len_byte_array:
      return length;
    default:
      return 0;
  }
}

[[nodiscard]] bool is_whole_number(PhysicalType type) noexcept {
  return type == PhysicalType::int32 || type == PhysicalType::int64;
}

[[nodiscard]] PlainValue value_of_bytes(PhysicalType type, std::string_view bytes) noexcept {
  PlainValue value;
  if (type == PhysicalType::int96 || type == PhysicalType::fixed_len_byte_array) {
    value.bytes = bytes;
    return value;
  }
  std::memcpy(&value.bits, bytes.data(), std::min(bytes.size(), sizeof value.bits));
  if (type == PhysicalType::int32) {
    value.bits = static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(value.bits)});
  }
  return value;
}

class PlainNumbers final : public ValueDecoder {
 public:
  PlainNumbers(const PageValues& page, std::size_t width) : type_(page.type), bytes_(page.bytes), width_(width) {}
  [[nodiscard]] bool next(PlainValue& value) override {
    if (bytes_.size() < width_) return false;
    value = value_of_bytes(type_, bytes_.substr(0, width_));
    bytes_.remove_prefix(width_);
    return true;
  }

 private:
  PhysicalType type_;
  std::string_view bytes_;
  std::size_t width_;
};

class PlainBooleans final : public ValueDecoder {
 public:
  explicit PlainBooleans(std::string_view bytes) : bytes_(bytes) {}
  [[nodiscard]] bool next(PlainValue& value) override {
    if (place_ / 8 >= bytes_.size()) return false;
    value.bits = packed_bits(bytes_, place_++, 1);
    return true;
  }

 private:
  std::string_view bytes_;
  std::uint64_t place_ = 0;
};

class PlainTexts final : public ValueDecoder {
 public:
  explicit PlainTexts(std::string_view bytes) : bytes_(bytes) {}
  [[nodiscard]] bool next(PlainValue& value) override {
    std::uint32_t size = 0;
    if (bytes_.size() < sizeof size) return false;
    std::memcpy(&size, bytes_.data(), sizeof size);
    if (size > bytes_.size() - sizeof size) return false;
    value.bytes = bytes_.substr(sizeof size, size);
    bytes_.remove_prefix(sizeof size + size);
    return true;
  }

 private:
  std::string_view bytes_;
};

class DictionaryValues final : public ValueDecoder {
 public:
  DictionaryValues(BitRuns places, const std::vector<PlainValue>& dictionary)
      : places_(places), dictionary_(dictionary) {}
  [[nodiscard]] bool next(PlainValue& value) override {
    std::uint32_t place = 0;
    if (!places_.next(place) || place >= dictionary_.size()) return false;
    value = dictionary_[place];
    return true;
  }

 private:
  BitRuns places_;
  const std::vector<PlainValue>& dictionary_;
};

class BooleanRuns final : public ValueDecoder {
 public:
  explicit BooleanRuns(std::string_view bytes) : runs_(bytes, 1) {}
  [[nodiscard]] bool next(PlainValue& value) override {
    std::uint32_t bit = 0;
    if (!runs_.next(bit)) return false;
    value.bits = bit;
    return true;
  }

 private:
  BitRuns runs_;
};

// DELTA_BINARY_PACKED: blocks of differences to the value before, each less the block's smallest, in packed bits.
class DeltaNumbers {
 public:
  explicit DeltaNumbers(std::string_view bytes) : bytes_(bytes) {
    const std::uint64_t block = varint();
    blocklets_ = varint();
    count_ = varint();
    last_ = zigzag();
    constexpr std::uint64_t kLargestBlock = 1U << 20;
    constexpr std::uint64_t kStep = 32;  // values of a blocklet come in these
    if (blocklets_ == 0 || block > kLargestBlock || blocklets_ > block || block % blocklets_ != 0) failed_ = true;
    per_blocklet_ = failed_ ? kStep : block / blocklets_;
    if (per_blocklet_ % 8 != 0) failed_ = true;
  }

  [[nodiscard]] bool failed() const noexcept { return failed_; }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] bool next(std::int64_t& value) {
    if (failed_ || taken_ >= count_) return false;
    if (taken_ > 0) {
      if (in_blocklet_ == 0 && !next_blocklet()) return false;
      const std::uint64_t delta = packed_bits(packed_, place_, width_);
      place_ += width_;
      --in_blocklet_;
      last_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(last_) + static_cast<std::uint64_t>(least_) + delta);
    }
    ++taken_;
    value = last_;
    return true;
  }
  // What lies behind all values, without taking them.
  [[nodiscard]] std::string_view behind() const {
    DeltaNumbers rest(*this);
    std::uint64_t left = rest.count_ > rest.taken_ ? rest.count_ - rest.taken_ : 0;
    if (rest.taken_ == 0 && left > 0) --left;  // the first value lies in the head
    left -= std::min<std::uint64_t>(left, rest.in_blocklet_);
    while (left > 0) {
      if (!rest.next_blocklet()) return {};
      left -= std::min<std::uint64_t>(left, rest.in_blocklet_);
    }
    return rest.bytes_;
  }

 private:
  [[nodiscard]] std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (bytes_.empty()) break;
      const auto byte = static_cast<unsigned char>(bytes_.front());
      bytes_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80U) == 0) return value;
    }
    failed_ = true;
    return 0;
  }
  [[nodiscard]] std::int64_t zigzag() {
    const std::uint64_t value = varint();
    return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
  }

  // Each has a width of its own; they stand together at the begin of the block.
  [[nodiscard]] bool next_blocklet() {
    if (widths_.empty()) {
      least_ = zigzag();
      if (failed_ || bytes_.size() < blocklets_) return fail();
      widths_ = bytes_.substr(0, static_cast<std::size_t>(blocklets_));
      bytes_.remove_prefix(static_cast<std::size_t>(blocklets_));
    }
    constexpr unsigned kWidest = 64;
    width_ = static_cast<unsigned char>(widths_.front());
    widths_.remove_prefix(1);
    if (width_ > kWidest) return fail();
    const std::uint64_t size = per_blocklet_ / 8 * width_;
    if (size > bytes_.size()) return fail();
    packed_ = bytes_.substr(0, static_cast<std::size_t>(size));
    bytes_.remove_prefix(static_cast<std::size_t>(size));
    place_ = 0;
    in_blocklet_ = per_blocklet_;
    return true;
  }
  [[nodiscard]] bool fail() {
    failed_ = true;
    return false;
  }

  std::string_view bytes_;
  std::uint64_t blocklets_ = 0;  // of a block
  std::uint64_t per_blocklet_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t taken_ = 0;
  std::int64_t last_ = 0;
  std::int64_t least_ = 0;   // difference, of the block at hand
  std::string_view widths_;  // of the blocklets to come in it
  std::string_view packed_;  // of the blocklet at hand
  std::uint64_t place_ = 0;
  unsigned width_ = 0;
  std::uint64_t in_blocklet_ = 0;
  bool failed_ = false;
};

class DeltaIntegers final : public ValueDecoder {
 public:
  DeltaIntegers(std::string_view bytes, PhysicalType type) : numbers_(bytes), narrow_(type == PhysicalType::int32) {}
  [[nodiscard]] bool next(PlainValue& value) override {
    std::int64_t number = 0;
    if (!numbers_.next(number)) return false;
    if (narrow_) number = static_cast<std::int32_t>(number);  // sums wrap at 32 bits
    value.bits = static_cast<std::uint64_t>(number);
    return true;
  }

 private:
  DeltaNumbers numbers_;
  bool narrow_;
};

// Lengths as differences, then all texts.
class DeltaLengthTexts final : public ValueDecoder {
 public:
  explicit DeltaLengthTexts(std::string_view bytes) : lengths_(bytes), bytes_(lengths_.behind()) {}
  [[nodiscard]] bool next(PlainValue& value) override {
    std::int64_t length = 0;
    if (!lengths_.next(length) || length < 0 || static_cast<std::uint64_t>(length) > bytes_.size()) return false;
    value.bytes = bytes_.substr(0, static_cast<std::size_t>(length));
    bytes_.remove_prefix(static_cast<std::size_t>(length));
    return true;
  }

 private:
  DeltaNumbers lengths_;
  std::string_view bytes_;
};

// How much of the text before each one begins with, then the rests.
class DeltaTexts final : public ValueDecoder {
 public:
  explicit DeltaTexts(std::string_view bytes) : shared_(bytes), rests_(shared_.behind()) {}
  [[nodiscard]] bool next(PlainValue& value) override {
    std::int64_t shared = 0;
    PlainValue rest;
    if (!shared_.next(shared) || shared < 0 || static_cast<std::uint64_t>(shared) > text_.size()) return false;
    if (!rests_.next(rest)) return false;
    text_.resize(static_cast<std::size_t>(shared));
    text_ += rest.bytes;
    value.bytes = text_;
    return true;
  }

 private:
  DeltaNumbers shared_;
  DeltaLengthTexts rests_;
  std::string text_;
};

// The first bytes of all values, then their second bytes.
class SplitNumbers final : public ValueDecoder {
 public:
  SplitNumbers(const PageValues& page, std::size_t width)
      : type_(page.type), bytes_(page.bytes), value_(width, '\0'), count_(page.bytes.size() / width) {}
  [[nodiscard]] bool next(PlainValue& value) override {
    if (taken_ >= count_) return false;
    for (std::size_t i = 0; i < value_.size(); ++i) value_[i] = bytes_[i * count_ + taken_];
    ++taken_;
    value = value_of_bytes(type_, value_);
    return true;
  }

 private:
  PhysicalType type_;
  std::string_view bytes_;
  std::string value_;
  std::size_t count_;
  std::size_t taken_ = 0;
};

using Made = Result<std::unique_ptr<ValueDecoder>>;

[[nodiscard]] Made wrong_values(Encoding encoding) {
  return Error{fmt::format("its values cannot be in the encoding {}", name_of(encoding))};
}

[[nodiscard]] Made make_plain(const PageValues& page) {
  if (page.type == PhysicalType::boolean) return Made(std::make_unique<PlainBooleans>(page.bytes));
  if (page.type == PhysicalType::byte_array) return Made(std::make_unique<PlainTexts>(page.bytes));
  return Made(std::make_unique<PlainNumbers>(page, width_of(page.type, page.length)));
}

[[nodiscard]] Made make_dictionary(const PageValues& page, const std::vector<PlainValue>& dictionary) {
  if (page.bytes.empty()) return Made(std::make_unique<DictionaryValues>(BitRuns({}, 1), dictionary));  // only nulls
  const unsigned width = static_cast<unsigned char>(page.bytes.front());
  constexpr unsigned kWidest = 32;
  if (width > kWidest) return Error{fmt::format("places of {} bits in its dictionary cannot be", width)};
  return Made(std::make_unique<DictionaryValues>(BitRuns(page.bytes.substr(1), width), dictionary));
}

[[nodiscard]] Made make_boolean_runs(const PageValues& page) {
  std::uint32_t size = 0;
  if (page.type != PhysicalType::boolean) return wrong_values(page.encoding);
  if (page.bytes.size() < sizeof size) return Made(std::make_unique<BooleanRuns>(std::string_view{}));
  std::memcpy(&size, page.bytes.data(), sizeof size);
  return Made(std::make_unique<BooleanRuns>(page.bytes.substr(sizeof size, size)));
}

}  // namespace

Result<std::unique_ptr<ValueDecoder>> make_decoder(const PageValues& page, const std::vector<PlainValue>& dictionary) {
  switch (page.encoding) {
    case Encoding::plain:
      return make_plain(page);
    case Encoding::plain_dictionary:
    case Encoding::rle_dictionary:
      return make_dictionary(page, dictionary);
    case Encoding::rle:
      return make_boolean_runs(page);
    case Encoding::delta_binary_packed:
      if (!is_whole_number(page.type)) return wrong_values(page.encoding);
      return Made(std::make_unique<DeltaIntegers>(page.bytes, page.type));
    case Encoding::delta_length_byte_array:
      if (page.type != PhysicalType::byte_array) return wrong_values(page.encoding);
      return Made(std::make_unique<DeltaLengthTexts>(page.bytes));
    case Encoding::delta_byte_array:
      if (page.type != PhysicalType::byte_array && page.type != PhysicalType::fixed_len_byte_array) {
        return wrong_values(page.encoding);
      }
      return Made(std::make_unique<DeltaTexts>(page.bytes));
    case Encoding::byte_stream_split:
      if (width_of(page.type, page.length) == 0) return wrong_values(page.encoding);
      return Made(std::make_unique<SplitNumbers>(page, width_of(page.type, page.length)));
    default:
      break;
  }
  const std::string_view name = name_of(page.encoding);
  return Error{fmt::format("the encoding {} is not read here; write it with PLAIN, RLE_DICTIONARY or a DELTA encoding",
                           name.empty() ? std::to_string(static_cast<int>(page.encoding)) : std::string(name))};
}

namespace {

// Unpacks the pages of Parquet files: SNAPPY, GZIP, ZSTD, LZ4_RAW and LZ4 in Hadoop's frames.
[[nodiscard]] bool can_unpack(accelscope::parquet::Codec codec) noexcept;

// Fails unless `packed` holds exactly as many bytes as `out` has. Uncompressed ones are copied.
[[nodiscard]] Result<void> unpack(accelscope::parquet::Codec codec, std::string_view packed, std::span<char> out);

using accelscope::parquet::Codec;

[[nodiscard]] bool unpack_gzip(std::string_view packed, std::span<char> out) {
  z_stream stream{};
  constexpr int kGzipOrZlib = 15 + 32;
  if (inflateInit2(&stream, kGzipOrZlib) != Z_OK) return false;
  // zlib takes the input as one that it might write to, and does not.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  int done = Z_OK;
  while (done == Z_OK) {
    done = inflate(&stream, Z_FINISH);
    if (done == Z_STREAM_END && stream.avail_in > 0 && stream.avail_out > 0) done = inflateReset(&stream);
  }
  const bool whole = done == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  return whole;
}

[[nodiscard]] bool unpack_lz4_block(std::string_view packed, std::span<char> out) {
  return LZ4_decompress_safe(packed.data(), out.data(), static_cast<int>(packed.size()),
                             static_cast<int>(out.size())) == static_cast<int>(out.size());
}

// Hadoop's frames: unpacked and packed size of each block, both with the highest byte first. Some writers call bare
// blocks so too.
[[nodiscard]] bool unpack_lz4_frames(std::string_view packed, std::span<char> out) {
  constexpr std::size_t kHead = 8;
  const auto number = [&](std::size_t at) {
    std::size_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(packed[at + i]);
    return value;
  };
  const std::string_view whole = packed;
  std::size_t done = 0;
  while (packed.size() > kHead) {
    const std::size_t plain = number(0);
    const std::size_t size = number(4);
    if (plain > out.size() - done || size > packed.size() - kHead) break;
    if (!unpack_lz4_block(packed.substr(kHead, size), out.subspan(done, plain))) break;
    done += plain;
    packed.remove_prefix(kHead + size);
  }
  return (packed.empty() && done == out.size()) || unpack_lz4_block(whole, out);
}

[[nodiscard]] bool unpack_snappy(std::string_view packed, std::span<char> out) {
  std::size_t size = 0;
  if (snappy_uncompressed_length(packed.data(), packed.size(), &size) != SNAPPY_OK || size != out.size()) return false;
  return snappy_uncompress(packed.data(), packed.size(), out.data(), &size) == SNAPPY_OK && size == out.size();
}

[[nodiscard]] bool unpack_zstd(std::string_view packed, std::span<char> out) {
  return ZSTD_decompress(out.data(), out.size(), packed.data(), packed.size()) == out.size();
}

[[nodiscard]] bool copy_plain(std::string_view packed, std::span<char> out) {
  if (packed.size() != out.size()) return false;
  std::copy(packed.begin(), packed.end(), out.begin());
  return true;
}

struct CodecRow {
  Codec codec;
  bool (*unpack)(std::string_view packed, std::span<char> out);
  std::uint64_t most_per_byte;  // that a packed byte can stand for, by the format
};
constexpr CodecRow kCodecRows[] = {{Codec::uncompressed, copy_plain, 1},    {Codec::snappy, unpack_snappy, 64},
                                   {Codec::gzip, unpack_gzip, 1100},        {Codec::zstd, unpack_zstd, 40'000},
                                   {Codec::lz4_raw, unpack_lz4_block, 256}, {Codec::lz4, unpack_lz4_frames, 256}};

[[nodiscard]] const CodecRow* row_of(Codec codec) noexcept {
  const auto* const found = std::find_if(std::begin(kCodecRows), std::end(kCodecRows),
                                         [&](const CodecRow& row) { return row.codec == codec; });
  return found == std::end(kCodecRows) ? nullptr : found;
}

bool can_unpack(Codec codec) noexcept { return row_of(codec) != nullptr; }

// Known before there is room for it.
[[nodiscard]] bool can_unpack_to(Codec codec, std::uint64_t packed, std::uint64_t plain) noexcept {
  const CodecRow* row = row_of(codec);
  return row != nullptr && plain / row->most_per_byte <= packed;
}

Result<void> unpack(Codec codec, std::string_view packed, std::span<char> out) {
  constexpr std::size_t kMost = std::numeric_limits<int>::max();  // what these libraries count with
  const CodecRow* row = row_of(codec);
  if (row == nullptr) return Error{fmt::format("codec {} is not read here", static_cast<int>(codec))};
  if (packed.size() > kMost || out.size() > kMost || !row->unpack(packed, out)) {
    return Error{fmt::format("{} bytes do not unpack to {} with {}", packed.size(), out.size(), name_of(codec))};
  }
  return {};
}

using format::CompactReader;
using format::CompactType;

constexpr std::uint64_t kMostPageBytes = 512U << 20;  // writers make pages of 1 MiB, some of up to 100 MB
constexpr std::uint64_t kMostHeaderBytes = 1U << 20;  // statistics may hold long texts

[[nodiscard]] unsigned bits_of_level(int most) noexcept {
  return static_cast<unsigned>(std::bit_width(static_cast<unsigned>(most)));
}

}  // namespace

struct ColumnReader::Page {
  format::PageType type = format::PageType::data;
  std::int64_t plain_bytes = 0;
  std::int64_t packed_bytes = 0;
  std::optional<std::uint32_t> crc;
  std::int64_t values = 0;
  format::Encoding encoding = format::Encoding::plain;
  format::Encoding definition_encoding = format::Encoding::rle;
  format::Encoding repetition_encoding = format::Encoding::rle;
  std::int64_t definition_bytes = 0;
  std::int64_t repetition_bytes = 0;
  bool is_packed = true;

  void read(CompactReader& reader);
  void read_data(CompactReader& reader);
  void read_dictionary(CompactReader& reader);
  void read_data_v2(CompactReader& reader);
};

void ColumnReader::Page::read(CompactReader& reader) {
  namespace fields = format::fields;
  reader.each_field([&](const CompactReader::Field& field) {
    if (reader.into(field, CompactReader::At{fields::kPageType, type},
                    CompactReader::At{fields::kPagePlainBytes, plain_bytes},
                    CompactReader::At{fields::kPagePackedBytes, packed_bytes}, CompactReader::At{fields::kCrc, crc})) {
      return;
    }
    const bool is_struct = field.type == CompactType::structure;
    if (is_struct && field.id == fields::kDataPage) return read_data(reader);
    if (is_struct && field.id == fields::kDictionaryPage) return read_dictionary(reader);
    if (is_struct && field.id == fields::kDataPageV2) return read_data_v2(reader);
    reader.skip(field.type);
  });
}

void ColumnReader::Page::read_data(CompactReader& reader) {
  namespace fields = format::fields;
  reader.each_field([&](const CompactReader::Field& field) {
    const bool known = reader.into(field, CompactReader::At{fields::kPageValues, values},
                                   CompactReader::At{fields::kPageEncoding, encoding},
                                   CompactReader::At{fields::kDefinitionEncoding, definition_encoding},
                                   CompactReader::At{fields::kRepetitionEncoding, repetition_encoding});
    if (!known) reader.skip(field.type);
  });
}

void ColumnReader::Page::read_dictionary(CompactReader& reader) {
  namespace fields = format::fields;
  reader.each_field([&](const CompactReader::Field& field) {
    const bool known = reader.into(field, CompactReader::At{fields::kEntries, values},
                                   CompactReader::At{fields::kEntryEncoding, encoding});
    if (!known) reader.skip(field.type);
  });
}

void ColumnReader::Page::read_data_v2(CompactReader& reader) {
  namespace fields = format::fields;
  reader.each_field([&](const CompactReader::Field& field) {
    const bool known = reader.into(field, CompactReader::At{fields::kV2Values, values},
                                   CompactReader::At{fields::kV2Encoding, encoding},
                                   CompactReader::At{fields::kV2DefinitionBytes, definition_bytes},
                                   CompactReader::At{fields::kV2RepetitionBytes, repetition_bytes},
                                   CompactReader::At{fields::kV2IsCompressed, is_packed});
    if (!known) reader.skip(field.type);
  });
}

void ColumnReader::begin(const ColumnChunkPlace& chunk) {
  chunk_ = chunk;
  at_ = chunk.begin;
  values_left_ = chunk.values;
  page_left_ = 0;
  looked_ahead_ = false;
  has_dictionary_ = false;
  dictionary_.clear();
  values_.reset();
  problem_ = chunk.problem;
  if (problem_.empty() && chunk.type != field_.type) problem_ = "is said to be of two types";
  if (problem_.empty() && !can_unpack(chunk.codec)) {
    const std::string_view name = name_of(chunk.codec);
    problem_ = fmt::format("is packed with {}, which is not read here; write it with ZSTD, SNAPPY, GZIP or LZ4_RAW",
                           name.empty() ? fmt::format("codec {}", static_cast<int>(chunk.codec)) : std::string(name));
  }
}

bool ColumnReader::take_level(BitRuns& levels, int most, int& level) {
  level = 0;
  if (most == 0) return true;
  std::uint32_t found = 0;
  if (!levels.next(found) || found > static_cast<std::uint32_t>(most)) {
    fail(fmt::format("has damaged levels in the page before byte {}", at_));
    return false;
  }
  level = static_cast<int>(found);
  return true;
}

bool ColumnReader::look_ahead() {
  if (looked_ahead_) return true;
  if (failed()) return false;
  while (page_left_ == 0) {
    if (values_left_ == 0 || !next_page()) return false;
  }
  looked_ahead_ = take_level(repetitions_, field_.repeated, repetition_) &&
                  take_level(definitions_, field_.definition, definition_);
  return looked_ahead_;
}

bool ColumnReader::next(ColumnEntry& entry) {
  if (!look_ahead()) return false;
  looked_ahead_ = false;
  --page_left_;
  --values_left_;
  entry.repetition = repetition_;
  entry.definition = definition_;
  if (entry.definition < field_.definition) return true;
  if (values_->next(entry.value)) return true;
  fail(fmt::format("has a page that ends at byte {} and holds fewer values than it states, or damaged ones", at_));
  return false;
}

bool ColumnReader::next_page() {
  const std::uint64_t begin = at_;
  Result<Page> page = read_header();
  const Result<void> taken = page ? take_page(*page) : Result<void>(page.error());
  if (!taken) release();
  if (!taken) fail(fmt::format("{} (page at byte {})", taken.message(), begin));
  return taken.ok();
}

Result<ColumnReader::Page> ColumnReader::read_header() {
  // How long a header is tells only who reads it: most have some 30 bytes.
  for (std::uint64_t size = 256;; size *= 16) {
    const std::uint64_t here = std::min(size, chunk_.end - at_);
    if (here == 0) return Error{fmt::format("ends {} values before its stated end", values_left_)};
    packed_.resize(static_cast<std::size_t>(here));
    TRY(bytes_.read(at_, packed_));
    CompactReader reader({packed_.data(), packed_.size()});
    Page page;
    page.read(reader);
    if (!reader.failed()) {
      at_ += reader.position();
      return page;
    }
    if (here < size || size >= kMostHeaderBytes) return Error{"has a page with a damaged header"};
  }
}

Result<void> ColumnReader::take_page(const Page& page) {
  if (page.packed_bytes < 0 || page.plain_bytes < 0 || page.values < 0 ||
      static_cast<std::uint64_t>(page.packed_bytes) > chunk_.end - at_ ||
      static_cast<std::uint64_t>(page.plain_bytes) > kMostPageBytes) {
    return Error{fmt::format("has a page that states {} bytes, {} unpacked", page.packed_bytes, page.plain_bytes)};
  }
  const std::uint64_t begin = at_;
  at_ += static_cast<std::uint64_t>(page.packed_bytes);
  const bool is_known = page.type == format::PageType::data || page.type == format::PageType::data_v2 ||
                        page.type == format::PageType::dictionary;
  if (!is_known) return {};  // an index, or what a later version of the format has
  packed_.resize(static_cast<std::size_t>(page.packed_bytes));
  if (Result<void> read = bytes_.read(begin, packed_); !read) return read;
  if (page.crc) {
    const auto sum = ::crc32(0, reinterpret_cast<const Bytef*>(packed_.data()), static_cast<uInt>(packed_.size()));
    if (static_cast<std::uint32_t>(sum) != *page.crc) return Error{"has a page that does not match its checksum"};
  }
  const std::string_view packed(packed_.data(), packed_.size());
  if (page.type == format::PageType::dictionary) return take_dictionary(page, packed);
  if (static_cast<std::uint64_t>(page.values) > values_left_) return Error{"has more values than it states"};
  if (page.type == format::PageType::data_v2) return take_data_v2(page, packed);
  return take_data(page, packed);
}

void ColumnReader::count_held() noexcept {
  const std::uint64_t held =
      page_.capacity() + dictionary_bytes_.capacity() + dictionary_.capacity() * sizeof(PlainValue);
  room_.held_bytes = room_.held_bytes - held_bytes_ + held;
  held_bytes_ = held;
}

void ColumnReader::release() noexcept {
  values_.reset();
  std::vector<char>().swap(page_);
  std::vector<char>().swap(dictionary_bytes_);
  std::vector<PlainValue>().swap(dictionary_);
  has_dictionary_ = false;
  count_held();
}

Result<void> ColumnReader::check_room(std::uint64_t more) {
  count_held();
  if (room_.held_bytes <= room_.most_bytes && more <= room_.most_bytes - room_.held_bytes) return {};
  return Error{
      fmt::format("has a page of {} bytes, and with it the columns hold more than a file of this size can", more)};
}

Result<void> ColumnReader::make_room(std::vector<char>& into, std::uint64_t size, Codec codec, std::uint64_t packed,
                                     std::uint64_t plain) {
  if (!can_unpack_to(codec, packed, plain)) {
    return Error{fmt::format("has a page whose {} bytes do not unpack to {} with {}", packed, plain, name_of(codec))};
  }
  if (size > into.capacity()) {
    if (Result<void> room = check_room(size - into.capacity()); !room) return room;
    into.clear();
    into.reserve(static_cast<std::size_t>(size));
  }
  into.resize(static_cast<std::size_t>(size));
  count_held();
  return {};
}

Result<std::string_view> ColumnReader::unpacked(std::vector<char>& into, std::string_view packed, std::uint64_t size) {
  TRY(make_room(into, size, chunk_.codec, packed.size(), size));
  if (Result<void> done = unpack(chunk_.codec, packed, into); !done) return Error{"has a page whose " + done.message()};
  return std::string_view(into.data(), into.size());
}

Result<void> ColumnReader::take_dictionary(const Page& page, std::string_view packed) {
  if (has_dictionary_) return Error{"has two dictionaries"};
  if (field_.type == PhysicalType::boolean) return Error{"has a dictionary of truth values, which the format has not"};
  if (page.encoding != format::Encoding::plain && page.encoding != format::Encoding::plain_dictionary) {
    return Error{fmt::format("has a dictionary in the encoding {}, which is not read here", name_of(page.encoding))};
  }
  const std::string_view bytes = TRY(unpacked(dictionary_bytes_, packed, static_cast<std::uint64_t>(page.plain_bytes)));
  auto entries = TRY(
      make_decoder({.encoding = format::Encoding::plain, .type = field_.type, .length = field_.length, .bytes = bytes},
                   dictionary_));
  dictionary_.clear();
  const std::size_t least = std::max(width_of(field_.type, field_.length), std::size_t{1});
  if (static_cast<std::uint64_t>(page.values) > bytes.size() / least) {
    return Error{"has a dictionary with fewer values than it states"};
  }
  const auto count = static_cast<std::size_t>(page.values);
  if (count > dictionary_.capacity()) {
    TRY(check_room((count - dictionary_.capacity()) * sizeof(PlainValue)));
    dictionary_.reserve(count);
  }
  PlainValue value;
  for (std::int64_t i = 0; i < page.values; ++i) {
    if (!entries->next(value)) return Error{"has a dictionary with fewer values than it states"};
    dictionary_.push_back(value);
  }
  has_dictionary_ = true;
  return {};
}

// Levels, each part with its length before it, and the values, packed together.
Result<void> ColumnReader::take_data(const Page& page, std::string_view packed) {
  std::string_view bytes = TRY(unpacked(page_, packed, static_cast<std::uint64_t>(page.plain_bytes)));
  std::string_view rest = bytes;
  const auto take_levels = [&](int most, format::Encoding encoding, BitRuns& levels) -> Result<void> {
    if (most == 0) return {};
    if (encoding != format::Encoding::rle) {
      return Error{fmt::format("has levels in the encoding {}, which is not read here", name_of(encoding))};
    }
    std::uint32_t size = 0;
    if (rest.size() < sizeof size) return Error{"has a page without levels"};
    std::memcpy(&size, rest.data(), sizeof size);
    rest.remove_prefix(sizeof size);
    if (size > rest.size()) return Error{"has levels that are longer than their page"};
    levels = BitRuns(rest.substr(0, size), bits_of_level(most));
    rest.remove_prefix(size);
    return {};
  };
  if (Result<void> taken = take_levels(field_.repeated, page.repetition_encoding, repetitions_); !taken) return taken;
  if (Result<void> taken = take_levels(field_.definition, page.definition_encoding, definitions_); !taken) return taken;
  return begin_values(page, rest);
}

// Levels as they are, and behind them the values, packed by themselves.
Result<void> ColumnReader::take_data_v2(const Page& page, std::string_view packed) {
  const std::int64_t most = std::min(page.packed_bytes, page.plain_bytes);
  if (page.repetition_bytes < 0 || page.definition_bytes < 0 || page.repetition_bytes > most ||
      page.definition_bytes > most - page.repetition_bytes) {
    return Error{"has levels that are longer than their page"};
  }
  const std::int64_t levels = page.repetition_bytes + page.definition_bytes;
  const auto repetition_bytes = static_cast<std::size_t>(page.repetition_bytes);
  const auto level_bytes = static_cast<std::size_t>(levels);
  // They must outlive packed_, which the next header overwrites.
  std::vector<char>& retained = page_;
  const std::uint64_t plain = static_cast<std::uint64_t>(page.plain_bytes);
  const std::string_view values = packed.substr(level_bytes);
  const format::Codec codec = page.is_packed ? chunk_.codec : format::Codec::uncompressed;
  TRY(make_room(retained, plain, codec, values.size(), plain - level_bytes));
  std::copy_n(packed.begin(), level_bytes, retained.begin());
  const std::span<char> room = std::span(retained).subspan(level_bytes);
  if (!room.empty() || !values.empty()) {
    if (Result<void> done = unpack(codec, values, room); !done) return Error{"has a page whose " + done.message()};
  }
  const std::string_view all(retained.data(), retained.size());
  repetitions_ = BitRuns(all.substr(0, repetition_bytes), bits_of_level(field_.repeated));
  definitions_ =
      BitRuns(all.substr(repetition_bytes, level_bytes - repetition_bytes), bits_of_level(field_.definition));
  return begin_values(page, all.substr(level_bytes));
}

Result<void> ColumnReader::begin_values(const Page& page, std::string_view bytes) {
  const bool uses_dictionary =
      page.encoding == format::Encoding::rle_dictionary || page.encoding == format::Encoding::plain_dictionary;
  if (uses_dictionary && !has_dictionary_ && !bytes.empty())
    return Error{"has no dictionary, and a page that needs one"};
  auto made = TRY(make_decoder(
      {.encoding = page.encoding, .type = field_.type, .length = field_.length, .bytes = bytes}, dictionary_));
  values_ = std::move(made);
  page_left_ = static_cast<std::uint64_t>(page.values);
  return {};
}

}  // namespace accelscope::capture::sources::parquet
