#include "capture/kinds/tt_metal/log_watch.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace accelscope::capture::kinds::tt_metal {

GrowingFile::~GrowingFile() { close(); }

bool GrowingFile::open() {
  file_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  const bool is_missing = file_ < 0 && (errno == ENOENT || errno == ENOTDIR);
  failure_ = file_ < 0 && !is_missing ? fmt::format("{}: {}", path_, std::strerror(errno)) : "";
  return file_ >= 0;
}

void GrowingFile::close() {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
  offset_ = size_ = 0;
  tail_.clear();
}

bool GrowingFile::was_replaced() const {
  struct stat here {};
  struct stat named {};
  if (::fstat(file_, &here) != 0 || ::stat(path_.c_str(), &named) != 0) return false;
  return here.st_ino != named.st_ino || here.st_dev != named.st_dev;
}

bool GrowingFile::was_rewritten() {
  struct stat now {};
  if (::fstat(file_, &now) != 0) return false;
  const std::uint64_t size = std::exchange(size_, static_cast<std::uint64_t>(now.st_size));
  if (size_ < offset_) {
    size_ = size;  // what was there is told as lost
    return true;
  }
  std::array<char, kTailBytes> tail{};
  const ssize_t got = ::pread(file_, tail.data(), tail_.size(), static_cast<off_t>(offset_ - tail_.size()));
  const bool same =
      got == static_cast<ssize_t>(tail_.size()) && std::memcmp(tail.data(), tail_.data(), tail_.size()) == 0;
  if (!same) size_ = std::max(size, offset_);
  return !same;
}

void GrowingFile::keep_tail(std::string_view bytes) {
  tail_ += bytes.size() > kTailBytes ? bytes.substr(bytes.size() - kTailBytes) : bytes;
  if (tail_.size() > kTailBytes) tail_.erase(0, tail_.size() - kTailBytes);
}

GrowingFile::Piece GrowingFile::read(std::span<char> buffer) {
  Piece piece;
  for (;;) {
    if (file_ < 0) {
      if (!open()) return piece;
      piece.anew = true;
    } else if (was_rewritten()) {
      piece.anew = true;
      piece.lost_bytes += size_ - offset_;
      offset_ = size_ = 0;
      tail_.clear();
    }
    const ssize_t got = ::pread(file_, buffer.data(), buffer.size(), static_cast<off_t>(offset_));
    if (got < 0) failure_ = fmt::format("{}: {}", path_, std::strerror(errno));
    if (got > 0) {
      piece.bytes = {buffer.data(), static_cast<std::size_t>(got)};
      offset_ += static_cast<std::uint64_t>(got);
      size_ = std::max(size_, offset_);
      keep_tail(piece.bytes);
      return piece;
    }
    // At its end: there may be another file under the name.
    if (piece.anew || !was_replaced()) return piece;
    close();
  }
}

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
