// Ctrl+C during a command that can end in an orderly way. While an Interruptible lives, the first SIGINT or SIGTERM
// is remembered; a second one ends the program at once. One at a time.
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

}  // namespace accelscope::app
