#include "core/export/report/report_text.h"

#include <array>
#include <cstdint>

#include "core/base/format.h"
#include "core/base/text.h"

namespace accelscope {
namespace {

constexpr std::string_view kUnknownCharacter = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view kNoWidth = "\xE2\x80\x8B";           // U+200B

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  // 0: no UTF-8
};

[[nodiscard]] Character character_at(std::string_view text, std::size_t at) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[at + i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || at + length > text.size()) return {};
  std::uint32_t code = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {};
    code = code << 6U | (byte(i) & 0x3FU);
  }
  constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kLeast[length] || code > 0x10FFFF || surrogate) return {};
  return {code, length};
}

[[nodiscard]] bool shown_as_it_is(std::uint32_t code) noexcept {
  if (code < 0x20 || (code >= 0x7F && code <= 0x9F)) return false;
  const bool turns = code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
                     (code >= 0x2066 && code <= 0x2069);
  const bool none = (code & 0xFFFEU) == 0xFFFEU || (code >= 0xFDD0 && code <= 0xFDEF);
  return !turns && !none && code != 0x2028 && code != 0x2029 && code != 0xFEFF;
}

[[nodiscard]] std::string_view entity(char c) noexcept {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

}  // namespace

std::string plain_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Character next = character_at(text, at);
    const std::size_t bytes = next.bytes == 0 ? 1 : next.bytes;
    if (next.bytes == 1 && (next.code == '\n' || next.code == '\t' || next.code == '\r')) {
      out += ' ';
    } else if (next.bytes == 0 || !shown_as_it_is(next.code)) {
      out += kUnknownCharacter;
    } else {
      out += text.substr(at, bytes);
    }
    at += bytes;
  }
  return out;
}

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : plain_text(text)) {
    const std::string_view written = entity(c);
    if (written.empty()) {
      out += c;
    } else {
      out += written;
    }
  }
  return out;
}

std::string script_json_text(std::string_view text) {
  std::string out;
  for (const char c : json_quote(plain_text(text))) {
    if (c == '<') {
      out += "\\u003c";
    } else if (c == '>') {
      out += "\\u003e";
    } else if (c == '&') {
      out += "\\u0026";
    } else {
      out += c;
    }
  }
  return out;
}

std::string markdown_text(std::string_view text) {
  constexpr std::string_view kMarkup = "\\`*_[]<>|~$&";
  const std::string plain = plain_text(text);
  std::string out;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const char c = plain[i];
    if (kMarkup.find(c) != std::string_view::npos) out += '\\';
    out += c;
    const bool first = i == 0 || plain[i - 1] == ' ';
    if (first && (c == '#' || c == '-' || c == '+')) out.insert(out.size() - 1, "\\");  // else a heading or a list
    const bool names = i + 1 < plain.size() && (c == '#' ? is_digit(plain[i + 1]) : plain[i + 1] != ' ');
    if ((c == '@' || c == '#') && names) out += kNoWidth;  // else "@name" writes to somebody, "#12" names an issue
  }
  return out;
}

}  // namespace accelscope
