// What values of JSON are to columns. Columns for fields that nobody told us about: their types are read off the first
// rows of a table.
//
//   InferredColumns found({.most_columns = 64});
//   for (each row) for (each field) found.add(field.key, field);
//   for (const std::string& key : found.keys()) schema.columns.push_back({.name = key, .type = found.type(key)});
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "capture/json/json_cursor.h"
#include "core/model/schema.h"

namespace accelscope::capture::sources {

// The value for a column of numbers or truth values: an integer in 64 bits, the bits of a real number, 0 or 1. Nothing
// if it does not fit the column.
[[nodiscard]] std::optional<std::uint64_t> to_bits(ColumnType type, const json::JsonField& value) noexcept;

struct InferenceRules {
  std::size_t most_columns = 64;  // fields beyond them are not looked at
  // Long and nested values are names that recur, kept once each; else every event holds its own.
  bool any_text_recurs = false;
};

class InferredColumns {
 public:
  explicit InferredColumns(InferenceRules rules) : rules_(rules) {}

  void add(std::string_view key, const json::JsonField& value);
  [[nodiscard]] const std::vector<std::string>& keys() const noexcept { return order_; }  // as they were first met
  [[nodiscard]] bool has(std::string_view key) const { return keys_.find(key) != keys_.end(); }
  [[nodiscard]] ColumnType type(std::string_view key) const;  // `key` must be one of keys()

 private:
  struct Seen {
    std::uint64_t integers = 0;
    std::uint64_t wide_integers = 0;  // fit only without a sign
    std::uint64_t reals = 0;
    std::uint64_t booleans = 0;
    std::uint64_t texts = 0;
    std::uint64_t nested = 0;
    std::uint64_t text_bytes = 0;
    std::unordered_set<std::size_t> distinct;  // hashes of texts
  };

  InferenceRules rules_;
  std::vector<std::string> order_;
  std::map<std::string, Seen, std::less<>> keys_;
};

}  // namespace accelscope::capture::sources
