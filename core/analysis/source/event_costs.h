// What single events cost: their time inside a range, what they waited before they began, and what they moved, all by
// whole ns and bytes, so that whoever adds them up in whatever order has the same sums. Lines of source and the listing
// of instructions are sums of these.
//
//   EventCosts costs(*chunk.lane.schema, strings, range, snapshot);     // one per chunk
//   costs.read(block);
//   const EventCost cost = costs.of(chunk, block, i);
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/schema.h"
#include "core/scan/chunk_scan.h"
#include "core/scan/column_values.h"
#include "core/scan/wait_names.h"

namespace accelscope {

struct EventCost {
  std::int64_t busy_ns = 0;  // of an event that does not wait
  std::int64_t wait_ns = 0;  // of one that does, clipped alike; else what it waited before, while its lane was free
  std::uint64_t bytes = 0;   // of a cut event: its share
};

class EventCosts {
 public:
  // `schema` must outlive it.
  EventCosts(const Schema& schema, const Snapshot& snapshot, const TimeRange& range);

  void read(const ScannedBlock& block);
  [[nodiscard]] EventCost of(const ScannedChunk& chunk, const ScannedBlock& block, std::uint32_t i) const;

 private:
  struct Amounts {
    std::vector<std::size_t> columns;  // of one role
    std::vector<NumberBlock> numbers;
    void read(const Schema& schema, const ScannedBlock& block);
    [[nodiscard]] std::uint64_t sum(std::uint32_t i) const noexcept;  // what is below 0 counts as nothing
  };
  const Schema& schema_;
  TimeRange range_;
  std::int64_t first_ns_;  // of the range and the session
  WaitNames waits_;
  Amounts waited_, moved_;
};

}  // namespace accelscope
