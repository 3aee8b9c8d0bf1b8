// Walks a small piece of JSON (a nested value of a row) value by value, leniently: trailing commas, NaN, bad UTF-8
// and control characters are taken. Texts stay views of the piece unless they hold escapes. Recursion is the caller's.
//
//   JsonCursor cursor(text);
//   if (cursor.enter('[')) while (cursor.next_element('[')) { JsonField value = cursor.value(); ... }
//   const bool whole = each_member(text, [&](const JsonField& field) { ...; return true; });
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace accelscope::capture::json {

// One key and its value as a row parser hands them out, and exact readings of the value. A number keeps its text
// until someone asks, so that 64-bit integers never pass through a double.
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

// The field as JSON again: its value alone, and "key":value.
void append_json_value(std::string& out, const JsonField& field);
void append_json(std::string& out, const JsonField& field);

class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) noexcept : text_(text) {}

  // Takes the opening bracket if it is the next thing.
  [[nodiscard]] bool enter(char bracket) noexcept;
  // Skips commas; false at (and past) the closing bracket, at the end of the text, or after a mistake: see ok().
  [[nodiscard]] bool next_element(char bracket) noexcept;
  // The next key and its colon.
  [[nodiscard]] std::string_view key();
  // The next value; an array or object is taken whole.
  [[nodiscard]] JsonField value();

  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] bool repaired() const noexcept { return repaired_; }
  [[nodiscard]] bool at_end() noexcept;

 private:
  void skip_blanks() noexcept;
  [[nodiscard]] std::string_view raw_string();
  [[nodiscard]] std::string_view string();
  [[nodiscard]] std::string_view unescape(std::string_view raw);
  void fail() noexcept { ok_ = false; }

  std::string_view text_;
  std::size_t at_ = 0;
  bool ok_ = true;
  bool repaired_ = false;
  bool first_ = false;               // no element was taken since the last opening bracket
  std::list<std::string> retained_;  // unescaped texts; costs nothing while there are none
};

// Calls visit(field) for every member of an object, with its key, or element of a list, until it returns false. True
// if the text is one, is whole and every call returned true.
template <typename Visit>
[[nodiscard]] bool each_member(std::string_view object, Visit&& visit) {
  JsonCursor cursor(object);
  if (!cursor.enter('{')) return false;
  while (cursor.next_element('{')) {
    const std::string_view key = cursor.key();
    if (!cursor.ok()) return false;
    JsonField field = cursor.value();
    if (!cursor.ok()) return false;
    field.key = key;
    if (!visit(std::as_const(field))) return false;
  }
  return cursor.ok();
}
template <typename Visit>
[[nodiscard]] bool each_element(std::string_view list, Visit&& visit) {
  JsonCursor cursor(list);
  if (!cursor.enter('[')) return false;
  while (cursor.next_element('[')) {
    const JsonField value = cursor.value();
    if (!cursor.ok() || !visit(value)) return false;
  }
  return cursor.ok();
}

// A copy in which every byte that is not UTF-8 is U+FFFD.
[[nodiscard]] std::string repair_utf8(std::string_view text);
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

}  // namespace accelscope::capture::json
