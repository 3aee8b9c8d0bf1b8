#include "app/terminal/interrupt.h"

#include <csignal>

namespace accelscope::app {
namespace {

// The one thing that a signal handler may write: the signal that came, or 0.
volatile std::sig_atomic_t g_interrupted = 0;

void remember(int signal) {
  g_interrupted = signal;
  std::signal(signal, SIG_DFL);
}

}  // namespace

Interruptible::Interruptible() {
  g_interrupted = 0;
  std::signal(SIGINT, remember);
  std::signal(SIGTERM, remember);
  if (std::signal(SIGHUP, remember) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

Interruptible::~Interruptible() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  if (std::signal(SIGHUP, SIG_DFL) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

bool Interruptible::interrupted() const noexcept { return g_interrupted != 0; }

int interrupted_status() noexcept { return g_interrupted == 0 ? 0 : 128 + g_interrupted; }

void forget_interrupts() noexcept { g_interrupted = 0; }

}  // namespace accelscope::app
