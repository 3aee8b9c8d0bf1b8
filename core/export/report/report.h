// A report as plain values: a title, what it is of, a verdict, and sections in reading order. Whoever knows something
// about a session, or about several that are compared, fills one in; report_pages.h and report_pages.h write it.
//
//   Report report{.title = "mlp", .verdict = "DMA-bound"};
//   report.sections.push_back({.title = "Figures", .body = ReportFigures{{{.title = "Active", .value = "12.5 µs"}}}});
//   const std::string page = html_report(report);
//
// All texts may hold anything: hostile names, control bytes, what is no UTF-8. The writers see to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace accelscope::exporting {

// "Device": "nc0"
struct ReportFact {
  std::string label, text;
};

enum class ReportTone : std::uint8_t { neutral, good, warning, error };

struct ReportFigure {
  std::string title;  // for people
  std::string value;  // with its unit, "12.5 µs"
  std::string name;   // for programs, as other outputs have it: "dma_active_time"; "" where there is none
  std::string exact;  // every digit, shown on hover
  std::string explanation;
  std::string group;  // "nc0"; figures of one group follow each other
};

// Figures that are read one by one.
struct ReportFigures {
  std::vector<ReportFigure> figures;
};

struct ReportColumn {
  std::string title;
  std::string explanation;
  bool numeric = false;
};

struct ReportCell {
  std::string text;
  std::optional<double> number;  // what it is sorted by; nothing: by its text, or a number that is missing
  std::optional<double> bar;     // 0 to 1, drawn behind the text
  std::string exact;             // on hover, where the text is rounded
};

struct ReportTable {
  std::vector<ReportColumn> columns;
  std::vector<std::vector<ReportCell>> rows;  // of as many cells as there are columns
  std::uint64_t left_out = 0;                 // rows that there is no room for
};

// One thing that costs time, with what to do about it.
struct ReportFinding {
  std::string headline;
  std::string value;  // "up to 98 µs, 12.3 %"
  std::vector<ReportFact> evidence;
};
struct ReportFindings {
  std::vector<ReportFinding> findings;
};

// Parts of a whole beside each other: how long each device computed, moved data and idled.
struct ReportBarPart {
  std::string label;
  std::string text;       // "12.5 µs, 43.1 %"
  double share = 0;       // of the bar, 0 to 1
  std::uint8_t slot = 0;  // of the slice palette; kIdleSlot is drawn as nothing
};
inline constexpr std::uint8_t kIdleSlot = 255;
struct ReportBar {
  std::string label, value;
  std::vector<ReportBarPart> parts;
};
struct ReportBars {
  std::vector<ReportBar> bars;
};

// A stretch of a lane: one event, or many that are drawn as one. Times in ns from the timeline's begin.
struct ReportBox {
  std::int64_t begin_ns = 0, length_ns = 0;
  std::uint32_t name = 0;    // of one event: index into ReportTimeline::names
  std::uint32_t colour = 0;  // 0xRRGGBB
  std::uint64_t count = 1;   // events
  double busy_share = 1;     // of its length in which an event is under way, waiting or not
  bool waits = false;
};
// What a counter was over a stretch.
struct ReportValue {
  std::int64_t begin_ns = 0, length_ns = 0;
  double least = 0, most = 0;
};
struct ReportRow {
  std::string label;
  bool heading = false;  // of the rows that follow; has no lanes
  std::uint32_t indent = 0;
  std::vector<std::vector<ReportBox>> lanes;  // by depth, each by time
  std::vector<ReportValue> values;            // of a counter, by time; it has no lanes
  std::string unit;                           // of the values
};
struct ReportTimeline {
  std::int64_t begin_ns = 0, end_ns = 0;              // of the session's time
  std::int64_t shown_begin_ns = 0, shown_end_ns = 0;  // what is in sight at first
  std::vector<std::string> names;
  std::vector<ReportRow> rows;
};

struct ReportText {
  std::vector<std::pair<ReportTone, std::string>> lines;
};

struct ReportSection {
  std::string title;
  std::string note;     // what it rests on, what is estimated or left out; "": nothing
  bool folded = false;  // opened at a click
  std::variant<ReportText, ReportFigures, ReportTable, ReportFindings, ReportBars, ReportTimeline> body;
};

struct Report {
  std::string title;
  std::vector<ReportFact> facts;  // device, dates, tags, filter
  std::string verdict;            // "": unknown, of which the facts say why
  ReportTone tone = ReportTone::neutral;
  std::vector<ReportSection> sections;
};

}  // namespace accelscope::exporting
