// The events of a session that are parts of collective operations, by the rank that took part: what the matching of
// core/analysis/collectives/collectives.h starts from.
//
// A rank is a device that has such events: on tracks of the kind "collective", or kernels on a stream whose names say
// so (names_collective of work_kind.h). Where a device has the former, the latter are left out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/schema.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::analysis {

// What is said of an operation by the event of one rank.
struct CollectiveFacts {
  StringId name = 0;  // of the event
  StringId operation_text = 0, algorithm = 0, type = 0, group = 0;
  std::uint64_t bytes = 0;       // 0: not known
  std::uint32_t group_size = 0;  // 0: not known
  // Where the size stands in the event's table, and as what: bytes, or a count of elements.
  SchemaNumber schema = kNone;
  std::uint32_t size_column = kNone;
  std::uint64_t size_value = 0;
  bool operator==(const CollectiveFacts&) const = default;
};

// A rank's part of an operation. All times are session time.
struct CollectiveArrival {
  EventId event = kNoEvent;
  std::int64_t arrival_ns = 0;  // when the rank was ready: before the begin by what the event says that it waited
  std::int64_t begin_ns = 0, end_ns = 0;
  std::uint64_t id = 0;     // the source's own number of the operation; 0: none
  std::uint32_t facts = 0;  // index into CollectiveArrivals::facts
  bool hidden = false;      // the query's mask does not let it through
};

struct ArrivingRank {
  std::size_t device = 0;                 // as TrackDevices counts them
  std::vector<CollectiveArrival> events;  // by begin
};

struct CollectiveArrivals {
  std::vector<CollectiveFacts> facts;
  std::vector<ArrivingRank> ranks;  // in the order of their devices
  bool has_waits = false;           // events say how long they waited
};

// Of all events: what belongs together, and who came last, is known of all of them or not at all. Those that the
// query's mask does not let through are marked.
[[nodiscard]] Result<CollectiveArrivals> read_arrivals(const QueryContext& query);

// Where a table of collectives says what; nothing where it does not.
struct CollectiveColumns {
  explicit CollectiveColumns(const Schema& schema);

  std::optional<std::size_t> wait;    // ns from the arrival to the recorded begin
  std::vector<std::size_t> bytes;     // the size is the largest of these
  std::vector<std::size_t> elements;  // before them, the largest of these times the type's bytes
  std::optional<std::size_t> type, group, group_size, algorithm, operation, id;
};

}  // namespace accelscope::analysis
