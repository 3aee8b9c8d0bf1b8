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
#include <string_view>

#include "core/base/result.h"
#include "core/parquet/compact_thrift.h"
#include "core/parquet/format.h"

namespace accelscope::capture::sources::parquet {
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
};
constexpr CodecRow kCodecRows[] = {{Codec::uncompressed, copy_plain},  {Codec::snappy, unpack_snappy},
                                   {Codec::gzip, unpack_gzip},         {Codec::zstd, unpack_zstd},
                                   {Codec::lz4_raw, unpack_lz4_block}, {Codec::lz4, unpack_lz4_frames}};

[[nodiscard]] const CodecRow* row_of(Codec codec) noexcept {
  const auto* const found = std::find_if(std::begin(kCodecRows), std::end(kCodecRows),
                                         [&](const CodecRow& row) { return row.codec == codec; });
  return found == std::end(kCodecRows) ? nullptr : found;
}

bool can_unpack(Codec codec) noexcept { return row_of(codec) != nullptr; }

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
    const bool is_struct = field.type == CompactType::structure;
    switch (field.id) {
      case fields::kPageType:
        type = static_cast<format::PageType>(reader.integer_of(field));
        break;
      case fields::kPagePlainBytes:
        plain_bytes = reader.integer_of(field);
        break;
      case fields::kPagePackedBytes:
        packed_bytes = reader.integer_of(field);
        break;
      case fields::kCrc:
        crc = static_cast<std::uint32_t>(reader.integer_of(field));
        break;
      default:
        if (is_struct && field.id == fields::kDataPage) return read_data(reader);
        if (is_struct && field.id == fields::kDictionaryPage) return read_dictionary(reader);
        if (is_struct && field.id == fields::kDataPageV2) return read_data_v2(reader);
        reader.skip(field.type);
    }
  });
}

void ColumnReader::Page::read_data(CompactReader& reader) {
  namespace fields = format::fields;
  reader.each_field([&](const CompactReader::Field& field) {
    if (field.id == fields::kPageValues) {
      values = reader.integer_of(field);
    } else if (field.id == fields::kPageEncoding) {
      encoding = static_cast<format::Encoding>(reader.integer_of(field));
    } else if (field.id == fields::kDefinitionEncoding) {
      definition_encoding = static_cast<format::Encoding>(reader.integer_of(field));
    } else if (field.id == fields::kRepetitionEncoding) {
      repetition_encoding = static_cast<format::Encoding>(reader.integer_of(field));
    } else {
      reader.skip(field.type);
    }
  });
}

void ColumnReader::Page::read_dictionary(CompactReader& reader) {
  namespace fields = format::fields;
  reader.each_field([&](const CompactReader::Field& field) {
    if (field.id == fields::kEntries) {
      values = reader.integer_of(field);
    } else if (field.id == fields::kEntryEncoding) {
      encoding = static_cast<format::Encoding>(reader.integer_of(field));
    } else {
      reader.skip(field.type);
    }
  });
}

void ColumnReader::Page::read_data_v2(CompactReader& reader) {
  namespace fields = format::fields;
  reader.each_field([&](const CompactReader::Field& field) {
    switch (field.id) {
      case fields::kV2Values:
        values = reader.integer_of(field);
        break;
      case fields::kV2Encoding:
        encoding = static_cast<format::Encoding>(reader.integer_of(field));
        break;
      case fields::kV2DefinitionBytes:
        definition_bytes = reader.integer_of(field);
        break;
      case fields::kV2RepetitionBytes:
        repetition_bytes = reader.integer_of(field);
        break;
      case fields::kV2IsCompressed:
        is_packed = CompactReader::boolean(field);
        break;
      default:
        reader.skip(field.type);
    }
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
  if (!taken) fail(fmt::format("{} (page at byte {})", taken.message(), begin));
  return taken.ok();
}

Result<ColumnReader::Page> ColumnReader::read_header() {
  // How long a header is tells only who reads it: most have some 30 bytes.
  for (std::uint64_t size = 256;; size *= 16) {
    const std::uint64_t here = std::min(size, chunk_.end - at_);
    if (here == 0) return Error{fmt::format("ends {} values before its stated end", values_left_)};
    packed_.resize(static_cast<std::size_t>(here));
    if (Result<void> read = bytes_.read(at_, packed_); !read) return read.error();
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

Result<std::string_view> ColumnReader::unpacked(std::vector<char>& into, std::string_view packed,
                                                std::uint64_t size) const {
  into.resize(static_cast<std::size_t>(size));
  if (Result<void> done = unpack(chunk_.codec, packed, into); !done) return Error{"has a page whose " + done.message()};
  return std::string_view(into.data(), into.size());
}

Result<void> ColumnReader::take_dictionary(const Page& page, std::string_view packed) {
  if (has_dictionary_) return Error{"has two dictionaries"};
  if (page.encoding != format::Encoding::plain && page.encoding != format::Encoding::plain_dictionary) {
    return Error{fmt::format("has a dictionary in the encoding {}, which is not read here", name_of(page.encoding))};
  }
  const Result<std::string_view> bytes =
      unpacked(dictionary_bytes_, packed, static_cast<std::uint64_t>(page.plain_bytes));
  if (!bytes) return bytes.error();
  auto entries =
      make_decoder({.encoding = format::Encoding::plain, .type = field_.type, .length = field_.length, .bytes = *bytes},
                   dictionary_);
  if (!entries) return entries.error();
  dictionary_.clear();
  PlainValue value;
  for (std::int64_t i = 0; i < page.values; ++i) {
    if (!(*entries)->next(value)) return Error{"has a dictionary with fewer values than it states"};
    dictionary_.push_back(value);
  }
  has_dictionary_ = true;
  return {};
}

// Levels, each part with its length before it, and the values, packed together.
Result<void> ColumnReader::take_data(const Page& page, std::string_view packed) {
  Result<std::string_view> bytes = unpacked(page_, packed, static_cast<std::uint64_t>(page.plain_bytes));
  if (!bytes) return bytes.error();
  std::string_view rest = *bytes;
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
  const std::int64_t levels = page.repetition_bytes + page.definition_bytes;
  if (page.repetition_bytes < 0 || page.definition_bytes < 0 || page.repetition_bytes > page.packed_bytes ||
      page.definition_bytes > page.packed_bytes || levels > page.packed_bytes || levels > page.plain_bytes) {
    return Error{"has levels that are longer than their page"};
  }
  const auto repetition_bytes = static_cast<std::size_t>(page.repetition_bytes);
  const auto level_bytes = static_cast<std::size_t>(levels);
  // They must outlive packed_, which the next header overwrites.
  std::vector<char>& kept = page_;
  const std::uint64_t plain = static_cast<std::uint64_t>(page.plain_bytes);
  kept.resize(static_cast<std::size_t>(plain));
  std::copy_n(packed.begin(), level_bytes, kept.begin());
  const std::string_view values = packed.substr(level_bytes);
  const std::span<char> room = std::span(kept).subspan(level_bytes);
  if (!room.empty() || !values.empty()) {
    const format::Codec codec = page.is_packed ? chunk_.codec : format::Codec::uncompressed;
    if (Result<void> done = unpack(codec, values, room); !done) return Error{"has a page whose " + done.message()};
  }
  const std::string_view all(kept.data(), kept.size());
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
  auto made = make_decoder({.encoding = page.encoding, .type = field_.type, .length = field_.length, .bytes = bytes},
                           dictionary_);
  if (!made) return made.error();
  values_ = std::move(*made);
  page_left_ = static_cast<std::uint64_t>(page.values);
  return {};
}

}  // namespace accelscope::capture::sources::parquet
