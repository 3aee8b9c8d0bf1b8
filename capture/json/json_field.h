// One key and its value as a row parser hands them out, and exact readings of the value. A number keeps its text
// until someone asks, so that 64-bit integers never pass through a double.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace accelscope::capture::json {

enum class JsonKind : std::uint8_t {
  null,
  boolean,
  number,
  string,
  array,
  object,
  not_finite,  // NaN, Infinity, -Infinity: not JSON, but written by real tools
};

struct JsonField {
  std::string_view key;   // unescaped
  std::string_view text;  // string: unescaped; number, boolean: as written; array, object: its JSON
  JsonKind kind = JsonKind::null;
};

// A whole number from 42, "42", 42.0, 4.2e1 or "0x2a". Nothing if the value has a fraction, does not fit or is no
// number.
[[nodiscard]] std::optional<std::int64_t> to_int64(const JsonField& field) noexcept;
[[nodiscard]] std::optional<std::uint64_t> to_uint64(const JsonField& field) noexcept;
// The nearest whole number of a finite value with a fraction too; for times.
[[nodiscard]] std::optional<std::int64_t> to_rounded_int64(const JsonField& field) noexcept;
[[nodiscard]] std::optional<double> to_double(const JsonField& field) noexcept;  // finite; "+10.5" and "0x2a" too
// true/false, 0/1, "yes"/"no", "true"/"false".
[[nodiscard]] std::optional<bool> to_boolean(const JsonField& field) noexcept;

// The field as JSON again ("key":value).
void append_json(std::string& out, const JsonField& field);

}  // namespace accelscope::capture::json
