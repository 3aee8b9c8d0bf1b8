// Values of Parquet columns as the fields that importers of JSON take (capture/json/json_field.h): numbers with every
// digit, texts in UTF-8, and nested values - lists, maps, records - as JSON.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "capture/json/json_field.h"
#include "capture/sources/parquet/column_reader.h"

namespace accelscope::capture::sources::parquet {

// Room for the text of one value, kept from row to row.
struct ValueText {
  char digits[40] = {};
  std::string longer;
  bool mended = false;  // the value held bytes that are not UTF-8
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
  [[nodiscard]] bool mended() const noexcept { return room_.mended; }

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

}  // namespace accelscope::capture::sources::parquet
