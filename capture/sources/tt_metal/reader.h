// Reads a device log on threads of its own: one cuts blocks of lines, others understand them, the caller gets them in
// the order of the file. A few blocks exist at a time.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "capture/sources/base/line_blocks.h"
#include "capture/sources/tt_metal/read/rows.h"
#include "core/base/carried_exception.h"

namespace accelscope::capture::sources::tt_metal {

class DeviceLogReader {
 public:
  // `first` are rows of the first block, which was read to find the layout.
  DeviceLogReader(LineBlocks blocks, std::string_view first, const DeviceLogLayout& layout,
                  DeviceLogDictionary& dictionary);
  ~DeviceLogReader();
  DeviceLogReader(const DeviceLogReader&) = delete;
  DeviceLogReader& operator=(const DeviceLogReader&) = delete;

  // The next block, valid until the next call; null at the end of the file.
  [[nodiscard]] const LogRowBlock* next();
  // Once next() returned null.
  [[nodiscard]] const LineBlocks& blocks() const noexcept { return blocks_; }
  [[nodiscard]] std::uint64_t bytes_done() const noexcept { return bytes_done_; }
  [[nodiscard]] std::uint64_t bytes_total() const noexcept { return bytes_total_; }

 private:
  static constexpr std::size_t kParsers = 2;
  static constexpr std::size_t kSlots = 8;

  struct Slot {
    std::vector<char> buffer;
    std::string_view text;
    LogRowBlock block;
    bool parsed = false;
  };
  template <typename Work>
  void start_thread(Work work);
  void end_threads();
  void read_all();
  void parse_all(const DeviceLogLayout& layout, DeviceLogDictionary& dictionary);

  LineBlocks blocks_;
  std::uint64_t bytes_total_;
  std::atomic<std::uint64_t> bytes_done_ = 0;
  std::array<Slot, kSlots> slots_;  // block i lies in slot i % kSlots
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t filled_ = 0;   // blocks ever read
  std::size_t claimed_ = 0;  // blocks that a parser has begun
  std::size_t taken_ = 0;    // blocks ever handed to the caller
  std::size_t freed_ = 0;    // blocks that the caller is done with
  bool ended_ = false;
  bool stopping_ = false;
  CarriedException thrown_;
  std::vector<std::jthread> threads_;
};

}  // namespace accelscope::capture::sources::tt_metal
