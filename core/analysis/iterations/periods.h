// Finds what repeats in the order of a lane's names: steps, and tiles within them.
//
// Only the order of names counts, not how long anything took, so that jitter of any size is no matter. A name that
// comes once in each iteration cuts the lane into slots; in these every other name of the body comes a fixed number of
// times, whatever foreign events lie between. So each name is tried as such an anchor, a few of those that are equally
// often (names of one body are), and the others are judged by how often they come from one anchor to the next:
//
//   regular   the same number in nine of ten slots of the stretch that it is found in, in all where there are few
//   evidence  how unlikely that is if the events stood in random order: the number of a name between two anchors is
//             then distributed geometrically (r slots together: negative binomially; Feller, An Introduction to
//             Probability Theory, vol. 1, VI.8). The logarithms add up, names that are not regular speak against; what
//             is not 2^16 times as likely as chance, times the anchors tried, is no period.
//   clear     the body is at least three tenths of the events of a usual iteration
//
//   its own   what is left of the evidence once a finer period is known: names that are not of that one's body, and
//             that always as many of its iterations come together; a rare foreign event cuts a regular lane evenly now
//             and then
//
// Where no name comes once in an iteration, every second to eighth event of a name is tried. Names whose numbers count
// up ("ProfilerStep#17") are anchors in their own right. Iterations begin with the first event of the lane that belongs
// to the body, so that those at hand are whole; one that is cut at the end is left out and counted as partial.
// A period with more iterations that lies within one with fewer is a level below it; with less than half as many more
// it is the same loop, and the one of more evidence stays.
#pragma once

#include <cstdint>
#include <vector>

#include "core/analysis/iterations/event_sequence.h"
#include "core/base/worker_pool.h"

namespace accelscope {

struct RepeatedName {
  std::uint32_t token = 0;
  std::uint32_t times = 1;  // in each iteration
  double bits = 0;          // of evidence that it gave; the anchor gives none
};

struct Period {
  static constexpr std::size_t kLeast = 3;  // iterations
  static constexpr std::size_t kMost = 6;   // periods of a lane
  // Of each whole iteration: its first event, and the event before which its own lie.
  std::vector<std::uint32_t> firsts, limits;
  std::vector<RepeatedName> body;
  std::uint32_t partial = 0;  // cut off at the end
  std::uint32_t level = 0;    // 0: the outermost
  double bits = 0;            // of evidence
  double share = 0;           // of the events of a usual iteration that are the body's
};

// Fewest iterations first. Incomplete once cancelled.
[[nodiscard]] std::vector<Period> find_periods(const EventSequence& sequence, const NamePlaces& places,
                                               const TaskControl& control);

}  // namespace accelscope
