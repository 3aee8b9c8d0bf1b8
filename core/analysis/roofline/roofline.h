// A roofline: what a device computed against what it moved, point by point, and the ceilings above them.
//
//   const auto rooflines = device_rooflines(query, range, RoofGrouping::layer);   // one for each device with work
//   const auto ceilings = roof_ceilings(peaks_of_device(snapshot, device), "hbm", transfers);
//
// Of a point: intensity = flops / bytes of the chosen memory, rate = flops / busy time. Busy is a union: the time in
// which at least one of its events is under way that does not wait, of a source line the transfers that it asked for
// too, of a layer its own row too as far as the device works meanwhile, so that a layer that waits for its data is not
// taken for a faster one, and idle time before the work does not make it a slower one. Events that
// the range's edges cut give their operations and bytes in proportion. What the source counts of neither is no point:
// it is counted beside. Work that states neither has its share of what counters of its device sampled
// (sampled_amounts.h).
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "core/analysis/peaks/peaks.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::analysis {

enum class RoofGrouping : std::uint8_t { name, layer, line };

inline constexpr std::size_t kMostRoofMemories = 4;

struct RoofPoint {
  std::string text;  // the name, layer or line, as the source has it
  std::uint64_t count = 0;
  double flops = 0;
  std::array<double, kMostRoofMemories> bytes{};  // by memory of the roofline
  std::int64_t busy_ns = 0;
  TimeRange stretch = {0, 0};  // from the begin of its first event to the end of its last

  [[nodiscard]] bool is_placed(std::size_t memory) const noexcept {
    return flops > 0 && bytes[memory] > 0 && busy_ns > 0;
  }
  [[nodiscard]] double intensity(std::size_t memory) const noexcept { return flops / bytes[memory]; }  // FLOP/B
  [[nodiscard]] double rate() const noexcept { return flops / static_cast<double>(busy_ns) * 1e9; }    // FLOP/s
};

struct RoofMemory {
  std::string name;  // "HBM"
  std::string peak;  // of core/analysis/peaks: "hbm"
};

struct Roofline {
  static constexpr std::size_t kMost = 4096;
  std::string device;
  std::vector<RoofMemory> memories;  // that bytes are counted of; at most kMostRoofMemories
  std::vector<RoofPoint> points;     // all groups with operations or bytes, the busiest first; at most kMost
  std::uint64_t left_out = 0;        // groups beyond that
  std::uint64_t without_key = 0;     // events with operations or bytes that have no layer or line
  bool is_sampled = false;           // from counters, where events state neither

  // Groups that are no point of this memory.
  struct Unplaced {
    std::uint64_t without_flops = 0, without_bytes = 0;
    std::string flops_example, bytes_example;  // the busiest of them
  };
  [[nodiscard]] Unplaced unplaced(std::size_t memory) const;
};

struct Rooflines {
  RoofGrouping grouping = RoofGrouping::name;
  std::vector<Roofline> devices;
};

// What tells most: layers where events of device work have some, else source lines, else names.
[[nodiscard]] RoofGrouping usual_grouping(const Snapshot& snapshot);

// Of each device with work, in the order of its tracks.
[[nodiscard]] Result<std::shared_ptr<const Rooflines>> device_rooflines(const QueryContext& query,
                                                                        const TimeRange& range, RoofGrouping grouping);

struct RoofCeiling {
  enum class Kind : std::uint8_t {
    roof,   // the highest compute rate, or the bandwidth of the chosen memory
    limit,  // below the memory's peak, for a reason that can be changed
    other,  // a compute rate of another type
  };
  Kind kind = Kind::roof;
  bool is_compute = false;
  std::string title;  // "bf16", "HBM", "DMA, 2 KiB descriptors"
  double value = 0;   // FLOP/s or B/s
  bool operator==(const RoofCeiling&) const = default;
};

// What single transfers cost: `size` bytes each reach size / (size + cost) of the mover's peak.
struct TransferSize {
  double mean_bytes = 0;  // 0: none were seen
  double cost_bytes = 0;
  std::string mover, word;  // "DMA", "descriptors"
};
[[nodiscard]] double transfer_share(const TransferSize& size) noexcept;  // 0 to 1; 1 where nothing is known

// Roofs first. Those of unknown peaks are missing.
[[nodiscard]] std::vector<RoofCeiling> roof_ceilings(const PeakList& peaks, const RoofMemory& memory,
                                                     const TransferSize& transfers);

// What the roofs allow at an intensity, in FLOP/s; nothing where no roof is known.
[[nodiscard]] std::optional<double> roof_at(const std::vector<RoofCeiling>& ceilings, double intensity) noexcept;

}  // namespace accelscope::analysis
