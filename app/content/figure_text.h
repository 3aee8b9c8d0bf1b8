// The rows of a table of figures (core/model/unit.h has how one of them is written): which, in what order, what stands
// in each cell. No drawing in here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/figures/metrics.h"

namespace accelscope::app {

[[nodiscard]] std::string amount_per_second(double amount, double ns, std::string_view unit);  // "28.12 TFLOP/s"
[[nodiscard]] std::string exact_figure(double value, std::string_view unit);  // every digit: "3.8940199999999998e-07 s"

enum class FigureMark : std::uint8_t {
  none,
  close,    // it differs by more than 0.1 %
  flagged,  // it differs by more than 1 %
};

struct FigureRow {
  const SessionMetric* metric = nullptr;
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
[[nodiscard]] std::vector<FigureRow> figure_rows(const std::vector<SessionMetric>& metrics, const std::string& filter,
                                                 FigureOrder order, bool descending);

// "-2.66 %" and, where it is more than 0.1 %, the margin: "-2.66 % (±3.2 %)". Empty where one of the two is missing.
[[nodiscard]] std::string difference_text(const SessionMetric& metric);

}  // namespace accelscope::app
