// The figures of a Neuron profile's summary out of what one core's events add up to. The formulas are those that the
// vendor's own values follow on real files; each is written beside its code. Times in files are cut to whole ns, so a
// sum of times may lie up to 1 ns per event beside the truth, and covered time as much per stretch: figures carry that
// as slack. What instructions lose by it in the mean, half a ns each, is added again
// (core/analysis/selection/active_time.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/analysis/neuron/device_tally.h"
#include "core/analysis/vendors/figure.h"
#include "core/store/snapshot.h"

namespace accelscope::neuron {

struct FormulaInput {
  const Snapshot& snapshot;           // metadata, names
  const std::string& device;          // the metadata of "rank 3 nc0" may lie under "rank 3.metadata."
  std::int64_t total_ns = 0;          // length of the run or the range; > 0
  bool whole = true;                  // the whole run: figures of the model hold
  std::optional<double> model_flops;  // as the file states them for the whole run
  bool is_part = false;               // a physical core of a logical one: tensors belong to the whole
};

[[nodiscard]] Figures make_figures(const DeviceTally& tally, const FormulaInput& input);

}  // namespace accelscope::neuron
