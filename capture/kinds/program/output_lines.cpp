#include "capture/kinds/program/output_lines.h"

#include <algorithm>

#include "core/base/text.h"

namespace accelscope::capture::kinds::program {
namespace {

constexpr char kEscape = '\x1b';
constexpr char kBell = '\a';
constexpr std::string_view kOutputLinesReplacement = "\uFFFD";
constexpr std::size_t kLongestSequence = 4;  // bytes of a UTF-8 character

[[nodiscard]] bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U; }

}  // namespace

bool OutputLines::add(char byte) {
  if (skip_escape(byte)) return false;
  if (byte == '\n') return true;
  if (byte == '\r') {
    returned_ = true;
    return false;
  }
  if (returned_) {
    returned_ = false;
    if (!text_.empty() || pieces_ > 0) ++rewrites_;
    text_.clear();
  }
  if (text_.size() >= kMaxPieceBytes) {
    if (!cut_) ++cut_lines_;
    cut_ = true;
    return true;
  }
  text_.push_back(byte);
  return false;
}

std::size_t OutputLines::plain_run(std::string_view bytes) const {
  if (escape_ != Escape::none || returned_) return 0;
  const std::size_t room = std::min(bytes.size(), kMaxPieceBytes - std::min(kMaxPieceBytes, text_.size()));
  std::size_t run = 0;
  while (run < room && bytes[run] != '\n' && bytes[run] != '\r' && bytes[run] != kEscape) ++run;
  return run;
}

// ESC [ ... letter, ESC ] ... BEL or ESC backslash, ESC and one more.
bool OutputLines::skip_escape(char byte) {
  switch (escape_) {
    case Escape::none:
      if (byte != kEscape) return false;
      escape_ = Escape::begun;
      return true;
    case Escape::begun:
      escape_ = byte == '[' ? Escape::sequence : byte == ']' ? Escape::command : Escape::none;
      break;
    case Escape::sequence:
      if (byte >= 0x40 && byte <= 0x7e) escape_ = Escape::none;
      break;
    case Escape::command:
      if (byte == kBell) escape_ = Escape::none;
      if (byte == kEscape) escape_ = Escape::command_end;
      break;
    case Escape::command_end:
      escape_ = Escape::none;
      break;
  }
  if (byte != '\n') return true;
  escape_ = Escape::none;  // a sequence that was cut off swallows no more than its line
  return false;
}

// A piece that is not the last one ends before a character whose rest is still to come.
std::size_t OutputLines::readable_bytes(bool whole_line) const {
  if (whole_line || text_.empty()) return text_.size();
  std::size_t begin = text_.size() - 1;
  while (begin > 0 && is_continuation(text_[begin]) && text_.size() - begin < kLongestSequence) --begin;
  const auto first = static_cast<unsigned char>(text_[begin]);
  const std::size_t wanted = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  const bool unfinished = wanted > text_.size() - begin && utf8_length(std::string_view(text_).substr(begin)) == 0;
  return unfinished ? begin : text_.size();
}

void OutputLines::make_shown(std::size_t bytes) {
  shown_.clear();
  const std::string_view text = std::string_view(text_).substr(0, bytes);
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text.substr(i));
    const bool control = length == 1 && static_cast<unsigned char>(text[i]) < 0x20 && text[i] != '\t';
    if (length == 0 || control) {
      shown_ += kOutputLinesReplacement;
      ++bad_bytes_;
      ++i;
    } else {
      shown_ += text.substr(i, length);
      i += length;
    }
  }
}

void OutputLines::begin_next(std::size_t given_bytes, bool line_ended) {
  if (!line_ended) {
    text_.erase(0, given_bytes);
    ++pieces_;
    return;
  }
  text_.clear();
  ++line_;
  pieces_ = 0;
  rewrites_ = 0;
  returned_ = false;
  cut_ = false;
}

}  // namespace accelscope::capture::kinds::program
