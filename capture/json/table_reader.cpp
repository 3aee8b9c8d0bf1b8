#include "capture/json/table_reader.h"

#include <algorithm>
#include <cstring>

#include "capture/json/balanced_scan.h"
#include "core/base/text.h"

namespace accelscope::capture {
namespace {

constexpr std::size_t kReadBytes = 1U << 20;
constexpr std::size_t kFirstBufferBytes = 64U << 10;  // most files are small; the buffer grows with what comes

[[nodiscard]] bool ends_scalar(char c) noexcept {
  return is_blank(c) || c == ',' || c == ']' || c == '}' || c == ':' || c == '"' || c == '{' || c == '[';
}

// A key's escapes are rare and only \" \\ \/ matter for telling tables apart; others stay as written.
[[nodiscard]] std::string unescaped_key(std::string_view text) {
  std::string key;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool plain_escape =
        text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\' || text[i + 1] == '/');
    if (plain_escape) ++i;
    key += text[i];
  }
  return key;
}

}  // namespace

JsonTableReader::JsonTableReader(std::unique_ptr<ByteSource> source, Options options)
    : source_(std::move(source)), options_(options) {
  buffer_.resize(kFirstBufferBytes + kScanPadding);
}

bool JsonTableReader::next(JsonWindow& window) {
  begin_window(window);
  while (place_ != Place::finished) {
    const Step result = step(window);
    if (result == Step::emit) {
      close_window(window);
      return true;
    }
    if (result == Step::advanced) continue;
    if (!window.rows.empty()) {  // give out what is complete; the rest stays in the buffer
      close_window(window);
      return true;
    }
    if (!fill()) report_end();
  }
  return false;
}

bool JsonTableReader::fill() {
  if (source_ended_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    buffer_offset_ += begin_;
    end_ -= begin_;
    begin_ = 0;
  }
  // The buffer grows up to a window's size while the file fills it, and beyond for a value that does not fit:
  // skip_oversize() sets the limit.
  const std::size_t full = options_.window_bytes + kReadBytes + kScanPadding;
  const bool cramped = buffer_.size() - end_ < std::min(kReadBytes, buffer_.size() / 2) + kScanPadding;
  if (cramped || (filled_ && buffer_.size() < full)) buffer_.resize(buffer_.size() * 2);
  const std::size_t room = buffer_.size() - kScanPadding - end_;
  std::size_t got = 0;
  while (got < room) {
    const Result<std::size_t> count = source_->read(std::span(buffer_).subspan(end_ + got, room - got));
    if (!count) {
      problem(JsonProblem::Kind::unreadable, 1, buffer_offset_ + end_ + got, count.message());
      failed_ = true;
    }
    if (!count || count.value() == 0) {
      source_ended_ = true;
      break;
    }
    got += count.value();
  }
  end_ += got;
  filled_ = got == room;
  std::fill_n(buffer_.begin() + static_cast<std::ptrdiff_t>(end_), kScanPadding, ' ');
  return got > 0;
}

JsonTableReader::Step JsonTableReader::step(JsonWindow& window) {
  if (place_ != Place::skipping) skip_blanks();
  if (begin_ == end_) return Step::need_more;
  const char c = buffer_[begin_];
  switch (place_) {
    case Place::document:
      return step_document();
    case Place::key:
      return step_key();
    case Place::colon:
      if (c == ':') {
        ++begin_;
      } else {
        skip_stray_byte(JsonProblem::Kind::stray_bytes);
        if (c == ',' || c == '}') place_ = Place::key;  // a key without a value
        return Step::advanced;
      }
      place_ = Place::value;
      return Step::advanced;
    case Place::value:
      return step_value(window);
    case Place::rows:
      return step_rows(window);
    case Place::skipping:
      return step_skipping();
    case Place::after:
    case Place::finished:
      problem(JsonProblem::Kind::trailing_bytes, end_ - begin_, offset());
      begin_ = end_;
      return Step::advanced;
  }
  return Step::advanced;
}

