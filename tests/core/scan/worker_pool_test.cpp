#include "core/scan/worker_pool.h"

#include <doctest/doctest.h>

#include <atomic>
#include <numeric>
#include <thread>

using namespace accelscope;

TEST_CASE("tasks return their values and report their progress") {
  WorkerPool pool(2);
  std::vector<Task<int>> tasks;
  for (int i = 0; i < 50; ++i) {
    tasks.push_back(pool.start([i](TaskControl& control) {
      control.add_total(3);
      control.add_done(3);
      return i * i;
    }));
  }
  for (int i = 0; i < 50; ++i) {
    Task<int>& task = tasks[static_cast<std::size_t>(i)];
    task.wait();
    CHECK(task.ready());
    CHECK(task.done() == 3);
    CHECK(task.take() == i * i);
    CHECK_FALSE(task.valid());
  }
}

TEST_CASE("a loop over the pool makes every call once, also from within tasks") {
  WorkerPool pool(2);
  std::vector<Task<long>> tasks;
  for (int t = 0; t < 6; ++t) {
    tasks.push_back(pool.start([&pool](TaskControl& control) {
      std::vector<long> sums(pool.concurrency(), 0);
      pool.for_each(1000, control, [&](std::size_t i, std::size_t worker) { sums[worker] += static_cast<long>(i); });
      return std::accumulate(sums.begin(), sums.end(), 0L);
    }));
  }
  for (auto& task : tasks) CHECK(task.take() == 499'500L);
}

TEST_CASE("dropping a task cancels it") {
  WorkerPool pool(1);
  std::atomic<bool> started{false};
  std::atomic<bool> ended{false};
  {
    const auto task = pool.start([&](TaskControl& control) {
      started = true;
      while (!control.cancelled()) std::this_thread::yield();
      ended = true;
      return 0;
    });
    while (!started) std::this_thread::yield();
  }
  auto last = pool.start([&](TaskControl&) { return ended.load(); });
  CHECK(last.take());
}

TEST_CASE("closing the pool cancels what runs and what waits, and leaves nobody waiting") {
  Task<int> running;
  Task<int> waiting;
  std::atomic<bool> started{false};
  {
    WorkerPool pool(1);
    const auto until_cancelled = [&](TaskControl& control) {
      started = true;
      while (!control.cancelled()) std::this_thread::yield();
      return 7;
    };
    running = pool.start(until_cancelled);
    waiting = pool.start(until_cancelled);
    while (!started) std::this_thread::yield();
  }
  CHECK(running.take() == 7);
  CHECK(waiting.take() == 7);
}

TEST_CASE("what is asked for at once does not wait behind long work, and is told when the pool closes") {
  std::atomic<int> told = 0;
  Task<int> never;
  {
    WorkerPool pool(1);
    pool.on_finished([&told] { ++told; });
    std::atomic<bool> go_on = false;
    Task<int> slow = pool.start([&go_on](TaskControl&) {
      while (!go_on) std::this_thread::yield();
      return 1;
    });
    Task<int> behind = pool.start([](TaskControl&) { return 2; });
    CHECK(pool.start([](TaskControl&) { return 3; }, Haste::at_once).take() == 3);
    CHECK_FALSE(behind.ready());
    CHECK(pool.concurrency() == 2);  // the hasty threads take part in no loop
    go_on = true;
    CHECK(slow.take() + behind.take() == 3);
    never = pool.start(
        [](TaskControl& control) {
          while (!control.cancelled()) std::this_thread::yield();
          return 4;
        },
        Haste::at_once);
  }
  CHECK(never.take() == 4);
  CHECK(told == 4);
}
