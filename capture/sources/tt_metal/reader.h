// Reads a device log on threads of its own, which cut blocks of lines and understand them; the caller gets them in the
// order of the file. A few blocks exist at a time.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>
#include <vector>

#include "capture/sources/base/line_blocks.h"
#include "capture/sources/tt_metal/read/rows.h"
#include "core/base/ordered_pipeline.h"

namespace accelscope::capture::sources::tt_metal {

class DeviceLogReader {
 public:
  // `first` are rows of the first block, which was read to find the layout.
  DeviceLogReader(LineBlocks blocks, std::string_view first, const DeviceLogLayout& layout,
                  DeviceLogDictionary& dictionary)
      : blocks_(std::move(blocks)),
        bytes_total_(blocks_.file_bytes()),
        first_(first.begin(), first.end()),
        slots_(
            kThreads, kSlots, [this](Slot& slot) { return cut(slot); },
            [&layout, &dictionary] {
              return [rows = std::make_shared<DeviceLogRows>(layout, dictionary)](Slot& slot) {
                rows->parse(slot.text, slot.block);
              };
            }) {}

  // The next block, valid until the next call; null at the end of the file.
  [[nodiscard]] const LogRowBlock* next() {
    const Slot* slot = slots_.next();
    return slot == nullptr ? nullptr : &slot->block;
  }
  // Once next() returned null.
  [[nodiscard]] const LineBlocks& blocks() const noexcept { return blocks_; }
  [[nodiscard]] std::uint64_t bytes_done() const noexcept { return bytes_done_; }
  [[nodiscard]] std::uint64_t bytes_total() const noexcept { return bytes_total_; }

 private:
  static constexpr std::size_t kThreads = 3;
  static constexpr std::size_t kSlots = 8;

  struct Slot {
    std::vector<char> buffer;
    std::string_view text;
    LogRowBlock block;
  };
  [[nodiscard]] bool cut(Slot& slot) {
    if (!std::exchange(first_is_cut_, true)) {
      slot.buffer = std::move(first_);
      slot.text = {slot.buffer.data(), slot.buffer.size()};
      return true;
    }
    slot.text = blocks_.next(slot.buffer);
    bytes_done_ = blocks_.file_bytes_read();
    return !slot.text.empty();
  }

  LineBlocks blocks_;
  std::uint64_t bytes_total_;
  std::atomic<std::uint64_t> bytes_done_ = 0;
  std::vector<char> first_;
  bool first_is_cut_ = false;
  OrderedPipeline<Slot> slots_;
};

}  // namespace accelscope::capture::sources::tt_metal
