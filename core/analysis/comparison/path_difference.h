// The difference of two totals, split along both critical paths: what of it each line, wait or resource has. Both paths
// are partitions of their ranges, so the terms add up to the difference exactly.
//
//   const PathDifference found = path_difference(path_shares(a, path_of_a, by), path_shares(b, path_of_b, by), by);
//   for (const PathTerm& term : found.terms) ... term.difference_ns() ...
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/analysis/comparison/name_matching.h"
#include "core/analysis/critical_path/critical_path.h"

namespace accelscope {

struct PathTerm {
  std::string label;  // of a gap: why nothing of the path was under way; "": has none, such as work without a line
  bool is_gap = false;
  MatchKind match = MatchKind::exact;
  std::int64_t base_ns = 0, other_ns = 0;
  std::uint64_t base_count = 0, other_count = 0;          // events of the path, or gaps
  NodeIndex base_first = kNoNode, other_first = kNoNode;  // of each graph; kNoNode: it has none
  [[nodiscard]] std::int64_t difference_ns() const noexcept { return other_ns - base_ns; }
};

struct PathDifference {
  std::vector<PathTerm> terms;             // longer ones first, by size; then those as long; then shorter ones, by size
  std::int64_t base_ns = 0, other_ns = 0;  // both totals
  std::int64_t longer_ns = 0, shorter_ns = 0;  // sums of the terms above and below 0: they add up to the difference
};

// What is not on both paths is matched without its numbers, lines excepted: "stream 7" with "stream 0".
[[nodiscard]] PathDifference path_difference(const std::vector<PathShare>& base, const std::vector<PathShare>& other,
                                             PathBy by);

}  // namespace accelscope
