// Plays records into the stand-in for CUPTI, field by field. Their times count from g_base.
//
//   load_cupti();
//   print_base();
//   kernel("gemm", 1'000, 2'000, 7, 101).play();
#pragma once

#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "capture/probe/cuda/cupti_abi.h"
#include "tests/support/cuda/stand_in_cupti.h"

namespace accelscope::test::cuda {

namespace cupti = probe::cuda::cupti;
using cupti::Activity;

[[nodiscard]] std::uint64_t now();  // ns of CLOCK_MONOTONIC
[[nodiscard]] std::uint32_t own_thread();

template <typename Function>
void take(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
}

// The stand-in as it was loaded by the collector, or by this program.
struct StandIn {
  decltype(&stand_in_record) record = nullptr;
  decltype(&stand_in_launch) launch = nullptr;
  decltype(&stand_in_buffer) buffer = nullptr;
  decltype(&stand_in_drop) drop = nullptr;
  decltype(&stand_in_profiler) profiler = nullptr;
  decltype(&stand_in_call) call = nullptr;
  decltype(&stand_in_incomplete) incomplete = nullptr;
  decltype(&stand_in_flushes) flushes = nullptr;
  decltype(&stand_in_refusals) refusals = nullptr;
  int (*subscribe)(void**, cupti::Callback, void*) = nullptr;
  int (*enable)(std::uint32_t) = nullptr;
  int (*flush)(std::uint32_t) = nullptr;
  int (*register_callbacks)(cupti::BufferRequested, cupti::BufferCompleted) = nullptr;
  int (*next)(std::uint8_t*, std::size_t, std::uint8_t**) = nullptr;
};
extern StandIn g_cupti;
void load_cupti();
// Until the collector has so many more of them, a minute at most.
void await(decltype(&stand_in_flushes) count, std::uint64_t more);
// Until it has all that was played: a flush may have been under way.
inline void await_flush() { await(g_cupti.flushes, 2); }

// A record, field by field.
class Raw {
 public:
  explicit Raw(Activity kind) { set(cupti::kKind, static_cast<std::uint32_t>(kind)); }
  template <typename T>
  Raw& set(cupti::Field<T> field, T value) {
    std::memcpy(bytes_.data() + field.offset, &value, sizeof value);
    return *this;
  }
  void play() const { (void)g_cupti.record(bytes_.data(), bytes_.size()); }
  [[nodiscard]] const std::uint8_t* bytes() const { return bytes_.data(); }

 private:
  std::array<std::uint8_t, 256> bytes_{};
};

extern std::uint64_t g_base;
void print_base();  // and this thread's number

void play_device(std::uint32_t id, bool is_mig);
void play_context(std::uint32_t id, std::uint32_t device, bool is_green);
[[nodiscard]] Raw kernel(const char* name, std::uint64_t start, std::uint64_t end, std::uint32_t stream,
                         std::uint32_t correlation);
// By this thread.
void play_call(Activity kind, std::uint32_t id, std::uint64_t start, std::uint64_t end, std::uint32_t correlation,
               std::uint32_t result = 0);
int play_all();  // what the program does with "all": a record of each kind, two GPUs, a part of one and a green context

}  // namespace accelscope::test::cuda
