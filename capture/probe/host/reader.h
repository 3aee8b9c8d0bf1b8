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

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/probe/channel_format.h"
#include "capture/probe/host/tick_clock.h"
#include "capture/request/kind.h"
#include "core/base/result.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::probes {

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
  // Told to each probe as it attaches, as Channel::setting() gives them: "name=value".
  std::vector<std::string> settings;
  std::uint64_t ring_bytes = 256U << 10;  // for each thread; a power of two
  bool drop_when_full = false;            // else threads wait
  std::function<std::unique_ptr<ProcessReader>(const ProbeProcess& process)> attach;
};

// Takes what attaches at the kind's listener (KindRun::probes) until the capture ends and all that was written has been
// read; flushes the writer some ten times a second, and finishes it. What a process does against the rules of the
// channel ends its connection and is told in the quality report.
[[nodiscard]] Result<void> read_probes(const request::KindRun& run, SessionWriter& writer, EventSink& sink,
                                       const ProbeHandler& handler);

}  // namespace accelscope::capture::probes
