// The values of one event for the columns of its table, in the form that the column's type has.
//
//   EventValues values;
//   values.integer(kCorrelation, 12); values.text(kMessage, "step 3");
//   session.write(track, start, duration, name, values);
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/ids.h"
#include "core/model/schema.h"

namespace accelscope::capture::sources::tracks {

// A signed or unsigned number, the bits of a double, a StringId, or the place of a text beside the values.
struct BoundValue {
  std::uint32_t column = 0;
  std::uint32_t size = 0;  // of a text
  std::uint64_t value = 0;
};

// Named as the setters of a Row. A column is set once for an event.
class EventValues {
 public:
  void clear() noexcept {
    values_.clear();
    text_.clear();
  }
  void integer(std::size_t column, std::int64_t value) { add(column, static_cast<std::uint64_t>(value)); }
  void unsigned_integer(std::size_t column, std::uint64_t value) { add(column, value); }
  void real(std::size_t column, double value) { add(column, std::bit_cast<std::uint64_t>(value)); }
  void boolean(std::size_t column, bool value) { add(column, value ? 1 : 0); }
  void string(std::size_t column, StringId value) { add(column, value); }
  void text(std::size_t column, std::string_view value) {
    add(column, text_.size(), value.size());
    text_ += value;
  }

  // Room for so many values, as values() and texts() gave them: to be filled in.
  [[nodiscard]] std::span<BoundValue> assign(std::size_t count, std::string_view texts) {
    values_.resize(count);
    text_ = texts;
    return values_;
  }
  void swap(EventValues& other) noexcept {
    values_.swap(other.values_);
    if (!text_.empty() || !other.text_.empty()) text_.swap(other.text_);
  }

  [[nodiscard]] std::span<const BoundValue> values() const noexcept { return values_; }
  [[nodiscard]] std::string_view texts() const noexcept { return text_; }

 private:
  // Set in place: a processor waits for parts of a value that it has to read again as a whole.
  void add(std::size_t column, std::uint64_t value, std::size_t size = 0) {
    BoundValue& added = values_.emplace_back();
    added.column = static_cast<std::uint32_t>(column);
    added.size = static_cast<std::uint32_t>(size);
    added.value = value;
  }

  std::vector<BoundValue> values_;
  std::string text_;
};

// Into a row, or what is filled like one, of a table with these columns.
template <typename Target>
void put_values(Target& target, std::span<const Column> columns, std::span<const BoundValue> values,
                std::string_view texts) {
  for (const BoundValue& value : values) {
    switch (columns[value.column].type) {
      case ColumnType::int64:
        target.integer(value.column, static_cast<std::int64_t>(value.value));
        break;
      case ColumnType::uint64:
      case ColumnType::boolean:
      case ColumnType::string:
        target.unsigned_integer(value.column, value.value);
        break;
      case ColumnType::float64:
        target.real(value.column, std::bit_cast<double>(value.value));
        break;
      case ColumnType::text:
        target.text(value.column, texts.substr(value.value, value.size));
        break;
    }
  }
}

}  // namespace accelscope::capture::sources::tracks
