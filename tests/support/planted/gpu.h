// Sessions of GPUs out of a seed, with one planted defect or none, and the twin of each in which it is mended: what the
// mending saves is the difference of the two runs. For judging advice by a truth that is known.
//
//   simulate_planted_gpu(GpuDefect::sync_each_step, seed, false, sink);  // and true: its twin
//
// All are loops of steps: the loader gives a batch, which is copied to the GPU a step ahead on a stream of its own;
// kernels follow, launched by operators. A session without a defect has a host that is ahead of its GPU.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/chunk/event_sink.h"

namespace accelscope::capture::sim {

enum class GpuDefect : std::uint8_t {
  none,
  slow_host,       // operators take the host longer than their kernels take
  slow_loader,     // each batch is made while the GPU waits for it
  sync_each_step,  // the host reads a value back in every step
  blocking_copy,   // results are copied back in every step by a call that returns when they are there
  tiny_kernels,    // what one kernel could do is done by many that are shorter than their launch
  one_stream,      // batches are copied on the stream of the kernels
  straggler,       // one of several ranks computes longer than the others
};
inline constexpr std::size_t kGpuDefectCount = 8;
[[nodiscard]] std::string_view gpu_defect_name(GpuDefect defect) noexcept;

[[nodiscard]] Result<void> simulate_planted_gpu(GpuDefect defect, std::uint64_t seed, bool repaired, EventSink& sink);
// "GPU 3" of a straggler; "": no device is to blame.
[[nodiscard]] std::string planted_device(GpuDefect defect, std::uint64_t seed);

}  // namespace accelscope::capture::sim
