// The small messages of an XSpace, each as a whole in memory: events, their stats, what metadata say of them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace accelscope::capture::sources::xplane {

// XStat. The kind is the field that holds the value.
struct StatValue {
  enum class Kind : std::uint8_t { none, real, natural, whole, text, bytes, reference, packed };
  std::int64_t id = 0;  // of the plane's metadata of stats
  Kind kind = Kind::none;
  std::uint64_t bits = 0;  // of a number; the id of the metadata whose name is the text
  std::string_view text;   // of the message; packed: gzip

  [[nodiscard]] bool is_number() const noexcept {
    return kind == Kind::real || kind == Kind::natural || kind == Kind::whole;
  }
};

// XEvent.
struct EventRecord {
  std::int64_t metadata = 0;
  std::int64_t offset_ps = 0;
  std::int64_t duration_ps = 0;
  std::uint64_t occurrences = 0;
  bool is_total = false;  // of so many occurrences, without a time
  std::span<const StatValue> stats;
};

// XEventMetadata.
struct EventMetadata {
  std::string_view name;
  std::string_view display_name;
  std::vector<StatValue> stats;
};

// False: the message is broken; what was read before the mistake stays.
// The event's stats follow those in `stats`, their texts are views of the message; which are the event's is the
// caller's to say, because `stats` may move.
[[nodiscard]] bool read_event(std::string_view message, EventRecord& event, std::vector<StatValue>& stats);
[[nodiscard]] bool read_stat(std::string_view message, StatValue& stat);
[[nodiscard]] bool read_event_metadata(std::string_view message, EventMetadata& metadata);
[[nodiscard]] bool read_stat_metadata(std::string_view message, std::string_view& name);

}  // namespace accelscope::capture::sources::xplane
