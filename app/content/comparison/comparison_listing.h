// The tables of a comparison of two configurations as listings, for panels.
#pragma once

#include "app/content/listings/base/listing.h"
#include "core/analysis/comparison/comparison.h"

namespace accelscope::app {

// Figures that differ, of configuration `other` against the base; those that every comparison begins with always.
[[nodiscard]] Listing metrics_listing(const Comparison& comparison, std::size_t other);
[[nodiscard]] Listing costs_listing(const Comparison& comparison, const ComparedCosts& costs, std::size_t other);

}  // namespace accelscope::app
