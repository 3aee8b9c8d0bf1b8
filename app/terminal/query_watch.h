// Looks after a running query from a thread of its own: a progress line on a terminal, and Ctrl+C as a cancellation.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "app/terminal/command.h"
#include "app/terminal/terminal.h"
#include "core/base/worker_pool.h"

namespace accelscope::app::terminal {

class QueryWatch {
 public:
  explicit QueryWatch(const CommandRun& run);  // which must outlive it
  ~QueryWatch();
  QueryWatch(const QueryWatch&) = delete;
  QueryWatch& operator=(const QueryWatch&) = delete;

  [[nodiscard]] TaskControl& control() noexcept { return control_; }
  [[nodiscard]] bool interrupted() const noexcept { return control_.cancelled() && interruptible_.interrupted(); }
  // No progress line from here on, because other lines come to the same terminal.
  void hide_progress();

 private:
  void look();
  void print_progress();
  void erase_progress();

  const Interruptible interruptible_;
  TaskControl control_;
  const CommandRun& run_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  bool shows_progress_;
  bool line_shown_ = false;
  std::thread thread_;
};

}  // namespace accelscope::app::terminal
