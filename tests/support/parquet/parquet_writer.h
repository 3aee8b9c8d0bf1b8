// Writes small Parquet files for tests, from the specification and from nothing of the reader's: every encoding, codec
// and kind of page that the reader knows. Not for large tables: everything is in memory, twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace accelscope::test {

// Numbers as parquet.thrift has them.
enum ParquetType {
  kParquetBoolean,
  kParquetInt32,
  kParquetInt64,
  kParquetInt96,
  kParquetFloat,
  kParquetDouble,
  kParquetBytes,
  kParquetFixed
};
enum ParquetEncoding {
  kPlain = 0,
  kRle = 3,
  kDelta = 5,
  kDeltaLength = 6,
  kDeltaBytes = 7,
  kDictionary = 8,
  kSplit = 9
};
enum ParquetCodec { kNoCodec = 0, kSnappy = 1, kGzip = 2, kBrotli = 4, kZstd = 6, kLz4Raw = 7 };

struct ParquetColumn {
  using List = std::vector<std::int64_t>;
  using Texts = std::vector<std::string>;
  // Nothing is null; whole numbers also for truth values, texts also for int96 and fixed bytes; a list for lists.
  using Value = std::variant<std::monostate, std::int64_t, double, std::string, List, Texts>;

  std::string name;
  ParquetType type = kParquetInt64;
  std::vector<Value> values;
  ParquetEncoding encoding = kPlain;
  bool required = false;  // then no value may be null
  bool is_list = false;   // optional, of int64 or texts that are there
  int converted = -1;     // ConvertedType
  int scale = 0;
  int length = 0;           // of fixed bytes
  int codec = -1;           // of this column; -1: the file's
  std::string record = {};  // it is a member of, which every row has; members follow each other
};

struct ParquetLayout {
  int codec = kNoCodec;
  int page_version = 1;
  std::size_t rows_per_page = 1000;
  std::size_t rows_per_group = 100'000;
  bool checksums = false;
  // What damaged pages say of themselves; -1: the truth.
  std::int64_t stated_plain_bytes = -1;
  std::int64_t stated_level_bytes = -1;  // of either kind, in pages of version 2
};

[[nodiscard]] std::string parquet_file(const std::vector<ParquetColumn>& columns, const ParquetLayout& layout = {});

}  // namespace accelscope::test
