// Fetches the times of commands that have ended. A callback for each command costs the drivers a microsecond and more,
// so the layer keeps the events of a queue in a list and a thread of its own walks through it now and then; so do the
// program's threads when they have waited for the queue anyway, or when the list has grown long.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "capture/probe/opencl/objects.h"

namespace accelscope::probe::opencl {

class Collector {
 public:
  // Takes over a reference to the event.
  void add(const std::shared_ptr<Queue>& queue, const PendingCommand& command);
  // Fetches what has ended of the queue; false: something is still under way.
  bool collect(Queue& queue);
  // Ends the thread and waits a moment for what is under way; the program is about to end.
  void drain();
  // How many of the event's references are the layer's.
  [[nodiscard]] std::uint32_t references_to(Queue& queue, cl_event event);

 private:
  void start();
  static void* thread_main(void* collector);
  void run();
  // Whether queues that the program is filling are left alone for now.
  enum class Fill : std::uint8_t { waits, counts };
  // False: something is still under way. Forgets queues on which nothing has happened for a while.
  bool collect_all(Fill fill);
  void calibrate();
  [[nodiscard]] std::vector<std::shared_ptr<Queue>> active();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<Queue>> queues_;  // that have something pending, or had it lately
  std::vector<cl_device_id> without_timer_;     // devices that cannot be asked for their time
  bool started_ = false;
  bool running_ = false;
  bool stopping_ = false;
};

}  // namespace accelscope::probe::opencl
