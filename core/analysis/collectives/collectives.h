// The collective operations of a session across its ranks: every instance with when each rank arrived, when the last
// one did, and when each was done.
//
//   auto found = find_collectives(query, {});
//   for (const CollectiveInstance& each : (*found)->instances) for (const CollectiveCell& cell :
//   (*found)->cells_of(each))
//
// A rank arrives when it is ready; all but the last then wait, and the transfer begins with the last arrival: durations
// start there. Where ranks of the group are not in the session and the events say when they began, the transfer begins
// with the earliest of these, as one of the absent may have come last.
//
// Clocks. Ranks that share a clock have its residual. What ranks tell in clocks of their own can be compared only as
// far as these agree. `recorded` takes times as they are; a rank's residual is then the larger of its clock's and of
// how far its ends lie beside the median end of the ranks (95th percentile). `by_ends` sets every rank's clock, offset
// and drift, so that operations end together, which they do on all ranks but for the last step of the transfer; the
// residual is what is left of the distance (95th percentile again). `automatic` is by_ends where ranks have clocks of
// their own. Nothing may be claimed of differences below the residuals of both ranks added.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/analysis/collectives/arrivals.h"
#include "core/base/capped.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::analysis {

// Which event of one rank belongs to which of another: the same operation, seen by each that took part.

// Of one rank's events of the same operation and group, in the order of time.
struct MatchedEvent {
  std::int64_t begin_ns = 0;
  std::uint64_t id = 0;  // the source's own number of the operation; 0: none
};

enum class MatchedBy : std::uint8_t {
  order,  // every rank has as many: the n-th of one is the n-th of all
  id,     // the sources number them alike
  time,   // some ranks have fewer: each is laid beside the nearest of the rank with most, none passing another
};

struct CollectiveMatching {
  MatchedBy by = MatchedBy::order;
  std::size_t instances = 0;
  std::vector<std::vector<std::uint32_t>> instance_of;  // of each rank's events
};

// Ids count where no rank has one twice and each rank shares at least half of its ids with the first.
[[nodiscard]] CollectiveMatching match_collectives(std::span<const std::vector<MatchedEvent>> ranks);

// Places of `times` beside `reference`, rising, so that the sum of the distances is least. Needs at most as many times
// as references. Where that is much work (more than 4 M steps), all are moved on by the same number of places.
[[nodiscard]] std::vector<std::uint32_t> places_beside(std::span<const MatchedEvent> reference,
                                                       std::span<const MatchedEvent> times);

enum class RankClocks : std::uint8_t { automatic, recorded, by_ends };

struct CollectiveRank {
  std::string name;    // "rank 37", or the device where no rank is named
  std::string device;  // as TrackDevices names it; "" of one that is missing
  std::string host;    // "" if no track names one
  std::optional<std::uint32_t> number;
  bool missing = false;                  // of a group, but without events in the session
  bool hidden = false;                   // it is there, but none of its parts passes the query's mask
  std::vector<TrackNumber> tracks;       // all of its device
  std::vector<TrackNumber> reported_on;  // those that its parts of collectives lie on
  std::uint64_t events = 0;
  double offset_ns = 0;               // what was taken from its times, at the session's begin
  double drift = 0;                   // and the change of that, ns per ns
  std::optional<double> residual_ns;  // nothing: how far its clock is off is not known
};

// Instances of one operation, size, algorithm and number of ranks.
struct CollectiveKind {
  std::string operation;                  // "AllReduce"; else the event's name
  std::string algorithm;                  // "Ring"; "": not known
  std::string type;                       // of the elements; "": not known
  std::uint64_t bytes = 0;                // the larger of what a rank brings and what it receives; 0: not known
  std::uint32_t ranks = 0;                // of the group
  StringId name = 0;                      // of the first of its events
  double bus_factor = 1;                  // see core/names/collective_words.h
  std::vector<CollectiveFacts> reported;  // all that is said of it by its events
  [[nodiscard]] bool is_like(const CollectiveKind& other) const noexcept {
    return bytes == other.bytes && ranks == other.ranks && operation == other.operation &&
           algorithm == other.algorithm && type == other.type;
  }
};

