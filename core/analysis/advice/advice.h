// What of a session costs time that could be saved, by the rules of rules.h, each finding with what mending it would
// save, the events it rests on, and where they lie. Savings do not add up: each is what that mending alone would do,
// and a finding names those above it that mend the same time. A finding is a cause that its reader can mend; a wait is
// evidence of one and never a finding.
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
#include "core/analysis/time/stretches.h"
#include "core/model/event_filter.h"

namespace accelscope::analysis {

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
  bool is_unexplained = false;   // nothing that was recorded tells the cause
  bool is_error = false;         // a device reported it: nothing else of it counts as long as it is not mended
  std::string change;            // what-if's words for mending it (parse_change()); "": it has none
  double share = 0;              // of the rule's base
  std::string remedy, reported;  // what to try, and from where on it is told: the rule's, where it says no other
  std::string evidence;          // "Scalar waits 24.28 µs of 34.69 µs, 48.6 % for MATMUL"; "" none beside its events
  std::vector<std::string> same_as;  // headlines of findings above it that mend the same time
  std::uint64_t count = 0;           // of events, or of gaps
  EventId first = kNoEvent;          // an event to begin with; kNoEvent: it rests on gaps
  EventFilter events;                // those it rests on, or the longest gap on its tracks
  std::string source;                // "file.py:33": the line that it costs most; "" unknown
  std::vector<TrackNumber> tracks;   // on which its box lies
  std::vector<FindingPlace> places;  // by time, the longest kMostPlaces; at least one
  Stretches repairs;                 // of what time it saves, settled; empty where single stretches are not known

  // What the finding ranks by: errors, then what costs time again and again, then what is set up once, then what has no
  // known cause; of each kind by the middle of what it saves.
  [[nodiscard]] int rank() const noexcept { return is_error ? 0 : is_unexplained ? 3 : rule->once ? 2 : 1; }
  [[nodiscard]] std::int64_t expected_ns() const noexcept { return least_ns + (saving_ns - least_ns) / 2; }
};

// A rule that was not judged, of one device or of all, and what judging it would take.
struct UnjudgedRule {
  const AdviceRule* rule = nullptr;
  std::string why;  // "needs all events of the range, of which the filter leaves some out"
};

struct Advice {
  std::uint64_t snapshot_version = 0;
  EventFilter filter;
  std::vector<Finding> findings;          // errors of the hardware first, then by what is expected to be saved
  std::vector<const AdviceRule*> judged;  // rules whose events the session has and the filter leaves, found or not
  std::vector<UnjudgedRule> unjudged;     // in the order of the rules
};

// `dependencies` of the session where they are known already; null: they are built, so that all who ask hear the same.
// Of the events that pass the filter. Fails when a chunk cannot be read or when cancelled.
[[nodiscard]] Result<std::shared_ptr<const Advice>> find_advice(const QueryContext& query, const EventFilter& filter,
                                                                const Dependencies* dependencies = nullptr);

// The error that its hardware reported first, and what costs most beside errors; null where there is none.
[[nodiscard]] const Finding* reported_error(const Advice& advice) noexcept;
[[nodiscard]] const Finding* costliest_finding(const Advice& advice) noexcept;

// "w1 loaded 4×: 24 MiB read again, up to 98 µs": what costs most; "" where nothing was found that does.
[[nodiscard]] std::string advice_text(const Advice& advice);
// "saves 1.2 ms", "saves 7.1 to 7.4 µs", "up to 98 µs"; "" of an error.
[[nodiscard]] std::string saving_text(const Finding& finding);
// "12 of 17 rules could be judged"
[[nodiscard]] std::string judged_text(const Advice& advice);
// "not judged: Launch gaps (needs all ...); Spills (needs transfers ...)": rules of one reason stand together; "" where
// all were.
[[nodiscard]] std::string unjudged_text(const Advice& advice);

}  // namespace accelscope::analysis
