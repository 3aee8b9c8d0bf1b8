#include "app/panels/metrics_panel.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <vector>

#include "app/text_match.h"
#include "core/base/format.h"
#include "render/icons.h"
#include "render/widgets/layout.h"
#include "render/widgets/states.h"
#include "render/widgets/text_input.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

std::string metric_text(const Metric& metric) {
  if (!metric.text.empty()) return metric.text;
  if (metric.unit == "ns") return format_duration(metric.value);
  if (metric.unit == "s") return format_duration(metric.value * 1e9);
  if (metric.unit == "B") return format_bytes(metric.value);
  if (metric.unit == "B/s") return format_rate(metric.value);
  if (metric.unit == "share") return format_share(metric.value);
  if (metric.unit == "%") return format_share(metric.value / 100);
  const bool whole = std::abs(metric.value) < 9e15 && metric.value == std::floor(metric.value);
  const std::string number =
      whole ? format_signed(static_cast<std::int64_t>(metric.value)) : format_number(metric.value);
  return metric.unit.empty() ? number : number + " " + metric.unit;
}

std::string exact_text(const Metric& metric) {
  if (!metric.text.empty()) return "–";
  std::array<char, 32> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), metric.value);
  const std::string number = error == std::errc{} ? std::string(digits.data(), end) : std::string("–");
  return metric.unit.empty() ? number : number + " " + metric.unit;
}

namespace {

// "cc_engine" -> "cc engine"
std::string words_of(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

}  // namespace

void MetricsPanel::draw(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  const std::vector<Metric>& metrics = context.tab.snapshot->metrics;
  if (metrics.empty()) {
    empty_state(ui, "metrics.empty", area, icon::kTable,
                "The file states no figures of its own. Profiles written by neuron-profile do.");
    return;
  }
  Rect rest = area;
  Rect head = rest.cut_top(ui.px(36)).inset(ui.px(size::kPanelPadding), 0);
  text_input(ui, "metrics.filter", head.cut_right(ui.px(240)).middle(ui.px(size::kControl)), filter_,
             {.placeholder = "Name or group", .icon = icon::kSearch});
  heading(ui, head, "Metrics", "as the vendor's file states them");

  std::vector<const Metric*> rows;
  for (const Metric& metric : metrics) {
    if (matches_words(metric.group + " " + metric.name, filter_)) rows.push_back(&metric);
  }
  if (rows.empty()) {
    constexpr std::array<std::string_view, 1> kActions = {"Clear the filter"};
    if (empty_state(ui, "metrics.none", rest, icon::kSearch, "No metric matches \"" + filter_ + "\".", kActions)) {
      filter_.clear();
    }
    return;
  }
  const auto by_name = [](const Metric* a, const Metric* b) { return a->name < b->name; };
  const auto by_value = [](const Metric* a, const Metric* b) { return a->value < b->value; };
  if (table_.sort_column == 1) std::stable_sort(rows.begin(), rows.end(), by_name);
  if (table_.sort_column == 2) std::stable_sort(rows.begin(), rows.end(), by_value);
  if (table_.sort_column <= 0) {
    std::stable_sort(rows.begin(), rows.end(), [](const Metric* a, const Metric* b) {
      return a->group != b->group ? a->group < b->group : a->name < b->name;
    });
  }
  if (table_.sort_column > 0 && table_.descending) std::reverse(rows.begin(), rows.end());

  const std::array<TableColumn, 4> columns = {{{.title = "Group", .width = 200},
                                               {.title = "Metric"},
                                               {.title = "Value", .width = 180, .align = Align::right},
                                               {.title = "Exact", .width = 240, .align = Align::right}}};
  const auto content = [&](std::size_t row, std::size_t column) -> TableCell {
    const Metric& metric = *rows[row];
    switch (column) {
      case 0: {
        const bool repeated = table_.sort_column <= 0 && row > 0 && rows[row - 1]->group == metric.group;
        return {
            .text = repeated ? "" : words_of(metric.group), .colour = Colour::text2, .style = TextStyle::small_strong};
      }
      case 1:
        return {.text = metric.name, .style = TextStyle::body};
      case 2:
        return {.text = metric_text(metric)};
      default:
        return {.text = exact_text(metric), .colour = Colour::text3};
    }
  };
  const TableResult result = table(ui, "metrics.table", rest, columns, rows.size(), content, table_);
  if (result.double_clicked) {
    context.copy(rows[*result.double_clicked]->name + "\t" + metric_text(*rows[*result.double_clicked]), "the metric");
  }
}

}  // namespace accelscope::app
