// Events into a tree by a column of theirs, or by what ran them.
#pragma once

#include "core/analysis/hierarchy/path_worker.h"

namespace accelscope {

class ColumnPaths {
 public:
  explicit ColumnPaths(const PathPlan& plan) : worker_(plan) {}
  void add(const ScannedChunk& chunk, const ScanWindow& window);
  void close(const ScanWindow& window) { worker_.sums.close_window(window.range, worker_.nodes); }
  [[nodiscard]] PathWorker& worker() noexcept { return worker_; }

 private:
  struct Placed {
    std::uint32_t node = 0;
    bool cut = false;  // it lies deeper
  };
  [[nodiscard]] Placed place_of_text(std::string_view text);
  [[nodiscard]] const Placed& place_of_string(StringId id);
  [[nodiscard]] std::uint32_t start_of(const ScannedChunk& chunk);

  PathWorker worker_;
  std::vector<Placed> places_;  // by string of the session; node 0: not known
  std::uint32_t missing_ = 0;   // the node of events without a value; 0: none yet
  // Neighbours mostly come from one line.
  std::uint32_t last_line_ = 0, last_line_parent_ = 0, last_line_node_ = 0;
};

}  // namespace accelscope
