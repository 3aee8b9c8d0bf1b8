// Whole lines out of pieces that are cut anywhere, without copying those that lie in one piece. Lines beyond half a MiB
// are left out and counted, as the importer does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "capture/sources/base/line_blocks.h"

namespace accelscope::capture::sources::tt_metal {

class CutLines {
 public:
  // take(lines): one or more whole lines with their ends.
  template <typename Take>
  void feed(std::string_view bytes, Take take) {
    const std::size_t end = bytes.rfind('\n');
    if (end == std::string_view::npos) {
      if (!in_long_line_) carried_ += bytes;
    } else {
      std::size_t begin = 0;
      if (in_long_line_ || !carried_.empty()) {
        begin = bytes.find('\n') + 1;
        const std::string line = std::exchange(carried_, {}).append(bytes.substr(0, begin));
        if (!std::exchange(in_long_line_, false)) take(std::string_view(line));
      }
      if (begin <= end) take(bytes.substr(begin, end + 1 - begin));
      carried_ = bytes.substr(end + 1);
    }
    if (carried_.size() < LineBlocks::kBlockBytes) return;
    ++long_lines_;
    in_long_line_ = true;
    carried_.clear();
  }
  // The begin of a line whose end has not come; forgets it.
  [[nodiscard]] std::string take_rest() {
    in_long_line_ = false;
    return std::exchange(carried_, {});
  }
  [[nodiscard]] bool in_a_line() const noexcept { return !carried_.empty(); }
  [[nodiscard]] std::uint64_t take_long_lines() noexcept { return std::exchange(long_lines_, 0); }

 private:
  std::string carried_;
  bool in_long_line_ = false;
  std::uint64_t long_lines_ = 0;
};

}  // namespace accelscope::capture::sources::tt_metal
