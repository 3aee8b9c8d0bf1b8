#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/text.h"
#include "core/export/report/report.h"

namespace accelscope::exporting {

// A report as one page of HTML that needs nothing else: its style and script are in it, it asks no network for anything
// and forbids its own script to. Tables sort at a click on a head, the timeline is zoomed by the wheel or keys. Without
// a script all but the timeline can be read.

[[nodiscard]] std::string html_report(const Report& report);

// A timeline as the JSON that the script of a page draws, without <, > and &:
//
//   {"begin":0,"end":3000,"view":[0,3000],"names":["a"],"rows":[ROW...]}
//   ROW: {"label":"Tensor","indent":1,"lanes":[{"e":[...],"m":[...]}]}, {"label":"Engines","head":1}
//        or {"label":"load","unit":"%","values":[...]}
//
// "e" has four numbers an event: begin, length, name, colour; "m" five for many events drawn as one: begin, length,
// colour, events, per cent busy. "values" has four: begin, length, least, most. Times are ns from the timeline's begin,
// a begin counts from the one before it in its list. Colours are 0xRRGGBB, of waits -1.

[[nodiscard]] std::string timeline_json(const ReportTimeline& timeline);

// A report as Markdown, short enough for a pull request: the rows and figures that come first, the rest counted. The
// timeline has no place in it.
struct MarkdownLimits {
  std::size_t rows = 8;         // of a table
  std::size_t columns = 6;      // of a table
  std::size_t cell_bytes = 80;  // of a cell; longer texts are cut in their middle
  std::size_t figures = 16;
  std::size_t note_bytes = 200;
};

[[nodiscard]] std::string markdown_report(const Report& report, const MarkdownLimits& limits = {});

// The style and the script that html_report() puts into every page. Both are written for it alone: they know its
// classes and the shape of its timeline.

[[nodiscard]] std::string_view report_style() noexcept;
[[nodiscard]] std::string_view report_script() noexcept;

// Texts of reports made safe: names come from files that anybody may have written. What plain_text() leaves out is left
// out of all of them.

// Text for elements and for attributes in quotes.
[[nodiscard]] std::string html_text(std::string_view text);

// Text for a line of Markdown or a cell of its tables: nothing in it is markup, a mention of a user or of an issue.
[[nodiscard]] std::string markdown_text(std::string_view text);

}  // namespace accelscope::exporting
