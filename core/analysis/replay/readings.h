// What a change saves where a source did not tell all: at least and at most, by replays of each reading that there is.
#pragma once

#include <string>
#include <vector>

#include "core/analysis/replay/graph_replay.h"

namespace accelscope {

class Readings {
 public:
  Readings(const WorkGraph& graph, const ChangedGraph& changed);

  // Calls body(replay, changed) for each reading but the graph's own.
  template <typename Body>
  [[nodiscard]] Result<void> each_other(const QueryContext& query, Body&& body) const {
    for (const ChangedGraph::Reading reading : others_) {
      const ChangedGraph other = changed_.read_as(reading);
      const auto replay = GraphReplay::run(query, graph_, other);
      if (!replay) return replay.error();
      body(**replay, other);
    }
    return {};
  }
  // The longest that one engine stands still within a range for what is loose: with another order of its instructions
  // that is what dropping it can save.
  [[nodiscard]] std::int64_t waited_ns(const TimeRange& range) const;
  // What was not told; empty: there is one reading.
  [[nodiscard]] std::string why() const;

 private:
  const WorkGraph& graph_;
  const ChangedGraph& changed_;
  bool scales_parts_ = false;
  std::vector<ChangedGraph::Reading> others_;
};

}  // namespace accelscope
