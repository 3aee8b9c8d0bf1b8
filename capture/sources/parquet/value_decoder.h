// The values of one page, one after another, in any encoding of Parquet. What they are made of stays where it lies: a
// text is a view of the page, but for DELTA_BYTE_ARRAY and BYTE_STREAM_SPLIT, where it is valid until the next value.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/parquet/format.h"

namespace accelscope::capture::sources::parquet {

struct PlainValue {
  std::uint64_t bits = 0;  // whole numbers with their sign carried on to 64 bits; the bits of a float or double; 0 or 1
  std::string_view bytes;  // of byte arrays, and of int96
};

class ValueDecoder {
 public:
  ValueDecoder() = default;
  ValueDecoder(const ValueDecoder&) = delete;
  ValueDecoder& operator=(const ValueDecoder&) = delete;
  virtual ~ValueDecoder() = default;
  // False where the page holds no further value, or is damaged there.
  [[nodiscard]] virtual bool next(PlainValue& value) = 0;
};

struct PageValues {
  accelscope::parquet::Encoding encoding;
  accelscope::parquet::PhysicalType type;
  std::uint32_t length = 0;  // of fixed_len_byte_array
  std::string_view bytes;    // must outlive the decoder
};

// `dictionary` is that of the column, which must outlive the decoder. Fails for encodings that are not read, or not of
// such values.
[[nodiscard]] Result<std::unique_ptr<ValueDecoder>> make_decoder(const PageValues& page,
                                                                 const std::vector<PlainValue>& dictionary);

}  // namespace accelscope::capture::sources::parquet