JsonTableReader::Step JsonTableReader::step_document() {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (offset() == 0 && end_ - begin_ < kByteOrderMark.size() && !source_ended_) return Step::need_more;
  if (offset() == 0 && std::string_view(buffer_.data() + begin_, end_ - begin_).starts_with(kByteOrderMark)) {
    begin_ += kByteOrderMark.size();
    return Step::advanced;
  }
  const char c = buffer_[begin_];
  if (c == '{') {
    place_ = Place::key;
  } else if (c == '[') {
    place_ = Place::rows;
    top_is_array_ = true;
    first_of_table_ = true;
  } else {
    problem(JsonProblem::Kind::stray_bytes, end_ - begin_, offset());
    place_ = Place::finished;
    return Step::advanced;
  }
  is_json_ = true;
  ++begin_;
  return Step::advanced;
}

JsonTableReader::Step JsonTableReader::step_key() {
  const char c = buffer_[begin_];
  if (c == ',') {
    ++begin_;
  } else if (c == '}') {
    ++begin_;
    place_ = Place::after;
  } else if (c == '"') {
    const std::size_t length = scan_string(buffer_.data() + begin_, end_ - begin_);
    if (length == 0) return skip_oversize() ? Step::advanced : Step::need_more;
    table_ = unescaped_key({buffer_.data() + begin_ + 1, length - 2});
    begin_ += length;
    place_ = Place::colon;
  } else {
    skip_stray_byte(JsonProblem::Kind::stray_bytes);
  }
  return Step::advanced;
}

JsonTableReader::Step JsonTableReader::step_value(JsonWindow& window) {
  const char c = buffer_[begin_];
  if (c == ',' || c == '}' || c == ']' || c == ':') {  // no value at all
    problem(JsonProblem::Kind::stray_bytes, 1, offset());
    if (c == ':' || c == ']') ++begin_;
    place_ = Place::key;
    return Step::advanced;
  }
  if (!window.rows.empty() || window.first_of_table) return Step::emit;
  window.table = table_;
  window.first_of_table = true;
  if (c == '[') {
    ++begin_;
    window.first_of_table = false;
    first_of_table_ = true;
    place_ = Place::rows;
    return Step::advanced;
  }
  std::uint32_t depth = 0;
  const std::size_t length = value_length(depth);
  if (length == 0) {
    window.first_of_table = false;
    return skip_oversize() ? Step::advanced : Step::need_more;
  }
  window.in_array = false;
  take_row(window, length, depth);
  place_ = Place::key;
  return Step::emit;
}

JsonTableReader::Step JsonTableReader::step_rows(JsonWindow& window) {
  if (window.rows.empty() && !window.first_of_table) {
    window.table = table_;
    window.first_of_table = first_of_table_;
    first_of_table_ = false;
  }
  while (begin_ < end_) {
    skip_blanks();
    if (begin_ == end_) break;
    const char c = buffer_[begin_];
    if (c == ',') {
      ++begin_;
    } else if (c == ']' || (c == '}' && !top_is_array_)) {
      // A brace here means that the array was never closed: the table ends and so does the document.
      if (c == '}') problem(JsonProblem::Kind::stray_bytes, 1, offset());
      ++begin_;
      place_ = top_is_array_ ? Place::after : Place::key;
      return Step::emit;
    } else if (c == ':' || c == '}') {
      skip_stray_byte(JsonProblem::Kind::stray_bytes);
    } else {
      std::uint32_t depth = 0;
      const std::size_t length = value_length(depth);
      if (length == 0) {
        if (!window.rows.empty()) return Step::emit;
        return skip_oversize() ? Step::advanced : Step::need_more;
      }
      take_row(window, length, depth);
      if (window.size >= options_.window_bytes) return Step::emit;
    }
  }
  return Step::need_more;
}

