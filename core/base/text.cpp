#include "core/base/text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace accelscope {

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = lower_case(c);
  return result;
}

std::string upper_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return result;
}

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string file_name(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

std::string with_blanks(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::string capitalised(std::string text) {
  text.replace(0, 1, upper_case(text.substr(0, 1)));
  return text;
}

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
  std::string all;
  for (const std::string& part : parts) {
    if (&part != &parts.front()) all += between;
    all += part;
  }
  return all;
}

bool matches_words(std::string_view text, std::string_view words) {
  const std::string haystack = lower_case(text);
  const std::string needles = lower_case(words);
  std::size_t at = 0;
  while (at < needles.size()) {
    const std::size_t begin = needles.find_first_not_of(' ', at);
    if (begin == std::string::npos) break;
    const std::size_t end = std::min(needles.find(' ', begin), needles.size());
    if (haystack.find(needles.substr(begin, end - begin)) == std::string::npos) return false;
    at = end;
  }
  return true;
}

int match_score(std::string_view text, std::string_view words) {
  if (!matches_words(text, words)) return 0;
  const std::string haystack = lower_case(text);
  const std::string needle = lower_case(words);
  if (needle.empty()) return 1;
  const std::size_t found = haystack.find(needle);
  if (found == 0) return 4;
  if (found != std::string::npos && haystack[found - 1] == ' ') return 3;
  return found != std::string::npos ? 2 : 1;
}

Result<std::vector<std::string>> names_of_list(std::string_view list) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= list.size(); ++at) {
    std::string name;
    while (at < list.size() && list[at] == ' ') ++at;
    if (at < list.size() && list[at] == '"') {
      for (++at; at < list.size() && (list[at] != '"' || list.substr(at).starts_with("\"\"")); ++at) {
        name += list[at];
        if (list[at] == '"') ++at;
      }
      if (at >= list.size()) return Error{"the quote in " + std::string(list) + " has no end; add a closing \""};
      for (++at; at < list.size() && list[at] == ' ';) ++at;
      if (at < list.size() && list[at] != ',')
        return Error{"after the closing quote in " + std::string(list) + " only a comma may follow"};
    } else {
      const std::size_t end = std::min(list.find(',', at), list.size());
      name = trimmed(list.substr(at, end - at));
      at = end;
    }
    if (!name.empty()) names.push_back(std::move(name));
  }
  return names;
}

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

std::size_t utf8_length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto continues = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xc0U) == 0x80U; };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return continues(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    if (!continues(1) || !continues(2)) return 0;
    if (first == 0xe0 && byte(1) < 0xa0) return 0;  // could be written in fewer bytes
    if (first == 0xed && byte(1) > 0x9f) return 0;  // half of a surrogate pair
    return 3;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    if (!continues(1) || !continues(2) || !continues(3)) return 0;
    if (first == 0xf0 && byte(1) < 0x90) return 0;
    if (first == 0xf4 && byte(1) > 0x8f) return 0;  // beyond U+10FFFF
    return 4;
  }
  return 0;
}

bool is_well_formed_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    std::size_t plain = 0;
    while (plain < text.size() && static_cast<unsigned char>(text[plain]) < 0x80) ++plain;
    text.remove_prefix(plain);
    if (text.empty()) return true;
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string repaired_utf8(std::string_view text) {
  std::string repaired;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    repaired += length == 0 ? std::string_view("\xef\xbf\xbd") : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return repaired;
}

namespace {

[[nodiscard]] std::string_view leading_digits(std::string_view text) noexcept {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  return text.substr(0, count);
}

[[nodiscard]] std::string_view without_zeros(std::string_view digits) noexcept {
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  return digits;
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) noexcept {
  while (!a.empty() && !b.empty()) {
    const std::string_view a_digits = leading_digits(a);
    const std::string_view b_digits = leading_digits(b);
    if (!a_digits.empty() && !b_digits.empty()) {
      const std::string_view a_number = without_zeros(a_digits);
      const std::string_view b_number = without_zeros(b_digits);
      if (a_number.size() != b_number.size()) return a_number.size() < b_number.size();
      if (a_number != b_number) return a_number < b_number;
      a.remove_prefix(a_digits.size());
      b.remove_prefix(b_digits.size());
      continue;
    }
    if (a.front() != b.front()) return a.front() < b.front();
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  return a.size() < b.size();
}

namespace {

constexpr std::size_t kNotSimilar = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kLongest = 64;  // longer names are not compared letter by letter
constexpr std::size_t kShortestPart = 3;

// Letters to insert, remove, replace or exchange with their neighbour to make one of the other.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (exchanged) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

// Smaller is more similar.
std::size_t distance(std::string_view wanted, std::string_view name) {
  if (wanted == name) return 0;
  if (wanted.empty() || wanted.size() > kLongest || name.size() > kLongest) return kNotSimilar;
  const std::size_t changes = edits(wanted, name);
  if (changes <= std::max<std::size_t>(1, std::min(wanted.size(), name.size()) / 3)) return changes;
  const bool part = wanted.size() >= kShortestPart && name.size() >= kShortestPart;
  if (part && (name.starts_with(wanted) || name.ends_with(wanted) || wanted.starts_with(name))) return 10 + changes;
  const std::string_view word = name.substr(0, name.find('_'));  // dur of dur_ns
  if (part && word.size() >= kShortestPart && wanted.starts_with(word)) return 20 + changes;
  return kNotSimilar;
}

}  // namespace

std::string nearest_name(std::string_view wanted, std::span<const std::string> names) {
  const std::string sought = lower_case(wanted);
  std::string nearest;
  std::size_t best = kNotSimilar;
  for (const std::string& name : names) {
    const std::size_t candidate = distance(sought, lower_case(name));
    if (candidate >= best) continue;
    best = candidate;
    nearest = name;
  }
  return nearest;
}

}  // namespace accelscope
