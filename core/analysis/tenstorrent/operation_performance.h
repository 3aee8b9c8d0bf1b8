// The operations of a report of tt-metal in the style that its users know: share, what bounds each, device time, gap,
// cores, DRAM and FLOPs against the chip's peaks, and what would help. Formulas are those of the makers' report: a
// matrix multiplication M x K x N of a batch of B takes 2 B M K N operations; its DRAM bytes are those of its first two
// inputs and its first output as far as they lie there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/ids.h"
#include "core/model/time_range.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::analysis::tenstorrent {

inline constexpr std::int64_t kFewCores = 10;  // an operation on less has few

struct OperationPerformance {
  std::optional<std::int64_t> id, device, cores;
  std::string name;   // with the extents of matrix multiplications
  std::string bound;  // "DRAM", "FLOP", "BOTH", "SLOW", "HOST"; "": not judged
  std::string fidelity;
  std::string advice;
  std::optional<double> time_ns, gap_ns;
  std::optional<double> dram_bytes_per_s, dram_share, flops_per_s, flops_share;  // shares of the chip's peaks
  double share = 0;                                                              // of the times and gaps of all
  std::int64_t order = 0;
  EventId event = kNoEvent;
  std::string device_label;  // as TrackDevices names it
};

// Those of the range that pass the query's mask, in the order of the host. Empty where the session has no operations.
[[nodiscard]] Result<std::vector<OperationPerformance>> operation_performance(const QueryContext& query,
                                                                              const TimeRange& range);

// Peaks of a chip as the makers' tool takes them: DRAM in B/s, operations of one core in FLOP/s by the passes that a
// multiplication takes. Nothing for chips that are not known.
struct ChipPeaks {
  double dram_bytes_per_s = 0;
  double lofi_flops_per_core = 0;
};
[[nodiscard]] std::optional<ChipPeaks> chip_peaks(std::string_view arch) noexcept;
// LoFi 1, HiFi2 2, HiFi3 3, HiFi4 4; 0 of others.
[[nodiscard]] int passes_of_fidelity(std::string_view fidelity) noexcept;

// A matrix multiplication's own: its extents and what it moved from and to DRAM.
struct MatmulWork {
  std::int64_t batch = 1, m = 0, k = 0, n = 0;
  double dram_bytes = 0;
  [[nodiscard]] double flops() const noexcept {
    return 2.0 * static_cast<double>(batch) * static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
  }
};
// "DRAM", "FLOP", "BOTH" from 65 % of a peak on, else "SLOW".
[[nodiscard]] std::string_view bound_of(double dram_share, double flops_share) noexcept;

}  // namespace accelscope::analysis::tenstorrent
