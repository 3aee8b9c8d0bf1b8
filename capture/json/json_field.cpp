#include "capture/json/json_field.h"

#include <array>
#include <charconv>
#include <cmath>

#include "core/base/format.h"
#include "core/base/text.h"

namespace accelscope::capture::json {
namespace {

[[nodiscard]] bool may_be_number(const JsonField& field) noexcept {
  return field.kind == JsonKind::number || field.kind == JsonKind::string;
}

// Up to 18 digits with a sign: nearly every number of a profile, and several times as fast as the general way.
[[nodiscard]] bool short_decimal(std::string_view text, std::int64_t& value) noexcept {
  const bool negative = !text.empty() && text.front() == '-';
  const std::string_view digits = text.substr(negative ? 1 : 0);
  constexpr std::size_t kMaxDigits = 18;
  if (digits.empty() || digits.size() > kMaxDigits) return false;
  std::int64_t magnitude = 0;
  for (const char c : digits) {
    const auto digit = static_cast<unsigned>(c) - '0';
    if (digit > 9) return false;
    magnitude = magnitude * 10 + digit;
  }
  value = negative ? -magnitude : magnitude;
  return true;
}

template <typename Integer>
[[nodiscard]] std::optional<Integer> whole(std::string_view text, int base) noexcept {
  Integer value{};
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value, base);
  if (failure != std::errc() || stop != end || text.empty()) return std::nullopt;
  return value;
}

[[nodiscard]] std::optional<double> real(std::string_view text) noexcept {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc() || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

// Beyond 2^53 a double written with an exponent or a fraction is not known to be whole.
constexpr double kExactLimit = 9007199254740992.0;

template <typename Integer>
[[nodiscard]] std::optional<Integer> to_integer(const JsonField& field) noexcept {
  if (!may_be_number(field)) return std::nullopt;
  const std::string_view text = trimmed(field.text);
  if (std::int64_t value = 0; short_decimal(text, value)) {
    if (!std::is_signed_v<Integer> && value < 0) return std::nullopt;
    return static_cast<Integer>(value);
  }
  if (const auto value = whole<Integer>(text, 10)) return value;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    return whole<Integer>(text.substr(2), 16);
  }
  if (text.find_first_of(".eE") == std::string_view::npos) return std::nullopt;
  const std::optional<double> value = real(text);
  if (!value || std::trunc(*value) != *value || std::fabs(*value) > kExactLimit) return std::nullopt;
  if (!std::is_signed_v<Integer> && *value < 0) return std::nullopt;
  return static_cast<Integer>(*value);
}

}  // namespace

std::optional<std::int64_t> to_int64(const JsonField& field) noexcept { return to_integer<std::int64_t>(field); }
std::optional<std::uint64_t> to_uint64(const JsonField& field) noexcept { return to_integer<std::uint64_t>(field); }

std::optional<std::int64_t> to_rounded_int64(const JsonField& field) noexcept {
  if (const auto exact = to_int64(field)) return exact;
  const std::optional<double> value = to_double(field);
  constexpr double kLimit = 9.2e18;
  if (!value || std::fabs(*value) > kLimit) return std::nullopt;
  return std::llround(*value);
}

std::optional<double> to_double(const JsonField& field) noexcept {
  if (!may_be_number(field)) return std::nullopt;
  std::string_view text = trimmed(field.text);
  // Texts of numbers come from many a printf; "+-1" is none.
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    if (const auto value = whole<std::uint64_t>(text.substr(2), 16)) return static_cast<double>(*value);
  }
  return real(text);
}

std::optional<bool> to_boolean(const JsonField& field) noexcept {
  struct Word {
    std::string_view text;
    bool value;
  };
  static constexpr std::array<Word, 10> kWords = {{{"true", true},
                                                   {"false", false},
                                                   {"yes", true},
                                                   {"no", false},
                                                   {"1", true},
                                                   {"0", false},
                                                   {"True", true},
                                                   {"False", false},
                                                   {"Yes", true},
                                                   {"No", false}}};
  if (field.kind == JsonKind::array || field.kind == JsonKind::object) return std::nullopt;
  for (const Word& word : kWords) {
    if (field.text == word.text) return word.value;
  }
  return std::nullopt;
}

void append_json(std::string& out, const JsonField& field) {
  append_json_quoted(out, field.key);
  out += ':';
  switch (field.kind) {
    case JsonKind::string:
    case JsonKind::not_finite:
      append_json_quoted(out, field.text);
      break;
    case JsonKind::null:
      out += "null";
      break;
    default:
      out += field.text;
  }
}

}  // namespace accelscope::capture::json
