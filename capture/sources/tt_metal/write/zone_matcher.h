// Pairs the begins and ends of zones of one processor with a stack, as its code nests them. Markers come by time, those
// of one time together; what comes out does not depend on their order in the file. Markers get lost where a device's
// buffer was full: a begin without an end stays open until its parent ends, or until the same zone begins in another
// run; an end without a begin is handed out alone.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "capture/sources/tt_metal/read/dictionary.h"
#include "capture/sources/tt_metal/read/log_marker.h"

namespace accelscope::capture::sources::tt_metal {

struct MatchedZone {
  const LogMarker* begin = nullptr;
  const LogMarker* end = nullptr;  // null: it has none
  std::int64_t end_time = 0;
  std::uint32_t depth = 0;
};

class ZoneMatcher {
 public:
  static constexpr std::size_t kDeepest = 64;

  using OnZone = std::function<void(const MatchedZone&)>;  // of a depth: by time; of all depths: by end
  using OnLoneEnd = std::function<void(const LogMarker&)>;
  ZoneMatcher(const DeviceLogDictionary& dictionary, OnZone on_zone, OnLoneEnd on_lone_end)
      : dictionary_(dictionary), on_zone_(std::move(on_zone)), on_lone_end_(std::move(on_lone_end)) {}

  // Begins and ends of one time, by canonical_order.
  void add(const std::vector<LogMarker>& of_one_time);
  // Closes what is still open.
  void finish(std::int64_t last_time);

 private:
  struct Open {
    LogMarker begin;
    std::uint32_t zone;
    std::uint8_t rank;
  };
  [[nodiscard]] const LogSite& site(const LogMarker& marker) const noexcept { return dictionary_.site(marker.site); }
  [[nodiscard]] bool close_newest(const LogMarker& end);
  [[nodiscard]] bool close_deeper(const LogMarker& end);
  void close_from(std::size_t place, std::int64_t time);  // without ends
  void open(const LogMarker& begin);
  void add_group(const std::vector<LogMarker>& of_one_time);

  const DeviceLogDictionary& dictionary_;
  OnZone on_zone_;
  OnLoneEnd on_lone_end_;
  std::vector<Open> stack_;
};

// An order of markers of one time that follows from what they say, not from where they stand in the file. Two that say
// the same are neighbours then.
[[nodiscard]] bool canonical_order(const LogMarker& a, const LogMarker& b, const DeviceLogDictionary& dictionary);

}  // namespace accelscope::capture::sources::tt_metal
