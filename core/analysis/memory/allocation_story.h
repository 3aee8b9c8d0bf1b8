// What happened to one allocation: who wrote it first, who read it when, how much of its life it lay idle. Events count
// that name its tensor (their own name on transfers, or Role::tensor) or, on a NeuronCore, an address inside of it.
#pragma once

#include "core/analysis/memory/usage.h"

namespace accelscope {

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

}  // namespace accelscope
