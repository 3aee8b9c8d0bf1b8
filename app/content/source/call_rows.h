// The calls that led to an event as the rows of a list: what kind of call each is, what it is called, where it stands
// in the source. Runs of calls inside a framework are one row until they are opened. No drawing.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/dependencies/event_stack.h"

namespace accelscope::app {

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
[[nodiscard]] std::vector<CallRow> call_rows(const std::vector<StackCall>& calls);
// The same with runs of framework calls as one row each, but for those that were opened.
[[nodiscard]] std::vector<CallRow> folded_rows(const std::vector<CallRow>& rows, const std::set<std::size_t>& opened);

// Of the sources that are known: a profiler's own marks call nothing; calls of Python name who made them.
[[nodiscard]] const StackRules& stack_rules();

// "attention.py:57" of "/home/me/moe/attention.py:57".
[[nodiscard]] std::string_view last_of_path(std::string_view location) noexcept;

}  // namespace accelscope::app
