#include "app/content/figure_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "app/content/figure_titles.h"
#include "core/base/format.h"
#include "core/base/text.h"
#include "core/model/unit.h"

namespace accelscope::app {
namespace {

FigureMark mark_of(const SessionMetric& metric) {
  if (is_flagged(metric)) return FigureMark::flagged;
  const auto difference = relative_difference(metric);
  return difference && std::abs(*difference) > kExactMargin ? FigureMark::close : FigureMark::none;
}

double value_of(const FigureRow& row) { return shown_value(*row.metric).value_or(0); }

// Figures that cannot be compared come last.
double distance_of(const FigureRow& row) {
  const auto difference = relative_difference(*row.metric);
  if (difference) return std::abs(*difference);
  return is_flagged(*row.metric) ? HUGE_VAL : -1;
}

}  // namespace

std::string amount_per_second(double amount, double ns, std::string_view unit) {
  return format_value(ns > 0 ? amount / ns * 1e9 : 0, unit);
}

std::string exact_figure(double value, std::string_view unit) {
  std::array<char, 32> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  const std::string number = error == std::errc{} ? std::string(digits.data(), end) : std::string("–");
  return unit.empty() ? number : fmt::format("{} {}", number, unit);
}

std::string difference_text(const SessionMetric& metric) {
  if (!metric.value || !metric.vendor) return "";
  const auto relative = relative_difference(metric);
  if (!relative) return "the file says 0";
  std::string text = fmt::format("{:+.2f} %", *relative * 100);
  if (text == "-0.00 %") text = "+0.00 %";
  if (metric.margin > kExactMargin) text += fmt::format(" (±{:.2g} %)", metric.margin * 100);
  return text;
}

std::vector<FigureRow> figure_rows(const std::vector<SessionMetric>& metrics, const std::string& filter,
                                   FigureOrder order, bool descending) {
  std::set<std::string_view> devices;
  for (const SessionMetric& metric : metrics) {
    if (!metric.device.empty()) devices.insert(metric.device);
  }
  std::vector<FigureRow> rows;
  for (const SessionMetric& metric : metrics) {
    const std::string title = figure_title(metric.name);
    if (!matches_words(fmt::format("{} {} {} {}", metric.device, metric.group, metric.name, title), filter)) continue;
    FigureRow& row = rows.emplace_back();
    row.metric = &metric;
    row.title = title;
    row.group = with_blanks(key_place(metric.name) ? "key_figures" : metric.group);
    if (devices.size() > 1)
      row.group = fmt::format("{} · {}", metric.device.empty() ? "all" : metric.device, row.group);
    row.stated = metric.vendor ? format_value(*metric.vendor, metric.unit) : metric.vendor_text;
    if (metric.value) row.computed = format_value(*metric.value, metric.unit);
    const std::optional<double> shown = shown_value(metric);
    row.shown = shown ? format_value(*shown, metric.unit) : row.stated;
    row.difference = difference_text(metric);
    row.mark = mark_of(metric);
  }
  if (order == FigureOrder::as_given) {
    constexpr std::size_t kOthers = ~std::size_t{0};
    std::map<std::string_view, std::size_t> places;  // of devices, in the order of their first figures
    for (const SessionMetric& metric : metrics) {
      if (!metric.device.empty()) places.try_emplace(metric.device, places.size());
    }
    places.try_emplace("", places.size());  // what is of the whole session says less
    const auto place = [&](const FigureRow& row) {
      const std::size_t key = key_place(row.metric->name).value_or(kOthers);
      return std::pair(key == kOthers ? kOthers : places[row.metric->device], key);
    };
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const FigureRow& a, const FigureRow& b) { return place(a) < place(b); });
    return rows;
  }
  std::stable_sort(rows.begin(), rows.end(), [order](const FigureRow& a, const FigureRow& b) {
    if (order == FigureOrder::by_name) return a.title != b.title ? a.title < b.title : a.metric->name < b.metric->name;
    if (order == FigureOrder::by_value) return value_of(a) < value_of(b);
    return distance_of(a) < distance_of(b);
  });
  if (descending) std::reverse(rows.begin(), rows.end());
  return rows;
}

}  // namespace accelscope::app
