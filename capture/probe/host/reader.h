// The agent's side of probes: libraries that sit inside profiled programs and tell what happens there (see
// capture/probe/channel_format.h). A kind of capture that works through a probe gives a ProbeHandler and calls
// read_probes(); every process that attaches gets a ProcessReader of the kind's own.
//
//   class IttProcess : public ProcessReader { ... };
//   Result<void> run(const KindRun& run, EventSink& sink) {
//     SessionWriter writer(sink);
//     return read_probes(run, writer, sink, {.settings = ..., .attach = [&](const ProbeProcess& process) {
//       return std::make_unique<IttProcess>(process, writer); }});
//   }
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/probe/channel_format.h"
#include "capture/request/kind.h"
#include "capture/system/descriptor.h"
#include "core/base/result.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::probes {

// The agent's end of a ring: what a thread of a program has written, read from shared memory.
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

// Frames of the channel's socket, on the agent's side.
struct ProbeFrame {
  probe::FrameType type{};
  std::string body;
  system::Descriptor descriptor;  // that rode with it
};

// Cuts what comes into frames, without ever waiting.
class ProbeFrames {
 public:
  // Takes what is there. False once the other side has ended; what came before is still given out.
  [[nodiscard]] bool receive(int socket);
  // The next whole frame; nothing until more has come. Fails on what is no frame.
  [[nodiscard]] Result<std::optional<ProbeFrame>> next();
  // At its end: something of a frame is left whose rest never came.
  [[nodiscard]] bool cut() const noexcept { return buffer_.size() > used_; }

 private:
  std::string buffer_;
  std::size_t used_ = 0;
  std::deque<system::Descriptor> descriptors_;  // in the order in which they came, one for each frame `ring`
  bool descriptors_lost_ = false;
};

// From a program's ticks to capture time. The agent reads both clocks one after the other, now and then, and joins the
// anchors by straight lines; both sides run on one host, whose counters agree.
class TickClock {
 public:
  TickClock(probe::ClockKind kind, std::chrono::steady_clock::time_point origin);

  // Takes an anchor now. Ticks up to it lie between two anchors: from now on their time is settled.
  void anchor();
  // ns since the origin; rises with the ticks. Before the first anchor its line goes on; after the last one the line
  // between the first and the last, which the next anchor may shorten.
  [[nodiscard]] std::int64_t to_ns(std::uint64_t ticks) const noexcept;
  [[nodiscard]] std::uint64_t last_ticks() const noexcept { return anchors_.back().ticks; }
  [[nodiscard]] std::int64_t last_ns() const noexcept { return anchors_.back().ns; }

 private:
  struct Anchor {
    std::uint64_t ticks = 0;
    std::int64_t ns = 0;
  };
  [[nodiscard]] Anchor read() const noexcept;
  // ns that so many ticks take at the rate between the two.
  [[nodiscard]] static std::int64_t along(const Anchor& from, const Anchor& to, std::uint64_t ticks) noexcept;

  probe::ClockKind kind_;
  std::chrono::steady_clock::time_point origin_;
  std::vector<Anchor> anchors_;  // by rising ticks and ns; the oldest are let go
};

// What a program says of itself when it attaches.
struct ProbeProcess {
  std::uint32_t id = 0;
  std::uint32_t parent_id = 0;   // of the process that started or forked it
  std::string program;           // path of the executable
  std::string name;              // as it was called, without its folder: "python3"
  std::string command;           // as it is typed
  std::int64_t attached_ns = 0;  // capture time
  // Of the program's ticks to capture time, in ns. Monotone; good for every tick that a record holds.
  const TickClock* clock = nullptr;
  // What is attached several times keeps one name: "python3 (1234)".
  [[nodiscard]] std::string title() const;
};

struct ProbeThread {
  std::uint32_t index = 0;  // in its process, from 0, in the order in which they came
  std::uint32_t id = 0;     // the system's
  std::string name;         // "" : not known; the newest one
};

// How a process left.
struct ProbeEnd {
  std::int64_t end_ns = 0;    // capture time: when its connection was seen to end
  std::uint64_t dropped = 0;  // records that found no room
  bool by_capture = false;    // the capture ended first; the program runs on
};

// All calls come on the kind's thread, of one process in this order: threads before their records, definitions before
// the records that use them; records of one thread in theirs. Of several threads or processes no order is kept.
class ProcessReader {
 public:
  virtual ~ProcessReader() = default;
  virtual void thread(const ProbeThread& thread) = 0;  // has come, or has a new name
  virtual void define(std::uint32_t type, std::string_view body) = 0;
  // `words` are those behind the head; they lie in the program's memory: copy before you trust, never read twice.
  virtual void record(const ProbeThread& thread, probe::RecordHead head, std::span<const std::uint64_t> words) = 0;
  virtual void thread_ended(const ProbeThread& thread, std::int64_t now_ns) = 0;
  virtual void ended(const ProbeEnd& end) = 0;
  // After each turn of reading, some ten times a second at least: all that happened until `now_ns` has been read.
  virtual void read_until(std::int64_t now_ns) { (void)now_ns; }
};

// A record of the probe's own, whose first member is its RecordHead; false: there are too few words for it.
template <typename Record>
[[nodiscard]] bool read_record(probe::RecordHead head, std::span<const std::uint64_t> words, Record& record) {
  if (words.size_bytes() + sizeof head < sizeof record) return false;
  record.head = head;
  std::memcpy(reinterpret_cast<char*>(&record) + sizeof head, words.data(), sizeof record - sizeof head);
  return true;
}

struct ProbeHandler {
  // Reported to each probe as it attaches, as Channel::setting() gives them: "name=value".
  std::vector<std::string> settings;
  std::uint64_t ring_bytes = 256U << 10;  // for each thread; a power of two
  bool drop_when_full = false;            // else threads wait
  std::string hint;                       // to a user whose programs did not attach; "": none
  std::function<std::unique_ptr<ProcessReader>(const ProbeProcess& process)> attach;
};

// Takes what attaches at the kind's listener (KindRun::probes) until the capture ends and all that was written has been
// read; flushes the writer some ten times a second, and finishes it. What a process does against the rules of the
// channel ends its connection and is told in the quality report.
[[nodiscard]] Result<void> read_probes(const request::KindRun& run, SessionWriter& writer, EventSink& sink,
                                       const ProbeHandler& handler);

}  // namespace accelscope::capture::probes
