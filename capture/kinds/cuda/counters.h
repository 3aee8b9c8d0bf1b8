// What NVML says of GPUs some ten times a second: how busy they are, clocks, power, temperature, memory in use, traffic
// of PCIe. The driver's library is loaded when it is wanted; a thread of its own asks, since some answers take 20 ms.
//
//   GpuCounters counters(origin);   // asks from now on; see failure()
//   for (const GpuSample& sample : counters.take()) ...
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace accelscope::capture::kinds::cuda {

enum class GpuFigure : std::uint8_t {
  busy,
  memory_busy,
  memory_used,
  sm_clock,
  memory_clock,
  power,
  temperature,
  pcie_sent,
  pcie_received,
};
struct GpuFigureRow {
  const char* name;
  const char* unit;
  double scale;  // of NVML's own unit
};
// By GpuFigure.
inline constexpr GpuFigureRow kGpuFigures[] = {
    {"GPU busy", "%", 1},    {"memory busy", "%", 1},    {"memory used", "B", 1},
    {"SM clock", "MHz", 1},  {"memory clock", "MHz", 1}, {"power", "W", 0.001},
    {"temperature", "C", 1}, {"PCIe sent", "B/s", 1024}, {"PCIe received", "B/s", 1024},
};

struct GpuSample {
  std::string uuid;  // "GPU-8f3c..." or "MIG-..."
  std::int64_t ns = 0;
  GpuFigure figure{};
  double value = 0;
};

class GpuCounters {
 public:
  explicit GpuCounters(std::chrono::steady_clock::time_point origin);
  ~GpuCounters();
  GpuCounters(const GpuCounters&) = delete;
  GpuCounters& operator=(const GpuCounters&) = delete;

  // Why there are no counters; "": there are.
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }
  [[nodiscard]] std::vector<GpuSample> take();

 private:
  struct Nvml;
  void run();
  void sample(bool with_traffic);

  std::chrono::steady_clock::time_point origin_;
  std::string failure_;
  Nvml* nvml_ = nullptr;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;               // guarded by mutex_
  std::vector<GpuSample> samples_;  // guarded by mutex_
  std::thread thread_;
};

// What of the driver's library there is, for `doctor`: "" if it can be used.
[[nodiscard]] std::string nvml_failure();

}  // namespace accelscope::capture::kinds::cuda
