// When a session compiled and what its calls cost: what lines and names say (compile_events.h), and what the calls
// themselves tell. Where the first call of a recurring function took far longer than the others, it compiled and they
// found the program compiled; one that later takes as long again compiled anew.
//
//   const auto found = find_compilations(query);
//   for (const CompileEvent& event : (*found)->events) ...
//   for (const CallRow& row : call_rows(**found, range)) ... row.cost.compile_ns
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/analysis/compilation/call_costs.h"

namespace accelscope {

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

}  // namespace accelscope
