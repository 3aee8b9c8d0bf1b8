#include "core/analysis/dependencies/chain.h"

#include <unordered_set>

namespace accelscope {
namespace {

using Seen = std::unordered_set<EventId>;

// The dependency whose other end comes first by `before`, among those whose other end was not seen.
template <typename Before>
std::optional<Dependency> best_of(const DependencyList& list, EventId Dependency::*other, EventReader& reader,
                                  const Seen* seen, Before before) {
  std::optional<Dependency> best;
  TimeRange best_times;
  for (const Dependency& candidate : list.dependencies) {
    if (seen != nullptr && seen->contains(candidate.*other)) continue;
    const auto record = reader.read(candidate.*other);
    if (!record) continue;  // its chunk cannot be read, which the reader of the chunk reports
    const TimeRange times{record->begin_ns, record->end_ns};
    if (best && !before(times, best_times)) continue;
    best = candidate;
    best_times = times;
  }
  return best;
}

std::optional<Dependency> step_back(const Dependencies& dependencies, EventId event, EventReader& reader,
                                    const Seen* seen) {
  return best_of(dependencies.predecessors(event, kMostWeighed), &Dependency::source, reader, seen,
                 [](const TimeRange& a, const TimeRange& b) { return a.end_ns > b.end_ns; });
}

std::optional<Dependency> step_forward(const Dependencies& dependencies, EventId event, EventReader& reader,
                                       const Seen* seen) {
  return best_of(dependencies.successors(event, kMostWeighed), &Dependency::target, reader, seen,
                 [](const TimeRange& a, const TimeRange& b) { return a.begin_ns < b.begin_ns; });
}

template <typename Step>
std::uint64_t walk(EventId event, EventId Dependency::*other, std::size_t limit, const TaskControl& control,
                   std::vector<Dependency>& links, Step step) {
  Seen seen{event};
  std::uint64_t total = 0;
  while (total < kMostChainLinks && !control.cancelled()) {
    const std::optional<Dependency> link = step(event, seen);
    if (!link) break;
    ++total;
    if (links.size() < limit) links.push_back(*link);
    event = (*link).*other;
    seen.insert(event);
  }
  return total;
}

}  // namespace

std::optional<Dependency> last_predecessor(const Dependencies& dependencies, EventId event, EventReader& reader) {
  return step_back(dependencies, event, reader, nullptr);
}

std::optional<Dependency> first_successor(const Dependencies& dependencies, EventId event, EventReader& reader) {
  return step_forward(dependencies, event, reader, nullptr);
}

DependencyChain dependency_chain(const Dependencies& dependencies, EventId event, EventReader& reader,
                                 std::size_t limit, const TaskControl& control) {
  DependencyChain chain;
  chain.event = event;
  chain.snapshot_version = dependencies.snapshot_version();
  chain.before_total = walk(event, &Dependency::source, limit, control, chain.before,
                            [&](EventId at, const Seen& seen) { return step_back(dependencies, at, reader, &seen); });
  chain.after_total = walk(event, &Dependency::target, limit, control, chain.after,
                           [&](EventId at, const Seen& seen) { return step_forward(dependencies, at, reader, &seen); });
  return chain;
}

}  // namespace accelscope
