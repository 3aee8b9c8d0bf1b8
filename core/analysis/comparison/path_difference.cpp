#include "core/analysis/comparison/path_difference.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>

namespace accelscope {
namespace {

std::string whole_name(std::string_view name) { return std::string(name); }

std::vector<std::string> labels_of(const std::vector<PathShare>& shares, bool gaps) {
  std::vector<std::string> labels;
  for (const PathShare& share : shares) {
    if (share.is_gap == gaps) labels.push_back(share.label);
  }
  return labels;
}

std::vector<const PathShare*> shares_of(const std::vector<PathShare>& shares, bool gaps) {
  std::vector<const PathShare*> chosen;
  for (const PathShare& share : shares) {
    if (share.is_gap == gaps) chosen.push_back(&share);
  }
  return chosen;
}

// 0: longer, 1: as long, 2: shorter.
int side_of(std::int64_t difference) { return difference > 0 ? 0 : difference < 0 ? 2 : 1; }

}  // namespace

PathDifference path_difference(const std::vector<PathShare>& base, const std::vector<PathShare>& other, PathBy by) {
  PathDifference out;
  for (const bool gaps : {false, true}) {
    const std::vector<const PathShare*> of_base = shares_of(base, gaps), of_other = shares_of(other, gaps);
    // Lines are places; of all others the numbers are those of a run: streams, queues, kernels.
    const auto form = by == PathBy::line || (by == PathBy::name && gaps) ? whole_name : name_form;
    for (MatchedName& row : match_names({labels_of(base, gaps), labels_of(other, gaps)}, form)) {
      PathTerm term;
      term.label = std::move(row.name);
      term.is_gap = gaps;
      term.match = row.kind;
      for (const std::size_t place : row.places[0]) {
        term.base_ns += of_base[place]->length_ns;
        term.base_count += of_base[place]->count;
        if (term.base_first == kNoNode) term.base_first = of_base[place]->first;
      }
      for (const std::size_t place : row.places[1]) {
        term.other_ns += of_other[place]->length_ns;
        term.other_count += of_other[place]->count;
        if (term.other_first == kNoNode) term.other_first = of_other[place]->first;
      }
      out.terms.push_back(std::move(term));
    }
  }
  for (const PathTerm& term : out.terms) {
    out.base_ns += term.base_ns;
    out.other_ns += term.other_ns;
    (term.difference_ns() > 0 ? out.longer_ns : out.shorter_ns) += term.difference_ns();
  }
  std::stable_sort(out.terms.begin(), out.terms.end(), [](const PathTerm& a, const PathTerm& b) {
    const auto order = [](const PathTerm& term) {
      return std::tuple(side_of(term.difference_ns()), -std::abs(term.difference_ns()),
                        -std::max(term.base_ns, term.other_ns));
    };
    return order(a) < order(b);
  });
  return out;
}

}  // namespace accelscope
