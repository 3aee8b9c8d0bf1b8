#include "capture/json/json_cursor.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/base/bytes.h"
#include "core/base/json.h"
#include "core/base/text.h"

namespace accelscope::capture::json {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

// Eight bytes at once, which is most of what strings are read by.
constexpr std::uint64_t kEachByte = 0x0101010101010101U;
constexpr std::uint64_t kHighBits = 0x80 * kEachByte;

[[nodiscard]] std::uint64_t eight_bytes(const char* text) noexcept {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, text, sizeof bytes);
  return bytes;
}

// The highest bit of each byte that is below the limit; those above the first of them may have it as well.
[[nodiscard]] constexpr std::uint64_t below(std::uint64_t bytes, std::uint64_t limit) noexcept {
  return (bytes - limit * kEachByte) & ~bytes & kHighBits;
}

// How many bytes come before one that ends a string, or means something other than itself in one.
[[nodiscard]] std::size_t count_plain(std::uint64_t bytes) noexcept {
  const std::uint64_t special =
      below(bytes, 0x20) | below(bytes ^ ('"' * kEachByte), 1) | below(bytes ^ ('\\' * kEachByte), 1);
  return static_cast<std::size_t>(std::countr_zero(special)) / 8;
}

// Of numbers, hexadecimal ones as well.
constexpr std::array<bool, 256> kNumberBytes = [] {
  std::array<bool, 256> bytes{};
  for (const char c : std::string_view("0123456789+-.eExXabcdefABCDEF")) bytes[static_cast<unsigned char>(c)] = true;
  return bytes;
}();

[[nodiscard]] bool reads_as_number(std::string_view word) noexcept {
  const bool begins =
      !word.empty() && (word[0] == '-' || word[0] == '+' || word[0] == '.' || (word[0] >= '0' && word[0] <= '9'));
  return begins &&
         std::all_of(word.begin(), word.end(), [](char c) { return kNumberBytes[static_cast<unsigned char>(c)]; });
}

void append_code_point(std::string& out, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | (code >> 6));
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3f));
    put(0x80 | ((code >> 6) & 0x3f));
    put(0x80 | (code & 0x3f));
  }
}

// Four hexadecimal digits, or nothing usable (then above 0xffff).
[[nodiscard]] std::uint32_t four_digits(std::string_view text) noexcept {
  std::uint32_t code = 0x10000;
  if (text.size() < 4) return code;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + 4, code, 16);
  return failure == std::errc() && stop == text.data() + 4 ? code : 0x10000;
}

[[nodiscard]] JsonKind kind_of_word(std::string_view word) noexcept {
  if (reads_as_number(word)) return JsonKind::number;
  struct Word {
    std::string_view text;
    JsonKind kind;
  };
  static constexpr std::array<Word, 8> kWords = {{{"null", JsonKind::null},
                                                  {"true", JsonKind::boolean},
                                                  {"false", JsonKind::boolean},
                                                  {"NaN", JsonKind::not_finite},
                                                  {"nan", JsonKind::not_finite},
                                                  {"Infinity", JsonKind::not_finite},
                                                  {"-Infinity", JsonKind::not_finite},
                                                  {"-NaN", JsonKind::not_finite}}};
  for (const Word& known : kWords) {
    if (word == known.text) return known.kind;
  }
  return JsonKind::object;  // no word at all
}

}  // namespace

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    while (text.size() >= 8 && (eight_bytes(text.data()) & kHighBits) == 0) text.remove_prefix(8);
    if (text.empty()) break;
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string repair_utf8(std::string_view text) {
  std::string repaired;
  repaired.reserve(text.size() + 8);
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    repaired += length == 0 ? kReplacement : text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return repaired;
}

void JsonCursor::skip_blanks() noexcept {
  while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
}

bool JsonCursor::at_end() noexcept {
  skip_blanks();
  return at_ == text_.size();
}

bool JsonCursor::enter(char bracket) noexcept {
  skip_blanks();
  if (at_ == text_.size() || text_[at_] != bracket) return false;
  ++at_;
  first_ = true;
  return true;
}

