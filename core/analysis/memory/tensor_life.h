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

namespace accelscope {

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

}  // namespace accelscope
