// The order that the user gave rows, and how the counters of a group share rows and scales. Used by compose_rows().
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/rows/rows.h"

namespace accelscope::app {

using RowBlock = std::vector<TimelineRow>;  // a row with those below it

// Puts blocks that belong to the group or track into the order that the user gave them. Those that he has not moved
// stay behind the one that they follow by default.
void put_in_order(const RowChoices& choices, const std::string& parent, std::vector<RowBlock>& blocks);

// Units at 100 %. Counters that share a row, and memory pools, have a legend beside them and are higher.
[[nodiscard]] float counter_height(RowSize row_size) noexcept;
[[nodiscard]] float shared_plot_height(RowSize row_size) noexcept;

// A row for each of a group's derived counters, those of engines and streams below their device's.
inline constexpr std::string_view kDerivedMark = " (derived)";
[[nodiscard]] std::string derived_label(const DerivedCounter& counter);
[[nodiscard]] std::vector<RowBlock> derived_rows(const DerivedCounters& counters, const std::string& group,
                                                 const RowChoices& choices,
                                                 const std::function<bool(std::string_view label)>& matches);

// `rows` are those of the group. Counters are only put together with others of their unit.
void arrange_counters(const std::string& group, const RowChoices& choices, std::vector<TimelineRow>& rows);

}  // namespace accelscope::app
