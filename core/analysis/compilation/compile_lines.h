// What compilers and their caches print, line by line: which lines are theirs is a table of what they are known to
// write, so that a line of a program that merely speaks of compiling is none. A line that says a compilation begins
// and one that says it has ended become one stretch of time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/ids.h"

namespace accelscope {

enum class CompileLineRole : std::uint8_t {
  none,
  begins,
  ends,
  whole,       // one compilation, which has just ended
  recompiles,  // one that begins because an earlier one does not fit
  hits,        // a cache had it
};

struct CompileLine {
  CompileLineRole role = CompileLineRole::none;
  std::string_view what;      // the module, graph or function, where the line names it; in the line
  std::int64_t took_ns = -1;  // where the line tells it; below 0: it does not
};
[[nodiscard]] CompileLine read_compile_line(std::string_view line) noexcept;

// Of one program, by time.
struct CompileLineAt {
  std::int64_t ns = 0;
  EventId event = kNoEvent;
  CompileLineRole role = CompileLineRole::none;
  std::string what;
  std::int64_t took_ns = -1;
};
struct CompileStretch {
  CompileLineRole role = CompileLineRole::none;  // whole, recompiles or hits
  std::int64_t begin_ns = 0, end_ns = 0;         // the same: only the time of one line is known
  std::string what;
  EventId event = kNoEvent;
};
// An end closes the open compilation of the same name. One without a name closes the only one that is open; of several
// the one that the next named end names, or the one that has been open longest where none names any. An end that fits
// none is an instant, unless its compilation has just ended, and so is a begin that nothing closes. By begin.
[[nodiscard]] std::vector<CompileStretch> pair_compile_lines(const std::vector<CompileLineAt>& lines);

}  // namespace accelscope
