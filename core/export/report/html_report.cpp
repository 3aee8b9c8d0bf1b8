#include "core/export/report/html_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/base/format.h"
#include "core/export/report/html_timeline.h"
#include "core/export/report/page_parts.h"
#include "core/export/report/report_text.h"
#include "core/model/palette.h"

namespace accelscope {
namespace {

[[nodiscard]] std::string_view class_of(ReportTone tone) noexcept {
  switch (tone) {
    case ReportTone::good:
      return "good";
    case ReportTone::warning:
      return "warning";
    case ReportTone::error:
      return "error";
    case ReportTone::neutral:
      break;
  }
  return "neutral";
}

// An attribute with a text for the hover; nothing where there is none.
[[nodiscard]] std::string title_attribute(std::string_view text) {
  return text.empty() ? std::string() : fmt::format(" title=\"{}\"", html_text(text));
}

[[nodiscard]] double of_bar(double share) noexcept { return std::clamp(share, 0.0, 1.0) * 100; }

void append_cell(std::string& out, const ReportColumn& column, const ReportCell& cell) {
  constexpr std::size_t kLongBytes = 60;  // such texts are broken into lines
  std::string attributes = column.numeric                  ? " class=\"number\""
                           : cell.text.size() > kLongBytes ? " class=\"long\""
                                                           : "";
  if (cell.number) attributes += fmt::format(" data-value=\"{}\"", json_number(*cell.number));
  if (cell.bar) attributes += fmt::format(" style=\"--bar:{:.1f}%\"", of_bar(*cell.bar));
  out += fmt::format("<td{}{}>{}</td>", attributes, title_attribute(cell.exact), html_text(cell.text));
}

// Writes the bodies of sections.
class HtmlBodies {
 public:
  explicit HtmlBodies(std::string& out) : out_(out) {}

