#include "app/content/comparison/comparison_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>

#include "app/content/comparison/comparison_words.h"
#include "core/base/format.h"
#include "core/base/text.h"
#include "core/listing/base/write.h"
#include "core/model/unit.h"
#include "core/names/short_names.h"

namespace accelscope::app {
namespace {

// A table on its way to text or Markdown.
struct PrintedTable {
  std::string title, note;
  std::vector<std::string> columns;  // the first is on the left, the others are numbers
  std::vector<std::vector<std::string>> rows;
  std::size_t left_out = 0;
  std::size_t left_columns = 1;
};

std::string change_text(const Change& change, Better better, bool is_time) {
  std::string text = ratio_text(change);
  const std::string interval = interval_text(change);
  if (change.ratio && !interval.empty() && change.is_reported()) text += fmt::format(" ({})", interval);
  if (change.reported != Reported::no_sample) text += fmt::format(" {}", reported_text(change, better, is_time));
  return text;
}

std::vector<std::string> columns_of(const Comparison& comparison, std::string first) {
  std::vector<std::string> columns{std::move(first), side_title(comparison, 0)};
  for (std::size_t g = 1; g < comparison.configurations.size(); ++g) {
    columns.push_back(side_title(comparison, g));
    columns.push_back("ratio");
  }
  return columns;
}

// Figures that did not change at all only take room.
bool has_any_text(const ComparedFigure& figure) {
  for (std::size_t i = 0; i < figure.changes.size(); ++i) {
    const Change& change = figure.changes[i];
    if (figure.is_missing[i] != 0) continue;
    if (change.is_reported()) return true;
    if (change.reported == Reported::no_sample &&
        std::abs(change.difference()) > ChangeOptions::kLeastReported * std::abs(change.base))
      return true;
  }
  return false;
}

// Those that every comparison begins with, then those that comparisons speak of, then all others.
std::size_t rank_of(const ComparedFigure& figure) {
  return figure.metric.group == "compared" ? 0 : figure.metric.is_key ? 1 : 2;
}

// The figures that a table of at most so many rows has; 0: all that say something.
struct ShownMetrics {
  std::vector<const ComparedFigure*> figures;
  std::size_t alike = 0, left_out = 0;
};

ShownMetrics shown_metrics(const Comparison& comparison, std::size_t most) {
  ShownMetrics shown;
  for (const ComparedFigure& figure : comparison.metrics)
    if (rank_of(figure) == 0 || has_any_text(figure)) shown.figures.push_back(&figure);
  std::stable_sort(shown.figures.begin(), shown.figures.end(),
                   [](const ComparedFigure* a, const ComparedFigure* b) { return rank_of(*a) < rank_of(*b); });
  shown.alike = comparison.metrics.size() - shown.figures.size();
  if (most > 0 && shown.figures.size() > most) {
    shown.left_out = shown.figures.size() - most;
    shown.figures.resize(most);
  }
  return shown;
}

PrintedTable metric_table(const Comparison& comparison, std::size_t most) {
  PrintedTable table{"Figures", "", columns_of(comparison, "figure"), {}, 0, 1};
  const ShownMetrics shown = shown_metrics(comparison, most);
  table.left_out = shown.left_out;
  for (const ComparedFigure* each : shown.figures) {
    const ComparedFigure& figure = *each;
    std::vector<std::string> row{figure.metric.name, format_value(figure.metric.value, figure.metric.unit)};
    for (std::size_t i = 0; i < figure.changes.size(); ++i) {
      const bool missing = figure.is_missing[i] != 0;
      row.push_back(missing ? "–" : format_value(figure.changes[i].other, figure.metric.unit));
      row.push_back(missing ? "–" : change_text(figure.changes[i], figure.metric.better, figure.metric.unit == "s"));
    }
    table.rows.push_back(std::move(row));
  }
  table.note = alike_text(comparison, shown.alike);
  return table;
}

PrintedTable cost_table(const Comparison& comparison, const ComparedCosts& costs, std::size_t most) {
  PrintedTable table{fmt::format("By {}, {}", with_blanks(costs.kind), costs.measured),
                     "",
                     columns_of(comparison, costs.title),
                     {},
                     0,
                     1};
  if (costs.rows.empty()) {
    table.note = costs.missing;
    return table;
  }
  ShortNames names;
  const bool shortens = costs.kind == "kernel" || costs.kind == "opcode";
  for (const ComparedCost& cost : costs.rows) names.add(cost.name);
  for (const ComparedCost& cost : costs.rows) {
    if (most > 0 && table.rows.size() == most) {
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
      row.push_back(change_text(cost.amounts[i], Better::lower, costs.unit == "ns"));
    }
    table.rows.push_back(std::move(row));
  }
  table.note = matching_text(comparison, costs);
  return table;
}

// Rows of a pair follow each other; its name stands in the first of them.
PrintedTable paired_table(const Comparison& comparison) {
  const PairedFigures& paired = comparison.paired;
  const std::string& by = comparison.pairs.by;
  PrintedTable table{paired_title(comparison), "", {}, {}, 0, 1};
  if (!by.empty()) {
    table.columns.push_back(by);
    table.left_columns = 2;
  }
  table.columns.emplace_back(comparison.configurations.front().name.starts_with("kernel=") ? "kernel" : "side");
  for (const ComparedMetric& column : paired.columns) table.columns.push_back(column_title(comparison, column.name));
  const PairedFigures::Row* last = nullptr;
  for (const PairedFigures::Row& each : paired.rows) {
    std::vector<std::string> row;
    const bool goes_on = last != nullptr && last->pair == each.pair;
    if (!by.empty()) row.push_back(goes_on ? "" : pair_title(comparison, each.pair));
    row.push_back(side_title(comparison, each.configuration));
    for (std::size_t i = 0; i < each.cells.size(); ++i) row.push_back(paired_text(paired.columns[i], each.cells[i]));
    table.rows.push_back(std::move(row));
    last = &each;
  }
  return table;
}

std::vector<PrintedTable> printed_tables(const ComparisonParts& parts) {
  std::vector<PrintedTable> tables;
  if (!parts.comparison.paired.columns.empty()) tables.push_back(paired_table(parts.comparison));
  if (parts.with_metrics) tables.push_back(metric_table(parts.comparison, parts.most_rows));
  for (const ComparedCosts& costs : parts.comparison.costs)
    tables.push_back(cost_table(parts.comparison, costs, parts.most_rows));
  return tables;
}

std::string configuration_text(const Comparison& comparison, std::size_t g) {
  const CaptureGroup& group = comparison.configurations[g];
  return fmt::format("{} ({} {})", side_title(comparison, g), group.captures.size(),
                     group.captures.size() == 1 ? "capture" : "captures");
}

void print_table(std::ostream& out, const PrintedTable& table) {
  std::vector<CellAlign> alignment(table.columns.size(), CellAlign::right);
  std::fill_n(alignment.begin(), std::min(table.left_columns, alignment.size()), CellAlign::left);
  TextTable text(std::move(alignment), "  ");
  if (!table.rows.empty()) text.row(table.columns);
  for (const auto& row : table.rows) text.row(row);
  out << '\n' << table.title << '\n';
  text.print(out);
  if (table.left_out > 0) out << fmt::format("  ... {} more rows; --rows 0 prints all\n", format_count(table.left_out));
  if (!table.note.empty()) out << "  " << table.note << '\n';
}

std::string markdown_cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|' || c == '<' || c == '\\' || c == '*' || c == '_' || c == '`') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

void markdown_table(std::ostream& out, const PrintedTable& table) {
  out << "\n### " << markdown_cell(table.title) << "\n\n";
  if (!table.rows.empty()) {
    std::string line = "|", rule = "|";
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      line += " " + markdown_cell(table.columns[i]) + " |";
      rule += i < table.left_columns ? " --- |" : " ---: |";
    }
    out << line << '\n' << rule << '\n';
    for (const auto& row : table.rows) {
      line = "|";
      for (const std::string& cell : row) line += " " + markdown_cell(cell) + " |";
      out << line << '\n';
    }
  }
  if (table.left_out > 0) out << fmt::format("\n{} more rows are left out.\n", format_count(table.left_out));
  if (!table.note.empty()) out << '\n' << markdown_cell(table.note) << ".\n";
}

std::string_view reported_word(Reported reported) noexcept {
  static constexpr std::array<std::string_view, 4> kWords = {"no_sample", "same", "less", "more"};
  return kWords[static_cast<std::size_t>(reported)];
}

std::string optional_number(const std::optional<double>& value) { return value ? json_number(*value) : "null"; }

std::string json_of(const Change& change) {
  const std::string interval =
      change.interval ? fmt::format("[{}, {}]", json_number(change.interval->low), json_number(change.interval->high))
                      : "null";
  return fmt::format(
      "\"base\": {}, \"value\": {}, \"ratio\": {}, \"interval\": {}, \"told\": \"{}\", \"chance\": {}, "
      "\"least_visible\": {}, \"base_captures\": {}, \"captures\": {}, \"base_deviation\": {}, \"deviation\": {}",
      json_number(change.base), json_number(change.other), optional_number(change.ratio), interval,
      reported_word(change.reported), json_number(change.chance), optional_number(change.least_visible),
      change.base_count, change.other_count, json_number(change.base_deviation), json_number(change.other_deviation));
}

std::string_view better_word(Better better) noexcept {
  return better == Better::lower ? "lower" : better == Better::higher ? "higher" : "neither";
}

class JsonList {
 public:
  JsonList(std::ostream& out, std::string_view name) : out_(out) { out_ << fmt::format(",\n \"{}\": [", name); }
  void add(const std::string& object) {
    out_ << (first_ ? "\n  " : ",\n  ") << object;
    first_ = false;
  }
  void end() { out_ << ']'; }

 private:
  std::ostream& out_;
  bool first_ = true;
};

std::string json_changes(const Comparison& comparison, const std::vector<Change>& changes,
                         const std::vector<char>& missing) {
  std::string text = "[";
  for (std::size_t i = 0; i < changes.size(); ++i) {
    text += fmt::format("{}{{\"configuration\": {}, {}}}", i > 0 ? ", " : "",
                        json_quote(comparison.configurations[i + 1].name),
                        i < missing.size() && missing[i] != 0 ? "\"told\": \"missing\"" : json_of(changes[i]));
  }
  return text + "]";
}

void write_json_costs(std::ostream& out, const Comparison& comparison, std::size_t most) {
  JsonList tables(out, "costs");
  for (const ComparedCosts& costs : comparison.costs) {
    std::string rows;
    const std::string_view amount_name = costs.unit == "B" ? "bytes" : "time_ns";
    const std::size_t shown = most == 0 ? costs.rows.size() : std::min(most, costs.rows.size());
    for (std::size_t i = 0; i < shown; ++i) {
      const ComparedCost& cost = costs.rows[i];
      std::string counts;
      for (const double count : cost.counts) counts += (counts.empty() ? "" : ", ") + json_number(count);
      rows += fmt::format(
          "{}{{\"name\": {}, \"text\": {}, \"moved_to\": {}, \"match\": \"{}\", \"counts\": [{}], "
          "\"{}\": {}}}",
          rows.empty() ? "\n    " : ",\n    ", json_quote(cost.name), json_quote(cost.text), json_quote(cost.moved_to),
          cost.match == MatchKind::exact ? "exact" : "without_numbers", counts, amount_name,
          json_changes(comparison, cost.amounts, {}));
    }
    std::string alone;
    for (std::size_t g = 0; g < costs.unmatched.size(); ++g) {
      alone += fmt::format("{}{{\"configuration\": {}, \"rows\": {}, \"{}\": {}}}", g > 0 ? ", " : "",
                           json_quote(comparison.configurations[g].name), costs.unmatched[g], amount_name,
                           json_number(costs.unmatched_amount[g]));
    }
    tables.add(
        fmt::format("{{\"by\": {}, \"measured\": {}, \"missing\": {}, \"matched_exactly\": {}, "
                    "\"matched_without_numbers\": {}, \"unmatched\": [{}], \"left_out\": {}, \"rows\": [{}]}}",
                    json_quote(costs.kind), json_quote(costs.measured), json_quote(costs.missing), costs.exact,
                    costs.by_form, alone, costs.rows.size() - shown, rows));
  }
  tables.end();
}

void write_json_metrics(std::ostream& out, const Comparison& comparison, std::size_t most) {
  JsonList metrics(out, "metrics");
  const ShownMetrics shown = shown_metrics(comparison, most);
  const std::size_t count = most == 0 ? comparison.metrics.size() : shown.figures.size();
  for (std::size_t i = 0; i < count; ++i) {
    const ComparedFigure& figure = most == 0 ? comparison.metrics[i] : *shown.figures[i];
    metrics.add(fmt::format("{{\"name\": {}, \"unit\": {}, \"better\": \"{}\", \"changes\": {}}}",
                            json_quote(figure.metric.name), json_quote(figure.metric.unit),
                            better_word(figure.metric.better),
                            json_changes(comparison, figure.changes, figure.is_missing)));
  }
  metrics.end();
  if (most > 0) out << fmt::format(",\n \"metrics_left_out\": {}", comparison.metrics.size() - count);
}

void write_json_paired(std::ostream& out, const Comparison& comparison) {
  const PairedFigures& paired = comparison.paired;
  JsonList list(out, "kernels");
  for (const PairedFigures::Row& row : paired.rows) {
    std::string figures;
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const PairedFigures::Cell& cell = row.cells[i];
      if (cell.captures == 0) continue;
      figures += fmt::format("{}{}: {{\"value\": {}, \"unit\": {}, \"captures\": {}, \"deviation\": {}{}}}",
                             figures.empty() ? "" : ", ", json_quote(paired.columns[i].name), json_number(cell.value),
                             json_quote(paired.columns[i].unit), cell.captures, optional_number(cell.deviation),
                             cell.change ? fmt::format(", \"change\": {{{}}}", json_of(*cell.change)) : "");
    }
    list.add(fmt::format("{{\"kernel\": {}, \"config\": {}, \"pooled\": {}, \"figures\": {{{}}}}}",
                         json_quote(side_title(comparison, row.configuration)),
                         json_quote(pair_title(comparison, row.pair)), row.pair == comparison.pairs.names.size(),
                         figures));
  }
  list.end();
}

void write_json_results(std::ostream& out, const ComparisonParts& parts) {
  static constexpr std::array<std::string_view, 5> kAnswers = {"unknown", "same", "no", "yes", "other"};
  out << fmt::format("{{\"results_differ\": [");
  for (const CheckedResults& each : parts.results) {
    const DivergentPair* first = each.found.first();
    out << fmt::format(
        "{}\n  {{\"config\": {}, \"configuration\": {}, \"differ\": \"{}\", \"text\": {}, \"compared\": {}, "
        "\"differing\": {}, \"first\": {}, \"first_in_other\": {}}}",
        &each == &parts.results.front() ? "" : ",", json_quote(pair_title(parts.comparison, each.pair)),
        json_quote(side_title(parts.comparison, each.configuration)),
        kAnswers[static_cast<std::size_t>(results_judgement(each.found))], json_quote(results_text(each.found)),
        each.found.compared, each.found.differing, first == nullptr ? "null" : std::to_string(first->base.id),
        first == nullptr ? "null" : std::to_string(first->other));
  }
  out << "],\n";
}

}  // namespace

bool ComparisonGate::failed() const noexcept {
  return std::any_of(outcomes.begin(), outcomes.end(), [](const Outcome& each) { return each.failed; });
}
bool ComparisonGate::is_known() const noexcept {
  return std::all_of(outcomes.begin(), outcomes.end(), [](const Outcome& each) { return each.is_known; });
}

Result<ComparisonGate> judged_gate(const Comparison& comparison, const std::string& metric, double above) {
  ComparisonGate gate;
  gate.metric = metric;
  gate.above = above;
  const std::vector<Change>* changes = nullptr;
  const ComparedFigure* figure = comparison.find_metric(metric);
  if (figure != nullptr) {
    changes = &figure->changes;
    gate.better = figure->metric.better;
  }
  for (const ComparedCosts& costs : comparison.costs) {
    if (!metric.starts_with(costs.kind + ":")) continue;
    for (const ComparedCost& cost : costs.rows)
      if (metric.substr(costs.kind.size() + 1) == cost.name) changes = &cost.amounts;
  }
  if (changes == nullptr) {
    std::vector<std::string> names;
    for (const ComparedFigure& each : comparison.metrics) names.push_back(each.metric.name);
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
    outcome.is_known = !missing && outcome.change.reported != Reported::no_sample;
    outcome.failed =
        outcome.is_known && is_worse(gate.better, outcome.change) && worsening(gate.better, outcome.change) > above;
    gate.outcomes.push_back(std::move(outcome));
  }
  return gate;
}

std::string gate_text(const ComparisonGate& gate, const ComparisonGate::Outcome& outcome) {
  const std::string what = fmt::format("{} of {}", gate.metric, outcome.configuration);
  if (!outcome.is_known) return what + ": cannot be judged, nothing is known of noise";
  const double worse = worsening(gate.better, outcome.change);
  const std::string by = fmt::format("{} {}", format_share(std::abs(worse)), worse > 0 ? "worse" : "better");
  const bool noise = !outcome.change.is_reported();
  return fmt::format("{}: {}{}, allowed {}: {}", what, by, noise ? " (not beyond noise)" : "", format_share(gate.above),
                     outcome.failed ? "FAILED" : "passed");
}

std::vector<std::string> method_lines(const ComparisonParts& parts) {
  return method_lines(parts.comparison, parts.results, ACCELSCOPE_VERSION);
}

std::string paired_text(const ComparedMetric& column, const PairedFigures::Cell& cell) {
  if (cell.captures == 0) return "–";
  std::string text = format_value(cell.value, column.unit);
  if (cell.deviation) text += fmt::format(" ±{}", format_share(*cell.deviation));
  if (cell.change) text += "  " + change_text(*cell.change, column.better, column.unit == "s");
  return text;
}

std::string alike_text(const Comparison& comparison, std::size_t count) {
  if (count == 0) return "";
  return fmt::format("{} more figures {}, or stand on one side alone", format_count(count),
                     comparison.has_sample()
                         ? "do not differ beyond noise"
                         : fmt::format("differ by less than {}", format_share(ChangeOptions::kLeastReported)));
}

void write_comparison_text(std::ostream& out, const ComparisonParts& parts) {
  const Comparison& comparison = parts.comparison;
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
  const Comparison& comparison = parts.comparison;
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
  const Comparison& comparison = parts.comparison;
  write_json_results(out, parts);
  out << " \"confidence\": " << json_number(ChangeOptions::kConfidence);
  JsonList configurations(out, "configurations");
  for (const CaptureGroup& group : comparison.configurations) {
    std::string files;
    for (const std::size_t capture : group.captures)
      files += (files.empty() ? "" : ", ") + json_quote(comparison.paths[capture]);
    configurations.add(fmt::format("{{\"name\": {}, \"files\": [{}]}}", json_quote(group.name), files));
  }
  configurations.end();
  JsonList verdicts(out, "verdicts");
  static constexpr std::array<std::string_view, 5> kJudgements = {"unknown", "same", "better", "worse", "other"};
  for (std::size_t g = 1; g < comparison.configurations.size(); ++g) {
    const ComparisonVerdict verdict = comparison_verdict(comparison, g);
    std::string reasons;
    for (const ComparisonReason& reason : comparison_reasons(comparison, g))
      reasons += fmt::format("{}{{\"metric\": {}, \"text\": {}}}", reasons.empty() ? "" : ", ",
                             json_quote(reason.figure->metric.name), json_quote(reason.text));
    verdicts.add(
        fmt::format("{{\"configuration\": {}, \"judgement\": \"{}\", \"headline\": {}, \"detail\": {}, \"beside\": {}, "
                    "\"basis\": {}, "
                    "\"reasons\": [{}]}}",
                    json_quote(comparison.configurations[g].name),
                    kJudgements[static_cast<std::size_t>(verdict.judgement)], json_quote(verdict.headline),
                    json_quote(verdict.detail), json_quote(verdict.beside), json_quote(verdict.basis), reasons));
  }
  verdicts.end();
  write_json_paired(out, comparison);
  if (parts.with_metrics) write_json_metrics(out, comparison, parts.most_rows);
  write_json_costs(out, comparison, parts.most_rows);
  JsonList limits(out, "limits");
  for (const ComparisonGate& gate : parts.gates) {
    for (const auto& outcome : gate.outcomes) {
      limits.add(
          fmt::format("{{\"metric\": {}, \"configuration\": {}, \"allowed\": {}, \"known\": {}, \"failed\": {}, "
                      "\"text\": {}, {}}}",
                      json_quote(gate.metric), json_quote(outcome.configuration), json_number(gate.above),
                      outcome.is_known, outcome.failed, json_quote(gate_text(gate, outcome)), json_of(outcome.change)));
    }
  }
  limits.end();
  if (!parts.explained.empty()) {
    out << ",\n \"explained\": [";
    for (const Explained& explained : parts.explained) {
      out << (&explained == &parts.explained.front() ? "\n" : ",\n");
      write_explained_json(out, explained, parts.most_rows);
    }
    out << ']';
  }
  JsonList method(out, "method");
  for (const std::string& line : method_lines(parts)) method.add(json_quote(line));
  method.end();
  out << "}\n";
}

namespace {

SqlValue ratio_cell(const Change& change) { return change.ratio ? SqlValue(*change.ratio) : SqlValue(); }

bool differs_at_all(const Change& change) {
  if (change.reported != Reported::no_sample) return change.is_reported();
  return std::abs(change.difference()) > ChangeOptions::kLeastReported * std::abs(change.base);
}

}  // namespace

Listing metrics_listing(const Comparison& comparison, std::size_t other) {
  Listing listing({{"metric", "Metric", "", "The figure's name, as scripts have it"},
                   {"title", "What", "", ""},
                   {"base", side_title(comparison, 0), "", "A, the base"},
                   {"other", side_title(comparison, other), "", "B"},
                   {"difference", "Difference", "", "B less A"},
                   {"ratio", "Ratio B : A", "", "Below 1: B has less"},
                   {"told", "Means", "", "Better or worse beyond noise; with one capture a side noise is not known"}});
  std::size_t alike = 0;
  for (const ComparedFigure& figure : comparison.metrics) {
    if (figure.is_missing[other - 1] != 0) continue;
    const Change& change = figure.changes[other - 1];
    if (figure.metric.group != "compared" && !differs_at_all(change)) {
      ++alike;
      continue;
    }
    const std::string& unit = figure.metric.unit;
    listing.add({figure.metric.name, compared_title(figure.metric.name), format_value(change.base, unit),
                 format_value(change.other, unit), signed_figure(change.difference(), unit), ratio_cell(change),
                 std::string(reported_text(change, figure.metric.better, unit == "s"))});
  }
  listing.note = alike_text(comparison, alike);
  return listing;
}

Listing costs_listing(const Comparison& comparison, const ComparedCosts& costs, std::size_t other) {
  Listing listing(
      {{"name", costs.title, "", costs.measured, {.names = costs.kind == "kernel"}},
       {"text", "Code", "", "What stands there, where the source is known", {.aside = costs.kind != "line"}},
       {costs.unit == "B" ? "base_bytes" : "base_ns", side_title(comparison, 0), costs.unit,
        "A, the base: " + costs.measured},
       {costs.unit == "B" ? "other_bytes" : "other_ns", side_title(comparison, other), costs.unit,
        "B: " + costs.measured},
       {costs.unit == "B" ? "difference_bytes" : "difference_ns", "Difference", costs.unit, "B less A"},
       {"ratio", "Ratio B : A", "", "Below 1: B takes less"},
       {"base_count", "Events of A", "", "Of a capture on average"},
       {"other_count", "Events of B", "", "Of a capture on average"},
       {"match", "Matched", "", "By the whole name, or without the numbers in it; or where a line is now"}});
  for (const ComparedCost& cost : costs.rows) {
    const Change& change = cost.amounts[other - 1];
    std::string match = cost.match == MatchKind::exact ? "" : costs.unit == "B" ? "end of the path" : "without numbers";
    if (cost.is_there[0] == 0) match = "B alone";
    if (cost.is_there[other] == 0) match = "A alone";
    if (!cost.moved_to.empty()) match = "now " + cost.moved_to;
    const auto time = [&](std::size_t g, double ns) {
      return cost.is_there[g] == 0 ? SqlValue() : SqlValue(static_cast<std::int64_t>(std::llround(ns)));
    };
    listing.add({cost.name, cost.text, time(0, change.base), time(other, change.other),
                 static_cast<std::int64_t>(std::llround(change.difference())), ratio_cell(change), cost.counts[0],
                 cost.counts[other], match});
  }
  listing.note = costs.rows.empty() ? costs.missing : matching_text(comparison, costs);
  return listing;
}

}  // namespace accelscope::app
