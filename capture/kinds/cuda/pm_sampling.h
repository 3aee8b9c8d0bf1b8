// Counters over time of the GPUs that programs use, at 1 to 20 kHz, by CUPTI's PM sampling: how busy the
// multiprocessors and their pipes are, bytes of memory, L2, PCIe and NVLink, operations, the clock.
//
//   PmSampler sampler(10'000);
//   sampler.use_library("/opt/torch/lib/libcupti.so.12");   // the one that a program has; else it searches itself
//   sampler.add({.gpu = 0, .label = "GPU 0", .uuid = ...}); // samples from some 0.5 s later on
//   for (const PmSample& sample : sampler.take()) ...       // every 100 ms; take_notices() says what is missing
//   sampler.settle();                                       // all that was sampled until now can be taken
//
// CUPTI samples whole devices, by their number and without a context, so it runs in the agent: it sees all processes of
// a GPU, and neither takes time of the program nor the place of a tool in it. Metrics of one pass alone are sampled: of
// each figure the first of its metrics that the chip has and that fits beside those before it.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/definitions.h"

namespace accelscope::capture::kinds::cuda {

enum class PmFigure : std::uint8_t {
  clock,
  sm_active,
  sm_issue,
  warps_active,
  tensor_active,
  dram_read,
  dram_write,
  fp32_operations,
  fp32_active,
  fp64_active,
  fp16_active,
  l2,
  pcie_read,
  pcie_write,
  nvlink_received,
  nvlink_sent,
  tensor_operations,
  fp64_operations,
};
struct PmFigureRow {
  const char* name;  // as Nsight Systems names it where it has it
  const char* unit;
  double scale;            // of the metric's own unit
  const char* metrics[3];  // the first that can be sampled is; null: no more
};
// By PmFigure; what comes first is sampled first where not all fit into one pass. The metrics of "Triage" sets are made
// to be sampled together.
inline constexpr PmFigureRow kPmFigures[] = {
    {"GPC Clock Frequency", "MHz", 1e-6, {"gpc__cycles_elapsed.avg.per_second"}},
    {"SMs Active", "%", 1, {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed"}},
    {"SM Issue",
     "%",
     1,
     {"TPC.TriageCompute.sm__inst_executed_realtime.avg.pct_of_peak_sustained_elapsed",
      "sm__inst_executed_realtime.avg.pct_of_peak_sustained_elapsed",
      "sm__issue_active.avg.pct_of_peak_sustained_elapsed"}},
    {"Warps Active",
     "%",
     1,
     {"TPC.TriageCompute.tpc__warps_active_realtime.avg.pct_of_peak_sustained_elapsed",
      "sm__warps_active_realtime.avg.pct_of_peak_sustained_elapsed",
      "sm__warps_active.avg.pct_of_peak_sustained_elapsed"}},
    {"Tensor Active",
     "%",
     1,
     {"TPC.TriageCompute.sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed",
      "sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed",
      "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"}},
    {"DRAM Read Bandwidth", "B/s", 1, {"dram__bytes_read.sum.per_second", "fbpa__dram_read_bytes.sum.per_second"}},
    {"DRAM Write Bandwidth", "B/s", 1, {"dram__bytes_write.sum.per_second", "fbpa__dram_write_bytes.sum.per_second"}},
    {"FP32 Operations",
     "FLOP/s",
     64,  // of an instruction of a warp: multiplications and additions of 32 threads
     {"TPC.TriageCompute.sm__inst_executed_pipe_fma_realtime.sum.per_second",
      "sm__inst_executed_pipe_fma_realtime.sum.per_second", "sm__inst_executed_pipe_fma.sum.per_second"}},
    {"FP32 Pipe Active",
     "%",
     1,
     {"TPC.TriageCompute.sm__inst_executed_pipe_fma_realtime.avg.pct_of_peak_sustained_elapsed",
      "TPC.TriageCompute.sm__pipe_fma_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed",
      "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed"}},
    {"FP64 Pipe Active",
     "%",
     1,
     {"TPC.TriageCompute.sm__pipe_fp64_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed",
      "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_elapsed"}},
    {"FP16 Pipe Active",
     "%",
     1,
     {"sm__inst_executed_pipe_fma_type_fp16.avg.pct_of_peak_sustained_elapsed",
      "sm__inst_executed_pipe_fp16.avg.pct_of_peak_sustained_elapsed"}},
    {"L2 Bandwidth", "B/s", 1, {"lts__t_bytes.sum.per_second"}},
    {"PCIe Read Bandwidth", "B/s", 1, {"pcie__read_bytes.sum.per_second"}},
    {"PCIe Write Bandwidth", "B/s", 1, {"pcie__write_bytes.sum.per_second"}},
    {"NVLink Received", "B/s", 1, {"nvlrx__bytes.sum.per_second"}},
    {"NVLink Sent", "B/s", 1, {"nvltx__bytes.sum.per_second"}},
    // Made of the others: what a pipe can do in the cycles in which it was active.
    {"Tensor Operations", "FLOP/s", 1, {}},
    {"FP64 Operations", "FLOP/s", 1, {}},
};
inline constexpr std::size_t kPmFigureCount = std::size(kPmFigures);

// The values hold from begin_ns to end_ns: NaN where there are none. Capture time.
struct PmSample {
  std::uint32_t gpu = 0;
  std::int64_t begin_ns = 0, end_ns = 0;
  std::array<double, kPmFigureCount> values{};
};

class PmSampler {
 public:
  struct Device {
    std::uint32_t gpu = 0;
    std::string label;
    std::array<std::uint64_t, 2> uuid{};
  };
  static constexpr unsigned kLeastRate = 1'000, kMostRate = 20'000;  // samples a second

  PmSampler(std::chrono::steady_clock::time_point origin, unsigned rate);
  ~PmSampler();
  PmSampler(const PmSampler&) = delete;
  PmSampler& operator=(const PmSampler&) = delete;

  void use_library(const std::string& path);
  void add(Device device);
  void settle();
  [[nodiscard]] std::vector<PmSample> take();
  [[nodiscard]] std::vector<QualityEntry> take_notices();

 private:
  class Worker;
  std::unique_ptr<Worker> worker_;
};

// Which metrics are sampled of a chip as CUPTI names it ("GH100"), by a library that is there: by PmFigure, "" where
// none is.
[[nodiscard]] Result<std::vector<std::string>> sampled_metrics(const std::string& library, const std::string& chip);

// Whether this process may sample, for `doctor`, and what to do where not. parameters: as the driver states its own.
[[nodiscard]] std::string sampling_rights(const std::string& parameters = "/proc/driver/nvidia/params");

}  // namespace accelscope::capture::kinds::cuda