  void operator()(const ReportText& text) const {
    out_ += "<ul class=\"lines\">\n";
    for (const auto& [tone, line] : text.lines) {
      out_ += fmt::format("<li class=\"{}\">{}</li>\n", class_of(tone), html_text(line));
    }
    out_ += "</ul>\n";
  }
  void operator()(const ReportFigures& all) const {
    const std::string* group = nullptr;
    for (const ReportFigure& each : all.figures) {
      if (group == nullptr || *group != each.group) {
        if (group != nullptr) out_ += "</dl>\n";
        group = &each.group;
        if (!group->empty()) out_ += fmt::format("<h3>{}</h3>\n", html_text(*group));
        out_ += "<dl class=\"figures\">\n";
      }
      const std::string name = each.name.empty() ? "" : fmt::format(" data-name=\"{}\"", html_text(each.name));
      out_ += fmt::format("<div{}><dt>{}</dt><dd{}{}>{}</dd></div>\n", title_attribute(each.explanation),
                          html_text(each.title), name, title_attribute(each.exact), html_text(each.value));
    }
    if (group != nullptr) out_ += "</dl>\n";
  }
  void operator()(const ReportTable& table) const {
    out_ += "<div class=\"wide\"><table>\n<thead><tr>";
    for (const ReportColumn& column : table.columns) {
      out_ += fmt::format("<th scope=\"col\"{}{}><button type=\"button\">{}</button></th>",
                          column.numeric ? " class=\"number\"" : "", title_attribute(column.explanation),
                          html_text(column.title));
    }
    out_ += "</tr></thead>\n<tbody>\n";
    for (const std::vector<ReportCell>& row : table.rows) {
      out_ += "<tr>";
      for (std::size_t i = 0; i < table.columns.size(); ++i) append_cell(out_, table.columns[i], row[i]);
      out_ += "</tr>\n";
    }
    out_ += "</tbody></table></div>\n";
    if (table.left_out > 0) {
      out_ += fmt::format("<p class=\"note\">{} more rows are left out.</p>\n", format_count(table.left_out));
    }
  }
  void operator()(const ReportFindings& all) const {
    out_ += "<ol class=\"findings\">\n";
    for (const ReportFinding& each : all.findings) {
      out_ += fmt::format("<li><p><strong>{}</strong> <span class=\"saving\">{}</span></p>\n<dl>",
                          html_text(each.headline), html_text(each.value));
      for (const ReportFact& fact : each.evidence) {
        out_ += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", html_text(fact.label), html_text(fact.text));
      }
      out_ += "</dl></li>\n";
    }
    out_ += "</ol>\n";
  }
  void operator()(const ReportBars& bars) const {
    for (const ReportBar& bar : bars.bars) {
      out_ += fmt::format("<div class=\"part\"><p><strong>{}</strong> {}</p>\n<div class=\"bar\">",
                          html_text(bar.label), html_text(bar.value));
      for (const ReportBarPart& part : bar.parts) {
        if (part.slot == kIdleSlot) continue;
        out_ += fmt::format("<i style=\"width:{:.3f}%;background:#{:06X}\"{}></i>", of_bar(part.share), colour_of(part),
                            title_attribute(part.label + " " + part.text));
      }
      out_ += "</div>\n<p class=\"legend\">";
      for (const ReportBarPart& part : bar.parts) {
        const std::string chip = part.slot == kIdleSlot
                                     ? std::string("<i class=\"idle\"></i>")
                                     : fmt::format("<i style=\"background:#{:06X}\"></i>", colour_of(part));
        out_ += fmt::format("<span>{}{} <b>{}</b></span> ", chip, html_text(part.label), html_text(part.text));
      }
      out_ += "</p></div>\n";
    }
  }
  void operator()(const ReportTimeline& timeline) const {
    out_ +=
        "<div class=\"timeline\"><div class=\"tools\"><button type=\"button\" data-do=\"in\" title=\"Zoom in (+)\">+"
        "</button><button type=\"button\" data-do=\"out\" title=\"Zoom out (-)\">&#8722;</button><button "
        "type=\"button\" "
        "data-do=\"work\" title=\"Where the work is (W)\">Work</button><button type=\"button\" data-do=\"all\" "
        "title=\"All of it (0)\">All</button><span class=\"hint\">wheel zooms, drag moves; keys: + and &#8722;, "
        "arrows, "
        "W, 0, N and P for the next and previous box</span><span class=\"span\"></span></div>\n"
        "<canvas tabindex=\"0\" role=\"application\" aria-label=\"Timeline\"></canvas>"
        "<div class=\"card\" role=\"status\" hidden></div>"
        "<noscript><p class=\"note\">The timeline is drawn by a script, which this viewer does not "
        "run.</p></noscript>\n"
        "<script type=\"application/json\">" +
        timeline_json(timeline) + "</script></div>\n";
  }

 private:
  [[nodiscard]] static std::uint32_t colour_of(const ReportBarPart& part) noexcept {
    return kSlicePalette[part.slot % kSlicePalette.size()];
  }
  std::string& out_;
};

void append_section(std::string& out, const ReportSection& section) {
  out += fmt::format("<details class=\"section\"{}><summary><h2>{}</h2></summary>\n", section.folded ? "" : " open",
                     html_text(section.title));
  std::visit(HtmlBodies(out), section.body);
  if (!section.note.empty()) out += fmt::format("<p class=\"note\">{}</p>\n", html_text(section.note));
  out += "</details>\n";
}

}  // namespace

std::string html_report(const Report& report) {
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'; img-src data:\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"dark light\">\n<title>" +
      html_text(report.title) + "</title>\n<style>\n";
  out += report_style();
  out += fmt::format("</style>\n</head>\n<body>\n<header>\n<h1>{}</h1>\n", html_text(report.title));
  if (!report.verdict.empty()) {
    out += fmt::format("<p class=\"verdict {}\">{}</p>\n", class_of(report.tone), html_text(report.verdict));
  }
  out += "<dl class=\"facts\">";
  for (const ReportFact& fact : report.facts) {
    out += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", html_text(fact.label), html_text(fact.text));
  }
  out += "</dl>\n</header>\n<main>\n";
  for (const ReportSection& section : report.sections) append_section(out, section);
  out += "</main>\n<script>\n";
  out += report_script();
  return out + "</script>\n</body>\n</html>\n";
}

}  // namespace accelscope
