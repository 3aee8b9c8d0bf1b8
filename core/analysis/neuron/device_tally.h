// What the events of one NeuronCore add up to over a range: filled chunk by chunk from the windows of
// core/scan/chunk_scan.h, on one worker each, and merged. What is made of it is in summary.cpp.
//
// Events cut by the range's edges give the time that lies inside, and their bytes and FLOPs in proportion to it.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "core/analysis/time/covered_time.h"
#include "core/scan/group_by.h"

namespace accelscope::analysis::neuron {

// Instruction columns that the vendor sums up under the same name.
inline constexpr std::array<std::string_view, 12> kSummedColumns = {
    "hbm_read_bytes",     "hbm_write_bytes",   "sbuf_read_bytes",    "sbuf_write_bytes",           "psum_read_bytes",
    "psum_write_bytes",   "spill_save_bytes",  "spill_reload_bytes", "psum_read_sbuf_write_bytes", "input_queue_bytes",
    "output_queue_bytes", "weight_queue_bytes"};

// Names that the formulas ask for, as session-wide ids; kNone for those that no event has.
struct KnownNames {
  explicit KnownNames(const StringPool& pool);
  StringId wait, matmul, activate, transpose, software_dynamic, hardware_dynamic, instruction_fetch;
  std::vector<StringId> setup;  // sorted
};

// A sum that is exact as long as whole events are added.
struct Amount {
  std::int64_t whole = 0;
  double part = 0;
  void add(std::int64_t value, double share) noexcept {
    if (share == 1) {
      whole += value;
    } else {
      part += static_cast<double>(value) * share;
    }
  }
  void add(const Amount& other) noexcept {
    whole += other.whole;
    part += other.part;
  }
  [[nodiscard]] double value() const noexcept { return static_cast<double>(whole) + part; }
};

// Some events of one kind: how many, their time added up, and the time that at least one covers.
struct EventTotals {
  std::uint64_t count = 0;  // events that the range holds
  std::uint64_t timed = 0;  // of those, with a part in time_ns
  std::int64_t time_ns = 0;
  CoveredTime active;
  auto measures() noexcept { return std::tie(count, timed, time_ns, active); }
};

struct ThrottleTotals {
  std::uint64_t rows = 0;
  std::int64_t time_ns = 0;
  double allowed_ns = 0;  // time times k / n
  auto measures() noexcept { return std::tie(rows, time_ns, allowed_ns); }
};

class DeviceTally {
 public:
  // Where a chunk's events happen.
  struct Lane {
    std::uint32_t core = 0;  // physical one within a logical one
    bool is_active = false;  // its time is device work as core/analysis/selection/summary.h means it
  };
  // The chunk must be of the device or of one of its parts.
  void add(const ScannedChunk& chunk, const ScanWindow& window, const TimeRange& range, const KnownNames& known,
           const Lane& lane);
  void close_window();

  struct Packets {
    EventTotals totals;
    Amount bytes;
    auto measures() noexcept { return std::tie(totals, bytes); }
  };

  std::map<StringId, EventTotals> engines;  // by the engine's name
  std::array<Amount, kSummedColumns.size()> sums;
  Amount flops, transpose_flops;
  // Weighted by data type, as newer exports state them of each instruction; none has them else.
  std::optional<Amount> adjusted_flops, adjusted_transpose_flops;
  std::uint64_t matmuls = 0, drains = 0;
  EventTotals activations;
  Extent worked;
  Packets packets, fixed, software, hardware;  // all, and by what lays them out
  // Physical core, ring (dma_queue) and DMA engine of those that moved data, and of those that fetched instructions.
  using Ring = std::array<std::int64_t, 3>;
  std::set<Ring> rings, fetching_rings;
  // The queues that the file lists: physical core, ring, DMA engine, name.
  std::set<std::pair<Ring, StringId>> listed_queues;
  // Queues in use as the vendor counts them: each ring of a DMA engine that moves data is one, but a queue that fetches
  // instructions is one as a whole, whichever engines serve it, as the list of queues names it.
  [[nodiscard]] std::size_t queue_count() const;
  Packets transfers;
  EventTotals collectives, collective_steps;
  CoveredTime active;                                                       // of device work, waits left out
  std::map<std::pair<std::uint32_t, StringId>, ThrottleTotals> throttling;  // by physical core and cause
  std::map<std::uint32_t, ThrottleTotals> throttled;                        // by physical core, with k below n only
  std::array<std::int64_t, 3> tensor_bytes{};                               // IN, WEIGHT, OUT
  auto measures() noexcept {
    return std::tie(engines, sums, flops, transpose_flops, adjusted_flops, adjusted_transpose_flops, matmuls, drains,
                    activations, worked, packets, fixed, software, hardware, transfers, rings, fetching_rings,
                    listed_queues, collectives, collective_steps, active, throttling, throttled, tensor_bytes);
  }

  [[nodiscard]] double dynamic_packets() const noexcept {
    return static_cast<double>(software.totals.count + hardware.totals.count);
  }
  [[nodiscard]] double dynamic_bytes() const noexcept { return software.bytes.value() + hardware.bytes.value(); }

 private:
  struct Place;
  void add_instructions(const ScannedChunk& chunk, const Place& place, const KnownNames& known);
  void add_packets(const ScannedChunk& chunk, const Place& place, const KnownNames& known);
  void add_transfers(const ScannedChunk& chunk, const Place& place);
  void add_collectives(const ScannedChunk& chunk, const Place& place, EventTotals& totals);
  void add_throttling(const ScannedChunk& chunk, const Place& place);
};

}  // namespace accelscope::analysis::neuron
