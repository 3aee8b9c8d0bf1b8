#include "app/content/comparison/comparison_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/content/figure_titles.h"
#include "core/base/format.h"
#include "core/base/text.h"
#include "core/model/unit.h"

namespace accelscope::app {
namespace {

constexpr double kNotableChange = 0.05;

std::string samples_text(const Change& change) {
  const auto captures = [](std::size_t count) {
    return fmt::format("{} {}", count, count == 1 ? "capture" : "captures");
  };
  if (change.base_count == change.other_count) return captures(change.base_count) + " each";
  return fmt::format("{} against {}", captures(change.base_count), captures(change.other_count));
}

std::string speed_text(double ratio) {
  const double factor = ratio < 1 ? 1 / ratio : ratio;
  const std::string_view word = ratio < 1 ? "faster" : "slower";
  constexpr double kLeastWritten = 1.0005;  // below it the share reads 0.0
  if (factor < kLeastWritten) return "the same";
  if (factor < 1.1) return fmt::format("{:.1f} % {}", (factor - 1) * 100, word);
  return fmt::format("{:.2f}× {}", factor, word);
}

std::string basis_of(const Change& change) {
  std::string basis = samples_text(change);
  if (change.told == Told::no_sample) {
    return basis + ": whether noise explains it is not known; compare 5 captures of each or more, or state --noise";
  }
  if (change.interval) basis += fmt::format(", ratio {} at 95 %", interval_text(change));
  if (change.told == Told::same && change.least_visible)
    basis += fmt::format("; {} or more would be told", format_share(*change.least_visible));
  return basis;
}

}  // namespace

std::string ComparisonVerdict::text() const {
  std::string all = headline;
  if (!detail.empty()) all += ": " + detail;
  if (!beside.empty()) all += ", " + beside;
  return basis.empty() ? all : all + " (" + basis + ")";
}

Judgement judgement_of(Better better, const Change& change) noexcept {
  if (change.told == Told::no_sample) return Judgement::unknown;
  if (!change.is_told()) return Judgement::same;
  if (better == Better::neither) return Judgement::other;
  return is_worse(better, change) ? Judgement::worse : Judgement::better;
}

namespace {

std::string from_to(const Change& change) {
  return fmt::format("{} to {}", format_duration(change.base * 1e9), format_duration(change.other * 1e9));
}

// What the headline is, and what the other times of the whole say.
std::string other_times(const Comparison& comparison, std::size_t other) {
  std::string text = compared_title(comparison.headline);
  for (const std::string_view name : {kWorkTime, terms::kActive}) {
    const ComparedFigure* figure = name == comparison.headline ? nullptr : comparison.find_metric(name);
    if (figure == nullptr || figure->is_missing[other - 1] != 0) continue;
    const Change& change = figure->changes[other - 1];
    text += fmt::format("; {} {}", lower_case(compared_title(name)), from_to(change));
    if (change.ratio && *change.ratio > 0) text += fmt::format(", {}", speed_text(*change.ratio));
  }
  return text;
}

// Where nothing works memory is all that there is to compare: more of it is neither faster nor slower.
ComparisonVerdict memory_verdict(const Comparison& comparison, std::size_t other) {
  ComparisonVerdict out{Judgement::unknown, "no verdict", "", "", "one of them holds no work of a device or a host"};
  for (const ComparedFigure& figure : comparison.metrics) {
    const Change& change = figure.changes[other - 1];
    if (!figure.metric.name.ends_with("_peak_bytes") || figure.is_missing[other - 1] != 0 || !change.ratio) continue;
    out.judgement = judgement_of(Better::neither, change);
    out.headline = fmt::format("{} the memory at the peak", ratio_text(change));
    out.detail = fmt::format("{} to {}", format_bytes(change.base), format_bytes(change.other));
    out.beside = compared_title(figure.metric.name);
    out.basis = basis_of(change);
    break;
  }
  return out;
}

}  // namespace

ComparisonVerdict comparison_verdict(const Comparison& comparison, std::size_t other) {
  const ComparedFigure* time = comparison.find_metric(comparison.headline);
  if (time == nullptr || time->is_missing[other - 1] != 0) return memory_verdict(comparison, other);
  const Change& change = time->changes[other - 1];
  ComparisonVerdict out;
  out.judgement = judgement_of(time->metric.better, change);
  out.basis = basis_of(change);
  out.detail = from_to(change);
  out.beside = other_times(comparison, other);
  const bool alike = change.told == Told::no_sample
                         ? change.ratio && std::abs(*change.ratio - 1) < ChangeOptions::kLeastTold
                         : !change.is_told();
  if (!change.ratio) {
    out.headline = "no ratio of nothing";
  } else if (alike) {
    out.headline = change.told == Told::no_sample ? "the same time" : "no difference beyond noise";
  } else {
    out.headline = speed_text(*change.ratio);
  }
  return out;
}

std::vector<ComparisonReason> comparison_reasons(const Comparison& comparison, std::size_t other, std::size_t most) {
  std::vector<std::pair<double, ComparisonReason>> found;
  for (const ComparedFigure& figure : comparison.metrics) {
    const Change& change = figure.changes[other - 1];
    if (figure.is_missing[other - 1] != 0 || figure.metric.better == Better::neither) continue;
    // Times of the whole are the verdict, not a reason.
    if (figure.metric.unit == "s" || !figure.metric.is_key) continue;
    const double size = change.ratio && *change.ratio > 0 ? std::abs(std::log(*change.ratio))
                        : change.difference() != 0        ? 9.0
                                                          : 0.0;
    if (change.told == Told::no_sample ? size < kNotableChange : !change.is_told()) continue;
    const std::string_view plain = name_without_device(figure.metric.name);
    if (plain.size() < figure.metric.name.size() && comparison.find_metric(plain) != &figure) continue;
    const bool rises = change.other > change.base;
    std::string text =
        fmt::format("{}: {} to {}", compared_title(figure.metric.name), format_value(change.base, figure.metric.unit),
                    format_value(change.other, figure.metric.unit));
    if (change.ratio && change.other != 0) text += fmt::format(" ({})", ratio_text(change));
    const bool is_better_so = rises == (figure.metric.better == Better::higher);
    found.push_back({size, {&figure, is_better_so ? Judgement::better : Judgement::worse, std::move(text)}});
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<ComparisonReason> out;
  for (auto& [size, reason] : found)
    if (out.size() < most) out.push_back(std::move(reason));
  return out;
}

std::string compared_title(std::string_view name) {
  const std::string_view plain = name_without_device(name);
  return figure_title(plain) + std::string(name.substr(plain.size()));
}

std::string ratio_text(const Change& change) {
  if (!change.ratio) return change.other == 0 ? "–" : "new";
  if (change.other == 0) return "gone";
  const double ratio = *change.ratio;
  if (ratio >= 1e4 || ratio <= -1e4) return format_number(ratio) + "×";
  return std::abs(ratio - 1) < 0.1 ? fmt::format("{:.3f}×", ratio) : fmt::format("{:.2f}×", ratio);
}

std::string interval_text(const Change& change) {
  if (!change.interval) return "";
  const auto [low, high] = *change.interval;
  const int digits = high - low < 0.1 ? 3 : 2;
  return fmt::format("{:.{}f} to {:.{}f}", low, digits, high, digits);
}

std::string_view told_text(const Change& change, Better better, bool is_time) noexcept {
  switch (change.told) {
    case Told::no_sample:
      return "noise unknown";
    case Told::same:
      return "same";
    default:
      break;
  }
  const bool more = change.told == Told::more;
  if (is_time && better == Better::lower) return more ? "slower" : "faster";
  if (better == Better::neither) return more ? "more" : "less";
  return is_worse(better, change) ? "worse" : "better";
}

std::string signed_figure(double value, std::string_view unit) {
  if (value == 0) return "0";
  const std::string sign = value < 0 ? "-" : "+";
  // Shares differ in percentage points.
  if (unit == "share" || unit == "%") {
    return fmt::format("{}{} pp", sign, format_number(std::abs(unit == "%" ? value : 100 * value)));
  }
  return sign + format_value(std::abs(value), unit);
}

std::string matching_text(const Comparison& comparison, const ComparedCosts& costs) {
  const auto rows = [](std::size_t count) {
    return fmt::format("{} {}", format_count(count), count == 1 ? "row" : "rows");
  };
  std::string text =
      fmt::format("{} matched {}", rows(costs.exact), costs.kind == "line" ? "by what stands there" : "by name");
  if (costs.by_form > 0) text += fmt::format(", {} without their numbers", format_count(costs.by_form));
  for (std::size_t g = 0; g < costs.unmatched.size(); ++g) {
    if (costs.unmatched[g] == 0) continue;
    text += fmt::format("; {} in {} alone ({})", rows(costs.unmatched[g]), comparison.configurations[g].name,
                        format_duration(costs.unmatched_ns[g]));
  }
  return text;
}

}  // namespace accelscope::app
