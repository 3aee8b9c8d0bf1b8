#include "capture/sources/tt_metal/reader.h"

namespace accelscope::capture::sources::tt_metal {

template <typename Work>
void DeviceLogReader::start_thread(Work work) {
  threads_.emplace_back([this, work] {
    if (thrown_.keep(work)) return;
    const std::scoped_lock lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  });
}

DeviceLogReader::DeviceLogReader(LineBlocks blocks, std::string_view first, const DeviceLogLayout& layout,
                                 DeviceLogDictionary& dictionary)
    : blocks_(std::move(blocks)), bytes_total_(blocks_.file_bytes()) {
  slots_[0].buffer.assign(first.begin(), first.end());
  slots_[0].text = {slots_[0].buffer.data(), slots_[0].buffer.size()};
  filled_ = 1;
  try {
    start_thread([this] { read_all(); });
    for (std::size_t i = 0; i < kParsers; ++i)
      start_thread([this, &layout, &dictionary] { parse_all(layout, dictionary); });
  } catch (...) {  // those that run wait for what nobody will take
    end_threads();
    throw;
  }
}

DeviceLogReader::~DeviceLogReader() { end_threads(); }

void DeviceLogReader::end_threads() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  threads_.clear();  // joined before anything that they use goes away
}

void DeviceLogReader::read_all() {
  for (;;) {
    Slot* slot = nullptr;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopping_ || filled_ - freed_ < kSlots; });
      if (stopping_) return;
      slot = &slots_[filled_ % kSlots];
    }
    slot->text = blocks_.next(slot->buffer);
    bytes_done_ = blocks_.file_bytes_read();
    const std::scoped_lock lock(mutex_);
    slot->parsed = false;
    ended_ = slot->text.empty();
    if (!ended_) ++filled_;
    changed_.notify_all();
    if (ended_) return;
  }
}

void DeviceLogReader::parse_all(const DeviceLogLayout& layout, DeviceLogDictionary& dictionary) {
  DeviceLogRows rows(layout, dictionary);
  for (;;) {
    Slot* slot = nullptr;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopping_ || ended_ || claimed_ < filled_; });
      if (stopping_ || claimed_ == filled_) return;
      slot = &slots_[claimed_++ % kSlots];
    }
    rows.parse(slot->text, slot->block);
    const std::scoped_lock lock(mutex_);
    slot->parsed = true;
    changed_.notify_all();
  }
}

const LogRowBlock* DeviceLogReader::next() {
  std::unique_lock lock(mutex_);
  freed_ = taken_;
  changed_.notify_all();
  // What a thread has claimed and cannot parse is never parsed.
  changed_.wait(lock, [&] { return thrown_.any() || (filled_ > taken_ ? slots_[taken_ % kSlots].parsed : ended_); });
  thrown_.throw_on();
  if (filled_ == taken_) return nullptr;
  return &slots_[taken_++ % kSlots].block;
}

}  // namespace accelscope::capture::sources::tt_metal
