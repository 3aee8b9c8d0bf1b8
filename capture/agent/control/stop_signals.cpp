#include "capture/agent/control/stop_signals.h"

#include <csignal>

namespace accelscope::capture::agent {
namespace {

// The one thing that a signal handler may write.
volatile std::sig_atomic_t g_asked = 0;

void remember(int number) {
  g_asked = g_asked + 1;
  std::signal(number, g_asked < 2 ? remember : SIG_DFL);
}

}  // namespace

StopSignals::StopSignals() {
  g_asked = 0;
  std::signal(SIGINT, remember);
  std::signal(SIGTERM, remember);
  if (std::signal(SIGHUP, remember) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

StopSignals::~StopSignals() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  if (std::signal(SIGHUP, SIG_DFL) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

bool StopSignals::asked() const noexcept { return g_asked != 0; }

}  // namespace accelscope::capture::agent
