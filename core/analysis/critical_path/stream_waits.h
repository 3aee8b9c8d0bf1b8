// Waits of streams for events of other streams, where a trace tells of them (Kineto's "Stream Wait Event"): what a
// stream was given after the wait comes after what the other one had been given when the event was recorded.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/analysis/critical_path/work_graph.h"

namespace accelscope {

struct StreamWait {
  NodeIndex target = kNoNode, source = kNoNode;
};

// By target. `launched_ns` says when the host gave a node to its stream; nothing where that is not known. Fails when
// cancelled.
[[nodiscard]] Result<std::vector<StreamWait>> recorded_stream_waits(
    const QueryContext& query, const WorkGraph& graph,
    const std::function<std::optional<std::int64_t>(NodeIndex)>& launched_ns);

}  // namespace accelscope
