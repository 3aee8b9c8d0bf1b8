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
#include "core/analysis/iterations/periods.h"
#include "core/base/worker_pool.h"

namespace accelscope {

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

}  // namespace accelscope
