// What all processes of a capture in Python share: schemas, source files, and what has to be told at its end.
#pragma once

#include <cstdint>
#include <string>

#include "capture/kinds/python/schemas.h"
#include "capture/kinds/python/sources.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::kinds::python {

class PythonSession {
 public:
  // Lanes of a session are numbered with 14 bits; each depth of each thread takes one.
  static constexpr std::uint32_t kMaxLanes = 12'000;
  static constexpr std::uint32_t kMaxDepth = 4'000;    // of one thread
  static constexpr std::uint32_t kMaxThreads = 4'000;  // tracks are numbered likewise

  explicit PythonSession(SessionWriter& writer);

  SessionWriter& writer;
  SourceShelf sources;
  Tables<PythonTable> tables;

  // Whether there is a lane for one more depth of a thread.
  [[nodiscard]] bool take_lane() noexcept { return lanes_ < kMaxLanes && ++lanes_ > 0; }

  // Whether there is a track for one more thread.
  [[nodiscard]] bool take_thread() noexcept { return threads_ < kMaxThreads && ++threads_ > 0; }

  std::uint64_t open_calls = 0;     // whose process ended first
  std::uint64_t running_calls = 0;  // when the capture ended
  std::uint64_t deep_calls = 0;     // that found no lane
  std::uint64_t threads_left_out = 0;
  std::uint64_t broken_records = 0;  // that say nothing a collector would
  std::uint64_t profile_replaced = 0;
  std::uint64_t trace_replaced = 0;

  void report();

 private:
  std::uint32_t lanes_ = 0;
  std::uint32_t threads_ = 0;
};

}  // namespace accelscope::capture::kinds::python
