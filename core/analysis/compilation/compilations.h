// When a session compiled and what its calls cost: what lines and names say (compile_events.h), and what the calls
// themselves tell. Where the first call of a recurring function took far longer than the others, it compiled and they
// found the program compiled; one that later takes as long again compiled anew.
//
//   const auto found = find_compilations(query);
//   for (const CompileEvent& event : (*found)->events) ...
//   for (const CallRow& row : call_rows(**found, range)) ... row.cost.compile_ns
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/analysis/compilation/compile_events.h"
#include "core/analysis/dependencies/launches.h"

namespace accelscope::analysis {

// What a call cost: its own time on the host, compiling, dispatching, and the time of the work that it launched.
//
//   host + compile + dispatch = the call's length, each moment counted once: where something compiles it is compiling,
//   else where a call of the driver launches it is dispatching, else it is the host's, waiting included.
//   kernel = the time in which at least one of the launched kernels or copies ran, whenever that was.

// The calls of a host that launch work and recur: of every thread the outermost such call, so that none lies within
// another; the annotations that name steps; and the calls of compiled programs, wherever they lie. A function recurs
// where it has several calls at one depth of a thread.

enum class CallLevel : std::uint8_t {
  call,     // the outermost recurring call of a thread that launches work
  program,  // a call of a compiled program
  step,     // an annotation: what all threads of its process launch while it lasts counts
};

struct LaunchingCall {
  std::int64_t begin_ns = 0, end_ns = 0;
  EventId event = kNoEvent;
  std::size_t thread = 0;      // as HostThreads numbers them
  std::uint32_t function = 0;  // index into LaunchingCalls::functions
  StringId name = 0;
  CallLevel level = CallLevel::call;
};

struct LaunchingCalls {
  static constexpr std::size_t kMost = 1'000'000;
  std::vector<LaunchingCall> list;             // by begin
  std::vector<std::string> functions;          // names without the numbers of calls
  std::vector<std::size_t> process_of_thread;  // as ProcessNumbers numbers them
  // Whose launches count for a step, by process: its threads or, where none of these launches, those of its source.
  std::vector<std::vector<std::size_t>> step_threads;
  std::vector<std::vector<HostLaunch>> launches;  // in the calls of `list`: by thread, by begin of the launch
  // Stretches in which a thread waits, by thread and begin; of more than kMost the later ones are not known.
  std::vector<std::vector<TimeRange>> waits;
  std::uint64_t left_out = 0;        // calls beyond kMost
  std::uint64_t waits_left_out = 0;  // beyond kMost of a worker
};

// Of the calls only those that pass the query's mask. A session without launches has its recurring outermost calls
// told where there are no calls that launch.
[[nodiscard]] Result<LaunchingCalls> find_launching_calls(const QueryContext& query,
                                                          const Dependencies* known = nullptr);

struct CallCost {
  std::int64_t span_ns = 0;
  std::int64_t host_ns = 0, compile_ns = 0, dispatch_ns = 0;
  std::int64_t wait_ns = 0;  // of host_ns: calls that wait
  std::int64_t kernel_ns = 0;
  std::uint32_t launches = 0;  // calls of the driver that launched
  std::uint32_t works = 0;     // kernels and copies that they launched
};

class CallCosts {
 public:
  CallCosts() = default;
  // Which of the events compile on each thread and, where a line says so, in each process. The calls must outlive it.
  CallCosts(const Snapshot& snapshot, const LaunchingCalls& calls, const std::vector<CompileEvent>& events);

  // And those calls that compile by their length alone. Where in the call is not known: what it took beyond the usual
  // counts from its begin, as what it compiles is needed first.
  void add_long_calls(const std::vector<CompileEvent>& events);

  // Clipped to the range: the call and what is within it, the work to the range alone. Lines tell no thread: what they
  // say counts for all calls of their source or, where it has none, of their host.
  [[nodiscard]] CallCost of(const LaunchingCall& call, const TimeRange& range) const;

