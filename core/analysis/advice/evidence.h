// The events that a finding rests on, one by one: for those who want to look at them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/analysis/advice/advice.h"
#include "core/analysis/figures/incidents.h"
#include "core/model/event_filter.h"

namespace accelscope::analysis {

struct EvidenceEvent {
  EventId id = kNoEvent;
  TrackNumber track = 0;
  StringId name = 0;
  std::int64_t begin_ns = 0, end_ns = 0;
};

struct Evidence {
  std::vector<EvidenceEvent> events;  // the longest ones, by time
  std::uint64_t total = 0;            // all that there are
};

// At most so many. None where it rests on gaps.
[[nodiscard]] Result<Evidence> finding_evidence(const QueryContext& query, const Finding& finding, std::size_t most);

// What ran on every engine, queue and stream of a device when it reported an error: what was under way, else what ended
// last before, with its operands and its line.
struct RanAround {
  TrackNumber track = 0;
  EventId event = kNoEvent;
  bool under_way = false;  // else it is the last that began before
  std::int64_t begin_ns = 0, end_ns = 0;
  std::string name, operands, source;
};

struct ReportedError {
  Incident incident;
  std::string name;
  std::string device;
  std::string details;            // what the source reported with it
  std::string source;             // its own line; "": that of what was under way may tell
  std::vector<RanAround> around;  // what was under way first, each in the order of the tracks
};

struct ErrorReport {
  static constexpr std::size_t kMost = 500;
  EventFilter filter;
  std::uint64_t snapshot_version = 0;
  std::vector<ReportedError> errors;  // by time, the first kMost
  std::uint64_t left_out = 0;
};

// Of the errors in the filter's range that pass the query's mask; what ran around them is shown whether or not it does.
[[nodiscard]] Result<std::shared_ptr<const ErrorReport>> report_errors(const QueryContext& query,
                                                                       const EventFilter& filter);

}  // namespace accelscope::analysis
