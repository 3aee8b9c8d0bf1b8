#include "capture/kinds/tt_metal/log_watch.h"

#include <filesystem>
#include <utility>

namespace accelscope::capture::kinds::tt_metal {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto kQuiet = 500ms;                     // after which nobody is expected to be in the middle of a dump
constexpr auto kWatchFlushPeriod = 100ms;          // how long what was understood may stay unseen
constexpr auto kFileTimeSlack = 20ms;              // a file system's clock may be behind by a tick
constexpr std::uint64_t kMostUnseen = 256U << 10;  // events
constexpr std::size_t kWatchReadBytes = 1U << 20;

}  // namespace

LogWatch::LogWatch(EventSink& sink, Options options)
    : sink_(sink), options_(std::move(options)), writer_(sink), buffer_(kWatchReadBytes) {}

bool LogWatch::find_file() {
  if (file_) return true;
  std::error_code failure;
  for (const std::string& place : options_.places) {
    if (!fs::exists(place, failure)) continue;
    writer_.set_meta("device_log", place);
    place_ = place;
    file_.emplace(place);
    follower_.emplace(place, writer_, options_.source_roots);
    return true;
  }
  return false;
}

// A program may have written its log before the first look at it.
bool LogWatch::is_of_before() const {
  std::error_code failure;
  const fs::file_time_type written = fs::last_write_time(place_, failure);
  const auto begun = fs::file_time_type::clock::now() -
                     std::chrono::duration_cast<fs::file_time_type::duration>(Clock::now() - options_.origin);
  return !failure && written < begun - kFileTimeSlack;
}

bool LogWatch::read_all() {
  const bool first_turn = std::exchange(first_turn_, false);
  if (!find_file()) return false;
  bool changed = false;
  const bool keep = !(first_turn && options_.skip_old_rows && is_of_before()) && !sink_.paused();
  for (;;) {
    const GrowingFile::Piece piece = file_->read(buffer_);
    if (piece.anew) follower_->begin_anew(piece.lost_bytes);
    changed = changed || piece.anew || !piece.bytes.empty();
    if (piece.bytes.empty()) break;
    const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - options_.origin);
    follower_->feed(piece.bytes, since.count(), keep);
    // A log that was long already: larger chunks, but not without end, for every lane holds some.
    if (writer_.event_count() - flushed_events_ >= kMostUnseen) flush(Clock::now());
  }
  return changed;
}

bool LogWatch::turn() {
  const bool changed = read_all();
  const Clock::time_point now = Clock::now();
  if (changed) {
    grown_at_ = now;
    settled_ = false;
  } else if (!settled_ && now - grown_at_ >= kQuiet && !follower_->in_a_row()) {
    settled_ = true;
    follower_->settle();
  }
  if (now - flushed_at_ >= kWatchFlushPeriod) flush(now);
  return changed;
}

void LogWatch::flush(Clock::time_point now) {
  flushed_at_ = now;
  if (writer_.event_count() == flushed_events_) return;
  writer_.flush();
  flushed_events_ = writer_.event_count();
}

Result<void> LogWatch::finish() {
  read_all();
  if (!file_) return writer_.finish();
  if (!file_->failure().empty() && !follower_->found_log()) return Error{file_->failure()};
  if (Result<void> done = follower_->finish(); !done) return done;
  return writer_.finish();
}

}  // namespace accelscope::capture::kinds::tt_metal
