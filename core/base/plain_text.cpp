#include "core/base/plain_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/base/utf8.h"

namespace accelscope {
namespace {

constexpr std::string_view kUnknownMark = "\xef\xbf\xbd";  // U+FFFD

bool is_plain_byte(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= 0x20 && byte < 0x7f) || c == '\n' || c == '\t';
}

// Of a well-formed sequence of two bytes or more.
std::uint32_t code_of(std::string_view letter) noexcept {
  std::uint32_t code = static_cast<unsigned char>(letter.front()) & (0x7fU >> letter.size());
  for (const char c : letter.substr(1)) code = code << 6U | (static_cast<unsigned char>(c) & 0x3fU);
  return code;
}

bool shown_as_it_is(std::uint32_t code) noexcept {
  if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) return false;
  const bool turns = code == 0x061c || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
                     (code >= 0x2066 && code <= 0x2069);
  const bool none = (code & 0xfffeU) == 0xfffeU || (code >= 0xfdd0 && code <= 0xfdef);
  return !turns && !none && code != 0x2028 && code != 0x2029 && code != 0xfeff;
}

// Appends what can be shown of the text; the number of its bytes that were read. With `more`, those of a character
// that may go on in the next piece are left.
std::size_t append_plain(std::string& out, std::string_view text, bool more) {
  constexpr std::size_t kLongestLetter = 4;
  std::size_t at = 0;
  while (at < text.size()) {
    const auto* const stop =
        std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), is_plain_byte);
    const auto plain = static_cast<std::size_t>(stop - text.begin()) - at;
    out.append(text.substr(at, plain));
    at += plain;
    if (at == text.size()) break;
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      out += kUnknownMark;
      ++at;
      continue;
    }
    const std::size_t length = utf8_length(text.substr(at));
    const bool begins_letter = static_cast<unsigned char>(text[at]) >= 0xc2;
    if (length == 0 && more && begins_letter && text.size() - at < kLongestLetter) {
      // Only where what is there so far could be the beginning of one.
      const std::string_view rest = text.substr(at + 1);
      if (std::all_of(rest.begin(), rest.end(),
                      [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }))
        return at;
    }
    const std::string_view letter = text.substr(at, length);
    out += length != 0 && shown_as_it_is(code_of(letter)) ? letter : kUnknownMark;
    at += std::max<std::size_t>(length, 1);
  }
  return at;
}

}  // namespace

std::string plain_lines(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  (void)append_plain(out, text, false);
  return out;
}

std::string plain_text(std::string_view text) {
  std::string line(text);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return plain_lines(line);
}

PlainTextBuffer::~PlainTextBuffer() {
  if (!begun_.empty()) target_ << kUnknownMark;
}

PlainTextBuffer::int_type PlainTextBuffer::overflow(int_type character) {
  if (traits_type::eq_int_type(character, traits_type::eof())) return traits_type::not_eof(character);
  const char c = traits_type::to_char_type(character);
  return xsputn(&c, 1) == 1 ? character : traits_type::eof();
}

std::streamsize PlainTextBuffer::xsputn(const char* text, std::streamsize count) {
  std::string_view piece(text, static_cast<std::size_t>(count));
  if (begun_.empty() && std::all_of(piece.begin(), piece.end(), is_plain_byte)) {
    target_ << piece;
    return target_.good() ? count : 0;
  }
  std::string joined;
  if (!begun_.empty()) {
    joined = begun_ + std::string(piece);
    piece = joined;
  }
  std::string out;
  out.reserve(piece.size());
  const std::size_t read = append_plain(out, piece, true);
  begun_ = std::string(piece.substr(read));
  target_ << out;
  return target_.good() ? count : 0;
}

int PlainTextBuffer::sync() {
  target_.flush();
  return target_.good() ? 0 : -1;
}

std::ostream& exact_stream(std::ostream& stream) {
  auto* const plain = dynamic_cast<PlainTextBuffer*>(stream.rdbuf());
  return plain != nullptr ? plain->target() : stream;
}

}  // namespace accelscope
