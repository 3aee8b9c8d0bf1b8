// Joins events whose places are known only once everything is sorted: whoever writes an event says which flow leaves or
// reaches it, by a key; once the tracks are sorted those events are found again that were not in order when they were
// written, and the flows become rows of the table "dependency". Memory is bounded, however many there are: what does
// not fit lies in temporary files.
//
// A key is the importer's own: flow_key(process, correlation), say. Every source of a key is joined with every target
// of it; where that were thousands of arrows, each target with the last source before it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "capture/sources/base/record_sorter.h"
#include "capture/sources/tracks/track_events.h"

namespace accelscope::capture::sources::tracks {

// The table of flows, and its columns.
inline constexpr std::size_t kFlowSource = 0, kFlowTarget = 1, kFlowId = 2, kFlowIdText = 3, kFlowCategory = 4;
[[nodiscard]] Schema make_flow_schema();

inline constexpr std::uint64_t kKeyPrime = 0x9E3779B97F4A7C15U;

[[nodiscard]] constexpr std::uint64_t mixed_key(std::uint64_t key, std::uint64_t value) noexcept {
  return (key ^ (value + kKeyPrime + (key << 6) + (key >> 2))) * kKeyPrime;
}

[[nodiscard]] constexpr std::uint64_t flow_key(std::uint64_t first, std::uint64_t second) noexcept {
  return mixed_key((first + 1) * kKeyPrime, second);
}

// An event as it was written: enough to find it again.
struct WrittenEvent {
  std::uint32_t track = 0;   // of TrackEvents
  std::uint32_t serial = 0;  // tells events apart that are alike in all else
  std::int64_t start = 0;
  std::int64_t duration = 0;
  StringId name = 0;
  EventId id = kNoEvent;  // where it is known already
};

enum class FlowSide : std::uint8_t { source, target };

class FlowEnds {
 public:
  // `id`: what the user sees of the flow, its correlation; `name`: what kind of flow it is, "launch".
  void add(FlowSide side, std::uint64_t key, std::uint64_t id, StringId name, const WrittenEvent& event);

  struct Joined {
    EventId source = kNoEvent;
    EventId target = kNoEvent;
    std::int64_t target_start = 0;
    std::uint64_t id = 0;
    StringId name = 0;
  };
  struct Counts {
    std::uint64_t without_target = 0;  // keys that have a source only
    std::uint64_t without_source = 0;
    std::uint64_t without_event = 0;  // ends whose event was left out of the session
  };
  // Once the events are sorted, before they are released: calls with every flow, by the time of its target, until that
  // returns false. Ends the object.
  [[nodiscard]] Result<void> join(const TrackEvents& events, HeldSink& held,
                                  const std::function<bool(const Joined&)>& visit);
  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }
  [[nodiscard]] bool empty() const noexcept { return placed_->size() == 0 && sought_->size() == 0; }

 private:
  // Small, because there may be as many as events: instead of an event's length and name, what tells it from others of
  // its track that begin with it.
  struct End {
    std::uint64_t key = 0;
    std::uint64_t id = 0;
    std::int64_t start = 0;
    std::uint64_t event : 63 = kNotFound;
    std::uint64_t is_target : 1 = 0;
    std::uint32_t track = 0;
    std::uint32_t serial = 0;
    std::uint32_t likeness = 0;
    StringId name = 0;
  };
  static constexpr std::uint64_t kNotFound = (std::uint64_t{1} << 63U) - 1;
  struct ByKey {  // of one key the sources first
    [[nodiscard]] static std::uint64_t first_word(const End& end) noexcept { return end.key; }
    [[nodiscard]] static bool before(const End& a, const End& b) noexcept;
  };
  struct ByPlace {
    [[nodiscard]] static std::uint64_t first_word(const End& end) noexcept { return end.track; }
    [[nodiscard]] static bool before(const End& a, const End& b) noexcept;
  };
  struct ByTarget {
    [[nodiscard]] static std::uint64_t first_word(const Joined& joined) noexcept {
      return static_cast<std::uint64_t>(joined.target_start) ^ std::uint64_t{1} << 63U;
    }
    [[nodiscard]] static bool before(const Joined& a, const Joined& b) noexcept;
  };
  using PlacedEnds = RecordSorter<End, ByKey>;
  using SoughtEnds = RecordSorter<End, ByPlace>;
  using JoinedEnds = RecordSorter<Joined, ByTarget>;
  class OneKey;
  class OneTrack;

  [[nodiscard]] Result<void> seek_moved(const TrackEvents& events);
  [[nodiscard]] Result<void> find_events(const TrackEvents& events, HeldSink& held);

  std::unique_ptr<PlacedEnds> placed_ = std::make_unique<PlacedEnds>();  // whose events are known
  std::unique_ptr<SoughtEnds> sought_ = std::make_unique<SoughtEnds>();
  std::vector<bool> tracks_;  // that have ends among placed_
  Counts counts_;
};

}  // namespace accelscope::capture::sources::tracks