 private:
  struct Parts;
  void add_compiling(const std::vector<TimeRange>& stretches, const TimeRange& within, Parts& parts) const;
  void add_launches(std::size_t thread, const LaunchingCall& call, const TimeRange& within, const TimeRange& range,
                    Parts& parts, CallCost& cost) const;

  const LaunchingCalls* calls_ = nullptr;
  std::vector<std::vector<TimeRange>> compiling_;  // by thread, by begin, apart from each other
  std::vector<std::vector<TimeRange>> lines_;      // by process
};

// A long first call: at least so many times the median of the others, and so much longer. Cold caches, first touches
// and set-up of a library make a first call two to five times as long, and by some ms; a compiler takes tens of ms. So
// many others make a median of them.
inline constexpr std::int64_t kTimesUsual = 10;
inline constexpr std::int64_t kLeastBeyondUsualNs = 10'000'000;
inline constexpr std::size_t kLeastOtherCalls = 3;
// A later call that is as long again: at least this share of the first.
inline constexpr double kAsLongAgain = 0.5;

struct CallFacts {
  std::uint32_t number = 1, of = 1;  // which of so many calls of the function in its process
};

// Of what passes the query's mask, of the whole session.
struct Compilations {
  static constexpr std::size_t kMostHits = 500'000;
  std::uint64_t snapshot_version = 0;
  std::vector<CompileEvent> events;     // by begin
  std::vector<std::uint32_t> compiled;  // of events: what is no cache hit
  std::vector<std::uint32_t> hits;      // of events
  // When something compiled: stretches apart from each other.
  std::vector<TimeRange> compiling;
  LaunchingCalls calls;
  std::vector<CallFacts> facts;  // of calls.list
  CallCosts costs;               // of calls
  std::uint64_t left_out = 0;    // events beyond what is kept
};
// `known` may be null: then dependencies are read. Fails when a chunk cannot be read or when cancelled.
[[nodiscard]] Result<std::shared_ptr<const Compilations>> find_compilations(const QueryContext& query,
                                                                            const Dependencies* known = nullptr);

struct CallRow {
  std::size_t call = 0;  // index into Compilations::calls
  CallCost cost;         // in the range
};
// Those that share time with the range, by begin.
[[nodiscard]] std::vector<CallRow> call_rows(const Compilations& all, const TimeRange& range);

// The calls of one function in one process.
struct CallFunctionRow {
  std::uint32_t function = 0;
  std::size_t process = 0;
  CallLevel level = CallLevel::call;
  std::vector<std::size_t> rows;  // of call_rows(), by begin
  CallCost sum;
  std::int64_t first_ns = 0;  // the function's first call, where it is in the range; else 0
  bool has_first = false;
  std::int64_t median_ns = 0;  // of the others
  std::int64_t rest_ns = 0;    // all others together
  std::uint32_t compiled = 0;  // calls in which something compiled
};
// The largest sum of spans first.
[[nodiscard]] std::vector<CallFunctionRow> call_functions(const Compilations& all, const std::vector<CallRow>& rows);

struct CompileSummary {
  std::uint64_t compilations = 0;  // recompilations too
  std::uint64_t repeated = 0;      // of what had been compiled before
  std::uint64_t hits = 0;
  std::uint64_t by_length = 0;  // told by the lengths of calls alone
  std::int64_t time_ns = 0;     // in which something compiled: a union, clipped to the range
};
[[nodiscard]] CompileSummary sum_compilations(const Compilations& all, const TimeRange& range);

[[nodiscard]] inline bool is_repeated(const CompileEvent& event) noexcept {
  return event.kind == CompileKind::recompile || (event.kind == CompileKind::compile && event.number > 1);
}
// "line", "name", "first call of 12", "call 7 of 12": what it rests on.
[[nodiscard]] std::string basis_text(const CompileEvent& event);
[[nodiscard]] std::string_view kind_text(CompileKind kind) noexcept;  // "compile", "recompile", "cache hit"

}  // namespace accelscope::analysis
