// Follows a device log file into a sink: what has been written since is read at every turn, and what is held back of it
// is handed on once the file has been quiet for a moment.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/sources/tt_metal/follower.h"
#include "core/chunk/event_sink.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::kinds::tt_metal {

// A file that another program writes: read as far as it goes, again and again. It may not be there yet, grow by any
// number of bytes, be cut and written anew in place, or be replaced by another file under its name; what the one that
// was replaced still holds is read first. A rewrite is seen by its size and by the bytes before the place that was
// reached. What is particular to the operating system is in log_watch.cpp.
//
//   GrowingFile file(path);
//   while (true) { const GrowingFile::Piece piece = file.read(buffer); if (piece.anew) ...; use(piece.bytes); }

class GrowingFile {
 public:
  explicit GrowingFile(std::string path) : path_(std::move(path)) {}
  ~GrowingFile();
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;

  struct Piece {
    bool anew = false;             // the bytes are the first of a file, or of a file written anew
    std::uint64_t lost_bytes = 0;  // of the one before, that were there and can be read no more
    std::string_view bytes;        // in the buffer; empty: there is no more now
  };
  [[nodiscard]] Piece read(std::span<char> buffer);
  [[nodiscard]] bool found() const noexcept { return file_ >= 0; }
  // Why it cannot be read though it is there; "" otherwise.
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }

 private:
  static constexpr std::size_t kTailBytes = 256;

  [[nodiscard]] bool open();
  void close();
  [[nodiscard]] bool was_replaced() const;
  [[nodiscard]] bool was_rewritten();
  void keep_tail(std::string_view bytes);

  std::string path_;
  int file_ = -1;
  std::uint64_t offset_ = 0;
  std::uint64_t size_ = 0;  // as it was last seen
  std::string tail_;        // the bytes before the offset
  std::string failure_;
};

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
