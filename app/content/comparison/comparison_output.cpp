#include "app/content/comparison/comparison_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>
#include <span>

#include "app/content/comparison/comparison_words.h"
#include "core/base/format.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/listing/base/write.h"
#include "core/names/short_names.h"

namespace accelscope::app::content {
namespace {

// A table on its way to text or Markdown. The first row is its head.
struct PrintedTable {
  std::string title, note;
  listing::TextTable text;
  std::size_t left_out = 0;
};

// The first columns are on the left, the others are numbers.
PrintedTable titled_table(std::string title, const std::vector<std::string>& columns, std::size_t left_columns = 1) {
  std::vector<listing::CellAlign> alignment(columns.size(), listing::CellAlign::right);
  std::fill_n(alignment.begin(), left_columns, listing::CellAlign::left);
  PrintedTable table{std::move(title), "", listing::TextTable(std::move(alignment), "  ")};
  table.text.row(columns);
  return table;
}

std::string change_text(const analysis::Change& change, analysis::Better better, bool is_time) {
  std::string text = ratio_text(change);
  const std::string interval = interval_text(change);
  if (change.ratio && !interval.empty() && change.is_reported()) text += fmt::format(" ({})", interval);
  if (change.reported != analysis::Reported::no_sample)
    text += fmt::format(" {}", reported_text(change, better, is_time));
  return text;
}

std::vector<std::string> columns_of(const analysis::Comparison& comparison, std::string first) {
  std::vector<std::string> columns{std::move(first), side_title(comparison, 0)};
  for (std::size_t g = 1; g < comparison.configurations.size(); ++g) {
    columns.push_back(side_title(comparison, g));
    columns.push_back("ratio");
  }
  return columns;
}

// Figures that did not change at all only take room.
bool has_any_text(const analysis::ComparedFigure& figure) {
  for (std::size_t i = 0; i < figure.changes.size(); ++i) {
    const analysis::Change& change = figure.changes[i];
    if (figure.is_missing[i] != 0) continue;
    if (change.is_reported()) return true;
    if (change.reported == analysis::Reported::no_sample &&
        std::abs(change.difference()) > analysis::ChangeOptions::kLeastReported * std::abs(change.base))
      return true;
  }
  return false;
}

// Those that every comparison begins with, then those that comparisons speak of, then all others.
std::size_t rank_of(const analysis::ComparedFigure& figure) {
  return figure.metric.group == "compared" ? 0 : figure.metric.is_key ? 1 : 2;
}

// The figures that a table of at most so many rows has; 0: all that say something.
struct ShownMetrics {
  std::vector<const analysis::ComparedFigure*> figures;
  std::size_t alike = 0, left_out = 0;
};

ShownMetrics shown_metrics(const analysis::Comparison& comparison, std::size_t most) {
  ShownMetrics shown;
  for (const analysis::ComparedFigure& figure : comparison.metrics)
    if (rank_of(figure) == 0 || has_any_text(figure)) shown.figures.push_back(&figure);
  std::stable_sort(
      shown.figures.begin(), shown.figures.end(),
      [](const analysis::ComparedFigure* a, const analysis::ComparedFigure* b) { return rank_of(*a) < rank_of(*b); });
  shown.alike = comparison.metrics.size() - shown.figures.size();
  if (most > 0 && shown.figures.size() > most) {
    shown.left_out = shown.figures.size() - most;
    shown.figures.resize(most);
  }
  return shown;
}

PrintedTable metric_table(const analysis::Comparison& comparison, std::size_t most) {
  PrintedTable table = titled_table("Figures", columns_of(comparison, "figure"));
  const ShownMetrics shown = shown_metrics(comparison, most);
  table.left_out = shown.left_out;
  for (const analysis::ComparedFigure* each : shown.figures) {
    const analysis::ComparedFigure& figure = *each;
    std::vector<std::string> row{figure.metric.name, format_value(figure.metric.value, figure.metric.unit)};
    for (std::size_t i = 0; i < figure.changes.size(); ++i) {
      const bool missing = figure.is_missing[i] != 0;
      row.push_back(missing ? "–" : format_value(figure.changes[i].other, figure.metric.unit));
      row.push_back(
          missing ? "–" : change_text(figure.changes[i], figure.metric.better, figure.metric.unit == Unit::seconds));
    }
    table.text.row(std::move(row));
  }
  table.note = alike_text(comparison, shown.alike);
  return table;
}

PrintedTable cost_table(const analysis::Comparison& comparison, const analysis::ComparedCosts& costs,
                        std::size_t most) {
  PrintedTable table = titled_table(fmt::format("By {}, {}", with_blanks(costs.kind), costs.measured),
                                    columns_of(comparison, costs.title));
  if (costs.rows.empty()) {
    table.note = costs.missing;
    return table;
  }
  ShortNames names;
  const bool shortens = costs.kind == "kernel" || costs.kind == "opcode";
  for (const analysis::ComparedCost& cost : costs.rows) names.add(cost.name);
  for (const analysis::ComparedCost& cost : costs.rows) {
    if (most > 0 && table.text.rows() > most) {
      table.left_out = costs.rows.size() - most;
      break;
    }
    std::string name = shortens ? names.usual(cost.name) : cost.name;
    if (!cost.moved_to.empty()) name += fmt::format(" (now {})", shortens ? usual_name(cost.moved_to) : cost.moved_to);
    if (!cost.text.empty()) name += "  " + cost.text;
    const auto cell = [&](std::size_t g, double amount) {
      return cost.is_there[g] == 0
                 ? std::string("–")
                 : fmt::format("{} in {}", format_value(amount, costs.unit), format_number(cost.counts[g]));
    };
    std::vector<std::string> row{std::move(name), cell(0, cost.amounts.front().base)};
    for (std::size_t i = 0; i < cost.amounts.size(); ++i) {
      row.push_back(cell(i + 1, cost.amounts[i].other));
      row.push_back(change_text(cost.amounts[i], analysis::Better::lower, costs.unit == Unit::ns));
    }
    table.text.row(std::move(row));
  }
  table.note = matching_text(comparison, costs);
  return table;
}

// Rows of a pair follow each other; its name stands in the first of them.
PrintedTable paired_table(const analysis::Comparison& comparison) {
  const analysis::PairedFigures& paired = comparison.paired;
  const std::string& by = comparison.pairs.by;
  std::vector<std::string> columns;
  if (!by.empty()) columns.push_back(by);
  columns.emplace_back(comparison.configurations.front().name.starts_with("kernel=") ? "kernel" : "side");
  for (const analysis::ComparedMetric& column : paired.columns)
    columns.push_back(column_title(comparison, column.name));
  PrintedTable table = titled_table(paired_title(comparison), columns, by.empty() ? 1 : 2);
  const analysis::PairedFigures::Row* last = nullptr;
  for (const analysis::PairedFigures::Row& each : paired.rows) {
    std::vector<std::string> row;
    const bool goes_on = last != nullptr && last->pair == each.pair;
    if (!by.empty()) row.push_back(goes_on ? "" : pair_title(comparison, each.pair));
    row.push_back(side_title(comparison, each.configuration));
    for (std::size_t i = 0; i < each.cells.size(); ++i) row.push_back(paired_text(paired.columns[i], each.cells[i]));
    table.text.row(std::move(row));
    last = &each;
  }
  return table;
}

std::vector<PrintedTable> printed_tables(const ComparisonParts& parts) {
  std::vector<PrintedTable> tables;
  if (!parts.comparison.paired.columns.empty()) tables.push_back(paired_table(parts.comparison));
  if (parts.with_metrics) tables.push_back(metric_table(parts.comparison, parts.most_rows));
  for (const analysis::ComparedCosts& costs : parts.comparison.costs)
    tables.push_back(cost_table(parts.comparison, costs, parts.most_rows));
  return tables;
}

void print_table(std::ostream& out, const PrintedTable& table) {
  out << '\n' << table.title << '\n';
  if (table.text.rows() > 1) table.text.print(out);
  if (table.left_out > 0) out << fmt::format("  ... {} more rows; --rows 0 prints all\n", format_count(table.left_out));
  if (!table.note.empty()) out << "  " << table.note << '\n';
}

std::string markdown_cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|' || c == '<' || c == '\\' || c == '*' || c == '_' || c == '`') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

void markdown_table(std::ostream& out, const PrintedTable& table) {
  out << "\n### " << markdown_cell(table.title) << "\n\n";
  if (table.text.rows() > 1) out << table.text.markdown(markdown_cell, " ");
  if (table.left_out > 0) out << fmt::format("\n{} more rows are left out.\n", format_count(table.left_out));
  if (!table.note.empty()) out << '\n' << markdown_cell(table.note) << ".\n";
}

std::string_view reported_word(analysis::Reported reported) noexcept {
  static constexpr std::array<std::string_view, 4> kWords = {"no_sample", "same", "less", "more"};
  return kWords[static_cast<std::size_t>(reported)];
}

void add_change(JsonWriter& json, const analysis::Change& change) {
  json.add("base", change.base, "value", change.other, "ratio", change.ratio).key("interval");
  if (change.interval) json.begin_array().value(change.interval->low).value(change.interval->high).end();
  if (!change.interval) json.value({});
  json.add("told", reported_word(change.reported), "chance", change.chance, "least_visible", change.least_visible);
  json.add("base_captures", change.base_count, "captures", change.other_count);
  json.add("base_deviation", change.base_deviation, "deviation", change.other_deviation);
}

std::string_view better_word(analysis::Better better) noexcept {
  return better == analysis::Better::lower ? "lower" : better == analysis::Better::higher ? "higher" : "neither";
}

void add_changes(JsonWriter& json, std::string_view key, const analysis::Comparison& comparison,
                 const std::vector<analysis::Change>& changes, const std::vector<char>& missing) {
  json.key(key).begin_array();
  for (std::size_t i = 0; i < changes.size(); ++i) {
    json.begin_object("configuration", comparison.configurations[i + 1].name);
    const bool is_missing = i < missing.size() && missing[i] != 0;
    if (is_missing) json.add("told", "missing");
    if (!is_missing) add_change(json, changes[i]);
    json.end();
  }
  json.end();
}

void add_costs(JsonWriter& json, const analysis::Comparison& comparison, const analysis::ComparedCosts& costs,
               std::size_t most) {
  const std::string_view amount_name = costs.unit == Unit::bytes ? "bytes" : "time_ns";
  const std::size_t shown = most == 0 ? costs.rows.size() : std::min(most, costs.rows.size());
  json.begin_object("by", costs.kind, "measured", costs.measured, "missing", costs.missing);
  json.add("matched_exactly", costs.exact, "matched_without_numbers", costs.by_form).key("unmatched").begin_array();
  for (std::size_t g = 0; g < costs.unmatched.size(); ++g) {
    json.object("configuration", comparison.configurations[g].name, "rows", costs.unmatched[g], amount_name,
                costs.unmatched_amount[g]);
  }
  json.end().add("left_out", costs.rows.size() - shown);
  json.array("rows", std::span(costs.rows).first(shown), [&](const analysis::ComparedCost& cost) {
    json.begin_object("name", cost.name, "text", cost.text, "moved_to", cost.moved_to);
    json.add("match", cost.match == analysis::MatchKind::exact ? "exact" : "without_numbers");
    json.array("counts", cost.counts, [&](double count) { json.value(count); });
    add_changes(json, amount_name, comparison, cost.amounts, {});
    json.end();
  });
  json.end();
}

void add_metrics(JsonWriter& json, const analysis::Comparison& comparison, std::size_t most) {
  std::vector<const analysis::ComparedFigure*> figures = shown_metrics(comparison, most).figures;
  if (most == 0) {
    figures.clear();
    for (const analysis::ComparedFigure& each : comparison.metrics) figures.push_back(&each);
  }
  json.array("metrics", figures, [&](const analysis::ComparedFigure* figure) {
    json.begin_object("name", figure->metric.name, "unit", figure->metric.unit);
    json.add("better", better_word(figure->metric.better));
    add_changes(json, "changes", comparison, figure->changes, figure->is_missing);
    json.end();
  });
  if (most > 0) json.add("metrics_left_out", comparison.metrics.size() - figures.size());
}

void add_paired(JsonWriter& json, const analysis::Comparison& comparison, const analysis::PairedFigures::Row& row) {
  const std::vector<analysis::ComparedMetric>& columns = comparison.paired.columns;
  json.begin_object("kernel", side_title(comparison, row.configuration), "config", pair_title(comparison, row.pair));
  json.add("pooled", row.pair == comparison.pairs.names.size()).key("figures").begin_object();
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const analysis::PairedFigures::Cell& cell = row.cells[i];
    if (cell.captures == 0) continue;
    json.key(columns[i].name).begin_object("value", cell.value, "unit", columns[i].unit);
    json.add("captures", cell.captures, "deviation", cell.deviation);
    if (cell.change) {
      json.key("change").begin_object();
      add_change(json, *cell.change);
      json.end();
    }
    json.end();
  }
  json.end().end();
}

void add_result(JsonWriter& json, const analysis::Comparison& comparison, const CheckedResults& result) {
  static constexpr std::array<std::string_view, 5> kAnswers = {"unknown", "same", "no", "yes", "other"};
  const analysis::DivergentPair* first = result.found.first();
  json.begin_object("config", pair_title(comparison, result.pair));
  json.add("configuration", side_title(comparison, result.configuration));
  json.add("differ", kAnswers[static_cast<std::size_t>(results_judgement(result.found))]);
  json.add("text", results_text(result.found), "compared", result.found.compared);
  json.add("differing", result.found.differing, "first", first == nullptr ? JsonValue() : first->base.id);
  json.add("first_in_other", first == nullptr ? JsonValue() : first->other).end();
}

void add_verdict(JsonWriter& json, const analysis::Comparison& comparison, std::size_t g) {
  static constexpr std::array<std::string_view, 5> kJudgements = {"unknown", "same", "better", "worse", "other"};
  const ComparisonVerdict verdict = comparison_verdict(comparison, g);
  json.begin_object("configuration", comparison.configurations[g].name);
  json.add("judgement", kJudgements[static_cast<std::size_t>(verdict.judgement)], "headline", verdict.headline);
  json.add("detail", verdict.detail, "beside", verdict.beside, "basis", verdict.basis);
  json.array("reasons", comparison_reasons(comparison, g), [&](const ComparisonReason& reason) {
    json.object("metric", reason.figure->metric.name, "text", reason.text);
  });
  json.end();
}

void add_limit(JsonWriter& json, const ComparisonGate& gate, const ComparisonGate::Outcome& outcome) {
  json.begin_object("metric", gate.metric, "configuration", outcome.configuration, "allowed", gate.above);
  json.add("known", outcome.is_known, "failed", outcome.failed, "text", gate_text(gate, outcome));
  add_change(json, outcome.change);
  json.end();
}

}  // namespace

bool ComparisonGate::failed() const noexcept {
  return std::any_of(outcomes.begin(), outcomes.end(), [](const Outcome& each) { return each.failed; });
}
bool ComparisonGate::is_known() const noexcept {
  return std::all_of(outcomes.begin(), outcomes.end(), [](const Outcome& each) { return each.is_known; });
}

Result<ComparisonGate> judged_gate(const analysis::Comparison& comparison, const std::string& metric, double above) {
  ComparisonGate gate;
  gate.metric = metric;
  gate.above = above;
  const std::vector<analysis::Change>* changes = nullptr;
  const analysis::ComparedFigure* figure = comparison.find_metric(metric);
  if (figure != nullptr) {
    changes = &figure->changes;
    gate.better = figure->metric.better;
  }
  for (const analysis::ComparedCosts& costs : comparison.costs) {
    if (!metric.starts_with(costs.kind + ":")) continue;
    for (const analysis::ComparedCost& cost : costs.rows)
      if (metric.substr(costs.kind.size() + 1) == cost.name) changes = &cost.amounts;
  }
  if (changes == nullptr) {
    std::vector<std::string> names;
    for (const analysis::ComparedFigure& each : comparison.metrics) names.push_back(each.metric.name);
    const std::string nearest = nearest_name(metric, names);
    return Error{
        fmt::format("--metric {}: no capture has it{}; accelscope query FILE \"SELECT name FROM metric\" lists "
                    "them, a row of --by is written as KIND:NAME",
                    metric, nearest.empty() ? "" : fmt::format(", did you mean {}?", nearest))};
  }
  for (std::size_t i = 0; i < changes->size(); ++i) {
    ComparisonGate::Outcome outcome;
    outcome.configuration = comparison.configurations[i + 1].name;
    outcome.change = (*changes)[i];
    const bool missing = figure != nullptr && figure->is_missing[i] != 0;
    outcome.is_known = !missing && outcome.change.reported != analysis::Reported::no_sample;
    outcome.failed = outcome.is_known && analysis::is_worse(gate.better, outcome.change) &&
                     analysis::worsening(gate.better, outcome.change) > above;
    gate.outcomes.push_back(std::move(outcome));
  }
  return gate;
}

std::string gate_text(const ComparisonGate& gate, const ComparisonGate::Outcome& outcome) {
  const std::string what = fmt::format("{} of {}", gate.metric, outcome.configuration);
  if (!outcome.is_known) return what + ": cannot be judged, nothing is known of noise";
  const double worse = analysis::worsening(gate.better, outcome.change);
  const std::string by = fmt::format("{} {}", format_share(std::abs(worse)), worse > 0 ? "worse" : "better");
  const bool noise = !outcome.change.is_reported();
  return fmt::format("{}: {}{}, allowed {}: {}", what, by, noise ? " (not beyond noise)" : "", format_share(gate.above),
                     outcome.failed ? "FAILED" : "passed");
}

std::vector<std::string> method_lines(const ComparisonParts& parts) {
  return method_lines(parts.comparison, parts.results, ACCELSCOPE_VERSION);
}

std::string paired_text(const analysis::ComparedMetric& column, const analysis::PairedFigures::Cell& cell) {
  if (cell.captures == 0) return "–";
  std::string text = format_value(cell.value, column.unit);
  if (cell.deviation) text += fmt::format(" ±{}", format_share(*cell.deviation));
  if (cell.change) text += "  " + change_text(*cell.change, column.better, column.unit == Unit::seconds);
  return text;
}

std::string alike_text(const analysis::Comparison& comparison, std::size_t count) {
  if (count == 0) return "";
  return fmt::format("{} more figures {}, or stand on one side alone", format_count(count),
                     comparison.has_sample() ? "do not differ beyond noise"
                                             : fmt::format("differ by less than {}",
                                                           format_share(analysis::ChangeOptions::kLeastReported)));
}

void write_comparison_text(std::ostream& out, const ComparisonParts& parts) {
  const analysis::Comparison& comparison = parts.comparison;
  for (const CheckedResults& each : parts.results) out << results_text(comparison, each) << '\n';
  for (std::size_t g = 1; g < comparison.configurations.size(); ++g) {
    out << fmt::format("{} against {}\n", configuration_text(comparison, g), configuration_text(comparison, 0));
    out << "  " << comparison_verdict(comparison, g).text() << '\n';
    for (const ComparisonReason& reason : comparison_reasons(comparison, g)) out << "  - " << reason.text << '\n';
  }
  for (const PrintedTable& table : printed_tables(parts)) print_table(out, table);
  for (const Explained& explained : parts.explained) {
    out << '\n';
    write_explained_text(out, explained, parts.most_rows);
  }
  for (const std::string& why : parts.unexplained)
    out << "\nWhat the difference is made of is unknown: " << why << '\n';
  if (!parts.gates.empty()) out << '\n';
  for (const ComparisonGate& gate : parts.gates)
    for (const auto& outcome : gate.outcomes) out << gate_text(gate, outcome) << '\n';
  out << "\nMethod\n";
  for (const std::string& line : method_lines(parts)) out << "  " << line << '\n';
}

void write_comparison_markdown(std::ostream& out, const ComparisonParts& parts) {
  const analysis::Comparison& comparison = parts.comparison;
  for (const CheckedResults& each : parts.results) out << markdown_cell(results_text(comparison, each)) << "\n\n";
  for (std::size_t g = 1; g < comparison.configurations.size(); ++g) {
    const ComparisonVerdict verdict = comparison_verdict(comparison, g);
    out << fmt::format("{}## {} against {}\n\n", g > 1 ? "\n" : "", markdown_cell(configuration_text(comparison, g)),
                       markdown_cell(configuration_text(comparison, 0)));
    out << fmt::format(
        "**{}**{}{}\n", markdown_cell(verdict.headline),
        verdict.detail.empty() ? "" : ": " + markdown_cell(verdict.detail) + ", " + markdown_cell(verdict.beside),
        verdict.basis.empty() ? "" : " (" + markdown_cell(verdict.basis) + ")");
    const std::vector<ComparisonReason> reasons = comparison_reasons(comparison, g);
    if (!reasons.empty()) out << '\n';
    for (const ComparisonReason& reason : reasons) out << "- " << markdown_cell(reason.text) << '\n';
  }
  for (const PrintedTable& table : printed_tables(parts)) markdown_table(out, table);
  for (const Explained& explained : parts.explained) {
    out << '\n';
    write_explained_markdown(out, explained, parts.most_rows);
  }
  for (const std::string& why : parts.unexplained)
    out << "\nWhat the difference is made of is unknown: " << markdown_cell(why) << ".\n";
  if (!parts.gates.empty()) out << '\n';
  for (const ComparisonGate& gate : parts.gates)
    for (const auto& outcome : gate.outcomes) out << "- " << markdown_cell(gate_text(gate, outcome)) << '\n';
  out << "\n### Method\n\n";
  for (const std::string& line : method_lines(parts)) out << "- " << markdown_cell(line) << '\n';
}

void write_comparison_json(std::ostream& out, const ComparisonParts& parts) {
  const analysis::Comparison& comparison = parts.comparison;
  JsonWriter json(JsonLayout::sections);
  json.begin_object().array("results_differ", parts.results,
                            [&](const CheckedResults& each) { add_result(json, comparison, each); });
  json.add("confidence", analysis::ChangeOptions::kConfidence);
  json.array("configurations", comparison.configurations, [&](const analysis::CaptureGroup& group) {
    json.begin_object("name", group.name);
    json.array("files", group.captures, [&](std::size_t capture) { json.value(comparison.paths[capture]); }).end();
  });
  json.key("verdicts").begin_array();
  for (std::size_t g = 1; g < comparison.configurations.size(); ++g) add_verdict(json, comparison, g);
  json.end().array("kernels", comparison.paired.rows, [&](const auto& row) { add_paired(json, comparison, row); });
  if (parts.with_metrics) add_metrics(json, comparison, parts.most_rows);
  json.array("costs", comparison.costs,
             [&](const analysis::ComparedCosts& costs) { add_costs(json, comparison, costs, parts.most_rows); });
  json.key("limits").begin_array();
  for (const ComparisonGate& gate : parts.gates)
    for (const auto& outcome : gate.outcomes) add_limit(json, gate, outcome);
  json.end();
  if (!parts.explained.empty()) {
    json.array("explained", parts.explained,
               [&](const Explained& each) { add_explained(json, each, parts.most_rows); });
  }
  out << json.add("method", method_lines(parts)).done() << '\n';
}

namespace {

listing::SqlValue ratio_cell(const analysis::Change& change) {
  return change.ratio ? listing::SqlValue(*change.ratio) : listing::SqlValue();
}

bool differs_at_all(const analysis::Change& change) {
  if (change.reported != analysis::Reported::no_sample) return change.is_reported();
  return std::abs(change.difference()) > analysis::ChangeOptions::kLeastReported * std::abs(change.base);
}

// How one of the columns beside the base is called: of the only one "other_ns", "Ratio B : A"; of several "other_ns_c",
// "C : A", and what follows from the amounts is aside.
struct OtherColumns {
  std::size_t number;  // of the configuration
  bool only;
  char letter;

  [[nodiscard]] std::string name(std::string_view of) const {
    return only ? std::string(of) : fmt::format("{}_{}", of, lower_case(letter));
  }
  [[nodiscard]] listing::ListingColumn difference(std::string_view of, const std::string& unit) const {
    return {name(of),
            only ? "Difference" : fmt::format("{} less A", letter),
            unit,
            fmt::format("{} less A", letter),
            {.aside = !only}};
  }
  [[nodiscard]] listing::ListingColumn ratio(std::string_view verb) const {
    return {name("ratio"), fmt::format("{}{} : A", only ? "Ratio " : "", letter), "",
            fmt::format("Below 1: {} {} less", letter, verb)};
  }
};

std::vector<OtherColumns> columns_of(const ComparedOthers& others) {
  std::vector<OtherColumns> columns;
  for (const std::size_t number : others)
    columns.push_back({number, others.size() == 1, static_cast<char>('B' + static_cast<int>(columns.size()))});
  return columns;
}

}  // namespace

listing::Listing metrics_listing(const analysis::Comparison& comparison, const ComparedOthers& others) {
  std::vector<listing::ListingColumn> columns = {{"metric", "Metric", "", "The figure's name, as scripts have it"},
                                                 {"title", "What", "", ""},
                                                 {"base", side_title(comparison, 0), "", "A, the base"}};
  for (const OtherColumns& each : columns_of(others)) {
    columns.push_back({each.name("other"), side_title(comparison, each.number), "", std::string(1, each.letter)});
    columns.push_back(each.difference("difference", ""));
    columns.push_back(each.ratio("has"));
    columns.push_back({each.name("told"),
                       each.only ? "Means" : fmt::format("{} means", each.letter),
                       "",
                       "Better or worse beyond noise; with one capture a side noise is not known",
                       {.aside = !each.only}});
  }
  listing::Listing listing(std::move(columns));
  std::size_t alike = 0;
  for (const analysis::ComparedFigure& figure : comparison.metrics) {
    const auto is_missing = [&](std::size_t g) { return figure.is_missing[g - 1] != 0; };
    if (std::all_of(others.begin(), others.end(), is_missing)) continue;
    const bool differs = std::any_of(others.begin(), others.end(), [&](std::size_t g) {
      return !is_missing(g) && differs_at_all(figure.changes[g - 1]);
    });
    if (figure.metric.group != "compared" && !differs) {
      ++alike;
      continue;
    }
    const std::string& unit = figure.metric.unit;
    std::vector<listing::SqlValue> cells = {figure.metric.name, compared_title(figure.metric.name),
                                            listing::SqlValue()};
    for (const std::size_t g : others) {
      if (is_missing(g)) {
        cells.resize(cells.size() + 4);
        continue;
      }
      const analysis::Change& change = figure.changes[g - 1];
      cells[2] = format_value(change.base, unit);
      cells.insert(cells.end(),
                   {format_value(change.other, unit), signed_figure(change.difference(), unit), ratio_cell(change),
                    std::string(reported_text(change, figure.metric.better, unit == Unit::seconds))});
    }
    listing.add(std::move(cells));
  }
  listing.note = alike_text(comparison, alike);
  return listing;
}

listing::Listing costs_listing(const analysis::Comparison& comparison, const analysis::ComparedCosts& costs,
                               const ComparedOthers& others) {
  const std::string suffix = costs.unit == Unit::bytes ? "_bytes" : "_ns";
  std::vector<listing::ListingColumn> columns = {
      {"name", costs.title, "", costs.measured, {.names = costs.kind == "kernel"}},
      {"text", "Code", "", "What stands there, where the source is known", {.aside = costs.kind != "line"}},
      {"base" + suffix, side_title(comparison, 0), costs.unit, "A, the base: " + costs.measured}};
  for (const OtherColumns& each : columns_of(others)) {
    columns.push_back({each.name("other" + suffix), side_title(comparison, each.number), costs.unit,
                       fmt::format("{}: {}", each.letter, costs.measured)});
    columns.push_back(each.difference("difference" + suffix, costs.unit));
    columns.push_back(each.ratio("takes"));
  }
  columns.push_back({"base_count", "Events of A", "", "Of a capture on average", {.aside = others.size() > 1}});
  for (const OtherColumns& each : columns_of(others))
    columns.push_back({each.name("other_count"),
                       fmt::format("Events of {}", each.letter),
                       "",
                       "Of a capture on average",
                       {.aside = !each.only}});
  columns.push_back(
      {"match", "Matched", "", "By the whole name, or without the numbers in it; or where a line is now"});
  listing::Listing listing(std::move(columns));
  for (const analysis::ComparedCost& cost : costs.rows) {
    std::string there;
    const auto time = [&](std::size_t g, double ns, char letter) {
      if (cost.is_there[g] == 0) return listing::SqlValue();
      there += (there.empty() ? "" : ", ") + std::string(1, letter);
      return listing::SqlValue(static_cast<std::int64_t>(std::llround(ns)));
    };
    std::vector<listing::SqlValue> cells = {cost.name, cost.text, time(0, cost.amounts[others.front() - 1].base, 'A')};
    std::size_t missing = cost.is_there[0] == 0 ? 1 : 0;
    for (const OtherColumns& each : columns_of(others)) {
      const analysis::Change& change = cost.amounts[each.number - 1];
      cells.insert(cells.end(), {time(each.number, change.other, each.letter),
                                 static_cast<std::int64_t>(std::llround(change.difference())), ratio_cell(change)});
      missing += cost.is_there[each.number] == 0 ? 1 : 0;
    }
    cells.emplace_back(cost.counts[0]);
    for (const std::size_t g : others) cells.emplace_back(cost.counts[g]);
    std::string match = cost.match == analysis::MatchKind::exact ? ""
                        : costs.unit == Unit::bytes              ? "end of the path"
                                                                 : "without numbers";
    if (missing > 0) match = there + " alone";
    if (!cost.moved_to.empty()) match = "now " + cost.moved_to;
    cells.emplace_back(std::move(match));
    listing.add(std::move(cells));
  }
  listing.note = costs.rows.empty() ? costs.missing : matching_text(comparison, costs);
  return listing;
}

}  // namespace accelscope::app::content
