// Cuts a text file into blocks of whole lines. Lines that do not fit a block are left out and counted.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "capture/json/byte_source.h"

namespace accelscope::capture {

class LineBlocks {
 public:
  static constexpr std::size_t kBlockBytes = 512U << 10;

  explicit LineBlocks(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

  // The next block, in the buffer's first bytes: whole lines, but for the last of the file, which may lack its end.
  // Empty at the end of the file.
  [[nodiscard]] std::string_view next(std::vector<char>& buffer);

  [[nodiscard]] std::uint64_t file_bytes() const { return source_->file_bytes(); }
  [[nodiscard]] std::uint64_t file_bytes_read() const { return source_->file_bytes_read(); }
  // Once next() was empty.
  [[nodiscard]] std::uint64_t long_lines() const noexcept { return long_lines_; }
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }  // why the file ends early; or ""

 private:
  [[nodiscard]] std::size_t fill(std::vector<char>& buffer, std::size_t size);

  std::unique_ptr<ByteSource> source_;
  std::string carried_;  // the begin of the next block's first line
  std::uint64_t long_lines_ = 0;
  bool in_long_line_ = false;
  bool ended_ = false;
  std::string failure_;
};

}  // namespace accelscope::capture
