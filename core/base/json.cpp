#include "core/base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "core/base/text.h"

namespace accelscope {
namespace {

template <typename... Number>
void append_digits(std::string& out, Number... value) {
  char digits[40];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value...).ptr);
}

}  // namespace

void append_json_quoted(std::string& out, std::string_view text) {
  out += '"';
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
  const auto plain = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_plain) - text.begin());
  out += text.substr(0, plain);
  for (std::size_t i = plain; i < text.size();) {
    const char c = text[i];
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
      ++i;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      constexpr std::string_view kNamed = "\b\t\n\f\r";
      constexpr std::string_view kLetters = "btnfr";
      const std::size_t named = kNamed.find(c);
      out += named == std::string_view::npos ? fmt::format("\\u{:04x}", c) : fmt::format("\\{}", kLetters[named]);
      ++i;
    } else if (const std::size_t length = utf8_length(text.substr(i)); length != 0) {
      out += text.substr(i, length);
      i += length;
    } else {
      out += "\uFFFD";
      ++i;
    }
  }
  out += '"';
}

std::string json_quote(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  append_json_quoted(out, text);
  return out;
}

void append_json_integer(std::string& out, std::int64_t value) { append_digits(out, value); }
void append_json_integer(std::string& out, std::uint64_t value) { append_digits(out, value); }

void append_json_number(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  constexpr double kLeastPlain = 1e-4, kMostPlain = 1e16;  // without an exponent between these
  const double size = std::abs(value);
  const bool plain = size == 0 || (size >= kLeastPlain && size < kMostPlain);
  append_digits(out, value, plain ? std::chars_format::fixed : std::chars_format::scientific);
}

std::string json_number(double value) {
  std::string out;
  append_json_number(out, value);
  return out;
}

void append_json_real(std::string& out, double value) {
  if (std::isinf(value)) {
    out += value < 0 ? "-1e999" : "1e999";
    return;
  }
  const std::size_t before = out.size();
  append_json_number(out, value);
  if (std::isfinite(value) && out.find_first_of(".e", before) == std::string::npos) out += ".0";
}

void JsonWriter::separate() {
  if (std::exchange(named_, false) || open_.empty()) return;
  if (!first_) text_ += ',';
  if (breaks()) {
    text_ += '\n';
    text_.append(open_.size() - 1, ' ');
  } else if (!first_ && layout_ != JsonLayout::compact) {
    text_ += ' ';
  }
  first_ = false;
}

bool JsonWriter::breaks() const noexcept {
  return open_.size() == 1 ? layout_ >= JsonLayout::rows : open_.size() == 2 && layout_ == JsonLayout::sections;
}

JsonWriter& JsonWriter::begin(char bracket) {
  separate();
  text_ += bracket;
  open_ += bracket == '{' ? '}' : ']';
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::end() {
  if (breaks() && !first_) text_ += '\n';
  text_ += open_.back();
  open_.pop_back();
  first_ = false;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  append_json_quoted(text_, name);
  text_ += layout_ == JsonLayout::compact ? ":" : ": ";
  named_ = true;
  return *this;
}

struct JsonWriter::Append {
  std::string& out;
  void operator()(std::monostate) const { out += "null"; }
  void operator()(bool value) const { out += value ? "true" : "false"; }
  void operator()(std::int64_t value) const { append_json_integer(out, value); }
  void operator()(std::uint64_t value) const { append_json_integer(out, value); }
  void operator()(double value) const { append_json_number(out, value); }
  void operator()(JsonValue::Real value) const { append_json_real(out, value.number); }
  void operator()(std::string_view text) const { append_json_quoted(out, text); }
  void operator()(JsonValue::Raw value) const { out += value.json; }
  void operator()(const std::vector<std::string>*) const {}
};

JsonWriter& JsonWriter::value(const JsonValue& value) {
  if (const auto* texts = std::get_if<const std::vector<std::string>*>(&value.value_))
    return array(**texts, [this](const std::string& each) { this->value(each); });
  separate();
  std::visit(Append{text_}, value.value_);
  return *this;
}

JsonWriter& JsonWriter::add_list(std::initializer_list<JsonValue> keys_and_values) {
  for (const JsonValue* each = keys_and_values.begin(); each != keys_and_values.end(); each += 2)
    key(std::get<std::string_view>(each->value_)).value(each[1]);
  return *this;
}

JsonWriter& JsonWriter::add_text(std::string_view name, std::string_view text) {
  return text.empty() ? *this : add(name, text);
}

std::string JsonWriter::take() { return std::exchange(text_, {}); }

std::string JsonWriter::done() {
  while (!open_.empty()) end();
  return take();
}

}  // namespace accelscope
