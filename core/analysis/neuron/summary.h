// The figures of a Neuron profile's summary, recomputed from its events for any range, with the vendor's names and
// the formulas that its own values follow on real files (each is written beside its code). Exact where the vendor adds
// up what the events hold; times agree within about 3 % on profiles of a few microseconds of work, where the
// vendor's sub-nanosecond times matter, and better on longer ones. One NeuronCore at a time, as in the vendor's file.
#pragma once

#include <map>
#include <string>

#include "core/query/chunk_scan.h"

namespace accelscope::neuron {

using Figures = std::map<std::string, double, std::less<>>;  // by the vendor's name; times in s, shares as fractions

// Of the first device that has instructions; empty if there are none. Figures whose inputs are missing are left out.
[[nodiscard]] Result<Figures> summary(const QueryContext& query, const TimeRange& range);

// The vendor's group and the unit of a figure, for those that its file does not list.
struct FigureInfo {
  std::string_view group;
  std::string_view unit;
};
[[nodiscard]] FigureInfo figure_info(std::string_view name) noexcept;

}  // namespace accelscope::neuron
