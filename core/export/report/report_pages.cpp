#include "core/export/report/report_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/base/format.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/listing/base/write.h"
#include "core/model/palette.h"

namespace accelscope::exporting {
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

namespace {

void add_lane(JsonWriter& json, const std::vector<ReportBox>& boxes) {
  std::int64_t last = 0;
  json.begin_object().array("e", boxes, [&](const ReportBox& box) {
    if (box.count != 1) return;
    json.value(box.begin_ns - last).value(box.length_ns).value(box.name);
    json.value(box.waits ? std::int64_t{-1} : static_cast<std::int64_t>(box.colour));
    last = box.begin_ns;
  });
  last = 0;
  json.array("m", boxes, [&](const ReportBox& box) {
    if (box.count == 1) return;
    json.value(box.begin_ns - last).value(box.length_ns).value(box.colour).value(box.count);
    json.value(std::lround(box.busy_share * 100));
    last = box.begin_ns;
  });
  json.end();
}

void add_row(JsonWriter& json, const ReportRow& row) {
  json.begin_object("label", plain_text(row.label));
  if (row.indent > 0) json.add("indent", row.indent);
  if (row.heading) {
    json.add("head", 1);
  } else if (!row.values.empty()) {
    std::int64_t last = 0;
    json.add("unit", plain_text(row.unit)).array("values", row.values, [&](const ReportValue& value) {
      json.value(value.begin_ns - last).value(value.length_ns).value(value.least).value(value.most);
      last = value.begin_ns;
    });
  } else {
    json.array("lanes", row.lanes, [&](const std::vector<ReportBox>& lane) { add_lane(json, lane); });
  }
  json.end();
}

// For a script element: without <, > and &, which JSON has in texts alone.
[[nodiscard]] std::string script_json(std::string_view json) {
  std::string out;
  for (const char c : json) {
    if (c == '<' || c == '>' || c == '&') {
      out += c == '<' ? "\\u003c" : c == '>' ? "\\u003e" : "\\u0026";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string timeline_json(const ReportTimeline& timeline) {
  JsonWriter json;
  json.begin_object("begin", timeline.begin_ns, "end", timeline.end_ns);
  json.key("view").begin_array().value(timeline.shown_begin_ns).value(timeline.shown_end_ns).end();
  json.array("names", timeline.names, [&](const std::string& name) { json.value(plain_text(name)); });
  json.array("rows", timeline.rows, [&](const ReportRow& row) { add_row(json, row); });
  return script_json(json.done());
}

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
    listing::TextTable table({listing::CellAlign::left, listing::CellAlign::right});
    table.row({"figure", "value"});
    const std::size_t shown = std::min(all.figures.size(), limits_.figures);
    for (std::size_t i = 0; i < shown; ++i) {
      const ReportFigure& each = all.figures[i];
      const std::string title = each.group.empty() ? each.title : each.group + ": " + each.title;
      table.row({cell(title), cell(each.value)});
    }
    out_ += table.markdown(markdown_text);
    inform_left_out(all.figures.size() - shown, "figures");
  }
  void operator()(const ReportTable& table) const {
    const std::size_t columns = std::min(table.columns.size(), limits_.columns);
    std::vector<listing::CellAlign> alignment;
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < columns; ++i) {
      alignment.push_back(table.columns[i].numeric ? listing::CellAlign::right : listing::CellAlign::left);
      cells.push_back(cell(table.columns[i].title));
    }
    listing::TextTable text(std::move(alignment));
    text.row(cells);
    const std::size_t rows = std::min(table.rows.size(), limits_.rows);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t i = 0; i < columns; ++i) cells[i] = cell(table.rows[row][i].text);
      text.row(cells);
    }
    out_ += text.markdown(markdown_text);
    inform_left_out(table.rows.size() - rows + table.left_out, "rows");
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
    inform_left_out(all.findings.size() - std::min(all.findings.size(), limits_.rows), "findings");
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
    return shorten_middle(plain_text(text), limits_.cell_bytes);
  }
  void inform_left_out(std::uint64_t count, std::string_view what) const {
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

namespace {

constexpr std::string_view kNoWidth = "\xE2\x80\x8B";  // U+200B

[[nodiscard]] std::string_view entity(char c) noexcept {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : plain_text(text)) {
    const std::string_view written = entity(c);
    if (written.empty()) {
      out += c;
    } else {
      out += written;
    }
  }
  return out;
}

std::string markdown_text(std::string_view text) {
  constexpr std::string_view kMarkup = "\\`*_[]<>|~$&";
  const std::string plain = plain_text(text);
  std::string out;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const char c = plain[i];
    if (kMarkup.find(c) != std::string_view::npos) out += '\\';
    out += c;
    const bool first = i == 0 || plain[i - 1] == ' ';
    if (first && (c == '#' || c == '-' || c == '+')) out.insert(out.size() - 1, "\\");  // else a heading or a list
    const bool names = i + 1 < plain.size() && (c == '#' ? is_digit(plain[i + 1]) : plain[i + 1] != ' ');
    if ((c == '@' || c == '#') && names) out += kNoWidth;  // else "@name" writes to somebody, "#12" names an issue
  }
  return out;
}

}  // namespace accelscope::exporting
