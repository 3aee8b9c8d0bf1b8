#include "core/export/report/report_text.h"

#include "core/base/format.h"
#include "core/base/text.h"

namespace accelscope {
namespace {

constexpr std::string_view kNoWidth = "\xE2\x80\x8B";  // U+200B

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
