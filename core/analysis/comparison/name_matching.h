// Names of several captures put together. What one compiler run calls "fusion.12" another calls "fusion.14": names that
// not all captures have are matched again without the numbers in them.
//
//   for (const MatchedName& row : match_names({{"gemm", "fusion.12"}, {"gemm", "fusion.14"}}, name_form)) ...
//   // gemm {{0}, {0}} exactly; fusion {{1}, {1}} by_form
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/critical_path/critical_path.h"

namespace accelscope::analysis {

enum class MatchKind : std::uint8_t {
  exact,
  by_form,  // the same but for numbers in it
};

struct MatchedName {
  std::string name;  // of a match by form: with # for numbers
  MatchKind kind = MatchKind::exact;
  std::vector<std::vector<std::size_t>> places;  // by capture, of those that are of this row; none: it has none
};

// Runs of digits and hexadecimal words of eight letters or more as #; a last ".#" or "_#" goes.
// "fusion.12" -> "fusion", "gemm_128x64" -> "gemm_#x#", "k_0x1f3a9c04d" -> "k"
[[nodiscard]] std::string name_form(std::string_view name);

// In the order in which they first come. The names of one capture differ from each other. `form` says what of a name is
// matched where the whole is not everywhere.
using NameForm = std::string (*)(std::string_view name);
[[nodiscard]] std::vector<MatchedName> match_names(const std::vector<std::vector<std::string>>& captures,
                                                   NameForm form);

// The difference of two totals, split along both critical paths: what of it each line, wait or resource has. Both paths
// are partitions of their ranges, so the terms add up to the difference exactly.
//
//   const PathDifference found = path_difference(path_shares(a, path_of_a, by), path_shares(b, path_of_b, by), by);
//   for (const PathTerm& term : found.terms) ... term.difference_ns() ...
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

}  // namespace accelscope::analysis
