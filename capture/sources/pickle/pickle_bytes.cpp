#include "capture/sources/pickle/pickle_bytes.h"

#include <algorithm>
#include <cstring>

namespace accelscope::capture::sources::pickle {
namespace {
constexpr std::size_t kPickleBufferBytes = 256U << 10;
}

bool PickleBytes::fill(std::size_t count) {
  if (at_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + at_, end_ - at_);
    begin_ += at_;
    end_ -= at_;
    at_ = 0;
  }
  while (end_ < count && !ended_) {
    // Grown by what really comes.
    if (end_ == buffer_.size()) buffer_.resize(std::max(kPickleBufferBytes, buffer_.size() * 2));
    const Result<std::size_t> got = source_.read({buffer_.data() + end_, buffer_.size() - end_});
    if (!got) failure_ = got.message();
    ended_ = !got || *got == 0;
    if (got) end_ += *got;
  }
  return end_ >= count;
}

std::optional<std::uint64_t> PickleBytes::number(std::size_t bytes) {
  const auto taken = take(bytes);
  if (!taken) return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    value |= std::uint64_t{static_cast<unsigned char>((*taken)[i])} << (8 * i);
  }
  return value;
}

}  // namespace accelscope::capture::sources::pickle
