// What PM sampling uses of CUPTI, from CUDA 12.6 on, and of the driver, declared here since their headers are not there
// where it is built. Every function takes one struct, which begins with its size. `tests/capture/kinds/cuda` holds the
// structs against the toolkit's own headers where it is installed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace accelscope::capture::kinds::cuda::pm {

using Result = int;
constexpr Result kSuccess = 0;
constexpr Result kOutOfMemory = 8;  // of a decode: the hardware's buffer was full
constexpr Result kInsufficientPrivileges = 35;

constexpr std::uint32_t kPmSampling = 1;       // kind of a host object
constexpr std::uint32_t kByClockCycles = 0;    // triggers
constexpr std::uint32_t kByTime = 1;           // not on Turing and GA100
constexpr std::uint32_t kRetainOldest = 0;     // of a full buffer
constexpr std::uint32_t kCounterDataFull = 1;  // why a decode stopped
constexpr int kMultiprocessorCount = 16;       // attribute of a device

// size: up to the end of the last field.
template <typename Params>
struct Sized {
  static constexpr std::size_t kBytes = sizeof(Params);
};

struct Initialize {
  std::size_t size;
  void* unused;
};
struct ChipName {
  std::size_t size;
  void* unused;
  std::size_t device;
  const char* name;
};
struct HostInitialize {
  std::size_t size;
  void* unused;
  std::uint32_t kind;
  const char* chip;
  const std::uint8_t* availability;
  void* host;
};
struct HostDeinitialize {
  std::size_t size;
  void* unused;
  void* host;
};
struct AddMetrics {
  std::size_t size;
  void* unused;
  void* host;
  const char** names;
  std::size_t count;
};
struct ConfigSize {
  std::size_t size;
  void* unused;
  void* host;
  std::size_t bytes;
};
struct ConfigImage {
  std::size_t size;
  void* unused;
  void* host;
  std::size_t bytes;
  std::uint8_t* image;
};
struct PassCount {
  std::size_t size;
  void* unused;
  std::size_t bytes;
  std::uint8_t* image;
  std::size_t passes;
};
struct Evaluate {
  std::size_t size;
  void* unused;
  void* host;
  const std::uint8_t* data;
  std::size_t bytes;
  std::size_t sample;
  const char** names;
  std::size_t count;
  double* values;
};
struct Availability {
  std::size_t size;
  void* unused;
  std::size_t device;
  std::size_t bytes;
  std::uint8_t* image;
};
struct Enable {
  std::size_t size;
  void* unused;
  std::size_t device;
  void* sampler;
};
struct OfSampler {  // start, stop, disable
  std::size_t size;
  void* unused;
  void* sampler;
};
struct SetConfig {
  std::size_t size;
  void* unused;
  void* sampler;
  std::size_t bytes;
  const std::uint8_t* image;
  std::size_t buffer_bytes;
  std::uint64_t interval;  // ns or cycles
  std::uint32_t trigger;
  std::uint32_t append;
};
struct DataSize {
  std::size_t size;
  void* unused;
  void* sampler;
  const char** names;
  std::size_t count;
  std::uint32_t most_samples;
  std::size_t bytes;
};
struct InitializeData {
  std::size_t size;
  void* unused;
  void* sampler;
  std::size_t bytes;
  std::uint8_t* data;
};
struct Decode {
  std::size_t size;
  void* unused;
  void* sampler;
  std::uint8_t* data;
  std::size_t bytes;
  std::uint32_t stop_reason;
  std::uint8_t overflow;
};
template <>
struct Sized<Decode> {
  static constexpr std::size_t kBytes = offsetof(Decode, overflow) + 1;
};
struct DataInfo {
  std::size_t size;
  void* unused;
  const std::uint8_t* data;
  std::size_t bytes;
  std::size_t total, populated, completed;
};
struct SampleInfo {
  std::size_t size;
  void* unused;
  void* sampler;
  const std::uint8_t* data;
  std::size_t bytes;
  std::size_t sample;
  std::uint64_t start, end;
};

template <typename Params>
[[nodiscard]] Params make() {
  Params params{};
  params.size = Sized<Params>::kBytes;
  return params;
}

}  // namespace accelscope::capture::kinds::cuda::pm
