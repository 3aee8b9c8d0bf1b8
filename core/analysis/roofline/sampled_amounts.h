// Operations and bytes of work whose source states neither, from counters that were sampled of its device: what was
// counted between two samples is shared out among the work that was under way meanwhile, by time, and evenly among
// what ran at once. So kernels that are shorter than a sample have the mix of their neighbours, and sums over many are
// right.
//
//   const SampledAmounts samples = TRY(SampledAmounts::read(query, range, lanes));
//   if (samples.has(device)) samples.share_out(device, window, work, [&](key, flops, bytes) { ... });
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "core/analysis/roofline/event_amounts.h"
#include "core/model/time_range.h"

namespace accelscope::analysis {

// Counters in B/s that together are the traffic of a device's memory; those in FLOP/s are all of its operations.
inline constexpr std::array<std::string_view, 2> kMemoryCounters = {"DRAM Read Bandwidth", "DRAM Write Bandwidth"};

class SampledAmounts {
 public:
  struct Work {
    std::int64_t begin_ns = 0, end_ns = 0;
    std::uint64_t key = 0;  // 0: nobody asks for what it did
  };
  using Add = std::function<void(std::uint64_t key, double flops, double bytes)>;

  [[nodiscard]] static Result<SampledAmounts> read(const QueryContext& query, const TimeRange& range,
                                                   const DeviceLanes& lanes);

  [[nodiscard]] bool any() const noexcept;
  [[nodiscard]] bool has(std::size_t device) const noexcept { return !devices_[device].empty(); }
  // work: all of the device in the window, none reaching over its edges.
  void share_out(std::size_t device, const TimeRange& window, const std::vector<Work>& work, const Add& add) const;

 private:
  struct Sample {
    std::int64_t begin_ns = 0, end_ns = 0;
    double per_second = 0;
  };
  struct Series {  // of one counter, by time
    bool is_flops = false;
    std::vector<Sample> samples;
  };
  struct Stretch {  // in which as many events are under way
    std::int64_t begin_ns = 0, end_ns = 0;
    double count = 0;
  };
  [[nodiscard]] static std::vector<Stretch> stretches_of(const std::vector<Work>& work);
  [[nodiscard]] static std::vector<double> sums_of(const Series& series, const TimeRange& window,
                                                   const std::vector<Stretch>& stretches);

  std::vector<std::vector<Series>> devices_;  // as DeviceLanes numbers them
};

}  // namespace accelscope::analysis
