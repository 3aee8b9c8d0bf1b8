#include "app/commands/interrupt.h"

#include <csignal>

namespace accelscope::app {
namespace {

// The one thing that a signal handler may write.
volatile std::sig_atomic_t g_interrupted = 0;

void remember(int signal) {
  g_interrupted = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

Interruptible::Interruptible() {
  g_interrupted = 0;
  std::signal(SIGINT, remember);
  std::signal(SIGTERM, remember);
}

Interruptible::~Interruptible() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool Interruptible::interrupted() const noexcept { return g_interrupted != 0; }

}  // namespace accelscope::app
