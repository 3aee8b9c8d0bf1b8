// Times that a tool printed as sums alone, a row per kernel or call: which part is the largest, and which row. When
// anything ran, and beside what, such a file does not tell.
//
//   const auto sums = summed_times(query);  // of "Device Timing Summary": copies 58 % of 22 ms
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "core/scan/chunk_scan.h"

namespace accelscope {

struct SummedTimes {
  enum class Part : std::uint8_t { work, communication, copies, waits };
  static constexpr std::size_t kParts = 4;
  bool of_device = false;  // kernels and copies; else calls of a host
  double total_ns = 0;     // of all rows; 0: the session has no such table
  std::array<double, kParts> part_ns{};
  std::string longest;  // the row with the largest sum
  double longest_ns = 0;

  [[nodiscard]] Part largest() const noexcept;
  [[nodiscard]] double share(Part part) const noexcept { return part_ns[static_cast<std::size_t>(part)] / total_ns; }
};

// Of tables without time (EventKind::table) that have a column "Time" in a unit of time; those of a device come first,
// where there are also some of a host.
[[nodiscard]] Result<SummedTimes> summed_times(const QueryContext& query);

// "Sums alone: 22.02 ms of device work, copies 58.0 %, kernels 42.0 %: mostly copies"; "" where there are none.
[[nodiscard]] std::string bound_text(const SummedTimes& sums);
// "Longest in zeCommandListAppendMemoryCopy(M2D), 44.9 %"
[[nodiscard]] std::string cause_text(const SummedTimes& sums);

}  // namespace accelscope
