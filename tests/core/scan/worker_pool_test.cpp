#include "core/base/worker_pool.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <string>
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
  std::atomic<int> reported = 0;
  Task<int> never;
  {
    WorkerPool pool(1);
    pool.on_finished([&reported] { ++reported; });
    std::atomic<bool> go_on = false;
    Task<int> slow = pool.start([&go_on](TaskControl&) {
      while (!go_on) std::this_thread::yield();
      return 1;
    });
    Task<int> behind = pool.start([](TaskControl&) { return 2; });
    CHECK(pool.start(Priority::drawing, [](TaskControl&) { return 3; }).take() == 3);
    CHECK_FALSE(behind.ready());
    CHECK(pool.concurrency() == 2);  // the hasty threads take part in no loop
    go_on = true;
    CHECK(slow.take() + behind.take() == 3);
    never = pool.start(Priority::drawing, [](TaskControl& control) {
      while (!control.cancelled()) std::this_thread::yield();
      return 4;
    });
  }
  CHECK(never.take() == 4);
  CHECK(reported == 4);
}

TEST_CASE("what a frame waits for and what was asked overtake what can wait, each in the order they came") {
  WorkerPool pool(1);
  std::atomic<bool> go{false};
  std::mutex mutex;
  std::string order;
  const auto blocker = pool.start([&](TaskControl&) {
    while (!go) std::this_thread::yield();
    return 0;
  });
  std::vector<Task<int>> tasks;
  const auto start = [&](Priority priority, char letter) {
    tasks.push_back(pool.start(priority, [&, letter](TaskControl&) {
      const std::scoped_lock lock(mutex);
      order += letter;
      return 0;
    }));
  };
  start(Priority::background, 'x');
  start(Priority::question, 'b');
  start(Priority::background, 'y');
  start(Priority::drawing, 'a');
  start(Priority::question, 'c');
  go = true;
  for (auto& task : tasks) task.wait();
  CHECK(order == "abcxy");
}

TEST_CASE("tasks that can wait leave a thread free, however many there are") {
  WorkerPool pool(3);
  std::atomic<int> running{0};
  std::atomic<bool> go{false};
  std::vector<Task<int>> waiting;
  for (int i = 0; i < 6; ++i) {
    waiting.push_back(pool.start(Priority::background, [&](TaskControl&) {
      ++running;
      while (!go) std::this_thread::yield();
      return 0;
    }));
  }
  while (running < 2) std::this_thread::yield();
  CHECK(pool.start([&](TaskControl&) { return running.load(); }).take() == 2);  // hangs if no thread is free
  go = true;
  for (auto& task : waiting) task.wait();
  CHECK(running == 6);
}

TEST_CASE("a loop that can wait gives way to a question and comes back afterwards") {
  WorkerPool pool(2);
  std::atomic<bool> begun{false};
  std::atomic<bool> asked{false};
  std::atomic<bool> answered{false};
  std::atomic<std::size_t> helped_meanwhile{0};
  std::atomic<std::size_t> helped_afterwards{0};
  std::vector<std::atomic<int>> calls(2000);
  auto loop = pool.start(Priority::background, [&](TaskControl& control) {
    pool.for_each(calls.size(), control, [&](std::size_t index, std::size_t worker) {
      ++calls[index];
      if (worker == 0) {  // the task itself: it leaves the rest to its helper until there is an answer
        while (!answered || (index < 1900 && helped_afterwards == 0)) std::this_thread::yield();
        return;
      }
      begun = true;
      while (!asked) std::this_thread::yield();
      ++(answered ? helped_afterwards : helped_meanwhile);
    });
    return 0;
  });
  while (!begun) std::this_thread::yield();
  auto question = pool.start(Priority::question, [&](TaskControl&) {
    answered = true;
    return 5;
  });
  asked = true;
  CHECK(question.take() == 5);
  loop.wait();
  CHECK(helped_meanwhile == 1);  // the call that was being made when the question came
  CHECK(helped_afterwards > 0);
  CHECK(std::all_of(calls.begin(), calls.end(), [](const auto& made) { return made == 1; }));
}
