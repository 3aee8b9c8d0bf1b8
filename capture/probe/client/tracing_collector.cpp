#include "capture/probe/client/tracing_collector.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <new>
#include <thread>

namespace accelscope::probe {
namespace {

using namespace std::chrono_literals;

constexpr auto kLook = 20ms;          // at pauses and at the agent
constexpr auto kFlushPeriod = 100ms;  // how long what has ended may stay in the library's buffers

[[nodiscard]] Names* make_names(Channel& channel) {
  return new Names(channel, static_cast<std::uint32_t>(TracingDefinition::name));
}

}  // namespace

TracingCollector::TracingCollector(const char* kind)
    : channel_(kind), names_(make_names(channel_)), excluded_(listed_names(channel_.setting("exclude-calls"))) {
  range_name_ = channel_.setting("range");
  has_range_ = !range_name_.empty();
  collector_ = this;
  (void)pthread_atfork(nullptr, nullptr, &TracingCollector::at_fork);
}

void TracingCollector::at_fork() {
  TracingCollector& here = *collector_;
  new (&here.mutex_) std::mutex;
  new (&here.changed_) std::condition_variable;
  here.names_ = make_names(here.channel_);
  here.is_running_ = false;
  here.is_claimed_ = here.is_tracing_ = here.flushed_at_end_ = false;
  here.ranges_ = 0;
  here.forked();
}

void TracingCollector::name_thread(std::uint32_t id, const char* name) {
  if (id == static_cast<std::uint32_t>(::syscall(SYS_gettid))) channel_.name_thread(name);
  BodyWriter body;
  define(TracingDefinition::thread, body.number(id).text(name));
}

void TracingCollector::trouble(std::string_view text) {
  BodyWriter body;
  define(TracingDefinition::trouble, body.text(text));
}

void TracingCollector::lost(LossCause cause, std::uint64_t count) {
  ThreadRing* ring = channel_.ring_even_paused();
  if (ring == nullptr || count == 0) return;
  ring->put(LostRecord{
      {static_cast<std::uint16_t>(TracingRecord::lost), sizeof(LostRecord) / 8, static_cast<std::uint32_t>(cause)},
      count});
}

void TracingCollector::begin(const char* thread_name) {
  channel_.flushes_at_end();  // before the program goes on: its first call may be the capture's last
  owner_ = ::getpid();
  is_running_ = true;
  is_tracing_ = channel_.collecting() && in_range();
  switch_tracing(is_tracing_);
  watch_ending_signals(&TracingCollector::at_signal);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread(&TracingCollector::run, this, thread_name).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// Under the lock.
void TracingCollector::follow() {
  const bool is_wanted = channel_.collecting() && in_range();
  if (is_wanted != is_tracing_) switch_tracing(is_tracing_ = is_wanted);
}

void TracingCollector::enter_range() {
  if (ranges_.fetch_add(1) > 0) return;
  const std::lock_guard lock(mutex_);
  if (is_running_) follow();
}

void TracingCollector::leave_range() {
  int ranges = ranges_.load();
  while (ranges > 0 && !ranges_.compare_exchange_weak(ranges, ranges - 1)) {
  }
  if (ranges != 1) return;
  const std::lock_guard lock(mutex_);
  if (is_running_) follow();
}

void TracingCollector::run(const char* thread_name) {
  channel_.name_thread(thread_name);
  auto flush_at = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  read_clock();
  while (is_running_) {
    changed_.wait_for(lock, kLook);
    if (!is_running_) return;
    if (signal_flush_.wanted()) {
      flush_all();
      read_clock();
      signal_flush_.done();
    }
    if (!channel_.attached()) {
      is_running_ = false;
      return release();
    }
    if (channel_.ending() && !flushed_at_end_) {
      flushed_at_end_ = true;
      flush_all();
      read_clock();
      channel_.flushed();
    }
    follow();
    const auto now = std::chrono::steady_clock::now();
    if (now < flush_at) continue;
    flush_at = now + kFlushPeriod;
    flush();
    read_clock();
  }
}

void TracingCollector::read_clock() {
  ThreadRing* ring = channel_.ring_even_paused();
  if (ring == nullptr) return;
  ClockRecord record{
      {static_cast<std::uint16_t>(TracingRecord::clock), sizeof(ClockRecord) / 8, owns_clock_ ? 1U : 0U}, 0, 0, 0};
  record.before = monotonic_ns();
  if (!read_library_clock(record.library)) return;
  record.after = monotonic_ns();
  ring->put(record);
}

void TracingCollector::finish() {
  const std::lock_guard lock(mutex_);
  if (!is_running_ || owner_ != ::getpid()) return;
  is_running_ = false;
  flush_all();
  read_clock();
  channel_.flushed();
  changed_.notify_all();
}

// The other thread does it, since nothing may be called here.
void TracingCollector::at_signal(int signal) {
  TracingCollector& here = *collector_;
  if (here.owner_ == ::getpid() && here.is_running_) here.signal_flush_.await();
  end_by(signal);
}

}  // namespace accelscope::probe
