// One column of a group of rows, value by value: reads its pages one at a time, as they are needed. A text stays valid
// until the next value is asked for. What cannot be read ends the column: failed() and problem() say so.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "capture/sources/parquet/bit_runs.h"
#include "capture/sources/parquet/footer.h"
#include "core/base/result.h"
#include "core/parquet/format.h"

namespace accelscope::capture::sources::parquet {

// The values of one page, one after another, in any encoding of Parquet. What they are made of stays where it lies: a
// text is a view of the page, but for DELTA_BYTE_ARRAY and BYTE_STREAM_SPLIT, where it is valid until the next value.

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

// Levels say where in nested fields a value stands (Dremel): `definition` how many of the fields that need not be there
// are, `repetition` at which repeated field a new element begins; 0 begins a row.
struct ColumnEntry {
  int definition = 0;
  int repetition = 0;
  PlainValue value;  // where definition is the column's own: else there is none
};

// What all columns of a table share.
struct PageRoom {
  std::vector<char> packed;      // a page as it lies in the file while it is unpacked
  std::uint64_t most_bytes = 0;  // that they may hold of unpacked pages and dictionaries
  std::uint64_t held_bytes = 0;
};

class ColumnReader {
 public:
  ColumnReader(RandomBytes& bytes, const Field& field, PageRoom& room)
      : bytes_(bytes), field_(field), room_(room), packed_(room.packed) {}

  // Goes to the begin of another group of rows.
  void begin(const ColumnChunkPlace& chunk);
  // The next value or null; false at the end, or where the column cannot be read further.
  [[nodiscard]] bool next(ColumnEntry& entry);
  // The levels of the entry that next() would give; -1 at the end.
  [[nodiscard]] int next_repetition() { return look_ahead() ? repetition_ : -1; }
  [[nodiscard]] int next_definition() { return look_ahead() ? definition_ : -1; }

  [[nodiscard]] const Field& field() const noexcept { return field_; }
  [[nodiscard]] bool failed() const noexcept { return !problem_.empty(); }
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
  void fail(std::string why) { problem_ = std::move(why); }

 private:
  struct Page;
  [[nodiscard]] bool look_ahead();
  [[nodiscard]] bool take_level(BitRuns& levels, int most, int& level);
  [[nodiscard]] bool next_page();
  [[nodiscard]] Result<Page> read_header();
  [[nodiscard]] Result<void> take_page(const Page& page);
  [[nodiscard]] Result<void> take_dictionary(const Page& page, std::string_view packed);
  [[nodiscard]] Result<void> take_data(const Page& page, std::string_view packed);
  [[nodiscard]] Result<void> take_data_v2(const Page& page, std::string_view packed);
  [[nodiscard]] Result<void> begin_values(const Page& page, std::string_view bytes);
  [[nodiscard]] Result<std::string_view> unpacked(std::vector<char>& into, std::string_view packed, std::uint64_t size);
  // Bytes for what is packed in so many; fails if it cannot unpack to that, or if the table would hold too much.
  [[nodiscard]] Result<void> make_room(std::vector<char>& into, std::uint64_t size, format::Codec codec,
                                       std::uint64_t packed, std::uint64_t plain);
  [[nodiscard]] Result<void> check_room(std::uint64_t more);
  void count_held() noexcept;
  void release() noexcept;

  RandomBytes& bytes_;
  const Field& field_;
  PageRoom& room_;
  std::uint64_t held_bytes_ = 0;
  ColumnChunkPlace chunk_;
  std::uint64_t at_ = 0;           // of the next page in the file
  std::uint64_t values_left_ = 0;  // of the chunk
  std::uint64_t page_left_ = 0;
  std::vector<char>& packed_;
  std::vector<char> page_;
  std::vector<char> dictionary_bytes_;
  std::vector<PlainValue> dictionary_;
  bool has_dictionary_ = false;
  BitRuns definitions_;
  BitRuns repetitions_;
  std::unique_ptr<ValueDecoder> values_;
  bool looked_ahead_ = false;  // the levels are those of the next entry
  int repetition_ = 0;
  int definition_ = 0;
  std::string problem_;
};

}  // namespace accelscope::capture::sources::parquet
