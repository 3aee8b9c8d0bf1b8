#include "core/export/base/json_values.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <string_view>

#include "core/base/format.h"

namespace accelscope {
namespace {

constexpr std::size_t kMostQuotedTexts = 1U << 16;

template <typename Number>
void append_digits(std::string& out, Number value) {
  char digits[40];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

}  // namespace

void append_json_integer(std::string& out, std::int64_t value) { append_digits(out, value); }
void append_json_integer(std::string& out, std::uint64_t value) { append_digits(out, value); }

void append_json_real(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "null";
  } else if (std::isinf(value)) {
    out += value < 0 ? "-1e999" : "1e999";
  } else {
    const std::size_t before = out.size();
    append_digits(out, value);
    if (out.find_first_of(".e", before) == std::string::npos) out += ".0";
  }
}

void append_microseconds(std::string& out, std::int64_t ns) {
  std::uint64_t left = static_cast<std::uint64_t>(ns);
  if (ns < 0) {
    out += '-';
    left = 0 - left;
  }
  append_digits(out, left / 1000);
  const auto part = static_cast<unsigned>(left % 1000);
  if (part == 0) return;
  const char digits[] = {'.', static_cast<char>('0' + part / 100), static_cast<char>('0' + part / 10 % 10),
                         static_cast<char>('0' + part % 10)};
  std::string_view fraction(digits, sizeof digits);
  while (fraction.back() == '0') fraction.remove_suffix(1);
  out += fraction;
}

const std::string& JsonStrings::quoted(StringId id) {
  const auto known = quoted_.find(id);
  if (known != quoted_.end()) return known->second;
  if (quoted_.size() >= kMostQuotedTexts) quoted_.clear();
  std::string text;
  append_json_quoted(text, strings_.text(id));
  return quoted_.emplace(id, std::move(text)).first->second;
}

void append_json_value(std::string& out, ColumnType type, std::uint64_t value, JsonStrings& strings) {
  switch (type) {
    case ColumnType::int64:
      append_json_integer(out, static_cast<std::int64_t>(value));
      break;
    case ColumnType::uint64:
      append_json_integer(out, value);
      break;
    case ColumnType::float64:
      append_json_real(out, std::bit_cast<double>(value));
      break;
    case ColumnType::boolean:
      out += value != 0 ? "true" : "false";
      break;
    case ColumnType::string:
      out += strings.quoted(static_cast<StringId>(value));
      break;
    case ColumnType::text:
      break;
  }
}

}  // namespace accelscope
