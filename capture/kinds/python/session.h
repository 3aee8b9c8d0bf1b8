// What all processes of a capture in Python share: schemas, source files, and what has to be told at its end.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "capture/kinds/base/kind_list.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::kinds::python {

// The source files of profiled programs: read where they lie, on this host, and put into the session. Not those of
// Python's own library.

class SourceShelf {
 public:
  static constexpr std::size_t kMaxFileBytes = 1U << 20;
  static constexpr std::size_t kMaxAllBytes = 64U << 20;

  explicit SourceShelf(SessionWriter& writer) : writer_(writer) {}

  // Reads the file at its first use. `library`: the folder of Python's own modules, "": not known.
  void take(const std::string& path, std::string_view library);
  // Text of a line, from 1; "" of what was not read.
  [[nodiscard]] std::string_view line(const std::string& path, std::uint32_t number) const;
  [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }  // too large, or beyond all

 private:
  struct File {
    std::string content;
    std::vector<std::size_t> begins;  // of each line, and the end
  };
  SessionWriter& writer_;
  std::map<std::string, File, std::less<>> files_;  // empty ones could not be read
  std::size_t bytes_ = 0;
  std::uint64_t left_out_ = 0;
};

// The columns of what the kind `python` writes.

enum CallColumn : std::size_t { kLocation, kModule, kWhat, kCaller, kSelf, kRaised, kPartial, kMetadata };
enum SignpostColumn : std::size_t { kMessage, kSignpostLocation, kThread };
enum TestColumn : std::size_t { kOutcome, kTestLocation, kTestPhase, kTestId };

enum class PythonTable : std::size_t {
  call,      // slices of a thread: calls, and lines within them
  signpost,  // instants
  test,      // slices: tests of pytest at depth 0, their phases at depth 1
};
extern const std::array<TableSpec, 3> kPythonTables;

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
