// What a change saves where a source did not tell all: at least and at most, by replays of each reading that there is.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/analysis/replay/graph_replay.h"

namespace accelscope::analysis {

class Readings {
 public:
  Readings(const WorkGraph& graph, const ChangedGraph& changed);

  // Replays the graph as it was changed, and in each other reading, on the pool. Calls body(replay, changed, own),
  // where `own` is of no other reading, one call at a time, in any order.
  template <typename Body>
  [[nodiscard]] Result<void> each(const QueryContext& query, Body&& body) const {
    std::mutex mutex;
    Result<void> all;
    query.pool.for_each(others_.size() + 1, query.control, [&](std::size_t index, std::size_t) {
      std::optional<ChangedGraph> other;
      if (index > 0) other = changed_.read_as(others_[index - 1]);
      const ChangedGraph& read = other ? *other : changed_;
      auto replay = GraphReplay::run(query, graph_, read);
      const std::scoped_lock lock(mutex);
      if (replay) {
        body(std::move(*replay), read, index == 0);
      } else {
        all = replay.error();
      }
    });
    if (query.control.cancelled()) return cancelled_error();
    return all;
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

}  // namespace accelscope::analysis
