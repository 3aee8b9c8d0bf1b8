// Where the cost of a session lies in its source: every file that events name or the session stores, and every line,
// in the order that the user asks for. No drawing.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/content/source/text.h"
#include "core/analysis/dependencies/event_stack.h"

namespace accelscope::app::content {

using SourceFiles = std::vector<std::shared_ptr<const SourceFile>>;

struct FileCost {
  std::string path;
  std::shared_ptr<const SourceFile> text;  // null: the session does not store it
  LineCost cost;
  std::size_t line_count = 0;  // lines that events name
};

using CostOrder = std::optional<Heat>;  // nothing: by place

// One entry per file. Paths that mean the same stored file are one.
[[nodiscard]] std::vector<FileCost> file_costs(const analysis::SourceLines& lines, const SourceFiles& stored);
void sort_files(std::vector<FileCost>& files, CostOrder by, bool descending);

// Indices into lines.lines of those whose path holds `wanted` (all if it is empty), upper and lower case alike.
[[nodiscard]] std::vector<std::uint32_t> ordered_lines(const analysis::SourceLines& lines, std::string_view wanted,
                                                       CostOrder by, bool descending);

// The paths that events name and no stored file is meant by.
[[nodiscard]] std::set<std::string> paths_without_text(const analysis::SourceLines& lines, const SourceFiles& stored);

[[nodiscard]] LineCost cost_of(const analysis::SourceLine& line) noexcept;
LineCost& operator+=(LineCost& sum, const LineCost& more) noexcept;

// Indices (from 0) of the lines that cost something, the costliest first.
[[nodiscard]] std::vector<std::uint32_t> hot_lines(const std::vector<LineCost>& costs, Heat heat);

// Indices of the lines that hold the text, upper and lower case alike. A number alone means that line.
[[nodiscard]] std::vector<std::uint32_t> find_lines(const std::vector<CodeLine>& lines, std::string_view wanted);

// The calls that led to an event as the rows of a list: what kind of call each is, what it is called, where it stands
// in the source. Runs of calls inside a framework are one row until they are opened. No drawing.
struct CallRow {
  std::string level;     // "Kernel", "Operator", "Python"
  std::string text;      // what is called
  std::string location;  // "dir/file.py:57"; "" where it names no line
  std::string recorded;  // as the source has it
  EventId event = kNoEvent;
  std::int64_t self_ns = 0, total_ns = 0;
  bool timed = false;       // of a host: it has a time of its own
  bool framework = false;   // a call inside a framework or an installed package
  std::size_t repeats = 1;  // the same line so often in a row
  std::size_t folded = 0;   // so many calls are this row; 0: it is one call
  std::size_t first = 0;    // of the calls that it stands for, as `opened` names it
};

// One row for each call; equal lines of a recorded text are one.
[[nodiscard]] std::vector<CallRow> call_rows(const std::vector<analysis::StackCall>& calls);
// The same with runs of framework calls as one row each, but for those that were opened.
[[nodiscard]] std::vector<CallRow> folded_rows(const std::vector<CallRow>& rows, const std::set<std::size_t>& opened);

// Of the sources that are known: a profiler's own marks call nothing; calls of Python name who made them.
[[nodiscard]] const analysis::StackRules& stack_rules();

// "attention.py:57" of "/home/me/moe/attention.py:57".
[[nodiscard]] std::string_view last_of_path(std::string_view location) noexcept;

}  // namespace accelscope::app::content