std::size_t JsonTableReader::value_length(std::uint32_t& depth) const noexcept {
  const char* const text = buffer_.data() + begin_;
  const std::size_t size = end_ - begin_;
  if (*text == '{' || *text == '[') {
    BalancedScan scan;
    const std::size_t length = scan_balanced(scan, text, size);
    depth = scan.max_depth;
    return length;
  }
  if (*text == '"') return scan_string(text, size);
  std::size_t length = 1;
  while (length < size && !ends_scalar(text[length])) ++length;
  return length == size && !source_ended_ ? 0 : length;
}

// A value that is still open after max_row_bytes is given up: its bytes are dropped as they come until it ends.
bool JsonTableReader::skip_oversize() {
  if (end_ - begin_ <= options_.max_row_bytes) return false;
  problem(JsonProblem::Kind::oversize_row, 1, offset());
  const char c = buffer_[begin_];
  if (c == '{' || c == '[') {
    after_skipping_ = place_ == Place::value ? Place::key : place_;
    skipped_ = {};
    place_ = Place::skipping;
  } else {
    begin_ = end_;
  }
  return true;
}

JsonTableReader::Step JsonTableReader::step_skipping() {
  const std::size_t length = scan_balanced(skipped_, buffer_.data() + begin_, end_ - begin_);
  if (length == 0) {
    begin_ = end_;
    return Step::need_more;
  }
  begin_ += length;
  place_ = after_skipping_;
  return Step::advanced;
}

void JsonTableReader::begin_window(JsonWindow& window) const {
  window.table.clear();
  window.in_array = true;
  window.first_of_table = false;
  window.rows.clear();
  window.size = 0;
  if (window.text.size() < 4096) window.text.resize(4096);
  window.text[window.size++] = '[';
}

void JsonTableReader::take_row(JsonWindow& window, std::size_t length, std::uint32_t depth) {
  if (depth > options_.max_depth) {
    problem(JsonProblem::Kind::deep_row, 1, offset());
    begin_ += length;
    return;
  }
  if (!window.rows.empty()) window.text[window.size++] = ',';
  const std::size_t needed = window.size + length + 2 + kScanPadding;
  if (window.text.size() < needed) window.text.resize(std::max(needed, window.text.size() * 2));
  std::memcpy(window.text.data() + window.size, buffer_.data() + begin_, length);
  window.rows.push_back(
      {static_cast<std::uint32_t>(window.size), static_cast<std::uint32_t>(window.size + length), offset()});
  window.size += length;
  begin_ += length;
}

void JsonTableReader::close_window(JsonWindow& window) const {
  window.text[window.size++] = ']';
  if (window.text.size() < window.size + kScanPadding) window.text.resize(window.size + kScanPadding);
  std::fill_n(window.text.begin() + static_cast<std::ptrdiff_t>(window.size), kScanPadding, ' ');
}

void JsonTableReader::skip_blanks() noexcept {
  while (begin_ < end_ && is_blank(buffer_[begin_])) ++begin_;
}

void JsonTableReader::skip_stray_byte(JsonProblem::Kind kind) {
  problem(kind, 1, offset());
  ++begin_;
}

void JsonTableReader::problem(JsonProblem::Kind kind, std::uint64_t count, std::uint64_t offset, std::string what) {
  for (auto known = problems_.rbegin(); known != problems_.rend(); ++known) {
    if (known->kind == kind && known->table == table_) {
      known->count += count;
      return;
    }
  }
  constexpr std::size_t kMaxProblems = 64;  // a hostile file may have a million tables
  if (problems_.size() < kMaxProblems) problems_.push_back({kind, table_, count, offset, std::move(what)});
}

void JsonTableReader::report_end() {
  const bool complete = place_ == Place::after && begin_ == end_;
  if (!complete && is_json_ && !failed_) problem(JsonProblem::Kind::truncated, 1, buffer_offset_ + end_);
  place_ = Place::finished;
}

}  // namespace accelscope::capture
