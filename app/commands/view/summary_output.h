// A session's figures in the two forms of neuron-profile's `view`: text of one figure a line by group, and JSON
// {"n_<40 hex digits>": {figure: value}}. Both have a block for every device (core, rank) or compiled graph, and carry
// the vendor's value beside ours where both exist.
#pragma once

#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "app/terminal/filter_options.h"
#include "core/analysis/figures/metrics.h"
#include "core/store/store.h"

namespace accelscope::app {

struct PrintedSummary {
  std::string title;
  std::string key;  // "n_" and 40 hex digits that name the contents
  std::vector<SessionMetric> metrics;
  std::vector<std::pair<std::string, std::uint64_t>> event_counts;  // by schema
  std::uint64_t event_count = 0;
  std::int64_t duration_ns = 0;
  std::string verdict;  // what bounds it, its worst source line, what its data lack; "" of chosen events
  std::string filter;   // what of it is meant: "1,204 of 38,412 events pass"; "" for all
};

// With a filter the figures are ours alone, and of the events that pass, but for those that say they are not.
[[nodiscard]] Result<PrintedSummary> printed_summary(const Store& store, const std::string& title,
                                                     const SessionFilter& filter = {});

// The figure itself is the vendor's value where it states one, else ours. "accelscope" holds every figure that we
// compute and the session's own, so that scripts written for the vendor's tool go on working and can compare.
void write_summary_json(std::ostream& out, const std::vector<PrintedSummary>& summaries);

// Figures by group: name, vendor's value, ours, difference. '!' marks more than 1 %, "±" how far ours may lie beside
// the truth where that is more than 0.1 %. The last lines of a block say how many agree.
void write_summary_text(std::ostream& out, const std::vector<PrintedSummary>& summaries);

}  // namespace accelscope::app
