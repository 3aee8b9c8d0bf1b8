#include "capture/sources/tracy/read/trace_reader.h"

#include <algorithm>

namespace accelscope::capture::sources::tracy {

bool TraceReader::gather(std::size_t bytes) {
  if (ended_) return false;
  while (static_cast<std::size_t>(end_ - at_) < bytes) {
    // The next block takes the place of the one at hand.
    rest_.assign(at_, end_);
    const std::span<const char> block = blocks_.next();
    if (!block.empty()) unpacked_ += block.size();
    if (rest_.empty()) {
      at_ = block.data();
      end_ = at_ + block.size();
    } else {
      rest_.insert(rest_.end(), block.begin(), block.end());
      joined_.swap(rest_);
      at_ = joined_.data();
      end_ = at_ + joined_.size();
    }
    if (block.empty()) return false;
  }
  return true;
}

bool TraceReader::refill(std::size_t bytes) {
  if (gather(bytes)) return true;
  at_ = end_;
  ended_ = true;
  return false;
}

void TraceReader::skip(std::uint64_t bytes) {
  while (bytes > 0 && !ended_) {
    if (at_ == end_ && !refill(1)) return;
    const auto part = std::min<std::uint64_t>(bytes, static_cast<std::uint64_t>(end_ - at_));
    at_ += part;
    bytes -= part;
  }
}

void TraceReader::skip(std::uint64_t count, std::uint64_t each) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 60;
  skip(count > kMost / each ? kMost : count * each);
}

void TraceReader::append(std::uint64_t bytes, std::vector<char>& out) {
  while (bytes > 0 && !ended_) {
    if (at_ == end_ && !refill(1)) return;
    const auto part = std::min<std::uint64_t>(bytes, static_cast<std::uint64_t>(end_ - at_));
    out.insert(out.end(), at_, at_ + part);
    at_ += part;
    bytes -= part;
  }
}

std::string TraceReader::text(std::uint64_t bytes, std::size_t most) {
  std::vector<char> kept;
  append(std::min<std::uint64_t>(bytes, most), kept);
  if (bytes > most) skip(bytes - most);
  return {kept.begin(), kept.end()};
}

void TraceReader::give_up(std::string why) {
  if (!ended_) gave_up_ = std::move(why);
  at_ = end_;
  ended_ = true;
}

bool TraceReader::at_end() { return ended_ || peek(1) == nullptr; }

}  // namespace accelscope::capture::sources::tracy
