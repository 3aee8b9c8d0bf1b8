// Ctrl+C during a command that can end in an orderly way. While an Interruptible lives, the first SIGINT, SIGTERM
// or SIGHUP (the terminal has gone; not under nohup) is remembered; a second one ends the program at once. One at a
// time.
#pragma once

namespace accelscope::app {

class Interruptible {
 public:
  Interruptible();
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
  [[nodiscard]] bool interrupted() const noexcept;
};

// The exit status of a command that ended for it, as shells have it: 130 after Ctrl+C, 143 after SIGTERM; 0 if no
// signal has come to the last Interruptible.
[[nodiscard]] int interrupted_status() noexcept;
void forget_interrupts() noexcept;

}  // namespace accelscope::app
