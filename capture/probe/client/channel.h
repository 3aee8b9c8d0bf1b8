// The side inside the profiled program. It links nothing but the C++ runtime, throws nothing, prints nothing, and never
// changes what the program does: without an agent, or once the agent is gone, every call returns at once.
//
// A probe library has one Channel, made on its first use and never destroyed: threads may outlive static destruction.
//
//   Channel& channel = *new Channel("itt");           // connects; see collecting()
//   if (ThreadRing* ring = channel.ring()) {          // this thread's; null: nothing is collected
//     ring->put(TaskBegin{{kTaskBegin, 2, name_id}, now_ticks()});
//   }
//
// fork: the child attaches as a process of its own, at its first ring() or define(); what the probe has defined
// belongs to the parent's connection, so the probe defines anew when generation() changes. exec: nothing is left here;
// what was written is read by the agent.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "capture/probe/channel_format.h"
#include "capture/probe/tick_source.h"

namespace accelscope::probe {

// Of this library; set by its channel.
extern constinit ClockKind g_clock_kind;
[[nodiscard]] inline std::uint64_t now_ticks() noexcept { return read_ticks(g_clock_kind); }

class Channel;
class ThreadRing;

// The calling thread's ring in this library's channel.
extern constinit thread_local ThreadRing* t_ring __attribute__((tls_model("initial-exec")));

// Written by its thread alone.
class ThreadRing {
 public:
  // A trivially copyable struct whose first member is its RecordHead and whose size is head.words * 8.
  template <typename Record>
  void put(const Record& record) noexcept {
    static_assert(sizeof(Record) % 8 == 0 && sizeof(Record) <= kMaxRecordBytes);
    if (char* room = reserve(sizeof(Record))) {
      std::memcpy(room, &record, sizeof(Record));
      commit(sizeof(Record));
    }
  }
  // The same with bytes behind the struct, filled up to a whole word; its head says nothing of how many words it has.
  template <typename Record>
  void put_with_bytes(Record record, std::string_view first, std::string_view second = {}) noexcept {
    static_assert(sizeof(Record) % 8 == 0);
    const std::size_t size = sizeof record + (first.size() + second.size() + 7) / 8 * 8;
    char* room = reserve(size);
    if (room == nullptr) return;
    record.head.words = static_cast<std::uint16_t>(size / 8);
    std::memset(room + size - 8, 0, 8);
    std::memcpy(room, &record, sizeof record);
    if (!first.empty()) std::memcpy(room + sizeof record, first.data(), first.size());
    if (!second.empty()) std::memcpy(room + sizeof record + first.size(), second.data(), second.size());
    commit(size);
  }
  // Room for a record of `bytes` (a multiple of 8, at most kMaxRecordBytes) in one piece; null: it was dropped, or the
  // agent is gone. Waits while the ring is full, unless the capture drops then. Then fill and commit() the same bytes.
  [[nodiscard]] char* reserve(std::size_t bytes) noexcept {
    if (written_ + bytes - read_seen_ > bytes_ && !make_room(bytes)) return nullptr;
    return records_ + (written_ & (bytes_ - 1));
  }
  void commit(std::size_t bytes) noexcept {
    const std::uint64_t before = written_;
    written_ += bytes;
    head_->written.store(written_, std::memory_order_release);
    if (((before ^ written_) & wake_mask_) != 0) wake();
  }

 private:
  friend class Channel;
  friend struct ChannelHooks;
  [[nodiscard]] bool make_room(std::size_t bytes) noexcept;
  void wake() noexcept;

  Channel* channel_ = nullptr;
  RingHead* head_ = nullptr;
  char* records_ = nullptr;  // mapped twice in a row
  std::uint64_t bytes_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t read_seen_ = 0;
  std::uint64_t wake_mask_ = 0;  // the bit that changes with every half of the ring
};

class Channel {
 public:
  // Connects to FOLDER/KIND.sock, FOLDER being the environment's ACCELSCOPE_PROBES, else the user's own folder where an
  // agent waits for programs that are started by hand.
  explicit Channel(const char* kind) noexcept;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // An agent takes what comes now: there is one, and its capture is neither paused nor over.
  [[nodiscard]] bool collecting() const noexcept {
    return (control_.load(std::memory_order_acquire)->state.load(std::memory_order_relaxed) & kControlBits) == 0;
  }
  // There is an agent whose capture may still resume.
  [[nodiscard]] bool attached() const noexcept {
    return (control_.load(std::memory_order_acquire)->state.load(std::memory_order_relaxed) & kClosed) == 0;
  }
  // The capture ends in a moment: whoever holds events back puts them into rings now and calls flushed().
  [[nodiscard]] bool ending() const noexcept {
    return (control_.load(std::memory_order_acquire)->state.load(std::memory_order_relaxed) & kEnding) != 0;
  }
  // This thread's ring, made at the first call; null while not collecting().
  [[nodiscard]] ThreadRing* ring() noexcept { return collecting() ? own_ring() : nullptr; }
  // The same also while paused: for what must not be lost, such as ends of what was begun.
  [[nodiscard]] ThreadRing* ring_even_paused() noexcept { return attached() ? own_ring() : nullptr; }

  // Sends a definition, before the records that use it; any thread, also while paused. Blocks while the agent is
  // behind.
  void define(std::uint32_t type, std::string_view body) noexcept;
  void name_thread(std::string_view name) noexcept;  // the calling one; the agent is told with its ring, or anew

  // Has the agent wait for flushed() at the end of the capture; 2 s at most. Again in a forked child.
  void flushes_at_end() noexcept;
  void flushed() noexcept;

  // The program wishes that the whole capture pauses, resumes, stops. Pausing and resuming hold for this process at
  // once.
  void intent(Intent intent) noexcept;
  // Goes off for good, in this process only.
  void detach() noexcept;

  // Of the kind's settings as the agent's user chose them; "" if it has none of that name.
  [[nodiscard]] std::string setting(std::string_view name) const noexcept;
  // 0 while there has never been an agent; changes when a forked child attaches anew.
  [[nodiscard]] std::uint32_t generation() const noexcept { return generation_.load(std::memory_order_acquire); }

 private:
  friend class ThreadRing;
  friend struct ChannelHooks;
  struct State;
  [[nodiscard]] ThreadRing* own_ring() noexcept { return t_ring != nullptr ? t_ring : open_ring(); }
  [[nodiscard]] ThreadRing* open_ring() noexcept;
  [[nodiscard]] bool connected_here() noexcept;  // under the lock; connects a forked child
  // Under the lock, if there is an agent; send(socket) says whether it was taken.
  template <typename Send>
  void tell(Send send) noexcept;
  void connect() noexcept;
  [[nodiscard]] bool take_welcome() noexcept;
  void go_off() noexcept;
  [[nodiscard]] bool agent_lives() noexcept;

  std::atomic<ControlPage*> control_;
  std::atomic<std::uint32_t> generation_{0};
  State* state_;
};

}  // namespace accelscope::probe
