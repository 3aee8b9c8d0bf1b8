#include "capture/sources/line_blocks.h"

#include <algorithm>
#include <span>

namespace accelscope::capture {

std::size_t LineBlocks::fill(std::vector<char>& buffer, std::size_t size) {
  while (size < buffer.size() && !ended_) {
    const Result<std::size_t> count = source_->read(std::span(buffer).subspan(size));
    if (!count) failure_ = count.message();
    ended_ = !count || count.value() == 0;
    if (!ended_) size += count.value();
  }
  return size;
}

std::string_view LineBlocks::next(std::vector<char>& buffer) {
  buffer.resize(kBlockBytes);
  for (;;) {
    std::copy(carried_.begin(), carried_.end(), buffer.begin());
    const std::size_t size = fill(buffer, carried_.size());
    carried_.clear();
    std::string_view text(buffer.data(), size);
    if (in_long_line_) {
      const std::size_t end = text.find('\n');
      in_long_line_ = end == std::string_view::npos && !ended_;
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    if (ended_) return text;
    const std::size_t last_end = text.rfind('\n');
    if (last_end != std::string_view::npos) {
      carried_ = text.substr(last_end + 1);
      return text.substr(0, last_end + 1);
    }
    if (text.size() == kBlockBytes) {
      ++long_lines_;
      in_long_line_ = true;
    } else {
      carried_ = text;
    }
  }
}

}  // namespace accelscope::capture
