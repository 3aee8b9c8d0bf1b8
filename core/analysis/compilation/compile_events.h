// Compilations and cache hits that a session tells of outright: by lines that compilers printed, and
// by calls of a host that are named so. What only the times of calls tell is in compilations.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/ids.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::analysis {

enum class CompileKind : std::uint8_t { compile, recompile, cache_hit };
enum class CompileBasis : std::uint8_t {
  line,   // a compiler's line in the output of a program
  name,   // the name of a call
  calls,  // a call that took far longer than the others of its function
};

struct CompileEvent {
  CompileKind kind = CompileKind::compile;
  CompileBasis basis = CompileBasis::line;
  std::int64_t begin_ns = 0, end_ns = 0;  // of a line without a partner both are the time at which it was printed
  std::int64_t cost_ns = 0;               // of it compiling: all, or what a call took beyond the usual; 0: not known
  std::string what;                       // the module, graph or function; of calls that name none their own name
  bool is_named = false;                  // `what` tells a program from others
  EventId event = kNoEvent;               // that says so
  TrackNumber track = kNone;              // of it
  std::optional<std::size_t> thread;      // of a call, as HostThreads numbers them
  std::uint32_t number = 1, of = 1;       // which of so many compilations, or calls, of the same in its process
};

struct CompileEvents {
  static constexpr std::size_t kMost = 500'000;
  std::vector<CompileEvent> list;  // by begin
  std::uint64_t left_out = 0;      // lines and calls beyond kMost, of all or of one worker
};

// Of the whole session, whatever the query's mask lets through: beginnings and ends belong together. Of calls within
// calls that both compile the outer one counts.
[[nodiscard]] Result<CompileEvents> compile_events(const QueryContext& query);

// Numbers those of the same program, or calls of the same name, in each process; a named one that had been compiled
// there becomes a recompilation.
void number_compilations(const Snapshot& snapshot, std::vector<CompileEvent>& events);

// Tracks of one process: those of the same source, host and device.
class ProcessNumbers {
 public:
  explicit ProcessNumbers(const Snapshot& snapshot);
  [[nodiscard]] std::size_t of_track(TrackNumber track) const;
  [[nodiscard]] std::size_t count() const noexcept { return hosts_.size(); }
  [[nodiscard]] const std::string& host(std::size_t process) const { return hosts_[process]; }
  [[nodiscard]] std::uint32_t scope(std::size_t process) const { return scopes_[process]; }

 private:
  std::vector<std::pair<TrackNumber, std::size_t>> of_track_;  // by track
  std::vector<std::string> hosts_;
  std::vector<std::uint32_t> scopes_;
};

// Which calls of a host compile, look for a compiled program, or are calls of one, by their names: the words of
// frameworks, drivers and compilers are a table.
enum class CompileWord : std::uint8_t {
  none,
  compiles,
  looks_up,      // finds a compiled program, or goes on to compile one
  program_call,  // a call of a compiled program, or a launch: told as calls wherever they lie
  step,          // an annotation of a step of training or inference
  eager,         // runs code that came compiled: its first call sets up, and compiles nothing
};

[[nodiscard]] CompileWord compile_word_of(std::string_view name) noexcept;

// The name without the number of the call at its end: "ProfilerStep#12" -> "ProfilerStep".
[[nodiscard]] std::string_view without_call_number(std::string_view name) noexcept;

// What compilers and their caches print, line by line: which lines are theirs is a table of what they are known to
// write, so that a line of a program that merely speaks of compiling is none. A line that says a compilation begins
// and one that says it has ended become one stretch of time.
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

}  // namespace accelscope::analysis
