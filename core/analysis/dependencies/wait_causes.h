// What events waited for: the time that each of them waited (Role::wait_ns, or the whole of a waiting event) is put
// down to the predecessor that ended last, and added up by its name and track.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/analysis/dependencies/dependencies.h"
#include "core/model/event_filter.h"
#include "core/scan/event_reader.h"

namespace accelscope::analysis {

// What an event had to wait for, step by step: before it, at each step the predecessor that ended last (it is what
// held the event back); after it, the successor that began first. No event comes twice, so that a cycle in the data
// ends the walk.
//
//   EventReader reader(*store, snapshot);
//   auto chain = dependency_chain(dependencies, selected, reader, 64, control);
struct DependencyChain {
  EventId event = kNoEvent;
  std::vector<Dependency> before;  // nearest first, at most the limit
  std::vector<Dependency> after;   // nearest first, at most the limit
  std::uint64_t before_total = 0;  // links there are, at most kMostChainLinks
  std::uint64_t after_total = 0;
  std::uint64_t snapshot_version = 0;
};

inline constexpr std::uint64_t kMostChainLinks = 100'000;  // walked to count them
inline constexpr std::size_t kMostWeighed = 256;           // predecessors or successors of one event that are compared

// The predecessor that ended last, the successor that began first; of equals the smaller id. Nothing if there is none
// that can be read.
[[nodiscard]] std::optional<Dependency> last_predecessor(const Dependencies& dependencies, EventId event,
                                                         EventReader& reader);
[[nodiscard]] std::optional<Dependency> first_successor(const Dependencies& dependencies, EventId event,
                                                        EventReader& reader);

// A cancelled walk returns what it has.
[[nodiscard]] DependencyChain dependency_chain(const Dependencies& dependencies, EventId event, EventReader& reader,
                                               std::size_t limit, const TaskControl& control);

struct WaitCause {
  std::string name;   // of the events that were waited for
  std::string track;  // theirs
  std::uint64_t count = 0;
  std::int64_t wait_ns = 0;
};

struct WaitCauses {
  std::vector<WaitCause> causes;  // the longest first
  std::int64_t wait_ns = 0;       // of all events that were looked at
  std::uint64_t looked_at = 0;    // events: evenly spread ones if there are more than kMostAsked
};

inline constexpr std::size_t kMostAsked = 4'096;

// Fails when cancelled.
[[nodiscard]] Result<WaitCauses> wait_causes(const Dependencies& dependencies, std::span<const EventId> events,
                                             EventReader& reader, const TaskControl& control);

// What the devices of a session waited for in a stretch of time: the events that wait, and the time before events that
// say how long they waited (Role::wait_ns), no longer than their lane was idle. Each is put down to the predecessor
// that ended last; without one to the owner of the semaphore that the operands name, else to the event's own name.
struct RangeWaits {
  std::vector<WaitCause> causes;  // the longest first
  std::int64_t wait_ns = 0;       // of all lanes together
  bool sampled = false;           // some of the events stand for all
};

// `dependencies` may be null. Reads at most kMostWaitEvents events, evenly spread ones if the range has more.
inline constexpr std::uint64_t kMostWaitEvents = 2'000'000;
[[nodiscard]] Result<RangeWaits> range_waits(const QueryContext& query, const EventFilter& filter,
                                             const Dependencies* dependencies);

}  // namespace accelscope::analysis
