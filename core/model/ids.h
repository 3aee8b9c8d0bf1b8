// Ids that count. An event's id is its lane's number << 40 | its ordinal in the lane, gapless from 0, so it is
// stable across wire, file and merge, and a loss or a doubling can be counted. A lane, track, schema or clock
// number holds its scope (the source it came from) in the high bits and the source's own number in the low 14.
#pragma once

#include <cstdint>

namespace accelscope {

using LaneNumber = std::uint32_t;    // scope << 14 | local lane; below 2^23
using TrackNumber = std::uint32_t;   // the same layout
using SchemaNumber = std::uint32_t;  // the same layout
using ClockNumber = std::uint32_t;   // the same layout
using StringId = std::uint32_t;      // session-wide unless a name says local; 0 is always ""
using EventId = std::uint64_t;       // below 2^63, so that SQLite's int64 holds it

inline constexpr unsigned kLocalBits = 14;
inline constexpr std::uint32_t kMaxLocalNumber = (1U << kLocalBits) - 1;
inline constexpr std::uint32_t kMaxScope = (1U << (23 - kLocalBits)) - 1;
inline constexpr std::uint32_t kNone = 0xffffffffU;  // no parent, no schema, no clock
inline constexpr unsigned kOrdinalBits = 40;
inline constexpr EventId kNoEvent = ~EventId{0};

[[nodiscard]] constexpr std::uint32_t scoped_number(std::uint32_t scope, std::uint32_t local) noexcept {
  return local == kNone ? kNone : (scope << kLocalBits) | local;
}
[[nodiscard]] constexpr std::uint32_t scope_of(std::uint32_t number) noexcept { return number >> kLocalBits; }
[[nodiscard]] constexpr std::uint32_t local_of(std::uint32_t number) noexcept { return number & kMaxLocalNumber; }

[[nodiscard]] constexpr EventId make_event_id(LaneNumber lane, std::uint64_t ordinal) noexcept {
  return (EventId{lane} << kOrdinalBits) | ordinal;
}
[[nodiscard]] constexpr LaneNumber lane_of(EventId id) noexcept { return static_cast<LaneNumber>(id >> kOrdinalBits); }
[[nodiscard]] constexpr std::uint64_t ordinal_of(EventId id) noexcept {
  return id & ((EventId{1} << kOrdinalBits) - 1);
}

}  // namespace accelscope
