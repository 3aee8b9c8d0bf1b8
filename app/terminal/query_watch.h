// Looks after a running query from a thread of its own: a progress line on a terminal, and Ctrl+C as a cancellation.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "app/terminal/command.h"
#include "app/terminal/terminal.h"
#include "core/base/worker_pool.h"

namespace accelscope::app {

class QueryWatch {
 public:
  // All three must outlive it.
  QueryWatch(TaskControl& control, const Interruptible& interruptible, const CommandRun& run);
  ~QueryWatch();
  QueryWatch(const QueryWatch&) = delete;
  QueryWatch& operator=(const QueryWatch&) = delete;

  // No progress line from here on, because other lines come to the same terminal.
  void hide_progress();

 private:
  void look();
  void print_progress();
  void erase_progress();

  TaskControl& control_;
  const Interruptible& interruptible_;
  const CommandRun& run_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  bool shows_progress_;
  bool line_shown_ = false;
  std::thread thread_;
};

}  // namespace accelscope::app
