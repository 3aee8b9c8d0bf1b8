// How long a session would take with changes that are written as text, and its critical path then.
//
//   const auto change = parse_change("dma bandwidth x1.5");
//   const auto result = replay_with_changes(query, graph, {&*change, 1}, range_begin_ns);
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/critical_path/critical_path.h"
#include "core/analysis/replay/graph_replay.h"
#include "core/analysis/replay/work_details.h"

namespace accelscope::analysis {

struct WhatIfChange {
  enum class Effect : std::uint8_t {
    bandwidth,        // payloads of transfers take 1 / factor of their time
    dma_latency,      // from what sets a transfer off to its begin: times factor
    launch_latency,   // from the host to a device: times factor
    name,             // time of events of the name (opcode, kernel, tensor): times factor
    track,            // time of the events of the engine, queue or stream: times factor
    layer,            // of the layer and those below it
    line,             // of the line "file.py:33"
    host,             // of the host's calls
    drop_reload,      // transfers of the tensor beyond its size, with what sets them off and waits for their place
    merge_transfers,  // `factor` transfers of small packets of the tensor (empty: of any) in a row are one
    remove_wait,      // events of the track (empty: of all) do not wait for the semaphore
    double_queue,     // a transfer need not wait for the one before it on its queue, only for the one before that;
                      // not where DMA engines serve all queues
    drop_spills,      // nothing goes to spill memory and back
    drop_transposes,  // of the matrix engine, with the copies of what they made
    lift_throttling,  // engines may work in all cycles
    widen_tiles,      // neighbouring narrow multiplications of a line are one
    double_buffers,   // what waits until a buffer comes free has twice as many
    ask_early,        // collectives begin when their data are there
  };
  Effect effect = Effect::bandwidth;
  double factor = 1;
  std::string name;
  std::string after, line;  // of buffers and collectives: what releases them, where it stands; empty: any
  std::uint32_t semaphore = 0;
  std::string text;  // as it was written
};

// "dma bandwidth x1.5", "dma latency x0.5", "launch latency x0.5", "opcode MATMUL x0.5", "queue qSyncPIO0 x2",
// "engine Vector x0.5", "stream 7 x0.5", "layer mlp x0.5", "line mlp.py:33 x0.5", "host x0.5", "drop reload of w1",
// "merge dmas x8", "merge dmas of w1 x8", "remove wait S[5] on Vector", "double queue qSyncPIO0", "drop spills", "drop
// transposes", "lift throttling", "widen tiles", "double buffers of w1 after MATMUL at mlp.py:33", "ask early for
// AllReduce at mlp.py:52".
[[nodiscard]] Result<WhatIfChange> parse_change(std::string_view text);
[[nodiscard]] std::string_view change_forms() noexcept;

struct WhatIfResult {
  TimeRange before;  // what total_before_ns is of
  std::int64_t total_before_ns = 0, total_after_ns = 0;
  // What the changes save by every reading of what no source tells: equal where all is told.
  std::int64_t least_ns = 0, most_ns = 0;
  std::string rests_on;                        // why they differ; empty where they do not
  std::uint64_t touched = 0;                   // events whose time or edges were changed
  std::vector<std::int64_t> begin_ns, end_ns;  // by node
  CriticalPath path;                           // of the replay
};

// What several replays of one graph and range read of it once.
struct RetainedDetails {
  std::optional<WorkDetails> details;
  bool has_addresses = false;
};

// Where the query has a mask, only events that pass it change their time; changes of another kind are refused then.
// Its path is that of the events of the range; without one that of all from begin_ns on.
[[nodiscard]] Result<WhatIfResult> replay_range(const QueryContext& query, const WorkGraph& graph,
                                                std::span<const WhatIfChange> changes, const TimeRange& range,
                                                RetainedDetails* retained = nullptr);

// The total from a time on if these events began (and, where they wait, ended) at once when all that they came after
// has: without latency, and without the delay that nothing explains.
[[nodiscard]] Result<std::int64_t> total_without_gaps(const QueryContext& query, const WorkGraph& graph,
                                                      std::span<const NodeIndex> nodes, std::int64_t begin_ns);

// Of the graph from a time on. Fails on a change that touches nothing, with what there is instead.
[[nodiscard]] Result<WhatIfResult> replay_with_changes(const QueryContext& query, const WorkGraph& graph,
                                                       std::span<const WhatIfChange> changes, std::int64_t begin_ns);

}  // namespace accelscope::analysis
