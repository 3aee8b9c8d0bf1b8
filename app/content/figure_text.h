// The rows of a table of figures (core/base/format.h has how one of them is written): which, in what order, what stands
// in each cell. No drawing in here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/figures/metrics.h"
#include "core/base/format.h"
#include "core/model/event_filter.h"
#include "core/store/snapshot.h"

namespace accelscope::app::content {

[[nodiscard]] std::string amount_per_second(double amount, double ns, Unit unit);  // "28.12 TFLOP/s"

enum class FigureMark : std::uint8_t {
  none,
  close,    // it differs by more than 0.1 %
  flagged,  // it differs by more than 1 %
};

struct FigureRow {
  const analysis::SessionMetric* metric = nullptr;
  std::string
      group;  // "nc1 · tensor engine"; the device where there are several; "key figures" of those that come first
  std::string title;  // for people, "Active time"; the metric has the vendor's name
  std::string stated, computed, difference;
  std::string shown;  // the one of the two that stands where there is room for one, see shown_value()
  FigureMark mark = FigureMark::none;
};

enum class FigureOrder : std::uint8_t { as_given, by_name, by_value, by_difference };

// Rows of the metrics whose name, title, group or device has all words of the filter. The metrics must outlive them. As
// given, but the key figures of every device come first: utilisation, time, bandwidth.
[[nodiscard]] std::vector<FigureRow> figure_rows(const std::vector<analysis::SessionMetric>& metrics,
                                                 const std::string& filter, FigureOrder order, bool descending);

// "-2.66 %" and, where it is more than 0.1 %, the margin: "-2.66 % (±3.2 %)". Empty where one of the two is missing.
[[nodiscard]] std::string difference_text(const analysis::SessionMetric& metric);

// The tables of a session whose rows have no time: what a file says of its program, its device and its run. And which
// events a row speaks of.
struct FactTable {
  std::string name;   // in SQL
  std::string title;  // for people
  std::uint64_t rows = 0;
  bool operator==(const FactTable&) const = default;
};

// Those with rows, as the session defines them, and last its facts, "meta".
[[nodiscard]] std::vector<FactTable> fact_tables(const Snapshot& snapshot);

// What the table says, without ids and times: SELECT "variable_name", "type" FROM "neff_node". Of one with times all.
[[nodiscard]] std::string sql_of_table(const Snapshot& snapshot, std::string_view table);

// The events of a row: those on tracks that are called as it is (of queues, also their rings), else those of its name.
// Nothing for a row without a name.
[[nodiscard]] std::optional<EventFilter> events_of_row(const Snapshot& snapshot, std::string_view name);

// What figures are called for people, beside the vendor's names; and which of them come first.

// "mfu_estimated_percent" -> "Model FLOPs utilisation (MFU)", "dma_active_time_percent" -> "DMA active, share of the
// run". Names that no rule knows get spaces and a capital: "tt_launch_count" -> "Tt launch count".
[[nodiscard]] std::string figure_title(std::string_view name);

// The place of a key figure: utilisation, time, bandwidth; nothing for others.
[[nodiscard]] std::optional<std::size_t> key_place(std::string_view name) noexcept;

}  // namespace accelscope::app::content
