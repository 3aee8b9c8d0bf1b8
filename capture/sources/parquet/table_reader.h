// Reads a Parquet file row by row, in order, page by page: in memory are the pages at hand, one per column. Rows come
// as importers of JSON take them, columns by their names; a null is left out. A column that cannot be read further is
// missing from the rest of its group of rows, and the others are read on.
//
//   Result<std::unique_ptr<TableReader>> table = TableReader::open(std::move(bytes));
//   while ((*table)->next()) use((*table)->fields());
//   for (const ColumnProblem& problem : (*table)->problems()) ...
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/json/json_cursor.h"
#include "capture/sources/parquet/column_reader.h"
#include "capture/sources/parquet/footer.h"

namespace accelscope::capture::sources::parquet {

// Values of Parquet columns as the fields that importers of JSON take (capture/json/json_cursor.h): numbers with every
// digit, texts in UTF-8, and nested values - lists, maps, records - as JSON.

// Room for the text of one value, kept from row to row.
struct ValueText {
  char digits[40] = {};
  std::string longer;
  bool repaired = false;  // the value held bytes that are not UTF-8
};

// What a value of the column is. The text lives as long as `room` and the value itself.
[[nodiscard]] json::JsonField field_of(const Field& field, const PlainValue& value, ValueText& room);

// Appends the values of one row of a nested field as JSON. Fails - the column then says why - if levels are damaged or
// the text passes `most_bytes`.
class NestedText {
 public:
  NestedText(const std::vector<Field>& fields, std::deque<ColumnReader>& columns)
      : fields_(fields), columns_(columns) {}
  [[nodiscard]] bool append_row(std::uint32_t field, std::string& out, std::size_t most_bytes);
  [[nodiscard]] bool repaired() const noexcept { return room_.repaired; }

 private:
  [[nodiscard]] bool append(std::uint32_t field, std::string& out);
  [[nodiscard]] bool append_content(std::uint32_t field, std::string& out);
  [[nodiscard]] bool append_elements(std::uint32_t field, std::string& out, bool as_map);
  [[nodiscard]] bool append_key(std::uint32_t field, std::string& out);
  [[nodiscard]] bool append_value(const Field& field, const ColumnEntry& entry, std::string& out);
  [[nodiscard]] bool take(std::uint32_t field, ColumnEntry& entry);
  [[nodiscard]] bool is_there(std::uint32_t field);
  [[nodiscard]] bool drop(std::uint32_t field);
  [[nodiscard]] ColumnReader& first_column(std::uint32_t field);
  [[nodiscard]] bool fail(std::uint32_t field, std::string why);

  const std::vector<Field>& fields_;
  std::deque<ColumnReader>& columns_;  // by leaf
  ValueText room_;
  std::size_t most_bytes_ = 0;
};

struct ColumnProblem {
  std::string column;           // "": all columns of the group
  std::string what;             // "is packed with BROTLI, which is not read here; ..."
  std::size_t group = 0;        // of rows, from 0
  std::uint64_t lost_rows = 0;  // that lack a value, or are missing, for it
};

class TableReader {
 public:
  // Fails if the file has no whole footer; the message does not name the file.
  [[nodiscard]] static Result<std::unique_ptr<TableReader>> open(std::unique_ptr<RandomBytes> bytes);

  TableReader(std::unique_ptr<RandomBytes> bytes, Footer footer);
  TableReader(const TableReader&) = delete;
  TableReader& operator=(const TableReader&) = delete;

  // What a column holds, known before its rows are.
  struct ColumnSample {
    json::JsonField field;    // its name, and a value of its kind as a row would have it
    bool is_time = false;     // times and durations by their logical type: read as ns
    std::string_view record;  // the column of records that it is a member of; "": it is a column
  };
  // Of each column, members of records behind theirs.
  [[nodiscard]] std::vector<ColumnSample> samples() const;
  // What rows call the column from now on.
  void rename(std::string_view column, std::string_view name);

  [[nodiscard]] bool next();
  [[nodiscard]] std::span<const json::JsonField> fields() const noexcept { return row_; }  // until the next row

  [[nodiscard]] std::uint64_t rows() const noexcept { return footer_.rows(); }
  [[nodiscard]] std::uint64_t rows_done() const noexcept { return rows_done_; }
  [[nodiscard]] const std::vector<ColumnProblem>& problems() const noexcept { return problems_; }
  [[nodiscard]] std::uint64_t repaired_values() const noexcept { return repaired_values_; }  // not UTF-8
  [[nodiscard]] const std::string& created_by() const noexcept { return footer_.created_by(); }

 private:
  struct TopField {
    std::uint32_t number = 0;  // in the footer's fields
    std::string name;          // as rows have it
    ValueText room;
    std::string nested;
    bool lost = false;  // in this group
  };
  [[nodiscard]] bool begin_group();
  [[nodiscard]] bool read_field(TopField& top, json::JsonField& field);
  [[nodiscard]] bool read_nested(TopField& top, json::JsonField& field);
  void lose(TopField& top);
  void lose_rest(std::string what);
  [[nodiscard]] std::string failure_of(std::uint32_t field) const;

  std::unique_ptr<RandomBytes> bytes_;
  Footer footer_;
  PageRoom room_;
  std::deque<ColumnReader> columns_;  // by leaf
  std::vector<TopField> tops_;
  NestedText nested_;
  std::vector<json::JsonField> row_;
  std::vector<ColumnProblem> problems_;
  std::size_t next_group_ = 0;
  std::uint64_t group_rows_ = 0;
  std::uint64_t row_in_group_ = 0;
  std::uint64_t rows_done_ = 0;
  std::uint64_t text_left_ = 0;
  std::uint64_t repaired_values_ = 0;
  bool finished_ = false;
};

}  // namespace accelscope::capture::sources::parquet
