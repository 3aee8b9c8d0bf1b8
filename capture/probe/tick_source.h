// The clock of all records of probes: the time-stamp counter where the system trusts it, else CLOCK_MONOTONIC in ns.
// Read by programs and by the agent, on one host.
#pragma once

#include <cstdint>
#include <ctime>

#include "capture/probe/channel_format.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>

#include <cstdio>
#include <cstring>
#endif

namespace accelscope::probe {

[[nodiscard]] inline std::uint64_t monotonic_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

// Ticks of that clock now; `tsc` only where find_clock_kind() found it.
[[nodiscard]] inline std::uint64_t read_ticks(ClockKind kind) noexcept {
#if defined(__x86_64__)
  if (kind == ClockKind::tsc) return __rdtsc();
#else
  (void)kind;
#endif
  return monotonic_ns();
}

// The time-stamp counter if it runs at one rate whatever the processor does (CPUID 0x80000007, EDX bit 8), and the
// system itself keeps its time by it, which it does only while all processors' counters agree.
[[nodiscard]] inline ClockKind find_clock_kind() noexcept {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(0x80000007U, &a, &b, &c, &d) == 0 || (d & (1U << 8)) == 0) return ClockKind::monotonic;
  std::FILE* file = std::fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
  if (file == nullptr) return ClockKind::monotonic;
  char name[16] = {};
  const bool is_tsc = std::fgets(name, sizeof name, file) != nullptr && std::strncmp(name, "tsc", 3) == 0;
  std::fclose(file);
  if (is_tsc) return ClockKind::tsc;
#endif
  return ClockKind::monotonic;
}

}  // namespace accelscope::probe
