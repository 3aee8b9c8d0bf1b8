// What may be defined in a session, how often and how large. definitions.cpp holds all that comes to it: what sources
// and agents say, what a session file holds, what is salvaged. What lies beyond is left out, cut short or refused, and
// the quality report says so; what was there before stays.
//
//   again            what becomes of it
//   schema           it stays as it was first announced: events are read by it
//   track            everything may change but its schema and its clock, which its lanes were made with
//   lane             once
//   clock, fact,     the later one takes the place of the earlier one, as often as it comes: in memory and in the row
//   of source file      the session file, so that nothing grows quality entry    counts of the same kind and detail add
//   up string           once; the next ones go on where the last ones ended
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/chunk/chunk_format.h"
#include "core/model/ids.h"

namespace accelscope {

struct DefinitionLimits {
  // Of a session. A number of its own has 2^14 values in each scope, so these are what many scopes may have together.
  static constexpr std::size_t kSchemas = 4'096;
  static constexpr std::size_t kClocks = 4'096;
  static constexpr std::size_t kTracks = 131'072;
  static constexpr std::size_t kLanes = 131'072;
  static constexpr std::size_t kFacts = 65'536;
  static constexpr std::size_t kMetrics = 65'536;
  static constexpr std::size_t kSources = 65'536;
  static constexpr std::size_t kProblems = 4'096;          // quality entries; the next ones are counted as one
  static constexpr std::uint64_t kStringIds = 64'000'000;  // of all scopes; a source keeps within 8,000,000

  // Of a record.
  static constexpr std::size_t kColumns = kMaxChunkColumns - 3;  // beside begin, duration and name of an event
  static constexpr std::size_t kWaitNames = 256;
  static constexpr std::size_t kAnchors = 65'536;
  // A clock that is faster or slower than this between two anchors is none: ns per tick, and ticks per ns.
  static constexpr double kSteepest = 1e9;

  // In bytes: longer ones are cut.
  static constexpr std::size_t kName = 4'096;            // of schemas, columns, tracks, hosts, facts, metrics, paths
  static constexpr std::size_t kExplanation = 16'384;    // and details of quality entries
  static constexpr std::size_t kValue = 1U << 20;        // of a fact; a metric's text
  static constexpr std::size_t kString = 1U << 20;       // names and texts of events in a dictionary
  static constexpr std::size_t kSourceFile = 64U << 20;  // its content
  // All facts and metrics, which every snapshot copies.
  static constexpr std::uint64_t kAllFacts = 32U << 20;
  // All texts of strings, tracks, source files and so on. A session with a memory budget has half of that, but never
  // less than the lower one of these.
  static constexpr std::uint64_t kLeastTexts = 64ULL << 20;
  static constexpr std::uint64_t kMostTexts = 4ULL << 30;

  [[nodiscard]] static constexpr std::uint64_t texts_within(std::uint64_t memory_budget_bytes) noexcept {
    if (memory_budget_bytes == 0) return kMostTexts;
    const std::uint64_t half = memory_budget_bytes / 2;
    return half < kLeastTexts ? kLeastTexts : half > kMostTexts ? kMostTexts : half;
  }
};

// What a string is called whose text has no room any more.
inline constexpr const char* kLeftOutString = "(name left out)";

}  // namespace accelscope
