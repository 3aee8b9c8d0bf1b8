// Where a tensor, or anything else that events are called by, lives over time: when transfers move it, when engines
// work on it, when it lies in which memory. The events are those that pass the query's mask.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/memory/usage.h"

namespace accelscope::analysis {

struct TensorLife {
  TimeRange range;
  // Equal stretches of the range: whether a transfer, or anything else that works, is under way in it.
  std::vector<bool> moved, used;
  std::uint64_t events = 0, transfers = 0;
  std::uint64_t bytes = 0;           // of transfers
  std::optional<TimeRange> touched;  // from the begin of the first to the end of the last event
};

// All events are counted; the cells show those of the range. Lanes of counters, tables, flows and allocations take no
// part, nor transfers whose packets are known. At least one cell.
[[nodiscard]] Result<std::shared_ptr<const TensorLife>> tensor_life(const QueryContext& query, const TimeRange& range,
                                                                    std::size_t cells);

struct TensorStay {
  std::uint32_t pool = 0;  // index into MemoryUsage::pools
  TimeRange time;
  bool stays = false;  // it was never released
};
// The allocations of a tensor, by pool, then begin; touching ones of a pool are one.
[[nodiscard]] std::vector<TensorStay> tensor_stays(const MemoryUsage& usage, std::string_view tensor,
                                                   std::int64_t session_end_ns);

// What happened to one allocation: who wrote it first, who read it when, how much of its life it lay idle. Events count
// that name its tensor (their own name on transfers, or Role::tensor) or, on a NeuronCore, an address inside of it.
struct AllocationStory {
  struct Read {
    std::int64_t ns = 0;
    EventId event = kNoEvent;
    bool operator==(const Read&) const = default;
  };
  EventId writer = kNoEvent;  // the first that wrote it
  std::string writer_text;    // "DMA qSyncSpillReload0", "TENSOR_COPY on Vector"
  bool reads_known = false;   // the events of the device say what they read
  std::uint64_t reads = 0;
  EventId first_reader = kNoEvent;
  std::string reader_name;              // the most frequent
  std::vector<Read> ticks;              // the first kMostTicks reads, by their begins
  std::optional<double> idle_share;     // of its life, in which nothing wrote or read it
  std::optional<double> repeat_factor;  // bytes loaded of its tensor over the tensor's size
  static constexpr std::size_t kMostTicks = 10'000;
};

[[nodiscard]] Result<std::shared_ptr<const AllocationStory>> allocation_story(const QueryContext& query,
                                                                              const MemoryUsage& usage,
                                                                              std::uint32_t allocation);

// What an event of a device wrote or read, in the order of MemoryUsage::allocations: those of its device that were
// there while it was under way, told as above.
struct TouchedAllocation {
  std::uint32_t allocation = 0;
  bool written = false;
  bool operator==(const TouchedAllocation&) const = default;
};
[[nodiscard]] Result<std::vector<TouchedAllocation>> touched_allocations(const QueryContext& query,
                                                                         const MemoryUsage& usage, EventId event);

}  // namespace accelscope::analysis
