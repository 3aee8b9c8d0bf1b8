#include "capture/sources/rocm/results_json/flat_results.h"

#include <algorithm>
#include <cstring>

#include "core/base/text.h"

namespace accelscope::capture::sources::rocm {
namespace {

constexpr std::size_t kFlatBytes = 256U << 10;
constexpr std::size_t kLongestKey = 128;
constexpr std::string_view kRootKey = "rocprofiler-sdk-tool";

[[nodiscard]] bool holds_tables(std::string_view key) { return key == "callback_records" || key == "buffer_records"; }

}  // namespace

bool FlatResults::fill() {
  if (ended_) return false;
  bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(released_));
  scanned_ -= released_;
  key_at_ -= std::min(key_at_, released_);
  released_ = 0;
  const std::size_t before = bytes_.size();
  bytes_.resize(before + kFlatBytes);
  const Result<std::size_t> count = source_->read(std::span(bytes_).subspan(before));
  bytes_.resize(before + (count ? *count : 0));
  if (!count) failure_ = count;
  ended_ = !count || *count == 0;
  while (scanned_ < bytes_.size()) {
    take(bytes_[scanned_], scanned_);
    ++scanned_;
  }
  return true;
}

Result<std::size_t> FlatResults::read(std::span<char> out) {
  for (;;) {
    // A key may yet turn out to enclose tables.
    const bool after_key = await_ == Await::colon || (await_ == Await::value && levels_.back() != Level::list);
    const bool undecided = !ended_ && depth_ == 0 && !in_scalar_ && levels_.size() > 1 &&
                           (after_key || (in_string_ && await_ == Await::key)) && key_at_ >= released_ &&
                           scanned_ - key_at_ < kFlatBytes;
    const std::size_t ready = (undecided ? key_at_ : scanned_) - released_;
    if (ready > 0) {
      const std::size_t count = std::min(ready, out.size());
      std::memcpy(out.data(), bytes_.data() + released_, count);
      released_ += count;
      return count;
    }
    if (!fill()) {
      if (released_ < scanned_) {
        key_at_ = scanned_;
        await_ = Await::end;
        in_string_ = false;
        continue;
      }
      return failure_;
    }
  }
}

void FlatResults::blank(std::size_t from, std::size_t to) {
  for (std::size_t at = std::max(from, released_); at < to; ++at) {
    if (!is_blank(bytes_[at])) bytes_[at] = ' ';
  }
}

void FlatResults::take(char& character, std::size_t place) {
  if (in_string_) {
    if (escaped_) {
      escaped_ = false;
    } else if (character == '\\') {
      escaped_ = true;
    } else if (character == '"') {
      in_string_ = false;
      if (depth_ == 0 && await_ == Await::key) await_ = Await::colon;
      return;
    }
    if (depth_ == 0 && await_ == Await::key && key_.size() < kLongestKey) key_ += character;
    return;
  }
  if (depth_ > 0) {
    if (character == '"') {
      in_string_ = true;
    } else if (character == '{' || character == '[') {
      ++depth_;
    } else if (character == '}' || character == ']') {
      if (--depth_ == 0) await_ = Await::end;
    }
    return;
  }
  if (!is_blank(character)) take_structure(character, place);
}

void FlatResults::take_structure(char& character, std::size_t place) {
  const Level level = levels_.back();
  if (in_scalar_ && (character == ',' || character == '}' || character == ']')) {
    in_scalar_ = false;
    await_ = Await::end;
  }
  switch (character) {
    case ',':
      // One comma between two tables, whatever closed between them.
      if (level == Level::root || !any_since_comma_) character = ' ';
      any_since_comma_ = false;
      await_ = level == Level::list ? Await::value : Await::key;
      return;
    case '}':
    case ']':
      if (levels_.size() > 1) levels_.pop_back();
      if (levels_.back() != Level::outside) character = ' ';
      await_ = Await::end;
      return;
    case '"':
      if (await_ == Await::key) {
        key_.clear();
        key_at_ = place;
        in_string_ = true;
        return;
      }
      break;
    case ':':
      if (await_ == Await::colon) {
        await_ = Await::value;
        return;
      }
      break;
    default:
      break;
  }
  if (await_ == Await::value) begin_value(character, place);
}

void FlatResults::begin_value(char& character, std::size_t place) {
  const Level level = levels_.back();
  const bool object = character == '{';
  const bool list = character == '[';
  if (level == Level::outside && object) {
    levels_.push_back(Level::root);
    await_ = Await::key;
    return;
  }
  const bool encloses = (level == Level::root && list && key_ == kRootKey) || (level == Level::list && object) ||
                        (level == Level::process && object && holds_tables(key_));
  if (encloses) {
    if (level != Level::list) blank(key_at_, place);
    character = ' ';
    levels_.push_back(level == Level::root ? Level::list : level == Level::list ? Level::process : Level::records);
    await_ = list ? Await::value : Await::key;
    return;
  }
  any_since_comma_ = true;
  if (object || list) {
    depth_ = 1;
  } else if (character == '"') {
    in_string_ = true;
    in_scalar_ = true;
  } else {
    in_scalar_ = true;
  }
}

}  // namespace accelscope::capture::sources::rocm
