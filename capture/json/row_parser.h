// Reads the rows of a JsonWindow: simdjson over the whole window where there is one (see FastRows), and row by row
// with a lenient reader from the first row on that simdjson does not take. The handler gets each row as a list of
// fields; nested values stay JSON text (see json_cursor.h). Keeps its buffers between windows; one parser per thread.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "capture/json/json_cursor.h"
#include "capture/json/table_reader.h"

namespace accelscope::capture::json {

class FastRows;

class JsonRowHandler {
 public:
  JsonRowHandler() = default;
  JsonRowHandler(const JsonRowHandler&) = delete;
  JsonRowHandler& operator=(const JsonRowHandler&) = delete;
  virtual ~JsonRowHandler() = default;

  // The fields in the order of the file, valid during the call. A row that is not an object has one field without a
  // key and `is_object` false.
  virtual void on_row(std::span<const JsonField> fields, bool is_object, const RowPlace& place) = 0;
  // Not JSON even leniently. The text is the row as it lies in the file.
  virtual void on_bad_row(std::string_view text, const RowPlace& place) = 0;
  // The row was read, but only after mending: bad UTF-8, stray commas, control characters.
  virtual void on_repaired_row(const RowPlace& place) = 0;
};

class JsonRowParser {
 public:
  JsonRowParser();
  explicit JsonRowParser(std::unique_ptr<FastRows> fast);  // null: all rows leniently
  ~JsonRowParser();
  JsonRowParser(const JsonRowParser&) = delete;
  JsonRowParser& operator=(const JsonRowParser&) = delete;

  void parse(const JsonWindow& window, JsonRowHandler& handler);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> impl_;
};

// Reads the rows of a window that are JSON to the letter, faster than JsonCursor: simdjson, in programs that link it.
// In the agent that is copied to other hosts there is none (it would need simdjson there), and JsonRowParser reads
// every row leniently, which comes to the same fields.

class FastRows {
 public:
  FastRows() = default;
  FastRows(const FastRows&) = delete;
  FastRows& operator=(const FastRows&) = delete;
  virtual ~FastRows() = default;

  // The number of rows handed out before the first that it does not take.
  [[nodiscard]] virtual std::size_t read(const JsonWindow& window, JsonRowHandler& handler) = 0;
};

// Null: this program has none.
[[nodiscard]] std::unique_ptr<FastRows> make_fast_rows();

}  // namespace accelscope::capture::json