struct CollectiveCell {
  std::uint32_t rank = 0;  // index into Collectives::ranks
  EventId event = kNoEvent;
  std::int64_t arrival_ns = 0, begin_ns = 0, end_ns = 0;  // after its clock was set
  std::int64_t set_by_ns = 0;                             // what was taken from them: with it they are as recorded
  bool hidden = false;                                    // the query's mask does not let its event through
};

struct CollectiveInstance {
  std::uint32_t kind = 0;   // index into Collectives::kinds
  std::uint32_t first = 0;  // of its cells
  std::uint32_t count = 0;  // ranks that are there
  std::uint32_t expected = 0;
  std::uint32_t last_rank = 0, second_rank = 0;  // that arrived last, and before it; indices into Collectives::ranks
  std::int64_t first_arrival_ns = 0, second_last_ns = 0, last_arrival_ns = 0;
  std::int64_t transfer_begin_ns = 0;  // when the transfer began: the last arrival, or later (see above)
  std::int64_t end_ns = 0;             // of the last rank to be done
  [[nodiscard]] std::int64_t skew_ns() const noexcept { return capped_difference(last_arrival_ns, first_arrival_ns); }
  [[nodiscard]] std::int64_t duration_ns() const noexcept {
    return end_ns > transfer_begin_ns ? capped_difference(end_ns, transfer_begin_ns) : 0;
  }
};

struct Collectives {
  std::vector<CollectiveRank> ranks;  // by host, then number, then name; those that are missing among them
  std::vector<CollectiveKind> kinds;
  std::vector<CollectiveInstance> instances;  // by the begin of the transfer
  std::vector<CollectiveCell> cells;          // of each instance by rank
  RankClocks clocks = RankClocks::recorded;   // which of the two was chosen
  bool own_clocks = false;                    // ranks have clocks of their own
  std::uint64_t by_time = 0;                  // instances matched by time, as ranks have not equally many
  std::uint64_t matched = 0;                  // instances of the session, that the clocks were set by
  std::uint64_t hidden_instances = 0;         // of them: those without a part that passes the mask, which are not here
  std::uint64_t hidden_parts = 0;             // of instances that are here

  [[nodiscard]] std::span<const CollectiveCell> cells_of(const CollectiveInstance& instance) const noexcept {
    return {cells.data() + instance.first, instance.count};
  }
  [[nodiscard]] const CollectiveCell* cell(const CollectiveInstance& instance, std::uint32_t rank) const noexcept;
  // From its arrival until the transfer began, or the rank was done.
  [[nodiscard]] static std::int64_t wait_ns(const CollectiveInstance& instance, const CollectiveCell& cell) noexcept;
  [[nodiscard]] std::size_t present() const noexcept;  // ranks that are not missing
  [[nodiscard]] std::size_t hidden() const noexcept;   // of these, without a part that passes
  // Below it nothing is known of the order of the two; nothing where a residual is not known.
  [[nodiscard]] std::optional<double> noise_ns(std::uint32_t rank, std::uint32_t other) const noexcept;
  // The largest of all ranks, and whose it is.
  struct Residual {
    double mean_ns = 0, most_ns = 0;
    std::uint32_t rank = 0;
  };
  [[nodiscard]] std::optional<Residual> residual() const noexcept;
};

// Of the whole session, whatever the range. A mask chooses instances: those with a part that passes. Ranks, clocks and
// the times of an instance are told by all of its parts; those that do not pass are marked as hidden.
[[nodiscard]] Result<std::shared_ptr<const Collectives>> find_collectives(const QueryContext& query,
                                                                          RankClocks clocks = RankClocks::automatic);

}  // namespace accelscope::analysis
