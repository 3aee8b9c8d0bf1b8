// The functions that a collector gives to static parts, by the names under which they ask for them.
#pragma once

#include <span>

#include "capture/probe/itt/abi.h"
#include "capture/probe/itt/recorder.h"

namespace accelscope::probe::itt {

struct Call {
  template <typename Function>
  Call(const char* called, Function* calls, bool Wanted::*switched_by = nullptr)
      : name(called), function(reinterpret_cast<void*>(calls)), wanted(switched_by) {}
  const char* name;  // without "__itt_"
  void* function;
  bool Wanted::*wanted;  // bound only if the user wants it; null: always
};
[[nodiscard]] std::span<const Call> task_calls() noexcept;     // tasks, regions, frames, markers, metadata, relations
[[nodiscard]] std::span<const Call> counter_calls() noexcept;  // counters, events, histograms, memory
[[nodiscard]] std::span<const Call> control_calls() noexcept;  // names, threads, locks, pause and resume

// Of an object that this or the program's static part has made; registers it at its first use.
[[nodiscard]] std::uint32_t domain_of(const itt_domain* domain) noexcept;  // Names::kOffDomain: not wanted
[[nodiscard]] Name* name_of(itt_string_handle* handle) noexcept;           // null: the handle is
[[nodiscard]] std::uint32_t site_of(const itt_domain* domain, std::uint32_t domain_id,
                                    itt_string_handle* name) noexcept;
[[nodiscard]] std::uint32_t site_of_domain(const itt_domain* domain, std::uint32_t domain_id) noexcept;
// What was made before this library came.
void adopt(itt_global& part) noexcept;           // domains and strings
void adopt_counters(itt_global& part) noexcept;  // of a part that keeps a list of them

// Of a call that says when it happened: by the collector's own clock, which get_timestamp gives out, or by a clock that
// the program has declared. The latter's times cannot be placed here, which is told once: those calls count from when
// they are made, as do those that give no time (0).
void tell_of_own_clock() noexcept;
[[nodiscard]] inline std::uint64_t ticks_of(const itt_clock_domain* clock, std::uint64_t timestamp) noexcept {
  if (clock != nullptr) tell_of_own_clock();
  return clock == nullptr && timestamp != 0 ? timestamp : now_ticks();
}

[[nodiscard]] inline std::string_view view_of(const char* text) noexcept { return text == nullptr ? "" : text; }
// A handle that stands for a site; null: its domain is not wanted.
[[nodiscard]] void* site_handle(const char* domain, const char* name) noexcept;
[[nodiscard]] inline std::uint32_t site_of_handle(const void* handle) noexcept {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(handle));
}

// A call that happens when it is made, of one that says when by a clock and a time behind its first argument.
template <auto kTimed, typename Function = decltype(kTimed)>
struct Untimed;
template <auto kTimed, typename First, typename... Rest>
struct Untimed<kTimed, void (*)(First, itt_clock_domain*, unsigned long long, Rest...) noexcept> {
  static void call(First first, Rest... rest) noexcept { kTimed(first, nullptr, 0, rest...); }
};
template <auto kTimed>
inline constexpr auto* untimed = &Untimed<kTimed>::call;

}  // namespace accelscope::probe::itt
