// What of a session costs time that could be saved, by the rules of rules.h, each finding with what mending it would
// save at most, the events it rests on, and where they lie. Savings do not add up: each is what that mending alone
// would do.
//
//   const auto advice = find_advice(query, filter);
//   for (const Finding& finding : (*advice)->findings) ... finding.headline, finding.saving_ns
//
// One pass over the events of devices feeds all rules; the host's calls are read where a device idles, the waits of the
// busiest engine where it waits.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/analysis/advice/rules.h"
#include "core/analysis/dependencies/dependencies.h"
#include "core/model/event_filter.h"

namespace accelscope {

// Where a finding is seen, with its reason where that differs from the finding's.
struct FindingPlace {
  TimeRange range;
  std::string note;  // "host in DataLoader.__next__ 2.53 ms"
};

struct Finding {
  static constexpr std::size_t kMostPlaces = 2'000;
  const AdviceRule* rule = nullptr;
  std::string key;             // stable while the session grows: "reloaded_tensor nc0 w1"
  std::string device;          // "nc0"; "" of the whole session
  std::string headline;        // "w1 loaded 4×: 24 MiB read again"
  std::string tab;             // the same in a few words, where there is little room: "w1 loaded 4×"
  std::int64_t saving_ns = 0;  // at most; what a replay of the dependencies gives where is_replayed
  std::int64_t least_ns = 0;   // and at least; no less than it where is_replayed
  bool is_replayed = false;
  std::string change;                // what-if's words for mending it (parse_change()); "": it has none
  double share = 0;                  // of the rule's base
  std::uint64_t count = 0;           // of events, or of gaps
  EventId first = kNoEvent;          // an event to begin with; kNoEvent: it rests on gaps
  EventFilter events;                // those it rests on, or the longest gap on its tracks
  std::string source;                // "file.py:33": the line that it costs most; "" unknown
  std::vector<TrackNumber> tracks;   // on which its box lies
  std::vector<FindingPlace> places;  // by time, the longest kMostPlaces; at least one
};

// A rule that was not judged, of one device or of all, and what judging it would take.
struct UnjudgedRule {
  const AdviceRule* rule = nullptr;
  std::string why;  // "needs all events of the range, of which the filter leaves some out"
};

struct Advice {
  std::uint64_t snapshot_version = 0;
  EventFilter filter;
  std::vector<Finding> findings;          // the largest saving first
  std::vector<const AdviceRule*> judged;  // rules whose events the session has and the filter leaves, found or not
  std::vector<UnjudgedRule> unjudged;     // in the order of the rules
};

// `dependencies` of the session where they are known already; null: they are built, so that all who ask hear the same.
// Of the events that pass the filter. Fails when a chunk cannot be read or when cancelled.
[[nodiscard]] Result<std::shared_ptr<const Advice>> find_advice(const QueryContext& query, const EventFilter& filter,
                                                                const Dependencies* dependencies = nullptr);

// "w1 loaded 4×: 24 MiB read again, up to 98 µs"; "" where nothing was found.
[[nodiscard]] std::string advice_text(const Advice& advice);
// "12 of 17 rules could be judged"
[[nodiscard]] std::string judged_text(const Advice& advice);
// "not judged: Launch gaps (needs all ...); Spills (needs transfers ...)": rules of one reason stand together; "" where
// all were.
[[nodiscard]] std::string unjudged_text(const Advice& advice);

}  // namespace accelscope
