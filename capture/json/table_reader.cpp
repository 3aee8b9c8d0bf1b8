#include "capture/json/table_reader.h"

#include <algorithm>
#include <cstring>

#include "capture/json/balanced_scan.h"
#include "core/base/text.h"

namespace accelscope::capture::json {
namespace {

constexpr std::size_t kReadBytes = 1U << 20;
constexpr std::size_t kLeastHoleBytes = 8;  // fewer zeros in a row are characters that do not belong there

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
  buffer_.resize(options_.first_buffer_bytes + kScanPadding);
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
  if (zero_at_ == kNoZero) find_zero(end_ - got);
  filled_ = got == room;
  std::fill_n(buffer_.begin() + static_cast<std::ptrdiff_t>(end_), kScanPadding, ' ');
  return got > 0;
}

JsonTableReader::Step JsonTableReader::step(JsonWindow& window) {
  if (place_ != Place::skipping) skip_blanks();
  if (begin_ == end_) return Step::need_more;
  const char c = buffer_[begin_];
  if (c == 0 && (place_ == Place::key || place_ == Place::colon)) {
    if (end_ - begin_ < kLeastHoleBytes && !source_ended_) return Step::need_more;
    if (is_cut_by_hole(1)) return Step::advanced;
  }
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
    case Place::hole:
      return step_hole();
    case Place::after:
      if (options_.further_documents && c == '{') {
        ++begin_;
        place_ = Place::key;
        return Step::advanced;
      }
      [[fallthrough]];
    case Place::finished:
      problem(JsonProblem::Kind::trailing_bytes, end_ - begin_, offset());
      begin_ = end_;
      return Step::advanced;
  }
  return Step::advanced;
}

JsonTableReader::Step JsonTableReader::step_document() {
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
    if (opened_ == 0 && hole_table_) return end_after_hole();
    ++begin_;
    if (opened_ == 0) {
      place_ = Place::after;
    } else {
      --opened_;
    }
  } else if (c == '"') {
    const std::size_t length = scan_string(buffer_.data() + begin_, end_ - begin_);
    if (zero_at_ != kNoZero && is_cut_by_hole(length)) return Step::advanced;
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
  if (c == '{' && !options_.opened_table.empty() && table_ == options_.opened_table && opened_ < options_.max_depth) {
    ++begin_;
    ++opened_;
    place_ = Place::key;
    return Step::advanced;
  }
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
  if (zero_at_ != kNoZero && is_cut_by_hole(length)) return Step::advanced;
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
      if (hole_table_ && top_is_array_) return end_after_hole();
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
      if (zero_at_ != kNoZero && is_cut_by_hole(length)) return Step::advanced;
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

void JsonTableReader::find_zero(std::size_t from) noexcept {
  const void* const found = std::memchr(buffer_.data() + from, 0, end_ - from);
  zero_at_ = found == nullptr
                 ? kNoZero
                 : buffer_offset_ + static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data());
}

// Whether the value at begin_, of so many bytes or, if 0, still open at end_, has a part of the file in it that was
// never written. If so, what is left is looked for behind it: quotes and brackets of the two halves do not match.
bool JsonTableReader::is_cut_by_hole(std::size_t length) {
  while (zero_at_ != kNoZero) {
    const std::size_t zero = zero_at_ < offset() ? begin_ : static_cast<std::size_t>(zero_at_ - buffer_offset_);
    if (length != 0 && zero >= begin_ + length) return false;
    std::size_t after = zero;
    while (after < end_ && buffer_[after] == 0) ++after;
    if (after - zero >= kLeastHoleBytes) {
      if (!hole_table_ || place_ != Place::key) hole_table_ = table_;
      hole_in_value_ = place_ == Place::value;
      begin_ = zero;
      place_ = Place::hole;
      return true;
    }
    if (after == end_ && !source_ended_) return false;  // more of them may come
    find_zero(after);
  }
  return false;
}

