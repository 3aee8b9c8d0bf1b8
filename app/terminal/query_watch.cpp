#include "app/terminal/query_watch.h"

#include <fmt/format.h>

#include <chrono>
#include <ostream>

namespace accelscope::app::terminal {
namespace {

constexpr auto kPeriod = std::chrono::milliseconds(100);

}  // namespace

QueryWatch::QueryWatch(const CommandRun& run)
    : run_(run), shows_progress_(run.shows_progress()), thread_([this] { look(); }) {}

QueryWatch::~QueryWatch() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
  erase_progress();
}

void QueryWatch::hide_progress() {
  const std::scoped_lock lock(mutex_);
  erase_progress();
  shows_progress_ = false;
}

void QueryWatch::look() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kPeriod, [this] { return ending_; })) {
    if (interruptible_.interrupted()) control_.cancel();
    if (shows_progress_) print_progress();
  }
}

void QueryWatch::print_progress() {
  const std::uint64_t total = control_.total();
  if (total == 0) return;
  // A join reads its tables again and again: the total grows with what is done.
  run_.streams.err << erase_line
                   << fmt::format("Asking  {:.0f} %",
                                  100.0 * static_cast<double>(control_.done()) / static_cast<double>(total))
                   << std::flush;
  line_shown_ = true;
}

void QueryWatch::erase_progress() {
  if (line_shown_) run_.streams.err << erase_line << std::flush;
  line_shown_ = false;
}

}  // namespace accelscope::app::terminal
