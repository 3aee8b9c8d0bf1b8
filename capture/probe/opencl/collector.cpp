
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <chrono>

#include "capture/probe/opencl/layer.h"

namespace accelscope::probe::opencl {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kLongList = 4096;  // then the thread that adds to it fetches times itself
constexpr auto kTurn = 2ms;
constexpr auto kLongestTurn = 16ms;
constexpr int kQuietTurns = 16;  // waking the thread costs the program some microseconds
constexpr int kMostSkips = 5;    // turns in which a queue is left alone because it is being filled
constexpr auto kCalibrationInterval = 1s;
constexpr auto kPatienceAtExit = 1s;  // a first launch may still be compiled, on a busy machine for long
constexpr auto kPatienceWithThread = 1s;

// False: it has not ended.
[[nodiscard]] bool complete(const Queue& queue, const PendingCommand& pending, ThreadRing* ring) {
  const Table& next = layer().next;
  CompletionRecord record{};
  record.head = {static_cast<std::uint16_t>(RecordType::completion), sizeof(CompletionRecord) / 8, 0};
  record.command = pending.command;
  const auto time = [&](cl_profiling_info what, std::uint64_t& value) {
    return next.clGetEventProfilingInfo(pending.event, what, sizeof value, &value, nullptr) == CL_SUCCESS;
  };
  if (!queue.has_times || !time(CL_PROFILING_COMMAND_END, record.end)) {
    cl_int status = CL_COMPLETE;
    const cl_int asked =
        next.clGetEventInfo(pending.event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
    if (asked == CL_SUCCESS && status > CL_COMPLETE) return false;
    record.head.value = static_cast<std::uint32_t>(status);
    // It may have ended between the two questions.
    if (status == CL_COMPLETE && queue.has_times) (void)time(CL_PROFILING_COMMAND_END, record.end);
  }
  if (record.end != 0) {
    (void)time(CL_PROFILING_COMMAND_QUEUED, record.queued);
    (void)time(CL_PROFILING_COMMAND_SUBMIT, record.submit);
    (void)time(CL_PROFILING_COMMAND_START, record.start);
  }
  if (ring != nullptr) ring->put(record);
  return true;
}

// Letting go of events takes locks that a thread which launches needs for each launch.
[[nodiscard]] bool is_being_filled(Queue& queue) {
  const std::lock_guard lock(queue.pending_mutex);
  const bool grows = queue.pending.size() > queue.pending_seen;
  queue.pending_seen = queue.pending.size();
  queue.skips = grows ? queue.skips + 1 : 0;
  if (queue.skips < kMostSkips) return grows;
  queue.skips = 0;
  return false;
}

}  // namespace

void Collector::add(const std::shared_ptr<Queue>& queue, const PendingCommand& command) {
  bool listed = false;
  std::size_t length = 0;
  {
    const std::lock_guard lock(queue->pending_mutex);
    queue->pending.push_back(command);
    length = queue->pending.size();
    listed = queue->listed;
    queue->listed = true;
  }
  if (!listed) {
    const std::lock_guard lock(mutex_);
    queues_.push_back(queue);
    if (!started_) start();
    changed_.notify_all();
  }
  if (length % kLongList == 0) collect(*queue);
}

bool Collector::collect(Queue& queue) {
  const std::lock_guard collecting(queue.collect_mutex);
  {
    const std::lock_guard lock(queue.pending_mutex);
    queue.held.insert(queue.held.end(), queue.pending.begin(), queue.pending.end());
    queue.pending.clear();
    queue.pending_seen = 0;
  }
  const bool attached = layer().channel->attached();
  ThreadRing* ring = attached ? layer().channel->ring_even_paused() : nullptr;
  std::size_t retained = 0;
  std::size_t at = 0;
  for (; at < queue.held.size(); ++at) {
    const PendingCommand command = queue.held[at];
    if (attached && !complete(queue, command, ring)) {
      if (queue.in_order) break;
      queue.held[retained++] = command;
      continue;
    }
    (void)layer().next.clReleaseEvent(command.event);
  }
  // Of an in-order queue the first that has not ended and all behind it stay, of another those that have not ended.
  if (queue.in_order) {
    queue.held.erase(queue.held.begin(), queue.held.begin() + static_cast<std::ptrdiff_t>(at));
  } else {
    queue.held.resize(retained);
  }
  return queue.held.empty();
}

std::uint32_t Collector::references_to(Queue& queue, cl_event event) {
  const std::lock_guard collecting(queue.collect_mutex);
  const std::lock_guard lock(queue.pending_mutex);
  const auto is_it = [event](const PendingCommand& command) { return command.event == event; };
  return static_cast<std::uint32_t>(std::count_if(queue.held.begin(), queue.held.end(), is_it) +
                                    std::count_if(queue.pending.begin(), queue.pending.end(), is_it));
}

// With mutex_ held. The thread takes no signal: they belong to the program's own threads.
void Collector::start() {
  started_ = true;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread{};
  running_ = pthread_create(&thread, nullptr, thread_main, this) == 0;
  if (running_) pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void* Collector::thread_main(void* collector) {
  static_cast<Collector*>(collector)->run();
  return nullptr;
}

void Collector::run() {
  auto next_calibration = std::chrono::steady_clock::now();
  auto turn = kTurn;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (queues_.empty()) {
      turn = kTurn;
      changed_.wait(lock);
      continue;
    }
    lock.unlock();
    const bool all_ended = collect_all(Fill::waits);
    if (std::chrono::steady_clock::now() >= next_calibration) {
      calibrate();
      next_calibration = std::chrono::steady_clock::now() + kCalibrationInterval;
    }
    lock.lock();
    turn = all_ended ? kTurn : std::min<std::chrono::milliseconds>(turn * 2, kLongestTurn);
    if (!stopping_) changed_.wait_for(lock, turn, [this] { return stopping_; });
  }
  running_ = false;
  changed_.notify_all();
}

std::vector<std::shared_ptr<Queue>> Collector::active() {
  const std::lock_guard lock(mutex_);
  return queues_;
}

bool Collector::collect_all(Fill fill) {
  bool all_ended = true;
  for (const std::shared_ptr<Queue>& queue : active()) {
    if (fill == Fill::waits && is_being_filled(*queue)) continue;
    const bool ended = collect(*queue);
    all_ended = all_ended && ended;
    const std::lock_guard lock(mutex_);
    const std::lock_guard pending_lock(queue->pending_mutex);
    queue->quiet_turns = ended && queue->pending.empty() ? queue->quiet_turns + 1 : 0;
    if (queue->quiet_turns < kQuietTurns) continue;
    queue->quiet_turns = 0;
    queue->listed = false;
    std::erase(queues_, queue);
  }
  return all_ended;
}

void Collector::calibrate() {
  Layer& all = layer();
  if (all.next.clGetDeviceAndHostTimer == nullptr || !all.channel->collecting()) return;
  for (const std::shared_ptr<Queue>& queue : active()) {
    const cl_device_id device = queue->device_handle;
    if (std::find(without_timer_.begin(), without_timer_.end(), device) != without_timer_.end()) continue;
    cl_ulong device_time = 0;
    cl_ulong host_time = 0;  // on a clock of the driver's choice, so the channel's is read around the call
    CalibrationRecord record{};
    record.head = {static_cast<std::uint16_t>(RecordType::calibration), sizeof(CalibrationRecord) / 8, queue->device};
    record.before_ticks = now_ticks();
    const cl_int result = all.next.clGetDeviceAndHostTimer(device, &device_time, &host_time);
    record.after_ticks = now_ticks();
    record.device_ticks = device_time;
    if (result != CL_SUCCESS) {
      without_timer_.push_back(device);
    } else if (ThreadRing* ring = all.channel->ring()) {
      ring->put(record);
    }
  }
}

void Collector::drain() {
  {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    started_ = true;  // none is started any more
    changed_.notify_all();
    changed_.wait_for(lock, kPatienceWithThread, [this] { return !running_; });
  }
  const auto deadline = std::chrono::steady_clock::now() + kPatienceAtExit;
  while (!collect_all(Fill::counts) && std::chrono::steady_clock::now() < deadline) {
    const timespec moment{0, 200'000};
    nanosleep(&moment, nullptr);
  }
}

}  // namespace accelscope::probe::opencl
