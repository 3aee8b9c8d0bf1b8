// Cuts a JSON file of tables into windows of whole rows, reading it once in order with bounded memory. It finds
// structure only; JsonRowParser reads the rows. Whatever the bytes are, it goes on to the end of the file and keeps
// a list of what was wrong and where.
//
//   {"table": [row, row, ...], "other": {...}, "scalar": 3}      each table's rows, in the order of the file
//   [row, row, ...]                                              one table with an empty name
//
//   JsonTableReader reader(std::move(bytes), {});
//   JsonWindow window;
//   while (reader.next(window)) parser.parse(window, handler);
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/json/balanced_scan.h"
#include "capture/json/byte_source.h"

namespace accelscope::capture::json {

struct RowPlace {
  std::uint32_t begin = 0;  // in JsonWindow::text
  std::uint32_t end = 0;
  std::uint64_t offset = 0;  // of the row in the (inflated) file
};

// Rows of one table, one after another, as the text of one JSON array.
struct JsonWindow {
  std::string table;
  bool in_array = true;         // false: the table is a single value, not an array of rows
  bool first_of_table = false;  // the first window since the table's key; an empty table has a window without rows
  std::vector<char> text;       // "[row,row]" and kScanPadding bytes that may be read
  std::size_t size = 0;         // of the text without the padding
  std::vector<RowPlace> rows;

  [[nodiscard]] std::string_view row(std::size_t index) const noexcept {
    return {text.data() + rows[index].begin, rows[index].end - rows[index].begin};
  }
};

// What was wrong with the structure, the same kind in the same table counted together.
struct JsonProblem {
  enum class Kind : std::uint8_t {
    truncated,       // the file ends inside a value
    unclosed,        // the file ends behind a row of a bare array, which some writers never close
    unreadable,      // reading or inflating failed; `what` says how
    stray_bytes,     // bytes that are not JSON between rows or tables; count is bytes
    trailing_bytes,  // after the end of the document; count is bytes
    hole,            // zeros in place of rows, which are read again from the next one on; count is bytes
    oversize_row,    // longer than Options::max_row_bytes, skipped
    deep_row,        // nested deeper than Options::max_depth, skipped
  };
  Kind kind = Kind::truncated;
  std::string table;
  std::uint64_t count = 0;
  std::uint64_t first_offset = 0;
  std::string what;
};

class JsonTableReader {
 public:
  struct Options {
    std::size_t window_bytes = 4U << 20;
    std::size_t max_row_bytes = 16U << 20;
    std::uint32_t max_depth = 128;
    std::string_view opened_table;   // if it is an object, its members are tables as well; "": none
    bool further_documents = false;  // objects behind the first are read as if their tables were of the same
    std::size_t first_buffer_bytes = 64U << 10;  // most files are small; the buffer grows with what comes
  };

  JsonTableReader(std::unique_ptr<ByteSource> source, Options options);

  // The next rows; false at the end of the file. Reuses the window's memory.
  [[nodiscard]] bool next(JsonWindow& window);

  [[nodiscard]] const std::vector<JsonProblem>& problems() const noexcept { return problems_; }
  // The document began with an object or an array.
  [[nodiscard]] bool is_json() const noexcept { return is_json_; }
  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return buffer_offset_ + end_; }  // inflated
  [[nodiscard]] const ByteSource& source() const noexcept { return *source_; }

 private:
  enum class Place : std::uint8_t { document, key, colon, value, rows, skipping, hole, after, finished };
  enum class Step : std::uint8_t { advanced, emit, need_more };

  [[nodiscard]] bool fill();  // more bytes behind end_; false at the end of the file
  [[nodiscard]] Step step(JsonWindow& window);
  [[nodiscard]] Step step_document();
  [[nodiscard]] Step step_key();
  [[nodiscard]] Step step_value(JsonWindow& window);
  [[nodiscard]] Step step_rows(JsonWindow& window);
  // The extent of the value at begin_: 0 if more bytes are needed. Sets `depth`.
  [[nodiscard]] std::size_t value_length(std::uint32_t& depth) const noexcept;
  [[nodiscard]] Step step_skipping();
  [[nodiscard]] bool is_cut_by_hole(std::size_t length);
  void find_zero(std::size_t from) noexcept;
  [[nodiscard]] Step step_hole();
  [[nodiscard]] Step end_after_hole();
  void pass_hole(std::size_t to);
  [[nodiscard]] bool ends_document(std::size_t at) const noexcept;
  [[nodiscard]] bool skip_oversize();
  void begin_window(JsonWindow& window) const;
  void take_row(JsonWindow& window, std::size_t length, std::uint32_t depth);
  void close_window(JsonWindow& window) const;
  void skip_blanks() noexcept;
  void skip_stray_byte(JsonProblem::Kind kind);
  void problem(JsonProblem::Kind kind, std::uint64_t count, std::uint64_t offset, std::string what = {});
  void report_end();
  [[nodiscard]] std::uint64_t offset() const noexcept { return buffer_offset_ + begin_; }

  static constexpr std::uint64_t kNoZero = ~std::uint64_t{0};

  std::unique_ptr<ByteSource> source_;
  Options options_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t buffer_offset_ = 0;  // of buffer_[0] in the file
  std::uint64_t zero_at_ = kNoZero;  // the first byte of zero that is known and not passed, in the file
  bool source_ended_ = false;
  bool filled_ = false;  // the last read filled the buffer
  bool failed_ = false;
  bool is_json_ = false;
  bool top_is_array_ = false;
  bool first_of_table_ = false;
  Place place_ = Place::document;
  Place after_skipping_ = Place::key;
  std::optional<std::string> hole_table_;  // in which the last hole began
  bool hole_in_value_ = false;             // of a table that is a single value
  std::uint32_t opened_ = 0;               // objects around the keys beside the document's own
  BalancedScan skipped_;
  std::string table_;
  std::vector<JsonProblem> problems_;
};

}  // namespace accelscope::capture::json
