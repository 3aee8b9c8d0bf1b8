// Which events had to come before an event, and which waited for it. Flows name events by their source's own keys
// (Role::key) or by id; they are resolved here, once per snapshot, on the pool. A flow is an event with both ends,
// Role::flow_source or flow_source_event and Role::flow_target or flow_target_event; an event of another kind with
// only one of the two depends on, or is needed by, the named event.
#pragma once

#include <memory>
#include <vector>

#include "core/scan/chunk_scan.h"

namespace accelscope::analysis {

struct Dependency {
  EventId source = kNoEvent;  // comes first
  EventId target = kNoEvent;
  EventId flow = kNoEvent;  // the event that states it
  StringId kind = 0;        // its name
};

struct DependencyList {
  std::vector<Dependency> dependencies;  // at most the limit, in the order of the other event's id
  std::uint64_t total = 0;
};

class Dependencies {
 public:
  [[nodiscard]] static Result<std::shared_ptr<const Dependencies>> build(const QueryContext& query);

  [[nodiscard]] DependencyList predecessors(EventId event, std::size_t limit) const;
  [[nodiscard]] DependencyList successors(EventId event, std::size_t limit) const;
  [[nodiscard]] std::uint64_t total() const noexcept { return by_target_.size(); }
  [[nodiscard]] std::uint64_t unresolved() const noexcept {
    return unresolved_;
  }  // flows that name no event of the session
  [[nodiscard]] std::uint64_t snapshot_version() const noexcept { return snapshot_version_; }
  // All of them, by target, for tables and exports.
  [[nodiscard]] const std::vector<Dependency>& all() const noexcept { return by_target_; }

 private:
  std::vector<Dependency> by_target_;     // sorted by target, then source
  std::vector<std::uint32_t> by_source_;  // indices into by_target_, sorted by source, then target
  std::uint64_t unresolved_ = 0;
  std::uint64_t snapshot_version_ = 0;
};

// Of the whole session, whatever the query's mask; found once for all who ask while the session does not change.
[[nodiscard]] Result<std::shared_ptr<const Dependencies>> session_dependencies(const QueryContext& query);

}  // namespace accelscope::analysis
