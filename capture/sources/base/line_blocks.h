// Cuts a text file into blocks of whole lines. Lines that do not fit a block are left out and counted, and so are those
// with bytes of zero: a part of the file that never reached the disk, with the ends of two rows and any number between.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/json/byte_source.h"
#include "core/chunk/event_sink.h"
#include "core/model/time_range.h"

namespace accelscope::capture::sources {

class LineBlocks {
 public:
  static constexpr std::size_t kBlockBytes = 512U << 10;

  explicit LineBlocks(std::unique_ptr<json::ByteSource> source) : source_(std::move(source)) {}

  // The next block, in the buffer: whole lines, but for the last of the file, which may lack its end.
  // Empty at the end of the file.
  [[nodiscard]] std::string_view next(std::vector<char>& buffer);

  [[nodiscard]] std::uint64_t file_bytes() const { return source_->file_bytes(); }
  [[nodiscard]] std::uint64_t file_bytes_read() const { return source_->file_bytes_read(); }
  // Once next() was empty.
  [[nodiscard]] std::uint64_t long_lines() const noexcept { return long_lines_; }
  [[nodiscard]] std::uint64_t hole_bytes() const noexcept { return hole_bytes_; }
  [[nodiscard]] std::uint64_t first_hole() const noexcept { return first_hole_; }  // its place in the unpacked file
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }   // why the file ends early; or ""
  // The last line has no end. Tools end every line, so the file was cut there, or somebody has edited it.
  [[nodiscard]] bool ends_in_line() const noexcept { return last_byte_ != '\n'; }

 private:
  [[nodiscard]] std::size_t squeeze_holes(std::span<char> bytes);
  [[nodiscard]] std::string_view without_broken_lines(std::vector<char>& buffer, std::string_view text) const;
  [[nodiscard]] std::size_t fill(std::vector<char>& buffer, std::size_t size);

  std::unique_ptr<json::ByteSource> source_;
  std::string embedded_;  // the begin of the next block's first line
  std::uint64_t long_lines_ = 0;
  std::uint64_t hole_bytes_ = 0;
  std::uint64_t first_hole_ = 0;
  std::uint64_t read_ = 0;  // bytes of the unpacked file
  char last_byte_ = '\n';
  bool in_hole_ = false;
  bool in_long_line_ = false;
  bool ended_ = false;
  std::string failure_;
};

// Calls visit(line) for every line of a block, without its end, be that "\n" or "\r\n".
template <typename Visit>
void for_each_line(std::string_view block, Visit visit) {
  while (!block.empty()) {
    const std::size_t end = std::min(block.find('\n'), block.size());
    std::string_view line = block.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    block.remove_prefix(std::min(end + 1, block.size()));
    visit(line);
  }
}

// The time of the events of one scope, as their clocks have it: hand it what is defined, and ask for the time of
// chunks.
class StreamTime {
 public:
  void define(const Definition& definition);
  // From the first event's begin to the last one's end; nothing of a cut chunk, which is refused by whoever keeps it.
  [[nodiscard]] std::optional<TimeRange> of(const SealedChunk& chunk) const;

 private:
  [[nodiscard]] std::int64_t to_ns(LaneNumber lane, std::int64_t ticks) const;

  std::map<ClockNumber, ClockMap> clocks_;
  std::map<TrackNumber, ClockNumber> track_clocks_;
  std::map<LaneNumber, TrackNumber> lane_tracks_;
};

}  // namespace accelscope::capture::sources
