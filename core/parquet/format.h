// The numbers that a Parquet file is written with (parquet.thrift of format 2.10): types, encodings, codecs, pages, and
// the fields of its headers. For who reads such files (capture/sources/parquet) and who writes them. Holds no code.
//
// A file: "PAR1", column chunks of pages, the footer (FileMetaData), its length as u32, "PAR1". Little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace accelscope::parquet {

inline constexpr std::string_view kMagic = "PAR1";
inline constexpr std::string_view kEncryptedMagic = "PARE";  // the footer is encrypted
inline constexpr std::size_t kTailBytes = 8;                 // length of the footer and the magic

enum class PhysicalType : std::int32_t {
  boolean = 0,
  int32 = 1,
  int64 = 2,
  int96 = 3,  // a time stamp of old writers: ns of the day, then the Julian day
  float32 = 4,
  float64 = 5,
  byte_array = 6,
  fixed_len_byte_array = 7,
};

enum class Repetition : std::int32_t { required = 0, optional = 1, repeated = 2 };

// What older writers say of a column beyond its physical type.
enum class ConvertedType : std::int32_t {
  utf8 = 0,
  map = 1,
  map_key_value = 2,
  list = 3,
  enumeration = 4,
  decimal = 5,
  date = 6,
  time_millis = 7,
  time_micros = 8,
  timestamp_millis = 9,
  timestamp_micros = 10,
  uint_8 = 11,
  uint_16 = 12,
  uint_32 = 13,
  uint_64 = 14,
  int_8 = 15,
  int_16 = 16,
  int_32 = 17,
  int_64 = 18,
  json = 19,
  bson = 20,
  interval = 21,
};

enum class Encoding : std::int32_t {
  plain = 0,
  plain_dictionary = 2,  // in data pages the same as rle_dictionary, in dictionary pages as plain
  rle = 3,
  bit_packed = 4,
  delta_binary_packed = 5,
  delta_length_byte_array = 6,
  delta_byte_array = 7,
  rle_dictionary = 8,
  byte_stream_split = 9,
};

enum class Codec : std::int32_t {
  uncompressed = 0,
  snappy = 1,
  gzip = 2,
  lzo = 3,
  brotli = 4,
  lz4 = 5,  // in frames of Hadoop's
  zstd = 6,
  lz4_raw = 7,
};

enum class PageType : std::int32_t { data = 0, index = 1, dictionary = 2, data_v2 = 3 };

// Numbers of the fields of the headers, a struct each.
namespace fields {
enum FileMetaData : std::int16_t {
  kVersion = 1,
  kSchema = 2,
  kFileRows = 3,
  kRowGroups = 4,
  kKeyValues = 5,
  kCreatedBy = 6,
  kEncryption = 8,
};
enum SchemaElement : std::int16_t {
  kType = 1,
  kTypeLength = 2,
  kRepetition = 3,
  kName = 4,
  kChildren = 5,
  kConverted = 6,
  kScale = 7,
  kPrecision = 8,
  kFieldId = 9,
  kLogical = 10,
};
// LogicalType is a union: the number of its only field.
enum LogicalType : std::int16_t {
  kString = 1,
  kMap = 2,
  kList = 3,
  kEnum = 4,
  kDecimal = 5,  // 1 scale, 2 precision
  kDate = 6,
  kTime = 7,       // 1 adjusted to UTC, 2 unit
  kTimestamp = 8,  // likewise
  kInteger = 10,   // 1 bits, 2 is signed
  kUnknown = 11,
  kJson = 12,
  kBson = 13,
  kUuid = 14,
  kFloat16 = 15,
};
enum TimeUnit : std::int16_t { kMillis = 1, kMicros = 2, kNanos = 3 };
enum RowGroup : std::int16_t { kColumns = 1, kGroupBytes = 2, kGroupRows = 3 };
enum ColumnChunk : std::int16_t { kFilePath = 1, kFileOffset = 2, kMetaData = 3, kCrypto = 8 };
enum ColumnMetaData : std::int16_t {
  kColumnType = 1,
  kEncodings = 2,
  kPath = 3,
  kCodec = 4,
  kValues = 5,
  kPlainBytes = 6,
  kPackedBytes = 7,
  kDataOffset = 9,
  kIndexOffset = 10,
  kDictionaryOffset = 11,
};
enum PageHeader : std::int16_t {
  kPageType = 1,
  kPagePlainBytes = 2,
  kPagePackedBytes = 3,
  kCrc = 4,  // CRC-32 (of gzip) of the page as it lies in the file, without its header
  kDataPage = 5,
  kDictionaryPage = 7,
  kDataPageV2 = 8,
};
enum DataPageHeader : std::int16_t {
  kPageValues = 1,
  kPageEncoding = 2,
  kDefinitionEncoding = 3,
  kRepetitionEncoding = 4,
};
enum DictionaryPageHeader : std::int16_t { kEntries = 1, kEntryEncoding = 2 };
enum DataPageHeaderV2 : std::int16_t {
  kV2Values = 1,
  kV2Nulls = 2,
  kV2Rows = 3,
  kV2Encoding = 4,
  kV2DefinitionBytes = 5,
  kV2RepetitionBytes = 6,
  kV2IsCompressed = 7,  // absent: yes
};
}  // namespace fields

// As the specification spells them; "" for numbers that it does not know.
[[nodiscard]] constexpr std::string_view name_of(Codec codec) noexcept {
  constexpr std::string_view kNames[] = {"UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW"};
  const auto number = static_cast<std::int64_t>(codec);
  return number >= 0 && number < std::int64_t{std::size(kNames)} ? kNames[number] : std::string_view{};
}
[[nodiscard]] constexpr std::string_view name_of(Encoding encoding) noexcept {
  constexpr std::string_view kNames[] = {"PLAIN",
                                         "",
                                         "PLAIN_DICTIONARY",
                                         "RLE",
                                         "BIT_PACKED",
                                         "DELTA_BINARY_PACKED",
                                         "DELTA_LENGTH_BYTE_ARRAY",
                                         "DELTA_BYTE_ARRAY",
                                         "RLE_DICTIONARY",
                                         "BYTE_STREAM_SPLIT"};
  const auto number = static_cast<std::int64_t>(encoding);
  return number >= 0 && number < std::int64_t{std::size(kNames)} ? kNames[number] : std::string_view{};
}

}  // namespace accelscope::parquet
