// What an event had to wait for, step by step: before it, at each step the predecessor that ended last (it is what
// held the event back); after it, the successor that began first. No event comes twice, so that a cycle in the data
// ends the walk.
//
//   EventReader reader(*store, snapshot);
//   auto chain = dependency_chain(dependencies, selected, reader, 64, control);
#pragma once

#include "core/analysis/dependencies/dependencies.h"
#include "core/scan/event_reader.h"

namespace accelscope {

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

}  // namespace accelscope
