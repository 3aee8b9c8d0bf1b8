#include "app/content/comparison/comparison_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/content/comparison/comparison_output.h"
#include "app/content/figure_text.h"
#include "core/base/format.h"
#include "core/base/text.h"

namespace accelscope::app::content {
namespace {

constexpr double kNotableChange = 0.05;

std::string samples_text(const analysis::Change& change) {
  std::string text =
      change.base_count == change.other_count
          ? counted(change.base_count, "capture") + " each"
          : fmt::format("{} against {}", counted(change.base_count, "capture"), counted(change.other_count, "capture"));
  if (change.pair_count > 1) text += fmt::format(" in {} pairs", change.pair_count);
  return text;
}

std::string speed_text(double ratio) {
  const double factor = ratio < 1 ? 1 / ratio : ratio;
  const std::string_view word = ratio < 1 ? "faster" : "slower";
  constexpr double kLeastWritten = 1.0005;  // below it the share reads 0.0
  if (factor < kLeastWritten) return "the same";
  if (factor < 1.1) return fmt::format("{:.1f} % {}", (factor - 1) * 100, word);
  return fmt::format("{:.2f}× {}", factor, word);
}

std::string basis_of(const analysis::Change& change) {
  std::string basis = samples_text(change);
  if (change.reported == analysis::Reported::no_sample) {
    return basis + ": whether noise explains it is not known; compare 5 captures of each or more, or state --noise";
  }
  if (change.interval) basis += fmt::format(", ratio {} at 95 %", interval_text(change));
  if (change.reported == analysis::Reported::same && change.least_visible)
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

Judgement judgement_of(analysis::Better better, const analysis::Change& change) noexcept {
  if (change.reported == analysis::Reported::no_sample) return Judgement::unknown;
  if (!change.is_reported()) return Judgement::same;
  if (better == analysis::Better::neither) return Judgement::other;
  return analysis::is_worse(better, change) ? Judgement::worse : Judgement::better;
}

namespace {

std::string from_to(const analysis::Change& change) {
  return fmt::format("{} to {}", format_duration(change.base * 1e9), format_duration(change.other * 1e9));
}

// What the headline is, and what the other times of the whole say.
std::string other_times(const analysis::Comparison& comparison, std::size_t other) {
  std::string text = compared_title(comparison.headline);
  for (const std::string_view name : {analysis::kWorkTime, analysis::terms::kActive}) {
    const analysis::ComparedFigure* figure = name == comparison.headline ? nullptr : comparison.find_metric(name);
    if (figure == nullptr || figure->is_missing[other - 1] != 0) continue;
    const analysis::Change& change = figure->changes[other - 1];
    text += fmt::format("; {} {}", lower_case(compared_title(name)), from_to(change));
    if (change.ratio && *change.ratio > 0) text += fmt::format(", {}", speed_text(*change.ratio));
  }
  return text;
}

// Where nothing works memory is all that there is to compare: more of it is neither faster nor slower.
ComparisonVerdict memory_verdict(const analysis::Comparison& comparison, std::size_t other) {
  ComparisonVerdict out{Judgement::unknown, "no verdict", "", "", "one of them holds no work of a device or a host"};
  for (const analysis::ComparedFigure& figure : comparison.metrics) {
    const analysis::Change& change = figure.changes[other - 1];
    if (!figure.metric.name.ends_with("_peak_bytes") || figure.is_missing[other - 1] != 0 || !change.ratio) continue;
    out.judgement = judgement_of(analysis::Better::neither, change);
    out.headline = fmt::format("{} the memory at the peak", ratio_text(change));
    out.detail = fmt::format("{} to {}", format_bytes(change.base), format_bytes(change.other));
    out.beside = compared_title(figure.metric.name);
    out.basis = basis_of(change);
    break;
  }
  return out;
}

}  // namespace

namespace {

std::string plural(std::string name) { return name.empty() ? "problems" : name + "s"; }

// Where the problems do not agree a mean over them hides it.
struct PairVotes {
  std::size_t better = 0, worse = 0, all = 0;
  [[nodiscard]] bool mixed() const noexcept { return better > 0 && worse > 0; }
};
PairVotes pair_votes(const analysis::Comparison& comparison, std::size_t other, analysis::Better better) {
  PairVotes votes;
  for (const std::size_t pair : comparison.pairs.shared()) {
    const analysis::PairedFigures::Cell* cell = comparison.paired.find(pair, other, 0);
    if (cell == nullptr || !cell->change) continue;
    ++votes.all;
    votes.better += analysis::is_better(better, *cell->change) ? 1U : 0U;
    votes.worse += cell->change->is_reported() && analysis::is_worse(better, *cell->change) ? 1U : 0U;
  }
  return votes;
}

}  // namespace

ComparisonVerdict comparison_verdict(const analysis::Comparison& comparison, std::size_t other) {
  const analysis::ComparedFigure* time = comparison.find_metric(comparison.headline);
  if (time == nullptr || time->is_missing[other - 1] != 0) return memory_verdict(comparison, other);
  const analysis::Change& change = time->changes[other - 1];
  ComparisonVerdict out;
  out.judgement = judgement_of(time->metric.better, change);
  out.basis = basis_of(change);
  out.detail = from_to(change);
  out.beside = other_times(comparison, other);
  const bool alike = change.reported == analysis::Reported::no_sample
                         ? change.ratio && std::abs(*change.ratio - 1) < analysis::ChangeOptions::kLeastReported
                         : !change.is_reported();
  if (!change.ratio) {
    out.headline = "no ratio of nothing";
  } else if (alike) {
    out.headline = change.reported == analysis::Reported::no_sample ? "the same time" : "no difference beyond noise";
  } else {
    out.headline = speed_text(*change.ratio);
  }
  if (change.pair_count > 1) {
    const std::string& by = comparison.pairs.by;
    const PairVotes votes = pair_votes(comparison, other, time->metric.better);
    if (votes.mixed()) {
      out.headline = fmt::format("mixed: faster in {} of {} {}, slower in {}; all together {}", votes.better, votes.all,
                                 plural(by), votes.worse, out.headline);
    }
    out.detail += fmt::format(", {} mean of {} {}", change.is_geometric ? "geometric" : "arithmetic", change.pair_count,
                              plural(by));
  }
  return out;
}

std::string pair_title(const analysis::Comparison& comparison, std::size_t pair) {
  if (pair < comparison.pairs.names.size()) return comparison.pairs.names[pair];
  return fmt::format("all {} {}", comparison.pairs.shared().size(), plural(comparison.pairs.by));
}

std::string side_title(const analysis::Comparison& comparison, std::size_t configuration) {
  const std::string& name = comparison.configurations[configuration].name;
  constexpr std::string_view kKernel = "kernel=";
  return name.starts_with(kKernel) ? name.substr(kKernel.size()) : name;
}

std::string configuration_text(const analysis::Comparison& comparison, std::size_t g) {
  return fmt::format("{} ({})", side_title(comparison, g),
                     counted(comparison.configurations[g].captures.size(), "capture"));
}

std::string paired_title(const analysis::Comparison& comparison) {
  const std::string& by = comparison.pairs.by;
  return by.empty() ? "Side against side" : "Kernel against kernel, by " + by;
}

std::string column_title(const analysis::Comparison& comparison, std::string_view name) {
  const std::string_view figure = name == comparison.headline ? "" : name;
  for (const PairedColumn& column : kPairedColumns)
    if (column.figure == figure) return std::string(column.title);
  return compared_title(name);
}

Judgement results_judgement(const analysis::Divergence& divergence) noexcept {
  if (divergence.compared == 0 || !divergence.is_one_program()) return Judgement::unknown;
  return divergence.differing == 0 ? Judgement::better : Judgement::worse;
}

std::string_view results_headline(const analysis::Divergence& divergence) noexcept {
  switch (results_judgement(divergence)) {
    case Judgement::better:
      return "Results agree";
    case Judgement::worse:
      return "Results differ";
    default:
      return "Results unknown";
  }
}

std::string results_text(const analysis::Divergence& divergence) {
  if (divergence.compared == 0)
    return "Whether the results differ is unknown: no event with a checksum has a counterpart on the other side";
  if (!divergence.is_one_program()) {
    return fmt::format(
        "Whether the results differ is unknown: these are two programs; of {} and {} events with checksums {} have a "
        "counterpart by place, and {} of them differ",
        format_count(divergence.with_checksums), format_count(divergence.other_with_checksums),
        format_count(divergence.compared), format_count(divergence.differing));
  }
  if (divergence.differing == 0) {
    return fmt::format("The results agree: {} events with checksums carry the same data on both sides",
                       format_count(divergence.compared));
  }
  std::string text = fmt::format("The results differ: {} of {} events with checksums",
                                 format_count(divergence.differing), format_count(divergence.compared));
  if (const analysis::DivergentPair* first = divergence.first(); first != nullptr)
    text += "; first " + divergent_text(*first);
  return text;
}

std::string results_text(const analysis::Comparison& comparison, const CheckedResults& results) {
  std::string of;
  if (comparison.configurations.size() > 2) of = side_title(comparison, results.configuration);
  if (comparison.pairs.names.size() > 1) of += (of.empty() ? "" : ", ") + pair_title(comparison, results.pair);
  return (of.empty() ? "" : of + ": ") + results_text(results.found);
}

namespace {

// "profiler_version 2.28 (all), neff hash 7b13 (A), 9c21 (B)"
std::string facts_text(const analysis::Comparison& comparison) {
  std::vector<std::string> names;
  for (const analysis::CaptureFacts& facts : comparison.facts)
    for (const analysis::CaptureFact& fact : facts)
      if (std::find(names.begin(), names.end(), fact.name) == names.end()) names.push_back(fact.name);
  std::string text;
  for (const std::string& name : names) {
    std::vector<std::pair<std::string, std::string>> values;  // with the configurations that have it
    std::size_t sides = 0;
    for (std::size_t g = 0; g < comparison.configurations.size(); ++g) {
      const auto& captures = comparison.configurations[g].captures;
      sides += std::any_of(captures.begin(), captures.end(),
                           [&](std::size_t capture) {
                             return std::any_of(comparison.facts[capture].begin(), comparison.facts[capture].end(),
                                                [&](const analysis::CaptureFact& fact) { return fact.name == name; });
                           })
                   ? 1U
                   : 0U;
      for (const std::size_t capture : comparison.configurations[g].captures) {
        for (const analysis::CaptureFact& fact : comparison.facts[capture]) {
          if (fact.name != name) continue;
          auto known =
              std::find_if(values.begin(), values.end(), [&](const auto& each) { return each.first == fact.text; });
          if (known == values.end()) known = values.insert(values.end(), {fact.text, ""});
          const std::string side = side_title(comparison, g);
          if (known->second != side && !known->second.ends_with(", " + side))
            known->second += (known->second.empty() ? "" : ", ") + side;
        }
      }
    }
    text += fmt::format("{}{} ", text.empty() ? "" : "; ", name);
    for (std::size_t i = 0; i < values.size(); ++i) {
      text += fmt::format("{}{}", i > 0 ? ", " : "", values[i].first);
      if (values.size() > 1 || sides < comparison.configurations.size()) text += fmt::format(" ({})", values[i].second);
    }
  }
  return text;
}

// "base 0.3 % of 3 captures, fused 0.2 % of 3"
std::string noise_text(const analysis::Comparison& comparison, std::size_t pair) {
  const auto& cells = comparison.pairs.cells[pair];
  if (!comparison.paired.columns.empty() &&
      std::none_of(cells.begin(), cells.end(), [](const auto& cell) { return cell.size() > 1; }))
    return "not known, one capture a side";
  std::string text;
  for (std::size_t g = 0; g < comparison.configurations.size(); ++g) {
    const analysis::PairedFigures::Cell* cell = comparison.paired.find(pair, g, 0);
    if (cell == nullptr || cell->captures == 0) continue;
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", side_title(comparison, g),
                    cell->deviation ? fmt::format("{} over {} captures", format_share(*cell->deviation), cell->captures)
                                    : std::string("unknown, one capture"));
  }
  return text;
}

}  // namespace

std::vector<std::string> method_lines(const analysis::Comparison& comparison,
                                      const std::vector<CheckedResults>& results, std::string_view program_version) {
  std::vector<std::string> lines;
  for (std::size_t g = 0; g < comparison.configurations.size(); ++g) {
    std::string files;
    for (const std::size_t capture : comparison.configurations[g].captures)
      files += (files.empty() ? "" : ", ") + file_name(comparison.paths[capture]);
    lines.push_back(fmt::format("{} is {}: {}",
                                g == 0   ? "A, the base,"
                                : g == 1 ? "B"
                                         : fmt::format("No. {}", g + 1),
                                side_title(comparison, g), files));
  }
  if (!comparison.paired.columns.empty())
    lines.push_back(fmt::format("Total: {}", lower_case(compared_title(comparison.headline))));
  const std::vector<std::size_t> shared = comparison.pairs.shared();
  if (!comparison.pairs.by.empty()) {
    lines.push_back(
        fmt::format("Pairs: captures of one {} against each other first; {} of {} {} have captures of all sides. "
                    "Figures are pooled "
                    "as the geometric mean of the ratios, costs as the mean of the times",
                    comparison.pairs.by, shared.size(), comparison.pairs.names.size(), plural(comparison.pairs.by)));
  }
  for (std::size_t pair = 0; pair < comparison.pairs.names.size(); ++pair) {
    const std::string& name = comparison.pairs.names[pair];
    if (const std::string noise = noise_text(comparison, pair); !noise.empty())
      lines.push_back(fmt::format("Noise{}: {}", name.empty() ? "" : " of " + name, noise));
  }
  lines.push_back(
      comparison.has_sample()
          ? fmt::format(
                "Judged: a difference counts from {:.1f} % confidence (Welch's t test within the pairs) and {:.1f} "
                "% of the base on; intervals are of {:.0f} %",
                100 * analysis::ChangeOptions::kConfidence, 100 * analysis::ChangeOptions::kLeastReported,
                100 * analysis::ChangeOptions::kShown)
          : std::string("Judged: nothing; one capture a side tells no noise, so every difference stands as measured"));
  if (results.empty()) lines.emplace_back("Results: not checked, not both sides have checksums (crc columns)");
  const std::string facts = facts_text(comparison);
  lines.push_back(fmt::format("Versions: Accelscope {}{}{}", program_version, facts.empty() ? "" : "; ", facts));
  return lines;
}

std::vector<ComparisonReason> comparison_reasons(const analysis::Comparison& comparison, std::size_t other,
                                                 std::size_t most) {
  std::vector<std::pair<double, ComparisonReason>> found;
  for (const analysis::ComparedFigure& figure : comparison.metrics) {
    const analysis::Change& change = figure.changes[other - 1];
    if (figure.is_missing[other - 1] != 0 || figure.metric.better == analysis::Better::neither) continue;
    // Times of the whole are the verdict, not a reason.
    if (figure.metric.unit == Unit::seconds || !figure.metric.is_key) continue;
    const double size = change.ratio && *change.ratio > 0 ? std::abs(std::log(*change.ratio))
                        : change.difference() != 0        ? 9.0
                                                          : 0.0;
    if (change.reported == analysis::Reported::no_sample ? size < kNotableChange : !change.is_reported()) continue;
    const std::string_view plain = analysis::name_without_device(figure.metric.name);
    if (plain.size() < figure.metric.name.size() && comparison.find_metric(plain) != &figure) continue;
    const bool rises = change.other > change.base;
    std::string text =
        fmt::format("{}: {} to {}", compared_title(figure.metric.name), format_value(change.base, figure.metric.unit),
                    format_value(change.other, figure.metric.unit));
    if (change.ratio && change.other != 0) text += fmt::format(" ({})", ratio_text(change));
    const bool is_better_so = rises == (figure.metric.better == analysis::Better::higher);
    found.push_back({size, {&figure, is_better_so ? Judgement::better : Judgement::worse, std::move(text)}});
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<ComparisonReason> out;
  for (auto& [size, reason] : found)
    if (out.size() < most) out.push_back(std::move(reason));
  return out;
}

std::string compared_title(std::string_view name) {
  const std::string_view plain = analysis::name_without_device(name);
  return figure_title(plain) + std::string(name.substr(plain.size()));
}

std::string ratio_text(const analysis::Change& change) {
  if (!change.ratio) return change.other == 0 ? "–" : "new";
  if (change.other == 0) return "gone";
  const double ratio = *change.ratio;
  if (ratio >= 1e4 || ratio <= -1e4) return format_number(ratio) + "×";
  return std::abs(ratio - 1) < 0.1 ? fmt::format("{:.3f}×", ratio) : fmt::format("{:.2f}×", ratio);
}

std::string interval_text(const analysis::Change& change) {
  if (!change.interval) return "";
  const auto [low, high] = *change.interval;
  const int digits = high - low < 0.1 ? 3 : 2;
  return fmt::format("{:.{}f} to {:.{}f}", low, digits, high, digits);
}

std::string_view reported_text(const analysis::Change& change, analysis::Better better, bool is_time) noexcept {
  switch (change.reported) {
    case analysis::Reported::no_sample:
      return "noise unknown";
    case analysis::Reported::same:
      return "same";
    default:
      break;
  }
  const bool more = change.reported == analysis::Reported::more;
  if (is_time && better == analysis::Better::lower) return more ? "slower" : "faster";
  if (better == analysis::Better::neither) return more ? "more" : "less";
  return analysis::is_worse(better, change) ? "worse" : "better";
}

std::string signed_figure(double value, std::string_view unit) {
  if (value == 0) return "0";
  const std::string sign = value < 0 ? "-" : "+";
  // Shares differ in percentage points.
  if (unit == Unit::share || unit == Unit::percent) {
    return fmt::format("{}{} pp", sign, format_number(std::abs(unit == Unit::percent ? value : 100 * value)));
  }
  return sign + format_value(std::abs(value), unit);
}

std::string matching_text(const analysis::Comparison& comparison, const analysis::ComparedCosts& costs) {
  std::string text = fmt::format("{} matched {}", counted(costs.exact, "row"),
                                 costs.kind == "line" ? "by what stands there" : "by name");
  if (costs.by_form > 0) {
    text += fmt::format(", {} {}", format_count(costs.by_form),
                        costs.unit == Unit::bytes ? "by the end of their path" : "without their numbers");
  }
  for (std::size_t g = 0; g < costs.unmatched.size(); ++g) {
    if (costs.unmatched[g] == 0) continue;
    text += fmt::format("; {} in {} alone ({})", counted(costs.unmatched[g], "row"), side_title(comparison, g),
                        format_value(costs.unmatched_amount[g], costs.unit));
  }
  return text;
}

}  // namespace accelscope::app::content
