// Compilations and cache hits that a session tells of outright: by lines that compilers printed (compile_lines.h), and
// by calls of a host that are named so (compile_words.h). What only the times of calls tell is in compilations.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/scan/chunk_scan.h"

namespace accelscope {

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

}  // namespace accelscope