bool JsonCursor::next_element(char bracket) noexcept {
  const char closing = bracket == '{' ? '}' : ']';
  const bool first = first_;
  first_ = false;
  bool comma = false;
  while (ok_) {
    skip_blanks();
    if (at_ == text_.size()) {
      fail();
    } else if (text_[at_] == ',') {
      repaired_ = repaired_ || comma || first;
      comma = true;
      ++at_;
    } else if (text_[at_] == closing) {
      repaired_ = repaired_ || comma;
      ++at_;
      return false;
    } else {
      repaired_ = repaired_ || !(comma || first);
      return true;
    }
  }
  return false;
}

std::string_view JsonCursor::key() {
  skip_blanks();
  if (at_ == text_.size() || text_[at_] != '"') {
    fail();
    return {};
  }
  const std::string_view text = string();
  skip_blanks();
  if (at_ == text_.size() || text_[at_] != ':') {
    fail();
    return {};
  }
  ++at_;
  return text;
}

JsonField JsonCursor::value() {
  JsonField field;
  skip_blanks();
  if (at_ == text_.size()) {
    fail();
    return field;
  }
  const char c = text_[at_];
  const std::size_t begin = at_;
  if (c == '"') {
    field.kind = JsonKind::string;
    field.text = string();
  } else if (c == '{' || c == '[') {
    field.kind = c == '{' ? JsonKind::object : JsonKind::array;
    std::size_t depth = 0;
    for (; at_ < text_.size() && ok_; ++at_) {
      const char here = text_[at_];
      if (here == '"') {
        (void)raw_string();
        --at_;
      } else if (here == '{' || here == '[') {
        ++depth;
      } else if ((here == '}' || here == ']') && --depth == 0) {
        ++at_;
        field.text = text_.substr(begin, at_ - begin);
        return field;
      }
    }
    fail();
  } else {
    while (at_ < text_.size() && !is_blank(text_[at_]) && text_[at_] != ',' && text_[at_] != '}' && text_[at_] != ']') {
      ++at_;
    }
    field.text = text_.substr(begin, at_ - begin);
    field.kind = kind_of_word(field.text);
    if (field.kind == JsonKind::object) fail();
  }
  return field;
}

// Between its quotes, as it is written.
std::string_view JsonCursor::raw_string() {
  const std::size_t begin = ++at_;
  for (;;) {
    for (std::size_t plain = 8; plain == 8 && at_ + 8 <= text_.size(); at_ += plain) {
      plain = count_plain(eight_bytes(text_.data() + at_));
    }
    if (at_ >= text_.size()) {
      at_ = text_.size();
      fail();
      return {};
    }
    const auto byte = static_cast<unsigned char>(text_[at_]);
    if (byte == '"') return text_.substr(begin, at_++ - begin);
    repaired_ = repaired_ || byte < 0x20;
    at_ += byte == '\\' ? 2 : 1;
  }
}

std::string_view JsonCursor::string() {
  const std::string_view raw = raw_string();
  return raw.find('\\') == std::string_view::npos ? raw : unescape(raw);
}

std::string_view JsonCursor::unescape(std::string_view raw) {
  std::string& text = retained_.emplace_back();
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\' || i + 1 == raw.size()) {
      text += raw[i];
      continue;
    }
    static constexpr std::string_view kLetters = "\"\\/bfnrt";
    static constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const char letter = raw[++i];
    if (const std::size_t index = kLetters.find(letter); index != std::string_view::npos) {
      text += kMeanings[index];
      continue;
    }
    std::uint32_t code = letter == 'u' ? four_digits(raw.substr(i + 1)) : 0x10000;
    if (code > 0xffff) {  // an unknown escape stays as it is written
      repaired_ = true;
      text += '\\';
      text += letter;
      continue;
    }
    i += 4;
    if (code >= 0xd800 && code < 0xdc00 && raw.substr(i + 1, 2) == "\\u") {
      const std::uint32_t low = four_digits(raw.substr(i + 3));
      if (low >= 0xdc00 && low < 0xe000) {
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        i += 6;
      }
    }
    if (code >= 0xd800 && code < 0xe000) {
      repaired_ = true;
      code = 0xfffd;
    }
    append_code_point(text, code);
  }
  return text;
}

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

void append_json_value(std::string& out, const JsonField& field) {
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

void append_json(std::string& out, const JsonField& field) {
  append_json_quoted(out, field.key);
  out += ':';
  append_json_value(out, field);
}

}  // namespace accelscope::capture::json
