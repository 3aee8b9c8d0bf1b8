// A program that a signal ends gives what a probe holds back first: the handler has another thread do it, since nothing
// may be called there, and then calls end_by().
#pragma once

#include <signal.h>
#include <time.h>

#include <atomic>

namespace accelscope::probe {

// Only those that would end the program at once.
inline void watch_ending_signals(void (*handler)(int)) noexcept {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    struct sigaction now {};
    if (::sigaction(signal, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) continue;
    struct sigaction watched {};
    watched.sa_handler = handler;
    watched.sa_flags = SA_RESTART;
    sigemptyset(&watched.sa_mask);
    (void)::sigaction(signal, &watched, nullptr);
  }
}

// What a handler asks another thread for, and waits for half a second at most.
class SignalFlush {
 public:
  void await() noexcept {
    constexpr timespec kMillisecond{0, 1'000'000};
    state_.store(kWanted);
    for (int i = 0; i < kPatienceMs && state_.load() != kDone; ++i) (void)::nanosleep(&kMillisecond, nullptr);
  }
  [[nodiscard]] bool wanted() const noexcept { return state_.load() == kWanted; }
  void done() noexcept { state_.store(kDone); }

 private:
  static constexpr int kPatienceMs = 500;
  static constexpr int kWanted = 1, kDone = 2;
  std::atomic<int> state_{0};
};

// The signal comes again when the handler returns, and ends the program.
inline void end_by(int signal) noexcept {
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  (void)::sigaction(signal, &usual, nullptr);
  (void)::raise(signal);
}

}  // namespace accelscope::probe
