// Follows a device log file into a sink: what has been written since is read at every turn, and what is held back of it
// is handed on once the file has been quiet for a moment.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "capture/kinds/tt_metal/growing_file.h"
#include "capture/sources/tt_metal/follower.h"
#include "core/chunk/event_sink.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::kinds::tt_metal {

class LogWatch {
 public:
  using Clock = std::chrono::steady_clock;
  struct Options {
    std::vector<std::string> places;  // where the file may appear; the first that is there is followed
    std::vector<std::string> source_roots;
    bool skip_old_rows = false;  // what a file holds at the first turn that was written before time 0
    Clock::time_point origin;    // the session's time 0
  };
  LogWatch(EventSink& sink, Options options);

  // Takes all that is there now. False: nothing had changed.
  bool turn();
  // What was written until now, then the end. Fails if what has appeared is no device log.
  Result<void> finish();
  // There was a log, and if old rows are left out, it has had others.
  [[nodiscard]] bool found_log() const noexcept {
    return file_ && follower_->found_log() && (!options_.skip_old_rows || writer_.event_count() > 0);
  }

 private:
  [[nodiscard]] bool find_file();
  [[nodiscard]] bool is_of_before() const;
  bool read_all();
  void flush(Clock::time_point now);

  EventSink& sink_;
  Options options_;
  SessionWriter writer_;
  std::string place_;
  std::optional<GrowingFile> file_;
  std::optional<sources::tt_metal::DeviceLogFollower> follower_;
  std::vector<char> buffer_;
  bool first_turn_ = true;
  bool settled_ = true;
  Clock::time_point grown_at_;
  Clock::time_point flushed_at_;
  std::uint64_t flushed_events_ = 0;
};

}  // namespace accelscope::capture::kinds::tt_metal
