// Which event of one rank belongs to which of another: the same operation, seen by each that took part.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace accelscope {

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

}  // namespace accelscope
