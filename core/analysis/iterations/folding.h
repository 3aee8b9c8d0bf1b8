// Iterations laid over each other: of each operation of the body when it begins and how long it takes, over all of
// them; of the iterations how long they take, which are outliers, and how the first differ from the rest.
//
// Quantiles interpolate as in core/analysis/statistics/distribution.h. An outlier is farther from the median than three
// standard deviations, as the median deviation tells them (3 * 1.4826 * MAD), and than a twentieth of the median; four
// values are needed. The first iterations that are outliers because they take longer are the warm-up; what comes after
// is the steady state.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/analysis/iterations/event_sequence.h"
#include "core/base/worker_pool.h"

namespace accelscope::analysis {

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

struct FoldedValues {
  double median = 0, p10 = 0, p90 = 0, min = 0, max = 0;
  std::uint32_t count = 0, outliers = 0;
};
// `outlier` may be null; else it gets a value for each.
[[nodiscard]] FoldedValues folded_values(std::span<const std::int64_t> values, std::vector<bool>* outlier = nullptr);

struct LoopIteration {
  std::int64_t begin_ns = 0, end_ns = 0;  // of its first event; of the last that is the body's
  bool outlier = false;
  [[nodiscard]] std::int64_t length_ns() const noexcept { return end_ns - begin_ns; }
};

struct LoopOperation {
  StringId name = 0;
  std::string numbered;        // see SequenceName
  std::uint32_t place = 0;     // which of the name's events in an iteration, from 0
  std::uint32_t times = 1;     // more than one: as many events of the name, added up
  FoldedValues offset_ns;      // from the beginning of the iteration
  FoldedValues duration_ns;    // count: iterations that have it
  std::int64_t first_ns = -1;  // how long in the first iteration; -1: it has none there
};

struct FoldedLoop {
  // A body of more operations has those of one name added up.
  static constexpr std::size_t kMostOperations = 4'096;
  std::vector<LoopIteration> iterations;
  std::vector<LoopOperation> body;  // as they begin
  std::uint64_t left_out = 0;       // operations of the least time beyond kMostOperations
  FoldedValues duration_ns;         // of iterations
  FoldedValues interval_ns;         // from beginning to beginning
  std::uint32_t warm_up = 0;        // iterations
  double steady_ns = 0;             // the median without them
};

// `begins_ns`, if any, are where the iterations begin instead of their first events, and `ends_ns` their ends.
[[nodiscard]] FoldedLoop fold(const EventSequence& sequence, const NamePlaces& places, const Period& period,
                              WorkerPool& pool, TaskControl& control, std::span<const std::int64_t> begins_ns = {},
                              std::span<const std::int64_t> ends_ns = {});

}  // namespace accelscope::analysis
