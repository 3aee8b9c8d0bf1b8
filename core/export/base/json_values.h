// Values of events as JSON, appended to a text: numbers with every digit, strings quoted once and kept. One per thread.
#pragma once

#include <string>
#include <unordered_map>

#include "core/model/schema.h"
#include "core/store/string_pool.h"

namespace accelscope {

void append_json_integer(std::string& out, std::int64_t value);
void append_json_integer(std::string& out, std::uint64_t value);
// With a point or an exponent, so that it reads back as a real number; infinity as 1e999, which reads back as it.
void append_json_real(std::string& out, double value);
// ns as decimal microseconds, exact: 12.5 for 12,500 ns.
void append_microseconds(std::string& out, std::int64_t ns);

class JsonStrings {
 public:
  explicit JsonStrings(const StringPool& strings) : strings_(strings) {}
  // With its quotes; valid until the next call.
  [[nodiscard]] const std::string& quoted(StringId id);

 private:
  const StringPool& strings_;
  std::unordered_map<StringId, std::string> quoted_;
};

// A value as BlockReader gives it, of any type but text.
void append_json_value(std::string& out, ColumnType type, std::uint64_t value, JsonStrings& strings);

}  // namespace accelscope
