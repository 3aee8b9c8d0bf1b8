#include "core/export/report/markdown_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/base/format.h"
#include "core/export/report/report_text.h"

namespace accelscope {
namespace {

// As many parts of a note as there is room for; what is behind them is named by dots.
std::string short_note(const std::string& note, std::size_t most) {
  if (note.size() <= most) return note;
  const std::size_t end = note.rfind("; ", most);
  return (end == std::string::npos ? shorten_middle(note, most) : note.substr(0, end)) + "; ...";
}

// Writes the bodies of sections.
class MarkdownBodies {
 public:
  MarkdownBodies(std::string& out, const MarkdownLimits& limits) : out_(out), limits_(limits) {}

  void operator()(const ReportText& text) const {
    for (const auto& [tone, line] : text.lines) out_ += fmt::format("- {}{}\n", word_of(tone), markdown_text(line));
  }
  void operator()(const ReportFigures& all) const {
    out_ += "| figure | value |\n|---|---:|\n";
    const std::size_t shown = std::min(all.figures.size(), limits_.figures);
    for (std::size_t i = 0; i < shown; ++i) {
      const ReportFigure& each = all.figures[i];
      const std::string title = each.group.empty() ? each.title : each.group + ": " + each.title;
      out_ += fmt::format("| {} | {} |\n", cell(title), cell(each.value));
    }
    say_left_out(all.figures.size() - shown, "figures");
  }
  void operator()(const ReportTable& table) const {
    const std::size_t columns = std::min(table.columns.size(), limits_.columns);
    std::string rule = "|";
    out_ += "|";
    for (std::size_t i = 0; i < columns; ++i) {
      out_ += fmt::format(" {} |", cell(table.columns[i].title));
      rule += table.columns[i].numeric ? "---:|" : "---|";
    }
    out_ += "\n" + rule + "\n";
    const std::size_t rows = std::min(table.rows.size(), limits_.rows);
    for (std::size_t row = 0; row < rows; ++row) {
      out_ += "|";
      for (std::size_t i = 0; i < columns; ++i) out_ += fmt::format(" {} |", cell(table.rows[row][i].text));
      out_ += "\n";
    }
    say_left_out(table.rows.size() - rows + table.left_out, "rows");
  }
  void operator()(const ReportFindings& all) const {
    std::size_t shown = 0;
    for (const ReportFinding& each : all.findings) {
      if (shown++ == limits_.rows) break;
      out_ += fmt::format("{}. **{}** {}\n", shown, markdown_text(each.headline), markdown_text(each.value));
      for (const ReportFact& fact : each.evidence) {
        out_ += fmt::format("   - {}: {}\n", markdown_text(fact.label), markdown_text(plain_text(fact.text)));
      }
    }
    say_left_out(all.findings.size() - std::min(all.findings.size(), limits_.rows), "findings");
  }
  void operator()(const ReportBars& bars) const {
    for (const ReportBar& bar : bars.bars) {
      out_ += fmt::format("- **{}** {}:", markdown_text(bar.label), markdown_text(bar.value));
      std::string_view between = " ";
      for (const ReportBarPart& part : bar.parts) {
        out_ += fmt::format("{}{} {}", between, markdown_text(part.label), markdown_text(part.text));
        between = "; ";
      }
      out_ += "\n";
    }
  }
  void operator()(const ReportTimeline&) const {}

 private:
  [[nodiscard]] static std::string_view word_of(ReportTone tone) noexcept {
    return tone == ReportTone::error ? "**error** " : tone == ReportTone::warning ? "**warning** " : "";
  }
  [[nodiscard]] std::string cell(const std::string& text) const {
    return markdown_text(shorten_middle(plain_text(text), limits_.cell_bytes));
  }
  void say_left_out(std::uint64_t count, std::string_view what) const {
    if (count > 0) out_ += fmt::format("\n{} more {} are not shown.\n", format_count(count), what);
  }

  std::string& out_;
  const MarkdownLimits& limits_;
};

}  // namespace

std::string markdown_report(const Report& report, const MarkdownLimits& limits) {
  std::string out = fmt::format("## {}\n\n", markdown_text(report.title));
  if (!report.verdict.empty()) out += fmt::format("**{}**\n\n", markdown_text(report.verdict));
  for (const ReportFact& fact : report.facts) {
    out += fmt::format("- {}: {}\n", markdown_text(fact.label), markdown_text(fact.text));
  }
  for (const ReportSection& section : report.sections) {
    if (std::holds_alternative<ReportTimeline>(section.body)) continue;
    const bool folded = section.folded;
    const std::string title = markdown_text(section.title);
    out += folded ? fmt::format("\n<details><summary>{}</summary>\n\n", html_text(section.title))
                  : fmt::format("\n### {}\n\n", title);
    std::visit(MarkdownBodies(out, limits), section.body);
    if (!section.note.empty()) out += fmt::format("\n{}\n", markdown_text(short_note(section.note, limits.note_bytes)));
    if (folded) out += "\n</details>\n";
  }
  return out;
}

}  // namespace accelscope
