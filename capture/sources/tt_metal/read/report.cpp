#include "capture/sources/tt_metal/read/report.h"

#include <fmt/format.h>

#include <set>
#include <string_view>

#include "capture/sources/base/import_report.h"
#include "capture/sources/base/source_finder.h"

namespace accelscope::capture::sources::tt_metal {
namespace {

struct ProblemText {
  RowProblem problem;
  QualityKind kind;
  std::string_view text;  // {} is the line
};
constexpr ProblemText kProblems[] = {
    {RowProblem::too_few_cells, "rows_skipped",
     "rows with fewer cells than the header were skipped, the first in line {}; two writers may have mixed their "
     "lines"},
    {RowProblem::too_many_cells, "rows_skipped",
     "rows with more cells than the header were skipped, the first in line {}; is a comma in a name there?"},
    {RowProblem::not_a_row, "rows_skipped",
     "lines that are no rows were skipped, the first is line {}; was a program's output mixed in?"},
    {RowProblem::open_quote, "rows_skipped", "rows with a quote that stays open were skipped, the first in line {}"},
    {RowProblem::not_a_number, "rows_skipped",
     "rows with something else than a number for the time, chip or core were skipped, the first in line {}"},
    {RowProblem::negative, "rows_skipped",
     "rows with a negative time, chip or core were skipped, the first in line {}"},
    {RowProblem::too_large, "rows_skipped",
     "rows with a time, chip or core beyond what a device can have were skipped, the first in line {}"},
    {RowProblem::bad_processor, "rows_skipped",
     "rows without the name of a RISC processor were skipped, the first in line {}"},
    {RowProblem::too_many_processors, "rows_skipped",
     "rows of more processors than a session can hold were skipped, the first in line {}; split the log by its chips"},
    {RowProblem::prologue, "repeated_header",
     "further headers, the first in line {}: logs of several runs were joined, and their cycles may begin anew; split "
     "the "
     "file there if the timeline looks wrong"},
    {RowProblem::cut_short, "truncated",
     "the file ends in the middle of line {}; everything before it was read. Copy it completely, or let the program on "
     "the host end properly"},
    {RowProblem::value_left_out, "values_left_out",
     "rows were read without an id or a value that is no number, the first in line {}"},
};

}  // namespace

std::string processor_name(const LogProcessor& processor) {
  return fmt::format("core {},{} {}", processor.core_x, processor.core_y, processor.risc);
}

std::string chip_name(std::uint32_t chip) { return fmt::format("chip {}", chip); }

void CountByProcessor::add(const LogProcessor& processor, std::uint64_t count) {
  if (count == 0) return;
  total_ += count;
  if (processors_++ >= kNamed) return;
  names_ += fmt::format("{}{} {} ({})", names_.empty() ? "" : ", ", chip_name(processor.chip),
                        processor_name(processor), count);
}

std::string CountByProcessor::names() const {
  return processors_ <= kNamed ? names_ : fmt::format("{} and {} more", names_, processors_ - kNamed);
}

Error no_device_log(const std::string& name, const std::string& reason) {
  return Error{fmt::format(
      "{}: {}; a device log is the file profile_log_device.csv that tt-metal writes with TT_METAL_DEVICE_PROFILER=1",
      name, reason)};
}

void write_facts(const DeviceLogCounts& counts, const DeviceLogLayout& layout, SessionWriter& writer) {
  if (!layout.arch.empty()) writer.set_meta("arch", layout.arch);
  if (layout.frequency_mhz > 0) writer.set_meta("chip_freq_mhz", fmt::format("{}", layout.frequency_mhz));
  if (layout.max_compute_cores) writer.set_meta("max_compute_cores", fmt::format("{}", *layout.max_compute_cores));
  writer.set_meta("device_log_rows", fmt::format("{}", counts.rows));
  for (std::size_t i = 0; i < kLogTableCount; ++i) {
    if (counts.table_rows[i] == 0) continue;
    set_row_counts(writer, device_log_schema(static_cast<LogTable>(i), {}).name, counts.table_rows[i],
                   counts.table_rows[i]);
  }
}

void write_sources(const DeviceLogDictionary& dictionary, const std::vector<std::string>& roots,
                   SessionWriter& writer) {
  std::set<std::string> files;
  for (const LogSite& site : dictionary.sites()) {
    if (!site.file.empty()) files.insert(site.file);
  }
  add_source_files(files, roots, "the log names", writer, ", such as a checkout of tt-metal,");
}

void write_report(const DeviceLogCounts& counts, const DeviceLogLayout& layout, SessionWriter& writer) {
  const auto note = [&](QualityKind kind, std::uint64_t count, std::string detail) {
    if (count > 0) writer.add_quality({kind, count, std::move(detail)});
  };
  for (const ProblemText& text : kProblems) {
    const RowProblemCount& counted = counts.problems[text.problem];
    note(text.kind, counted.count, fmt::format(fmt::runtime(text.text), counted.first_line));
  }
  note("rows_skipped", counts.long_lines, "lines of more than half a MiB were skipped; is this a text file?");
  note("file_holes", counts.hole_bytes, hole_in_words(counts.first_hole));
  note("unreadable", counts.unreadable.empty() ? 0 : 1, counts.unreadable);
  const bool told = counts.problems[RowProblem::cut_short].count > 0 || !counts.unreadable.empty();
  note(QualityKind("truncated").as(Severity::warning), counts.ends_in_line && !told ? 1 : 0,
       std::string(kLastLineIsOpen));
  note(
      "no_rows", counts.rows == 0 ? 1 : 0,
      "the log has a header but no rows; run the program with TT_METAL_DEVICE_PROFILER=1 and read the device's profile "
      "before it ends");
  note("unmatched_begins", counts.unfinished.total(),
       fmt::format("zones begin but never end, on {}: the device's marker buffer was full or the log was taken while "
                   "kernels ran. They are drawn to where their parent ends and marked unfinished; read the device's "
                   "profile more often",
                   counts.unfinished.names()));
  note("unmatched_ends", counts.lone_ends.total(),
       fmt::format(
           "zones end that never began, on {}: the device's marker buffer dropped their begin. They are instants "
           "in ts_event; read the device's profile more often",
           counts.lone_ends.names()));
  note("impossible_times", counts.doubtful,
       "markers have times that all others of their chip belie, such as 0 or a day away; they are moments on rows of "
       "their own (\"impossible times\") and count in no view");
  note("duplicate_rows", counts.duplicates, "rows that repeat another one to the last digit were counted once");
  note("unknown_types", counts.unknown_types,
       "rows of types that this version does not know; they are instants in ts_event with their type");
  note("names_left_out", counts.names_left_out,
       "more different names, ids or meta data than can be kept apart; the later ones are missing from their events");
  note("lanes_left_out", counts.left_out.total(),
       fmt::format("events found no lane, for a session holds {} of them, on {}; split the log by its chips and import "
                   "the parts",
                   kMaxLocalNumber, counts.left_out.names()));
  note("frequency_missing", layout.frequency_mhz > 0 ? 0 : 1,
       "the log states no frequency of the chip (CHIP_FREQ in its first line): a cycle is shown as 1 ns");
  note("chips_not_synchronised", counts.chips > 1 ? counts.chips : 0,
       "chips count cycles of their own that the log does not relate: times within a chip are exact, and each chip "
       "begins at "
       "its own first event; compare no times between chips");
  if (layout.extras.empty()) return;
  std::string names;
  for (const DeviceLogLayout::Extra& extra : layout.extras) {
    names += names.empty() ? "\"" : ", \"";
    names += extra.name.substr(0, 60) + "\"";
  }
  note("unknown_columns", layout.extras.size(),
       fmt::format("columns that this version does not know were kept as text: {}", names));
}

}  // namespace accelscope::capture::sources::tt_metal
