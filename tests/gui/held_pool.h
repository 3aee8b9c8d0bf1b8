// Holds all threads of a pool while it lives: what a frame shows then was not made by a worker, and what it keeps
// showing is not waited for.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include "core/base/worker_pool.h"

namespace accelscope::test {

class HeldPool {
 public:
  explicit HeldPool(WorkerPool& pool) {
    constexpr int kMoreThanThereAre = 64;
    for (int i = 0; i < kMoreThanThereAre; ++i) {
      tasks_.push_back(pool.start(Priority::drawing, [open = open_](TaskControl&) {
        while (!*open) std::this_thread::yield();
        return 0;
      }));
    }
  }
  ~HeldPool() {
    *open_ = true;
    for (const Task<int>& task : tasks_) task.wait();
  }
  HeldPool(const HeldPool&) = delete;
  HeldPool& operator=(const HeldPool&) = delete;

 private:
  std::shared_ptr<std::atomic<bool>> open_ = std::make_shared<std::atomic<bool>>(false);
  std::vector<Task<int>> tasks_;
};

// Comes back when no task of the pool is under way: all of its threads are here at once. What waits behind it begins
// then. Wakes nobody.
inline void meet_workers(WorkerPool& pool) {
  TaskControl control;
  const std::size_t all = pool.concurrency();
  std::atomic<std::size_t> here{0};
  pool.for_each(
      all, control,
      [&](std::size_t, std::size_t) {
        ++here;
        while (here < all) std::this_thread::yield();
      },
      Priority::background);
}

}  // namespace accelscope::test