void JsonTableReader::pass_hole(std::size_t to) {
  const auto zeros = std::count(buffer_.data() + begin_, buffer_.data() + to, '\0');
  if (zeros > 0) problem(JsonProblem::Kind::hole, static_cast<std::uint64_t>(zeros), offset());
  begin_ = to;
  if (zero_at_ != kNoZero && zero_at_ < offset()) find_zero(begin_);
}

// The bracket at begin_ ends the document, unless what was taken for a row or a table behind a hole was a part of a
// row: then that row ends here, and the next one is looked for.
JsonTableReader::Step JsonTableReader::end_after_hole() {
  std::size_t next = begin_ + 1;
  while (next < end_ && is_blank(buffer_[next])) ++next;
  if (next == end_ && !source_ended_) return Step::need_more;
  if (next == end_) {
    begin_ = end_;
    place_ = Place::after;
  } else {
    table_ = *hole_table_;
    place_ = Place::hole;
  }
  return Step::advanced;
}

// To the next row, `}, {"key":`, or the next table, `], "key":` or `}, "key": [{`. Parts of a row can look like both:
// see end_after_hole().
JsonTableReader::Step JsonTableReader::step_hole() {
  const auto blanks_end = [this](std::size_t at) {
    while (at < end_ && is_blank(buffer_[at])) ++at;
    return at;
  };
  const auto is_at = [this](std::size_t at, char c) { return at < end_ && buffer_[at] == c; };
  const auto colon_of = [&](std::size_t at) {  // of a key; end_: there is none
    const std::size_t length = is_at(at, '"') ? scan_string(buffer_.data() + at, end_ - at) : 0;
    const std::size_t colon = blanks_end(at + length);
    return length > 0 && is_at(colon, ':') ? colon : end_;
  };
  const auto is_at_key = [&](std::size_t at) { return colon_of(at) < end_; };
  for (std::size_t at = begin_; at < end_; ++at) {
    if (buffer_[at] != '}' && buffer_[at] != ']') continue;
    const std::size_t comma = blanks_end(at + 1);
    const std::size_t next = blanks_end(comma + 1);
    if (!is_at(comma, ',')) continue;
    const bool row = buffer_[at] == '}' && is_at(next, '{') && is_at_key(blanks_end(next + 1));
    if (!row && (top_is_array_ || !is_at_key(next))) continue;
    if (!row && buffer_[at] == '}') {
      const std::size_t list = blanks_end(colon_of(next) + 1);
      if (!is_at(list, '[') || !is_at(blanks_end(list + 1), '{')) continue;
    }
    pass_hole(next);
    place_ = row ? Place::rows : Place::key;
    return Step::advanced;
  }
  constexpr std::size_t kRetained = 256;  // what is looked for may go on in the next bytes
  pass_hole(std::max(begin_, end_ - std::min(end_, kRetained)));
  return Step::need_more;
}

// The end of the last row, "}]" or "}]}", after a hole.
bool JsonTableReader::ends_document(std::size_t at) const noexcept {
  std::string_view rest = trimmed({buffer_.data() + at, end_ - at});
  if (!top_is_array_) {
    if (!rest.ends_with('}')) return false;
    rest = trimmed(rest.substr(0, rest.size() - 1));
  }
  return rest.ends_with(']') || (hole_in_value_ && rest.ends_with('}'));
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
  const bool complete = place_ == Place::hole ? ends_document(begin_) : place_ == Place::after && begin_ == end_;
  const bool unclosed = place_ == Place::rows && top_is_array_ && begin_ == end_;
  if (place_ == Place::hole) pass_hole(end_);
  if (!complete && is_json_ && !failed_) {
    problem(unclosed ? JsonProblem::Kind::unclosed : JsonProblem::Kind::truncated, 1, buffer_offset_ + end_);
  }
  place_ = Place::finished;
}

}  // namespace accelscope::capture::json
