#include "capture/sources/parquet/column_reader.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <span>

#include "capture/sources/parquet/page_codec.h"
#include "core/parquet/compact_thrift.h"

namespace accelscope::capture::sources::parquet {
namespace {

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
