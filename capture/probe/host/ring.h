// The agent's end of a ring: what a thread of a program has written, read from shared memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "capture/probe/channel_format.h"
#include "capture/system/descriptor.h"
#include "core/base/result.h"

namespace accelscope::capture::probes {

class ProbeRing {
 public:
  // Fails on memory that is no ring.
  [[nodiscard]] static Result<std::unique_ptr<ProbeRing>> map(const system::Descriptor& memory);
  ~ProbeRing();
  ProbeRing(const ProbeRing&) = delete;
  ProbeRing& operator=(const ProbeRing&) = delete;

  [[nodiscard]] std::uint64_t written() const noexcept { return head_->written.load(std::memory_order_acquire); }
  [[nodiscard]] std::uint64_t dropped() const noexcept { return head_->dropped.load(std::memory_order_relaxed); }
  [[nodiscard]] bool closed() const noexcept { return head_->closed.load(std::memory_order_acquire) != 0; }
  [[nodiscard]] std::uint64_t read() const noexcept { return read_; }

  // Hands on the records up to `until`, a value of written(); room is given back as it goes. Fails on what is no
  // record.
  template <typename Take>
  Result<void> read_until(std::uint64_t until, Take take) {
    if (until - read_ > bytes_) return Error{"a thread's memory holds more than it can"};
    while (read_ < until) {
      const std::uint64_t* words = words_ + (read_ & (bytes_ - 1)) / 8;
      probe::RecordHead head{};
      static_assert(sizeof head == sizeof *words);
      __builtin_memcpy(&head, words, sizeof head);
      if (head.words == 0 || std::uint64_t{head.words} * 8 > until - read_) {
        return Error{"a thread's memory holds what is no record"};
      }
      take(head, std::span<const std::uint64_t>(words + 1, head.words - 1U));
      read_ += std::uint64_t{head.words} * 8;
      if (read_ - given_back_ >= bytes_ / 8) give_back();
    }
    give_back();
    return {};
  }

 private:
  ProbeRing() = default;
  void give_back() noexcept {
    given_back_ = read_;
    head_->read.store(read_, std::memory_order_release);
  }

  probe::RingHead* head_ = nullptr;
  const std::uint64_t* words_ = nullptr;  // mapped twice in a row
  std::uint64_t bytes_ = 0;
  std::uint64_t read_ = 0;
  std::uint64_t given_back_ = 0;
};

}  // namespace accelscope::capture::probes
